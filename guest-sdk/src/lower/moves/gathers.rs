//! Elements that a tensor of indices names.
//!
//! Eager fails where an index lies outside; a kernel takes the nearest element, so that what it reads is always inside.

use super::maps::map;
use crate::index::{Along, Index};
use crate::lower::call::Uncovered;
use crate::lower::node_call::NodeCall;
use crate::lower::rule::{Found, Rule};
use crate::view::broadcast;
use passhost_ir::{Arg, Dtype, ValueId};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::found("aten::embedding", &[""], embedding),
    Rule::found("aten::index_select", &[""], |call| {
        let rank = call.graph.ty(call.tensor(2)?).rank();
        along_dim(call, |axes, dim| axes[dim..=dim].iter().take(rank).cloned().collect())
    }),
    Rule::found("aten::gather", &[""], |call| along_dim(call, |axes, _| axes.to_vec())),
    Rule::found("aten::index", &["Tensor"], index),
];

/// The index that a tensor has at `place`, along a dimension from whose end negative positions count if it wraps.
fn gathered(
    call: &NodeCall<'_>,
    tensor: ValueId,
    place: Vec<Index>,
    (extent, wraps): (i64, bool),
) -> Result<Index, Uncovered> {
    match call.graph.ty(tensor).dtype {
        Dtype::I64 | Dtype::I32 => Ok(Index::gathered(tensor, place, Along { extent, wraps })),
        dtype => Err(format!("has indices of type {dtype}; i64 and i32 are covered")),
    }
}

/// `(weight, indices)`: rows of the weight.
fn embedding(call: &NodeCall<'_>) -> Found {
    let (source, shape, mut axes) = call.source()?;
    let (within, &[rows, _]) = (axes.pop().ok_or("has no dimensions")?, shape) else {
        return Err("has a weight of other than two dimensions".to_owned());
    };
    let row = gathered(call, call.tensor(1)?, axes, (rows, false))?;
    map(source, vec![row, within])
}

/// `(self, dim, index)`: along a dimension the position that the index has at a place of its own.
fn along_dim(call: &NodeCall<'_>, place: impl Fn(&[Index], usize) -> Vec<Index>) -> Found {
    let (source, shape, mut coordinates) = call.source()?;
    if !shape.is_empty() {
        let dim = call.dim(1, shape.len())?;
        let place = place(&coordinates, dim);
        coordinates[dim] = gathered(call, call.tensor(2)?, place, (shape[dim], false))?;
    }
    map(source, coordinates)
}

/// `(self, indices)`: a tensor of indices for each dimension, or none where all of it is taken. The indices are broadcast;
/// their dimensions stand where the first of them stands, or before all others if a dimension between is taken whole.
fn index(call: &NodeCall<'_>) -> Found {
    let (source, shape, axes) = call.source()?;
    let indices: Vec<Option<ValueId>> = match call.args.get(1) {
        Some(Arg::OptionalValues(indices)) => indices.clone(),
        Some(Arg::Values(indices)) => indices.iter().copied().map(Some).collect(),
        _ => return Err("has no list of indices".to_owned()),
    };
    let given: Vec<usize> = (0..indices.len()).filter(|&dim| indices[dim].is_some()).collect();
    let (&[first, ..], &[.., last]) = (&given[..], &given[..]) else { return Err("has no indices".to_owned()) };
    let rank = (axes.len() + given.len()).checked_sub(shape.len()).ok_or("has a result of too few dimensions")?;
    let start = if last + 1 - first == given.len() { first } else { 0 };
    let extents = call.result()?.shape.get(start..start + rank).ok_or("has a result of too few dimensions")?;
    let mut whole = axes[..start].iter().chain(&axes[start + rank..]);
    let mut coordinates = Vec::new();
    for (dim, &extent) in shape.iter().enumerate() {
        coordinates.push(match indices.get(dim).copied().flatten() {
            None => whole.next().cloned().ok_or("has a result of too few dimensions")?,
            Some(tensor) => {
                let place = broadcast(call.shape(tensor), extents).ok_or("has indices of another shape")?;
                let place = place.iter().map(|index| index.within(&axes[start..start + rank])).collect();
                gathered(call, tensor, place, (extent, true))?
            }
        });
    }
    map(source, coordinates)
}
