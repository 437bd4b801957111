//! Casts and copies.

use crate::lower::node_call::NodeCall;
use crate::lower::rule::{Align, OperandReads, Rule};
use crate::view;

pub(in crate::lower) const RULES: &[Rule] = &[
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
fn source(call: &NodeCall<'_>) -> OperandReads {
    let to = call.shapes()?.1;
    let coordinates = view::broadcast(call.shape(call.tensor(1)?), to).ok_or("has a source of another shape")?;
    Ok(vec![(1, coordinates)])
}
