//! Elements that a tensor of indices names.
//!
//! Eager fails where an index lies outside; a kernel takes the nearest element, so that what it reads is always inside.

use super::{Move, MoveCall, MoveOp};
use crate::index::{Along, Index};
use crate::lower::call::Uncovered;
use crate::view::{View, broadcast};
use passhost_ir::{Arg, Dtype, ValueId};

pub(super) const OPS: &[MoveOp] = &[
    MoveOp::new("aten::embedding", embedding),
    MoveOp::new("aten::index_select", index_select),
    MoveOp::new("aten::gather", gather),
    MoveOp::new("aten::take_along_dim", take_along_dim),
    MoveOp::new("aten::take", take),
    MoveOp::of("aten::index", &["Tensor"], index),
];

/// The index that a tensor has at `place`.
fn gathered(site: &MoveCall<'_>, tensor: ValueId, place: Vec<Index>, along: Along) -> Result<Index, Uncovered> {
    match site.graph.ty(tensor).dtype {
        Dtype::I64 | Dtype::I32 => Ok(Index::gathered(tensor, place, along)),
        dtype => Err(format!("has indices of type {dtype}; i64 and i32 are covered")),
    }
}

/// Along a dimension that eager takes no negative positions of.
fn upwards(extent: i64) -> Along {
    Along { extent, wraps: false }
}

/// Along one from whose end negative positions count.
fn wrapping(extent: i64) -> Along {
    Along { extent, wraps: true }
}

/// `(weight, indices)`: rows of the weight.
fn embedding(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (source, shape, mut axes) = site.source()?;
    let (within, &[rows, _]) = (axes.pop().ok_or("has no dimensions")?, shape) else {
        return Err("has a weight of other than two dimensions".to_owned());
    };
    let row = gathered(site, site.tensor(1)?, axes, upwards(rows))?;
    Ok(Move::Map(View { source, coordinates: vec![row, within] }))
}

/// `(self, dim, index)`: slices along a dimension.
fn index_select(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (source, shape, mut coordinates) = site.source()?;
    let indices = site.tensor(2)?;
    if shape.is_empty() {
        return Ok(Move::Map(View { source, coordinates }));
    }
    let dim = site.dim(1, shape.len())?;
    let place = coordinates[dim..=dim].iter().take(site.graph.ty(indices).rank()).cloned().collect();
    coordinates[dim] = gathered(site, indices, place, upwards(shape[dim]))?;
    Ok(Move::Map(View { source, coordinates }))
}

/// `(self, dim, index)`: one element for each index.
fn gather(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (source, shape, mut coordinates) = site.source()?;
    if shape.is_empty() {
        return Ok(Move::Map(View { source, coordinates }));
    }
    let dim = site.dim(1, shape.len())?;
    let place = coordinates.clone();
    coordinates[dim] = gathered(site, site.tensor(2)?, place, upwards(shape[dim]))?;
    Ok(Move::Map(View { source, coordinates }))
}

/// `(self, indices, dim)`: the same, with both broadcast in the other dimensions; flattened without a dimension.
fn take_along_dim(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, shape, axes) = site.source()?;
    if site.args.int(2).is_none() {
        return take(site);
    }
    let dim = site.dim(2, shape.len())?;
    let (source, indices) = (site.tensor(0)?, site.tensor(1)?);
    let stretched = |extents: &[i64]| -> Vec<Index> {
        extents
            .iter()
            .zip(&axes)
            .map(|(&extent, axis)| if extent == 1 { Index::constant(0) } else { axis.clone() })
            .collect()
    };
    let mut coordinates = stretched(shape);
    let place = stretched(&site.graph.ty(indices).shape);
    coordinates[dim] = gathered(site, indices, place, wrapping(shape[dim]))?;
    Ok(Move::Map(View { source, coordinates }))
}

/// `(self, index)`: elements of the flattened tensor.
fn take(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (source, shape, axes) = site.source()?;
    let indices = site.tensor(1)?;
    // Without a dimension, the indices of `take_along_dim` are flattened as well.
    let place = match (&axes[..], &site.graph.ty(indices).shape[..]) {
        ([axis], own) if own.len() != 1 => axis.unravel(own),
        _ => axes,
    };
    let position = gathered(site, indices, place, wrapping(shape.iter().product()))?;
    Ok(Move::Map(View { source, coordinates: position.unravel(shape) }))
}

/// `(self, indices)`: a tensor of indices for each dimension, or none where all of it is taken. The indices are broadcast;
/// their dimensions stand where the first of them stands, or before all others if a dimension between is taken whole.
fn index(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (source, shape, axes) = site.source()?;
    let indices: Vec<Option<ValueId>> = match site.args.get(1) {
        Some(Arg::OptionalValues(indices)) => indices.clone(),
        Some(Arg::Values(indices)) => indices.iter().copied().map(Some).collect(),
        _ => return Err("has no list of indices".to_owned()),
    };
    let given: Vec<usize> = (0..indices.len()).filter(|&dim| indices[dim].is_some()).collect();
    let (&[first, ..], &[.., last]) = (&given[..], &given[..]) else { return Err("has no indices".to_owned()) };
    let rank = (axes.len() + given.len()).checked_sub(shape.len()).ok_or("has a result of too few dimensions")?;
    let start = if last + 1 - first == given.len() { first } else { 0 };
    let extents = site.result.shape.get(start..start + rank).ok_or("has a result of too few dimensions")?;
    let mut whole = axes[..start].iter().chain(&axes[start + rank..]);
    let mut coordinates = Vec::new();
    for (dim, &extent) in shape.iter().enumerate() {
        coordinates.push(match indices.get(dim).copied().flatten() {
            None => whole.next().cloned().ok_or("has a result of too few dimensions")?,
            Some(tensor) => {
                let place = broadcast(&site.graph.ty(tensor).shape, extents).ok_or("has indices of another shape")?;
                let place = place.iter().map(|index| index.within(&axes[start..start + rank])).collect();
                gathered(site, tensor, place, wrapping(extent))?
            }
        });
    }
    Ok(Move::Map(View { source, coordinates }))
}
