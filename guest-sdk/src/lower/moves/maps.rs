//! Rearrangements of one tensor: every element of the result is one of its elements.

use super::{Move, MoveCall, MoveOp, Only};
use crate::index::Index;
use crate::lower::call::Uncovered;
use crate::view::{self, View};
use passhost_ir::dims::wrap;

pub(super) const OPS: &[MoveOp] = &[
    MoveOp::new("aten::roll", roll),
    MoveOp::new("aten::fft_fftshift", |site| half_rolled(site, |extent| extent / 2)),
    MoveOp::new("aten::fft_ifftshift", |site| half_rolled(site, |extent| (extent + 1) / 2)),
    MoveOp::new("aten::flip", |site| flipped(site, site.ints(1)?)),
    MoveOp::new("aten::fliplr", |site| flipped(site, &[1])),
    MoveOp::new("aten::flipud", |site| flipped(site, &[0])),
    MoveOp::new("aten::rot90", rot90),
    MoveOp::new("aten::repeat", repeat),
    MoveOp::new("aten::tile", repeat),
    MoveOp {
        only: Only::calls("with a number of repeats"),
        ..MoveOp::of("aten::repeat_interleave", &["self_int"], repeat_interleave)
    },
    MoveOp::new("aten::reshape", regroup),
    MoveOp::new("aten::reshape_as", regroup),
    MoveOp::new("aten::ravel", regroup),
    MoveOp::of("aten::flatten", &["using_ints"], regroup),
    MoveOp::new("aten::pixel_shuffle", pixel_shuffle),
    MoveOp::new("aten::pixel_unshuffle", pixel_unshuffle),
    MoveOp::new("aten::channel_shuffle", channel_shuffle),
];

fn map(site: &MoveCall<'_>, coordinates: Vec<Index>) -> Result<Move, Uncovered> {
    Ok(Move::Map(View { source: site.tensor(0)?, coordinates }))
}

/// An index shifted around a dimension.
fn rolled(at: &Index, shift: i64, extent: i64) -> Index {
    at.shifted((-shift).rem_euclid(extent)).rem(extent)
}

/// Shifts along dimensions, or along the flattened tensor where none are given.
fn roll(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, shape, mut coordinates) = site.source()?;
    let (shifts, dims) = (site.ints(1)?, site.ints(2)?);
    if passhost_ir::numel(shape) == 0 {
        return map(site, coordinates);
    }
    if dims.is_empty() {
        let &[shift] = shifts else { return Err("has no single shift of the flattened tensor".to_owned()) };
        let count = shape.iter().product();
        return map(site, rolled(&Index::ravel(&coordinates, shape), shift, count).unravel(shape));
    }
    for (&dim, &shift) in dims.iter().zip(shifts) {
        let dim = wrap(dim, shape.len()).ok_or("rolls a dimension that is not there")?;
        coordinates[dim] = rolled(&coordinates[dim], shift, shape[dim]);
    }
    map(site, coordinates)
}

/// Some dimensions rolled, or all, each by a part of its extent.
fn half_rolled(site: &MoveCall<'_>, shift: fn(i64) -> i64) -> Result<Move, Uncovered> {
    let (_, shape, mut coordinates) = site.source()?;
    let all: Vec<i64> = (0..shape.len() as i64).collect();
    for &dim in site.args.ints(1).unwrap_or(&all) {
        let dim = wrap(dim, shape.len()).ok_or("rolls a dimension that is not there")?;
        coordinates[dim] = rolled(&coordinates[dim], shift(shape[dim]), shape[dim].max(1));
    }
    map(site, coordinates)
}

fn reversed(at: &Index, extent: i64) -> Index {
    at.times(-1).shifted(extent - 1)
}

fn flipped(site: &MoveCall<'_>, dims: &[i64]) -> Result<Move, Uncovered> {
    let (_, shape, mut coordinates) = site.source()?;
    for &dim in dims {
        let dim = wrap(dim, shape.len()).ok_or("flips a dimension that is not there")?;
        coordinates[dim] = reversed(&coordinates[dim], shape[dim]);
    }
    map(site, coordinates)
}

/// A number of quarter turns from the first of two dimensions to the second.
fn rot90(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, shape, mut coordinates) = site.source()?;
    let &[first, second] = site.ints(2)? else { return Err("has no two dimensions".to_owned()) };
    let (first, second) =
        wrap(first, shape.len()).zip(wrap(second, shape.len())).ok_or("turns a dimension that is not there")?;
    let (row, column) = (coordinates[first].clone(), coordinates[second].clone());
    (coordinates[first], coordinates[second]) = match site.int(1)?.rem_euclid(4) {
        0 => (row, column),
        1 => (column, reversed(&row, shape[second])),
        2 => (reversed(&row, shape[first]), reversed(&column, shape[second])),
        _ => (reversed(&column, shape[first]), row),
    };
    map(site, coordinates)
}

fn repeat(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, shape, axes) = site.source()?;
    let missing = axes.len().checked_sub(shape.len()).ok_or("has a result of too few dimensions")?;
    map(site, shape.iter().zip(&axes[missing..]).map(|(&extent, axis)| axis.rem(extent.max(1))).collect())
}

/// Each element several times, along a dimension or of the flattened tensor.
fn repeat_interleave(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, shape, mut coordinates) = site.source()?;
    let count = site.int(1)?.max(1);
    if site.args.int(2).is_none() {
        return map(site, coordinates.first().map_or(vec![], |at| at.div(count).unravel(shape)));
    }
    let dim = site.dim(2, shape.len())?;
    coordinates[dim] = coordinates[dim].div(count);
    map(site, coordinates)
}

fn regroup(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, shape, _) = site.source()?;
    map(site, view::regroup(shape, &site.result.shape).ok_or("has a result of another size")?)
}

/// From `[.., C * r * r, H, W]` to `[.., C, H * r, W * r]`.
fn pixel_shuffle(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, _, mut place) = site.source()?;
    let r = site.int(1)?;
    if let [.., c, h, w] = &mut place[..] {
        *c = c.times(r * r).plus(&h.rem(r).times(r)).plus(&w.rem(r));
        (*h, *w) = (h.div(r), w.div(r));
    }
    map(site, place)
}

/// From `[.., C, H * r, W * r]` to `[.., C * r * r, H, W]`.
fn pixel_unshuffle(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, _, mut place) = site.source()?;
    let r = site.int(1)?;
    if let [.., c, h, w] = &mut place[..] {
        *h = h.times(r).plus(&c.div(r).rem(r));
        *w = w.times(r).plus(&c.rem(r));
        *c = c.div(r * r);
    }
    map(site, place)
}

/// Channels `[N, groups * C, ..]`, counted with the group as the faster digit.
fn channel_shuffle(site: &MoveCall<'_>) -> Result<Move, Uncovered> {
    let (_, shape, mut place) = site.source()?;
    let (groups, channels) = (site.int(1)?.max(1), *shape.get(1).ok_or("has no dimension of channels")?);
    place[1] = place[1].rem(groups).times(channels / groups).plus(&place[1].div(groups));
    map(site, place)
}
