//! A tensor with something around it, or put over another one.

use super::{IndexGuard, Move, MoveCall, MoveOp, Otherwise, literal};
use crate::index::Index;
use crate::lower::call::Uncovered;
use crate::view::{self, View};
use passhost_ir::ValueId;
use passhost_ir::dims::wrap;

pub(super) const OPS: &[MoveOp] = &[
    MoveOp::new("aten::constant_pad_nd", |site| constant(site, site.args.number(2).unwrap_or(0.0))),
    MoveOp::new("aten::pad", pad),
    MoveOp::new("aten::reflection_pad1d", |site| repeated(site, reflected)),
    MoveOp::new("aten::reflection_pad2d", |site| repeated(site, reflected)),
    MoveOp::new("aten::reflection_pad3d", |site| repeated(site, reflected)),
    MoveOp::new("aten::replication_pad1d", |site| repeated(site, nearest)),
    MoveOp::new("aten::replication_pad2d", |site| repeated(site, nearest)),
    MoveOp::new("aten::replication_pad3d", |site| repeated(site, nearest)),
    MoveOp::new("aten::im2col", im2col),
    MoveOp::new("aten::diag_embed", |site| embedded(site, site.int(1)?, site.int(2)?, site.int(3)?)),
    MoveOp::new("aten::diag", diag),
    MoveOp::new("aten::slice_scatter", slice_scatter),
    MoveOp::new("aten::select_scatter", select_scatter),
    MoveOp::new("aten::diagonal_scatter", diagonal_scatter),
];

fn pad(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    match site.args.text(2) {
        Some("constant") => constant(site, site.args.number(3).unwrap_or(0.0)),
        Some("reflect") => repeated(site, reflected),
        Some("replicate") => repeated(site, nearest),
        Some("circular") => repeated(site, |at, extent| at.rem(extent)),
        mode => Err(format!("has the mode {mode:?}")),
    }
}

/// The place in the source, where the amounts before each of the last dimensions are taken off.
fn shifted(site: &MoveCall<'_>) -> Result<View, Uncovered> {
    let (source, _, mut coordinates) = site.source()?;
    // Pairs of before and after, from the last dimension on.
    for (coordinate, amounts) in coordinates.iter_mut().rev().zip(site.ints(1)?.chunks(2)) {
        *coordinate = coordinate.shifted(-amounts[0]);
    }
    Ok(View { source, coordinates })
}

fn constant(site: &MoveCall<'_>, value: f64) -> Result<Move, Uncovered> {
    let otherwise = Otherwise::Constant(literal(site.result.dtype, value));
    Ok(Move::Guarded { view: shifted(site)?, guard: vec![], otherwise })
}

/// What lies outside is an element inside.
fn repeated(site: &MoveCall<'_>, inside: fn(&Index, i64) -> Index) -> Result<Move, Uncovered> {
    let mut view = shifted(site)?;
    let shape = &site.graph.ty(view.source).shape;
    for (coordinate, &extent) in view.coordinates.iter_mut().zip(shape) {
        if !coordinate.lies_within(extent) {
            *coordinate = inside(coordinate, extent);
        }
    }
    Ok(Move::Map(view))
}

fn nearest(at: &Index, extent: i64) -> Index {
    at.clamped(0, extent - 1)
}

/// Back from the first and the last element, which are not repeated: what lies beyond them is taken off twice.
fn reflected(at: &Index, extent: i64) -> Index {
    let inside = at.clamped(0, extent - 1);
    let beyond = at.plus(&inside.times(-1));
    inside.plus(&beyond.times(-1)).clamped(0, extent - 1)
}

/// `(self, kernel_size, dilation, padding, stride)`, from `[.., C, H, W]` to `[.., C * positions in a window, windows]`.
fn im2col(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (source, shape, axes) = site.source()?;
    let each =
        |place: usize| site.args.ints_each(place, 2).ok_or_else(|| format!("has no two numbers as argument {place}"));
    let (size, dilation, padding, stride) = (each(1)?, each(2)?, each(3)?, each(4)?);
    let (&[.., height, width], [batch @ .., rows, windows]) = (shape, &axes[..]) else {
        return Err("is not of an image".to_owned());
    };
    let count = |extent: i64, dim: usize| {
        (extent + 2 * padding[dim] - dilation[dim] * (size[dim] - 1) - 1) / stride[dim].max(1) + 1
    };
    let window = windows.unravel(&[count(height, 0), count(width, 1)]);
    let within = [rows.div(size[1]).rem(size[0]), rows.rem(size[1])];
    let mut coordinates = batch.to_vec();
    coordinates.push(rows.div(size[0] * size[1]));
    for dim in 0..2 {
        let step = within[dim].times(dilation[dim]);
        coordinates.push(window[dim].times(stride[dim]).plus(&step).shifted(-padding[dim]));
    }
    let otherwise = Otherwise::Constant(literal(site.result.dtype, 0.0));
    Ok(Move::Guarded { view: View { source, coordinates }, guard: vec![], otherwise })
}

