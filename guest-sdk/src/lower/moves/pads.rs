//! A tensor with something around it, or put over another one.

use super::maps::map;
use super::{Move, Otherwise, literal};
use crate::index::Index;
use crate::lower::call::Uncovered;
use crate::lower::footprint::IndexGuard;
use crate::lower::node_call::NodeCall;
use crate::lower::rule::{Found, Recipe, Rule};
use crate::view::{self, View};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::found("aten::constant_pad_nd", &[""], |call| constant(call, 2)),
    Rule::found("aten::pad", &[""], |call| match call.args.text(2) {
        Some("constant") => constant(call, 3),
        Some("reflect") => repeated(call, reflected),
        Some("replicate") => repeated(call, nearest),
        Some("circular") => repeated(call, |at, extent| at.rem(extent)),
        mode => Err(format!("has the mode {mode:?}")),
    }),
    Rule::found("aten::reflection_pad1d", &[""], |call| repeated(call, reflected)),
    Rule::found("aten::reflection_pad2d", &[""], |call| repeated(call, reflected)),
    Rule::found("aten::reflection_pad3d", &[""], |call| repeated(call, reflected)),
    Rule::found("aten::replication_pad1d", &[""], |call| repeated(call, nearest)),
    Rule::found("aten::replication_pad2d", &[""], |call| repeated(call, nearest)),
    Rule::found("aten::replication_pad3d", &[""], |call| repeated(call, nearest)),
    Rule::found("aten::im2col", &[""], im2col),
    Rule::found("aten::diag_embed", &[""], |call| {
        let rank = call.result()?.rank();
        embedded(call, [call.dim(2, rank)?, call.dim(3, rank)?])
    }),
    Rule::found("aten::diag", &[""], diag),
    Rule::found("aten::slice_scatter", &[""], slice_scatter),
    Rule::found("aten::select_scatter", &[""], select_scatter),
];

/// The place in the source, where the amounts before each of the last dimensions are taken off.
fn shifted(call: &NodeCall<'_>) -> Result<View, Uncovered> {
    let (source, _, mut coordinates) = call.source()?;
    // Pairs of before and after, from the last dimension on.
    for (coordinate, amounts) in coordinates.iter_mut().rev().zip(call.ints(1)?.chunks(2)) {
        *coordinate = coordinate.shifted(-amounts[0]);
    }
    Ok(View { source, coordinates })
}

/// An element of a view, or a number where the view lies outside or a guard does not hold.
fn filled(call: &NodeCall<'_>, view: View, guard: IndexGuard, number: f64) -> Found {
    let otherwise = Otherwise::Constant(literal(call.result()?.dtype, number));
    Ok(Recipe::Move(Move::Guarded { view, guard, otherwise }))
}

/// A number around it, which an argument names.
fn constant(call: &NodeCall<'_>, place: usize) -> Found {
    filled(call, shifted(call)?, vec![], call.args.number(place).unwrap_or(0.0))
}

/// What lies outside is an element inside.
fn repeated(call: &NodeCall<'_>, inside: fn(&Index, i64) -> Index) -> Found {
    let View { source, mut coordinates } = shifted(call)?;
    for (coordinate, &extent) in coordinates.iter_mut().zip(call.shape(source)) {
        if !coordinate.lies_within(extent) {
            *coordinate = inside(coordinate, extent);
        }
    }
    map(source, coordinates)
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
fn im2col(call: &NodeCall<'_>) -> Found {
    let (source, shape, axes) = call.source()?;
    let (size, dilation) = (call.each(1, 2)?, call.each(2, 2)?);
    let (padding, stride) = (call.each(3, 2)?, call.each(4, 2)?);
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
    filled(call, View { source, coordinates }, vec![], 0.0)
}

/// The last dimension laid along a diagonal of two dimensions of the result, and zeros elsewhere.
fn embedded(call: &NodeCall<'_>, [first, second]: [usize; 2]) -> Found {
    let (source, _, axes) = call.source()?;
    let (offset, row, column) = (call.int(1)?, &axes[first], &axes[second]);
    let kept = (0..axes.len()).filter(|&dim| dim != first && dim != second);
    let mut coordinates: Vec<Index> = kept.map(|dim| axes[dim].clone()).collect();
    // Above the main diagonal it starts at the first row, below at the first column.
    coordinates.push(if offset >= 0 { row.clone() } else { column.clone() });
    let guard = vec![(column.plus(&row.times(-1)).shifted(-offset), 1)];
    filled(call, View { source, coordinates }, guard, 0.0)
}

/// `(self, diagonal)`: a vector as a diagonal between zeros, or the diagonal of a matrix.
fn diag(call: &NodeCall<'_>) -> Found {
    let (source, shape, axes) = call.source()?;
    let offset = call.int(1)?;
    match (shape, &axes[..]) {
        ([_, _], [along]) => map(source, vec![along.shifted((-offset).max(0)), along.shifted(offset.max(0))]),
        ([_], [_, _]) => embedded(call, [0, 1]),
        _ => Err("is of neither a vector nor a matrix".to_owned()),
    }
}

/// The second tensor at some coordinates, and the first where the coordinates lie outside or a guard does not hold.
fn scattered(call: &NodeCall<'_>, coordinates: Vec<Index>, guard: (Index, i64)) -> Found {
    let view = View { source: call.tensor(1)?, coordinates };
    let (source, _, coordinates) = call.source()?;
    let otherwise = Otherwise::Element(View { source, coordinates });
    Ok(Recipe::Move(Move::Guarded { view, guard: vec![guard], otherwise }))
}

/// `(self, src, dim, start, end, step)`.
fn slice_scatter(call: &NodeCall<'_>) -> Found {
    let (_, shape, mut coordinates) = call.source()?;
    let dim = call.dim(2, shape.len())?;
    let start = view::slice_start(call.args.int(3), shape[dim]);
    let step = call.int(5)?.max(1);
    let from_start = coordinates[dim].shifted(-start);
    coordinates[dim] = from_start.div(step);
    scattered(call, coordinates, (from_start.rem(step), 1))
}

/// `(self, src, dim, index)`.
fn select_scatter(call: &NodeCall<'_>) -> Found {
    let (_, shape, mut coordinates) = call.source()?;
    let dim = call.dim(2, shape.len())?;
    let index = call.int(3)?;
    let index = if index < 0 { index + shape[dim] } else { index };
    let at = coordinates.remove(dim).shifted(-index);
    scattered(call, coordinates, (at, 1))
}
