//! Rearrangements of one tensor: every element of the result is one of its elements.

use super::Move;
use crate::index::Index;
use crate::lower::node_call::NodeCall;
use crate::lower::rule::{Found, Recipe, Rule};
use crate::view::{self, View};
use passhost_ir::ValueId;
use passhost_ir::dims::wrap;

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::found("aten::roll", &[""], roll),
    Rule::found("aten::flip", &[""], flip),
    Rule::found("aten::repeat", &[""], repeat),
    Rule::found("aten::tile", &[""], repeat),
    Rule::found("aten::repeat_interleave", &["self_int", "self_Tensor"], repeat_interleave)
        .only("with a number of repeats"),
    Rule::found("aten::reshape", &[""], regroup),
    Rule::found("aten::reshape_as", &[""], regroup),
    Rule::found("aten::ravel", &[""], regroup),
    Rule::found("aten::flatten", &["using_ints"], regroup),
    Rule::found("aten::pixel_shuffle", &[""], pixel_shuffle),
    Rule::found("aten::pixel_unshuffle", &[""], pixel_unshuffle),
    Rule::found("aten::channel_shuffle", &[""], channel_shuffle),
];

/// An element of one tensor.
pub(in crate::lower) fn map(source: ValueId, coordinates: Vec<Index>) -> Found {
    Ok(Recipe::Move(Move::Map(View { source, coordinates })))
}

/// An index shifted around a dimension.
fn rolled(at: &Index, shift: i64, extent: i64) -> Index {
    at.shifted((-shift).rem_euclid(extent)).rem(extent)
}

/// Shifts along dimensions, or along the flattened tensor where none are given.
fn roll(call: &NodeCall<'_>) -> Found {
    let (source, shape, mut coordinates) = call.source()?;
    let (shifts, dims) = (call.ints(1)?, call.ints(2)?);
    if passhost_ir::numel(shape) == 0 {
        return map(source, coordinates);
    }
    if dims.is_empty() {
        let &[shift] = shifts else { return Err("has no single shift of the flattened tensor".to_owned()) };
        let count = shape.iter().product();
        return map(source, rolled(&Index::ravel(&coordinates, shape), shift, count).unravel(shape));
    }
    for (&dim, &shift) in dims.iter().zip(shifts) {
        let dim = wrap(dim, shape.len()).ok_or("rolls a dimension that is not there")?;
        coordinates[dim] = rolled(&coordinates[dim], shift, shape[dim]);
    }
    map(source, coordinates)
}

fn flip(call: &NodeCall<'_>) -> Found {
    let (source, shape, mut coordinates) = call.source()?;
    for &dim in call.ints(1)? {
        let dim = wrap(dim, shape.len()).ok_or("flips a dimension that is not there")?;
        coordinates[dim] = coordinates[dim].times(-1).shifted(shape[dim] - 1);
    }
    map(source, coordinates)
}

fn repeat(call: &NodeCall<'_>) -> Found {
    let (source, shape, axes) = call.source()?;
    let missing = axes.len().checked_sub(shape.len()).ok_or("has a result of too few dimensions")?;
    map(source, shape.iter().zip(&axes[missing..]).map(|(&extent, axis)| axis.rem(extent.max(1))).collect())
}

/// Each element several times, along a dimension or of the flattened tensor.
fn repeat_interleave(call: &NodeCall<'_>) -> Found {
    let (source, shape, mut coordinates) = call.source()?;
    let count = call.int(1)?.max(1);
    if call.args.int(2).is_none() {
        return map(source, coordinates.first().map_or(vec![], |at| at.div(count).unravel(shape)));
    }
    let dim = call.dim(2, shape.len())?;
    coordinates[dim] = coordinates[dim].div(count);
    map(source, coordinates)
}

fn regroup(call: &NodeCall<'_>) -> Found {
    let (from, to) = call.shapes()?;
    map(call.tensor(0)?, view::regroup(from, to).ok_or("has a result of another size")?)
}

/// From `[.., C * r * r, H, W]` to `[.., C, H * r, W * r]`.
fn pixel_shuffle(call: &NodeCall<'_>) -> Found {
    let (source, _, mut place) = call.source()?;
    let r = call.int(1)?;
    if let [.., c, h, w] = &mut place[..] {
        *c = c.times(r * r).plus(&h.rem(r).times(r)).plus(&w.rem(r));
        (*h, *w) = (h.div(r), w.div(r));
    }
    map(source, place)
}

/// From `[.., C, H * r, W * r]` to `[.., C * r * r, H, W]`.
fn pixel_unshuffle(call: &NodeCall<'_>) -> Found {
    let (source, _, mut place) = call.source()?;
    let r = call.int(1)?;
    if let [.., c, h, w] = &mut place[..] {
        *h = h.times(r).plus(&c.div(r).rem(r));
        *w = w.times(r).plus(&c.rem(r));
        *c = c.div(r * r);
    }
    map(source, place)
}

/// Channels `[N, groups * C, ..]`, counted with the group as the faster digit.
fn channel_shuffle(call: &NodeCall<'_>) -> Found {
    let (source, shape, mut place) = call.source()?;
    let (groups, channels) = (call.int(1)?.max(1), *shape.get(1).ok_or("has no dimension of channels")?);
    place[1] = place[1].rem(groups).times(channels / groups).plus(&place[1].div(groups));
    map(source, place)
}
