//! Tensors behind each other.

use super::{JoinedPart, Move};
use crate::index::Index;
use crate::lower::call::Uncovered;
use crate::lower::node_call::NodeCall;
use crate::lower::rule::{Found, Recipe, Rule};
use crate::view::View;

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::found("aten::cat", &[""], along),
    Rule::found("aten::concat", &[""], along),
    Rule::found("aten::concatenate", &[""], along),
    Rule::found("aten::stack", &[""], |call| {
        let dim = named(call)?;
        join(call, dim, |rank| (0..=rank).filter(|&own| own != dim).collect())
    }),
    Rule::found("aten::hstack", &[""], |call| join(call, call.result()?.rank().min(2).saturating_sub(1), all)),
    Rule::found("aten::vstack", &[""], |call| join(call, 0, as_row)),
    Rule::found("aten::dstack", &[""], |call| join(call, 2, as_row)),
    Rule::found("aten::column_stack", &[""], |call| join(call, 1, all)),
];

/// The dimension of the result that the second argument names.
fn named(call: &NodeCall<'_>) -> Result<usize, Uncovered> {
    call.dim(1, call.result()?.rank())
}

fn along(call: &NodeCall<'_>) -> Found {
    join(call, named(call)?, all)
}

/// A tensor has the first dimensions of the result.
fn all(rank: usize) -> Vec<usize> {
    (0..rank).collect()
}

/// The same, but a vector is a row.
fn as_row(rank: usize) -> Vec<usize> {
    if rank == 1 { vec![1] } else { all(rank) }
}

/// Along a dimension of the result; `dims` says for a tensor of some rank which dimensions of the result its own are.
fn join(call: &NodeCall<'_>, dim: usize, dims: impl Fn(usize) -> Vec<usize>) -> Found {
    let shape = &call.result()?.shape;
    let tensors = call.args.tensors(0).ok_or("has no list of tensors")?;
    let mut parts = Vec::new();
    let mut end = 0;
    // Empty tensors add nothing, and torch lets them be of another rank.
    for &source in tensors.iter().filter(|&&tensor| call.graph.ty(tensor).numel() > 0) {
        let mut axes = Index::axes(shape);
        let along = axes.get_mut(dim).ok_or("has a result of too few dimensions")?;
        *along = along.shifted(-end);
        let dims = dims(call.shape(source).len());
        let coordinates = dims.iter().map(|&own| axes.get(own).cloned()).collect::<Option<_>>();
        let coordinates = coordinates.ok_or("has a result of too few dimensions")?;
        end += dims.iter().position(|&own| own == dim).map_or(1, |own| call.shape(source)[own]);
        parts.push(JoinedPart { view: View { source, coordinates }, end });
    }
    if parts.is_empty() || shape.get(dim) != Some(&end) {
        return Err("joins tensors that do not make up its result".to_owned());
    }
    Ok(Recipe::Move(Move::Join { dim, parts }))
}