/// The last dimension of a tensor laid along a diagonal of the result.
fn along_diagonal(
    site: &MoveCall<'_>,
    source: ValueId,
    offset: i64,
    first: i64,
    second: i64,
) -> Result<(View, IndexGuard), Uncovered> {
    let rank = site.result.rank();
    let dim = |dim: i64| wrap(dim, rank).ok_or_else(|| format!("names dimension {dim} of {rank}"));
    let (first, second) = (dim(first)?, dim(second)?);
    let axes = Index::axes(&site.result.shape);
    let (row, column) = (&axes[first], &axes[second]);
    let kept = (0..rank).filter(|&dim| dim != first && dim != second);
    let mut coordinates: Vec<Index> = kept.map(|dim| axes[dim].clone()).collect();
    // Above the main diagonal it starts at the first row, below at the first column.
    coordinates.push(if offset >= 0 { row.clone() } else { column.clone() });
    let guard = vec![(column.plus(&row.times(-1)).shifted(-offset), 1)];
    Ok((View { source, coordinates }, guard))
}

/// A tensor along a diagonal, and zeros elsewhere.
fn embedded(site: &MoveCall<'_>, offset: i64, first: i64, second: i64) -> Result<Move, Uncovered> {
    let (view, guard) = along_diagonal(site, site.tensor(0)?, offset, first, second)?;
    Ok(Move::Guarded { view, guard, otherwise: Otherwise::Constant(literal(site.result.dtype, 0.0)) })
}

/// `(self, diagonal)`: a vector as a diagonal, or the diagonal of a matrix.
fn diag(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (source, shape, axes) = site.source()?;
    let offset = site.int(1)?;
    let [along] = &axes[..] else { return embedded(site, offset, 0, 1) };
    if shape.len() != 2 {
        return Err("is of neither a vector nor a matrix".to_owned());
    }
    let coordinates = vec![along.shifted((-offset).max(0)), along.shifted(offset.max(0))];
    Ok(Move::Map(View { source, coordinates }))
}

/// The first tensor, where nothing is put over it.
fn base(site: &MoveCall<'_>) -> Result<Otherwise, Uncovered> {
    let (source, _, coordinates) = site.source()?;
    Ok(Otherwise::Element(View { source, coordinates }))
}

/// `(self, src, dim, start, end, step)`.
fn slice_scatter(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, shape, mut coordinates) = site.source()?;
    let dim = site.dim(2, shape.len())?;
    let start = view::slice_start(site.args.int(3), shape[dim]);
    let step = site.int(5)?.max(1);
    let from_start = coordinates[dim].shifted(-start);
    coordinates[dim] = from_start.div(step);
    let guard = vec![(from_start.rem(step), 1)];
    Ok(Move::Guarded { view: View { source: site.tensor(1)?, coordinates }, guard, otherwise: base(site)? })
}

/// `(self, src, dim, index)`.
fn select_scatter(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, shape, mut coordinates) = site.source()?;
    let dim = site.dim(2, shape.len())?;
    let index = site.int(3)?;
    let index = if index < 0 { index + shape[dim] } else { index };
    let guard = vec![(coordinates.remove(dim).shifted(-index), 1)];
    Ok(Move::Guarded { view: View { source: site.tensor(1)?, coordinates }, guard, otherwise: base(site)? })
}

/// `(self, src, offset, dim1, dim2)`.
fn diagonal_scatter(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (view, guard) = along_diagonal(site, site.tensor(1)?, site.int(2)?, site.int(3)?, site.int(4)?)?;
    Ok(Move::Guarded { view, guard, otherwise: base(site)? })
}
