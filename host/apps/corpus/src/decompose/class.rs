//! What an op is to a kernel.

use passhost_ir::alias::{Aliasing, aliasing};
use passhost_ir::ops::{Class, Shows};
use passhost_ir::{Arg, Dtype, Graph, Node, NodeKind, OpName, OpRow, OpTable};

/// The name of an op without its namespace and without the `_` of an in-place op.
pub(super) fn plain_name(op: &OpName) -> &str {
    let name = op.name.strip_prefix("aten::").unwrap_or(&op.name);
    if name.ends_with("__") { name } else { name.strip_suffix('_').unwrap_or(name) }
}

/// The class of a node. An op that is on no list is opaque, and so is every op on complex numbers.
pub(super) fn class_of(graph: &Graph, node: &Node) -> Class {
    let NodeKind::Aten { op, args } = &node.kind else { return Class::Opaque };
    let operands = node.operands();
    if operands.iter().chain(&node.outputs).any(|&value| graph.ty(value).dtype.is_complex()) {
        return Class::Opaque;
    }
    let Some(row) = OpRow::of(op) else { return Class::Opaque };
    match row.class {
        // Normalises by statistics of its operand.
        Class::Pointwise if is_training(op, args) => Class::Opaque,
        // The size of the result depends on data.
        Class::Gather if has_mask(graph, args) => Class::Opaque,
        // It already is what it should be converted to.
        Class::Pointwise if row.shows == Some(Shows::Converted) && !is_copy(graph, node) => Class::View,
        class => class,
    }
}

/// Whether a kernel has something to do for a node of a class, or a library.
pub(super) fn is_work(class: Class, graph: &Graph, node: &Node) -> bool {
    match class {
        Class::View => is_copy(graph, node),
        Class::Constructor => false,
        _ => true,
    }
}

/// Whether the result has memory of its own: `reshape` and `contiguous` copy where they must.
fn is_copy(graph: &Graph, node: &Node) -> bool {
    aliasing(graph, node, OpTable::sample()) == Aliasing::None
}

fn is_training(op: &OpName, args: &[Arg]) -> bool {
    let position = OpTable::sample().get(op).and_then(|schema| schema.position("training"));
    position.is_some_and(|position| args.get(position) != Some(&Arg::Bool(false)))
}

fn has_mask(graph: &Graph, args: &[Arg]) -> bool {
    let mut indices = args.iter().filter(|arg| matches!(arg, Arg::OptionalValues(_))).flat_map(Arg::values);
    indices.any(|&index| graph.ty(index).dtype == Dtype::Bool)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_call_can_be_of_another_class_than_its_op() {
        for (call, class, works) in [
            ("%r: f32[2,3] = aten::relu_(%x)", Class::Pointwise, true),
            ("%r: f32[2,3] = aten::to.dtype(%x, f32)", Class::View, false),
            ("%r: f16[2,3] = aten::to.dtype(%x, f16)", Class::Pointwise, true),
            ("%r: f32[6] = aten::reshape(%x, [6])", Class::View, false),
            ("%r: f32[2,3] = aten::clone(%x)", Class::View, true),
            ("%r: f32[2], %i: i64[2] = aten::max.dim(%x, 1)", Class::Reduction, true),
            ("%r: f32[2,3] = aten::max.other(%x, %x)", Class::Pointwise, true),
            ("%r: f32[2,3] = aten::zeros_like(%x)", Class::Constructor, false),
            ("%r: f32[2] = aten::select.int(%x, 1, 0)", Class::View, false),
        ] {
            let text = format!("graph(%x: f32[2,3]) {{\n  {call}\n  return (%r)\n}}\n");
            let graph = Graph::parse(&text).unwrap();
            let node = &graph.nodes[0];
            let found = class_of(&graph, node);
            assert_eq!((found, is_work(found, &graph, node)), (class, works), "{call}");
        }
    }
}
