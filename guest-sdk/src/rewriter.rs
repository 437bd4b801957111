//! The graph under rewrite: reading it, and the changes that keep it a graph.

mod edit_error;
mod layout;
mod matches;
mod replacement;
mod tidy;
mod together;
mod writes;

pub use edit_error::EditError;
pub(crate) use layout::{COPY, channels_last, is_row_major_image};
pub use replacement::IntoKernel;

use passhost_ir::{
    Arg, FreshNodeIds, Graph, Infer, InferError, Kernel, Node, NodeId, NodeKind, OpName, TensorType, ValueId,
};

/// Nodes that were left as they are, and why. For the author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRefusal {
    /// The nodes.
    pub nodes: Vec<NodeId>,
    /// The reason, one sentence without a full stop.
    pub reason: String,
}

/// A graph that a pass changes. Every method leaves a valid graph behind: nodes stand after what they read, ids and
/// names are unique, inputs and outputs keep their types.
///
/// Node ids survive every change but the removal of their node; new nodes take ids that the original graph did not use.
#[derive(Debug, Clone)]
pub struct Rewriter {
    graph: Graph,
    refusals: Vec<NodeRefusal>,
    ids: FreshNodeIds,
}

/// Who reads each value of a graph.
#[derive(Debug, Clone)]
pub struct Uses {
    readers: Vec<Vec<usize>>,
    is_output: Vec<bool>,
}

impl Uses {
    /// Of all values of `graph`.
    pub fn of(graph: &Graph) -> Uses {
        let mut uses = Uses { readers: vec![vec![]; graph.values.len()], is_output: vec![false; graph.values.len()] };
        for (position, node) in graph.nodes.iter().enumerate() {
            for operand in node.operands() {
                let readers = &mut uses.readers[operand.index()];
                if readers.last() != Some(&position) {
                    readers.push(position);
                }
            }
        }
        for output in &graph.outputs {
            uses.is_output[output.index()] = true;
        }
        uses
    }

    /// The positions of the nodes that read `value`, ascending, each once. Nobody reads what the graph did not have when
    /// this was taken.
    pub fn readers(&self, value: ValueId) -> &[usize] {
        self.readers.get(value.index()).map_or(&[], Vec::as_slice)
    }

    /// Whether the graph returns `value`.
    pub fn is_output(&self, value: ValueId) -> bool {
        self.is_output.get(value.index()) == Some(&true)
    }
}

impl Rewriter {
    /// Starts from a valid graph.
    pub fn new(graph: Graph) -> Rewriter {
        Rewriter { ids: graph.fresh_node_ids(), graph, refusals: vec![] }
    }

    /// The graph as it is now.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Who reads each value now. A snapshot: take it again after a change.
    pub fn uses(&self) -> Uses {
        Uses::of(&self.graph)
    }

