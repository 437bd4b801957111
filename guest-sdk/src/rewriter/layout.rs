//! Nodes that read and write images with their channels last, in a graph whose other nodes keep the layout they had.

use super::{NodeRefusal, Rewriter};
use fixedbitset::FixedBitSet;
use passhost_ir::{Arg, Graph, Infer, MemoryFormat, Node, NodeKind, OpName, TensorType, ValueId, formatted};

/// The op that copies to another layout.
pub(crate) const COPY: &str = "aten::clone";

/// Whether a tensor holds row-major images that lie otherwise with their channels last.
pub(crate) fn is_row_major_image(ty: &TensorType) -> bool {
    ty.rank() == 4 && ty.shape[1] > 1 && ty.shape[2..] != [1, 1] && ty.numel() > 0 && ty.is_contiguous()
}

/// As it lies with its channels last.
pub(crate) fn channels_last(ty: &TensorType) -> TensorType {
    formatted(ty.dtype, ty.shape.clone(), MemoryFormat::ChannelsLast)
}

impl Rewriter {
    /// Lets values lie otherwise that kernels are to calculate, and gives back how they lay.
    pub(crate) fn swap_strides(&mut self, values: &mut [(ValueId, Vec<i64>)]) {
        for (value, strides) in values {
            std::mem::swap(&mut self.graph.values[value.index()].ty.strides, strides);
        }
    }

    /// Lets nodes read images with their channels last: those at the positions of `first`, and of `others` those that read
    /// results of such. What is not there in that layout is copied. Their results must be such images as well: a node of which
    /// `host` says otherwise stays as it is. Whatever else reads them reads a row-major copy. Returns how many nodes changed.
    pub(crate) fn lay_channels_last(&mut self, [first, others]: [&FixedBitSet; 2], host: &mut dyn Infer) -> usize {
        let (nodes, outputs) = (std::mem::take(&mut self.graph.nodes), self.graph.outputs.clone());
        let count = self.graph.values.len();
        let mut relayout = Relayout { rewriter: self, last: vec![None; count], is_due: vec![false; count] };
        let mut changed = 0;
        for (position, node) in nodes.into_iter().enumerate() {
            let is_meant = first.contains(position) || others.contains(position) && relayout.is_behind(&node);
            match is_meant.then(|| relayout.changed(&node, host)) {
                Some(Ok(node)) => {
                    changed += 1;
                    relayout.rewriter.graph.nodes.push(node);
                }
                Some(Err(reason)) => {
                    let reason = format!("its channels do not come last: {reason}");
                    relayout.rewriter.refusals.push(NodeRefusal { nodes: vec![node.id], reason });
                    relayout.keep(node);
                }
                None => relayout.keep(node),
            }
        }
        outputs.into_iter().for_each(|output| relayout.give(output));
        self.remove_dead_code();
        changed
    }
}

/// A graph that is written anew, node by node.
struct Relayout<'r> {
    rewriter: &'r mut Rewriter,
    /// For each value it with its channels last, where that is there.
    last: Vec<Option<ValueId>>,
    /// Values that so far are there with their channels last alone.
    is_due: Vec<bool>,
}

impl Relayout<'_> {
    fn graph(&mut self) -> &mut Graph {
        &mut self.rewriter.graph
    }

    /// Whether a node reads what is there with its channels last.
    fn is_behind(&self, node: &Node) -> bool {
        node.operands().iter().any(|operand| self.last.get(operand.index()).is_some_and(Option::is_some))
    }

    /// A node as it was.
    fn keep(&mut self, node: Node) {
        node.operands().into_iter().for_each(|operand| self.give(operand));
        self.graph().nodes.push(node);
    }

    /// Sees to it that a value is there as it was.
    fn give(&mut self, value: ValueId) {
        if let Some(last) = self.last.get(value.index()).copied().flatten()
            && std::mem::take(&mut self.is_due[value.index()])
        {
            self.copy(last, MemoryFormat::Contiguous, value);
        }
    }

    /// A value with its channels last, if it holds images.
    fn with_channels_last(&mut self, value: ValueId) -> ValueId {
        let ty = self.graph().ty(value).clone();
        match self.last[value.index()] {
            Some(last) => last,
            None if !is_row_major_image(&ty) => value,
            None => {
                let last = self.value(channels_last(&ty));
                self.copy(value, MemoryFormat::ChannelsLast, last);
                self.last[value.index()] = Some(last);
                last
            }
        }
    }

    fn value(&mut self, ty: TensorType) -> ValueId {
        let name = self.graph().fresh_name();
        self.graph().add_value(name, ty)
    }

    fn copy(&mut self, from: ValueId, format: MemoryFormat, to: ValueId) {
        let args = vec![Arg::Value(from), Arg::MemoryFormat(format)];
        let kind = NodeKind::Aten { op: COPY.into(), args };
        let node = Node { id: self.rewriter.ids.take(), kind, outputs: vec![to] };
        self.graph().nodes.push(node);
    }

    /// A node with what it reads, and so gives, channels last.
    fn changed(&mut self, node: &Node, host: &mut dyn Infer) -> Result<Node, String> {
        let NodeKind::Aten { op, args } = &node.kind else { return Err("it is a kernel".to_owned()) };
        let graph = &self.rewriter.graph;
        let read = |ty: &TensorType| if is_row_major_image(ty) { channels_last(ty) } else { ty.clone() };
        let typed: Vec<Arg<TensorType>> = args.iter().map(|arg| arg.map(|&value| read(graph.ty(value)))).collect();
        let types = host.infer(op, &typed).map_err(|error| error.to_string())?;
        let mut fits = node.outputs.iter().zip(&types).enumerate().map(|(number, (&output, ty))| {
            let before = graph.ty(output);
            is_row_major_image(before) && *ty == channels_last(before) || number > 0 && ty == before
        });
        if types.len() != node.outputs.len() || !fits.all(|fits| fits) {
            return Err("it gives another layout".to_owned());
        }
        let args = args.iter().map(|arg| arg.map(|&value| self.with_channels_last(value))).collect();
        let mut outputs = vec![];
        for (&output, ty) in node.outputs.iter().zip(types) {
            if ty == *self.graph().ty(output) {
                outputs.push(output);
                continue;
            }
            let last = self.value(ty);
            self.last[output.index()] = Some(last);
            self.is_due[output.index()] = true;
            outputs.push(last);
        }
        Ok(Node { id: node.id, kind: NodeKind::Aten { op: OpName::clone(op), args }, outputs })
    }
}
