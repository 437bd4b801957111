//! Tensors behind each other.

use super::{JoinedPart, Move};
use crate::index::Index;
use crate::lower::node_call::NodeCall;
use crate::lower::rule::{Found, Recipe, Rule};
use crate::view::View;

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::found("aten::cat", &[""], |call| join(call, false)),
    Rule::found("aten::concat", &[""], |call| join(call, false)),
    Rule::found("aten::concatenate", &[""], |call| join(call, false)),
    Rule::found("aten::stack", &[""], |call| join(call, true)),
];

/// Along the dimension that is the second argument, which `stack` adds.
fn join(call: &NodeCall<'_>, adds: bool) -> Found {
    let shape = &call.result()?.shape;
    let dim = call.dim(1, shape.len())?;
    let tensors = call.args.tensors(0).ok_or("has no list of tensors")?;
    let mut parts = Vec::new();
    let mut end = 0;
    // Empty tensors add nothing, and torch lets them be of another rank.
    for &source in tensors.iter().filter(|&&tensor| call.graph.ty(tensor).numel() > 0) {
        let mut coordinates = Index::axes(shape);
        if adds {
            coordinates.remove(dim);
            end += 1;
        } else {
            coordinates[dim] = coordinates[dim].shifted(-end);
            end += call.shape(source).get(dim).ok_or("joins tensors of too few dimensions")?;
        }
        parts.push(JoinedPart { view: View { source, coordinates }, end });
    }
    if parts.is_empty() || shape[dim] != end {
        return Err("joins tensors that do not make up its result".to_owned());
    }
    Ok(Recipe::Move(Move::Join { dim, parts }))
}