    /// The node with this id.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.graph.nodes.iter().find(|node| node.id == id)
    }

    /// Where the node with this id stands in [`Graph::nodes`].
    pub fn position(&self, id: NodeId) -> Result<usize, EditError> {
        self.graph.nodes.iter().position(|node| node.id == id).ok_or(EditError::NoSuchNode(id))
    }

    /// The node that defines `value`; `None` for an input of the graph.
    pub fn definition(&self, value: ValueId) -> Option<&Node> {
        self.graph.nodes.iter().find(|node| node.outputs.contains(&value))
    }

    /// Records that `nodes` stay as they are because of `reason`.
    pub fn refuse(&mut self, nodes: impl Into<Vec<NodeId>>, reason: impl Into<String>) {
        self.refusals.push(NodeRefusal { nodes: nodes.into(), reason: reason.into() });
    }

    /// What was refused so far.
    pub fn refusals(&self) -> &[NodeRefusal] {
        &self.refusals
    }

    /// Inserts a call of an ATen op before the node at `position`; the number of nodes means at the end. `args` stand
    /// in schema order with defaults filled in, as [`args!`](crate::args) writes them; `host` types the results.
    ///
    /// ```
    /// # use passhost_guest_sdk::prelude::*;
    /// # fn run(rewriter: &mut Rewriter, x: ValueId, host: &mut dyn Infer) -> Result<(), PassError> {
    /// let [doubled] = rewriter.insert_aten(0, "aten::mul.Scalar", args![x, 2.0], host)?[..] else { return Ok(()) };
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert_aten(
        &mut self,
        position: usize,
        op: impl Into<OpName>,
        args: Vec<Arg>,
        host: &mut dyn Infer,
    ) -> Result<Vec<ValueId>, crate::PassError> {
        let op = op.into();
        let operands: Vec<ValueId> = args.iter().flat_map(|arg| arg.values().copied()).collect();
        self.check_defined(position, &operands)?;
        let typed: Vec<Arg<TensorType>> = args.iter().map(|arg| arg.map(|&id| self.graph.ty(id).clone())).collect();
        let types = host.infer(&op, &typed)?;
        if types.is_empty() {
            return Err(InferError::Unknown(op.to_string()).into());
        }
        Ok(self.insert(position, NodeKind::Aten { op, args }, types))
    }

    /// Inserts a kernel before the node at `position`; the number of nodes means at the end. The kernel is verified. Its
    /// results are new values: [`replace_all_uses`](Rewriter::replace_all_uses) lets the graph read them.
    pub fn insert_kernel(
        &mut self,
        position: usize,
        kernel: impl IntoKernel,
        inputs: impl Into<Vec<ValueId>>,
    ) -> Result<Vec<ValueId>, EditError> {
        let (kernel, inputs) = (kernel.into_kernel()?, inputs.into());
        self.check_defined(position, &inputs)?;
        self.check_inputs(&kernel, &inputs)?;
        let types = kernel.output_types();
        Ok(self.insert(position, NodeKind::Kernel { kernel: Box::new(kernel), inputs }, types))
    }

    /// Makes every node that reads `old`, and the graph's outputs, read `new` instead. The two must have the same
    /// element type, shape and strides, and `new` must be defined before the first of them.
    pub fn replace_all_uses(&mut self, old: ValueId, new: ValueId) -> Result<(), EditError> {
        self.check_exists(&[old, new])?;
        if old == new {
            return Ok(());
        }
        if self.graph.ty(old) != self.graph.ty(new) {
            return Err(EditError::TypeDiffers {
                old: self.graph.value(old).name.clone(),
                expected: self.graph.ty(old).to_string(),
                new: self.graph.value(new).name.clone(),
                found: self.graph.ty(new).to_string(),
            });
        }
        let end = self.graph.nodes.len();
        let first = self.uses().readers(old).first().copied().unwrap_or(end);
        self.check_defined(first, &[new])?;
        let swapped = |id: &ValueId| if *id == old { new } else { *id };
        for node in self.graph.nodes.iter_mut().filter(|node| node.operands().contains(&old)) {
            node.kind = node.kind.map_values(swapped);
        }
        self.graph.outputs.iter_mut().for_each(|output| *output = swapped(output));
        Ok(())
    }

    /// The rewritten graph and the refusals. Dead nodes are removed first.
    pub fn finish(mut self) -> (Graph, Vec<NodeRefusal>) {
        self.remove_dead_code();
        (self.graph, self.refusals)
    }

    fn insert(&mut self, position: usize, kind: NodeKind, types: Vec<TensorType>) -> Vec<ValueId> {
        let mut outputs = Vec::new();
        for ty in types {
            let name = self.graph.fresh_name();
            outputs.push(self.graph.add_value(name, ty));
        }
        let node = Node { id: self.ids.take(), kind, outputs: outputs.clone() };
        self.graph.nodes.insert(position, node);
        outputs
    }

    /// That values are values of the graph.
    fn check_exists(&self, values: &[ValueId]) -> Result<(), EditError> {
        let count = self.graph.values.len();
        match values.iter().find(|value| value.index() >= count) {
            Some(value) => Err(EditError::NoSuchValue(value.0, count)),
            None => Ok(()),
        }
    }

    /// That every value exists before the node at `position`.
    fn check_defined(&self, position: usize, values: &[ValueId]) -> Result<(), EditError> {
        if position > self.graph.nodes.len() {
            return Err(EditError::NoSuchPosition(position, self.graph.nodes.len()));
        }
        self.check_exists(values)?;
        let definitions = self.graph.definitions();
        for &value in values {
            let defined = match definitions[value.index()] {
                Some(definition) => definition < position,
                None => self.graph.inputs.contains(&value),
            };
            if !defined {
                return Err(EditError::NotYetDefined(self.graph.value(value).name.clone(), position));
            }
        }
        Ok(())
    }

    /// That a kernel's inputs are declared as they are.
    fn check_inputs(&self, kernel: &Kernel, inputs: &[ValueId]) -> Result<(), EditError> {
        self.check_exists(inputs)?;
        let declared = kernel.inputs.iter().map(|input| TensorType::contiguous(input.dtype, input.shape.clone()));
        // Strides are bound when the kernel runs, so only element type and shape must agree.
        let given =
            inputs.iter().map(|&id| TensorType::contiguous(self.graph.ty(id).dtype, self.graph.ty(id).shape.clone()));
        if declared.clone().eq(given.clone()) {
            return Ok(());
        }
        let list = |types: &mut dyn Iterator<Item = TensorType>| {
            let types: Vec<String> = types.map(|ty| ty.to_string()).collect();
            format!("({})", types.join(", "))
        };
        Err(EditError::KernelInput(list(&mut declared.into_iter()), list(&mut given.into_iter())))
    }
}
