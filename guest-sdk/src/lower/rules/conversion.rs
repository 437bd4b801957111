//! Casts and copies.

use super::super::call::Uncovered;
use super::reduction::shapes;
use super::{Align, OperandRead, Rule};
use crate::args::Args;
use crate::view;
use passhost_ir::{Graph, Node};

pub(super) const RULES: &[Rule] = &[
    copy("aten::to", &["dtype", "dtype_layout", "device", "other"]),
    copy("aten::type_as", &[""]),
    copy("aten::_to_copy", &[""]),
    copy("aten::clone", &[""]),
    copy("aten::contiguous", &[""]),
    copy("aten::lift_fresh_copy", &[""]),
    Rule { align: Align::At(source), ..Rule::cheap("aten::copy", &[""], |c| c.first()) },
];

/// The element in the result's type. Where it is stored is the store's business.
const fn copy(name: &'static str, overloads: &'static [&'static str]) -> Rule {
    Rule { reads: 1, ..Rule::cheap(name, overloads, |c| c.first()) }
}

/// The second operand, stretched to the shape of the first.
fn source(graph: &Graph, node: &Node) -> Result<Vec<OperandRead>, Uncovered> {
    let (_, to) = shapes(graph, node, 0)?;
    let source = Args::of(node).tensor(1).ok_or("has no tensor as argument 1")?;
    let coordinates = view::broadcast(&graph.ty(source).shape, to).ok_or("has a source of another shape")?;
    Ok(vec![(1, coordinates)])
}
