//! A place in a graph, and what can be made of it.

use passhost_ir::{Arg, Dtype, Graph, Node, NodeKind, OpName, OpTable, TensorType, ValueId};

/// A value that may be computed otherwise.
pub(crate) struct Site<'a> {
    pub graph: &'a Graph,
    /// The position of the node that computes it; none of an input.
    pub node: Option<usize>,
    pub value: ValueId,
    /// Whether it depends on a float that may be NaN or infinite.
    pub of_floats: bool,
}

impl Site<'_> {
    /// The op, without its namespace: `add.Tensor`. Empty for an input.
    pub fn op(&self) -> String {
        match self.node.map(|at| &self.graph.nodes[at].kind) {
            Some(NodeKind::Aten { op, .. }) => op.to_string().trim_start_matches("aten::").to_owned(),
            _ => String::new(),
        }
    }

    /// The op's name alone: `add`.
    pub fn name(&self) -> String {
        self.op().split('.').next().unwrap_or_default().to_owned()
    }

    /// The arguments of the node.
    pub fn args(&self) -> &[Arg] {
        match self.node.map(|at| &self.graph.nodes[at].kind) {
            Some(NodeKind::Aten { args, .. }) => args,
            _ => &[],
        }
    }

    /// The tensor that an argument is.
    pub fn operand(&self, at: usize) -> Option<ValueId> {
        self.args().get(at)?.as_value().copied()
    }

    pub fn ty(&self) -> &TensorType {
        self.graph.ty(self.value)
    }

    pub fn is_output(&self) -> bool {
        self.graph.outputs.contains(&self.value)
    }

    /// Whether the value is never infinite, whatever the inputs are: what an op bounds, and views of that.
    pub fn is_bounded(&self) -> bool {
        let mut value = self.value;
        loop {
            let made = self.graph.nodes.iter().find(|node| node.outputs.contains(&value));
            let Some(NodeKind::Aten { op, args }) = made.map(|node| &node.kind) else { return false };
            match op.name.trim_start_matches("aten::") {
                "softmax" | "_softmax" | "sigmoid" | "tanh" | "erf" | "sin" | "cos" | "hardtanh" | "relu6"
                | "hardsigmoid" => return true,
                "dropout" | "view" | "reshape" | "permute" | "transpose" | "clone" | "contiguous" | "slice" => {
                    let Some(&operand) = args.first().and_then(Arg::as_value) else { return false };
                    value = operand;
                }
                _ => return false,
            }
        }
    }

    /// Whether the value is one of a narrower type that was converted, or is converted to it wherever it is used.
    pub fn is_of(&self, dtype: Dtype) -> bool {
        let converts = |kind: &NodeKind| match kind {
            NodeKind::Aten { op, .. } => matches!(op.name.trim_start_matches("aten::"), "to" | "_to_copy"),
            NodeKind::Kernel { .. } => false,
        };
        let made = self.node.is_some_and(|at| converts(&self.graph.nodes[at].kind));
        if made && self.operand(0).is_some_and(|operand| self.graph.ty(operand).dtype == dtype) {
            return true;
        }
        let mut users = self.graph.nodes.iter().filter(|node| node.operands().contains(&self.value)).peekable();
        let to_it = |node: &Node| converts(&node.kind) && self.graph.ty(node.outputs[0]).dtype == dtype;
        !self.is_output() && users.peek().is_some() && users.all(to_it)
    }

    /// The graph in which another value stands for this one. None where that has another element type or shape.
    pub fn with(&self, make: impl FnOnce(&mut Draft) -> Option<ValueId>) -> Option<Graph> {
        let after = self.node.map_or(0, |at| at + 1);
        let mut draft = Draft { graph: self.graph.clone(), at: after };
        let other = make(&mut draft)?;
        let Draft { mut graph, at: behind } = draft;
        let (from, to) = (graph.ty(self.value), graph.ty(other));
        if other == self.value || (from.dtype, &from.shape) != (to.dtype, &to.shape) {
            return None;
        }
        let replaced = |value: &ValueId| if *value == self.value { other } else { *value };
        for node in &mut graph.nodes[behind..] {
            if let NodeKind::Aten { args, .. } = &mut node.kind {
                args.iter_mut().for_each(|arg| *arg = arg.map(replaced));
            }
        }
        graph.outputs.iter_mut().for_each(|output| *output = replaced(output));
        Some(graph)
    }

    /// The graph in which an operand is handed on, in memory of its own.
    pub fn handing_on(&self, operand: usize) -> Option<Graph> {
        let operand = self.operand(operand)?;
        let ty = self.graph.ty(operand).clone();
        self.with(|draft| draft.call("clone", vec![operand.into()], ty))
    }

    /// The graph in which the op is another one, or has other arguments.
    pub fn calling(&self, op: &str, args: Vec<Arg>) -> Option<Graph> {
        let ty = self.ty().clone();
        self.with(|draft| draft.call(op, args, ty))
    }

    /// The graph in which an argument is another one.
    pub fn given(&self, at: usize, arg: impl Into<Arg>) -> Option<Graph> {
        let mut args = self.args().to_vec();
        *args.get_mut(at)? = arg.into();
        self.calling(&self.op(), args)
    }
}

/// A graph into which nodes are put, one behind the other.
pub(crate) struct Draft {
    pub graph: Graph,
    at: usize,
}

impl Draft {
    /// A call with these arguments, the others by default. None where the op has no such arguments.
    pub fn call(&mut self, op: &str, args: Vec<Arg>, ty: TensorType) -> Option<ValueId> {
        let op = OpName::parse(&format!("aten::{op}"));
        let schema = OpTable::sample().get(&op)?;
        let whole = args.len() == schema.args.len() && schema.check_args(&args).is_ok();
        let args = if whole { args } else { schema.normalise(args, vec![]).ok()? };
        let id = self.graph.fresh_node_ids().take();
        let value = self.graph.add_value(self.graph.fresh_name(), ty);
        self.graph.nodes.insert(self.at, Node { id, kind: NodeKind::Aten { op, args }, outputs: vec![value] });
        self.at += 1;
        Some(value)
    }

    /// Elements `from..to` of a dimension.
    pub fn slice(&mut self, of: ValueId, dim: usize, (from, to): (i64, i64)) -> Option<ValueId> {
        let mut ty = self.graph.ty(of).clone();
        *ty.shape.get_mut(dim)? = to - from;
        self.call("slice.Tensor", vec![of.into(), (dim as i64).into(), from.into(), to.into()], ty)
    }
}
