//! The graph under construction.

use super::layout::preserved_strides;
use crate::{
    Arg, Dtype, FreshNodeIds, Graph, MemoryFormat, Node, NodeId, NodeKind, OpName, TensorType, ValueId,
    contiguous_strides,
};
use std::collections::HashSet;

/// The functional graph, to which nodes are added in order.
pub(super) struct FunctionalDraft {
    /// The graph so far.
    pub(super) graph: Graph,
    /// The nodes that put a part back into a whole.
    pub(super) written_back: Vec<NodeId>,
    names: HashSet<String>,
    ids: FreshNodeIds,
}

impl FunctionalDraft {
    /// The values of the program and none of its nodes.
    pub(super) fn new(program: &Graph) -> FunctionalDraft {
        let mut graph = program.clone();
        graph.nodes.clear();
        let names = graph.values.iter().map(|value| value.name.clone()).collect();
        FunctionalDraft { graph, written_back: vec![], names, ids: program.fresh_node_ids() }
    }

    /// A new value.
    pub(super) fn value(&mut self, ty: TensorType) -> ValueId {
        let mut name = self.graph.values.len().to_string();
        while self.names.contains(&name) {
            name.push('_');
        }
        self.names.insert(name.clone());
        self.graph.add_value(name, ty)
    }

    /// The type of a value.
    pub(super) fn ty(&self, value: ValueId) -> &TensorType {
        self.graph.ty(value)
    }

    /// Declares a value of the program anew.
    pub(super) fn set_type(&mut self, value: ValueId, ty: TensorType) {
        self.graph.values[value.index()].ty = ty;
    }

    /// A node that the program does not have, with one new value.
    pub(super) fn node(&mut self, kind: NodeKind, ty: TensorType) -> ValueId {
        let value = self.value(ty);
        self.node_into(kind, value);
        value
    }

    fn node_into(&mut self, kind: NodeKind, value: ValueId) {
        let id = self.ids.take();
        self.graph.nodes.push(Node { id, kind, outputs: vec![value] });
    }

    /// A call that the program does not have, with one new value.
    pub(super) fn call(&mut self, op: &str, args: Vec<Arg>, ty: TensorType) -> ValueId {
        self.node(NodeKind::Aten { op: OpName::parse(op), args }, ty)
    }

    /// As [`FunctionalDraft::call`], of an op that puts a part back into a whole.
    pub(super) fn scatter(&mut self, op: &str, args: Vec<Arg>, ty: TensorType) -> ValueId {
        self.written_back.push(self.ids.next());
        self.call(op, args, ty)
    }

    /// The same tensor as another element type; `into` becomes its value.
    pub(super) fn cast_into(&mut self, value: ValueId, dtype: Dtype, into: ValueId) {
        let from = self.ty(value);
        let ty = TensorType { dtype, shape: from.shape.clone(), strides: preserved_strides(from) };
        self.set_type(into, ty);
        self.node_into(to_copy(value, dtype, MemoryFormat::Preserve), into);
    }

    /// As [`FunctionalDraft::cast_into`], with a new value.
    pub(super) fn cast(&mut self, value: ValueId, dtype: Dtype) -> ValueId {
        let into = self.value(self.ty(value).clone());
        self.cast_into(value, dtype, into);
        into
    }

    /// The same elements with the type of another tensor, which `like` is a value of; `into` becomes its value.
    pub(super) fn convert_into(&mut self, value: ValueId, like: ValueId, into: ValueId) {
        let ty = self.ty(like).clone();
        let kind = if ty.strides != contiguous_strides(&ty.shape) {
            let args = vec![Arg::Value(like), Arg::Value(value), Arg::Bool(false)];
            NodeKind::Aten { op: OpName::new("aten::copy", ""), args }
        } else if self.ty(value).dtype == ty.dtype {
            let args = vec![Arg::Value(value), Arg::MemoryFormat(MemoryFormat::Contiguous)];
            NodeKind::Aten { op: OpName::new("aten::clone", ""), args }
        } else {
            to_copy(value, ty.dtype, MemoryFormat::Contiguous)
        };
        self.set_type(into, ty);
        self.node_into(kind, into);
    }

    /// As [`FunctionalDraft::convert_into`], with a new value.
    pub(super) fn convert(&mut self, value: ValueId, like: ValueId) -> ValueId {
        let into = self.value(self.ty(like).clone());
        self.convert_into(value, like, into);
        into
    }
}

/// The same step with other operands, in order.
pub(super) fn with_operands(kind: &NodeKind, operands: &[ValueId]) -> NodeKind {
    let mut operands = operands.iter();
    kind.map_values(|value| operands.next().copied().unwrap_or(*value))
}

fn to_copy(value: ValueId, dtype: Dtype, format: MemoryFormat) -> NodeKind {
    let args = vec![
        Arg::Value(value),
        Arg::Dtype(dtype),
        Arg::None,
        Arg::None,
        Arg::None,
        Arg::Bool(false),
        Arg::MemoryFormat(format),
    ];
    NodeKind::Aten { op: OpName::new("aten::_to_copy", ""), args }
}
