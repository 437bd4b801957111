//! Pools: reductions over windows of the last dimensions.

use crate::index::Index;
use crate::lower::call::{Emitted, OpCall, Uncovered};
use crate::lower::footprint::Footprint;
use crate::lower::node_call::NodeCall;
use crate::lower::rule::Rule;
use passhost_ir::NodeKind;
use passhost_ir::kernel::ReduceOp;

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::over(averages, "aten::avg_pool1d", &[""], average),
    Rule::over(averages, "aten::avg_pool2d", &[""], average),
    Rule::over(averages, "aten::avg_pool3d", &[""], average),
    Rule::over(adaptive_averages, "aten::adaptive_avg_pool1d", &[""], average),
    Rule::over(adaptive_averages, "aten::adaptive_avg_pool2d", &[""], average),
    Rule::over(adaptive_averages, "aten::adaptive_avg_pool3d", &[""], average),
    Rule::over(maxima, "aten::max_pool1d", &[""], largest),
    Rule::over(maxima, "aten::max_pool2d", &[""], largest),
    Rule::over(maxima, "aten::max_pool3d", &[""], largest),
    Rule::over(maxima, "aten::max_pool2d_with_indices", &[""], largest).only(UNREAD),
    Rule::over(maxima, "aten::max_pool3d_with_indices", &[""], largest).only(UNREAD),
    Rule::over(adaptive_maxima, "aten::adaptive_max_pool1d", &[""], largest).only(UNREAD),
    Rule::over(adaptive_maxima, "aten::adaptive_max_pool2d", &[""], largest).only(UNREAD),
    Rule::over(adaptive_maxima, "aten::adaptive_max_pool3d", &[""], largest).only(UNREAD),
    Rule::over(columns, "aten::col2im", &[""], |c| c.fold(ReduceOp::Sum, |x| c.widened(x, c.result))),
];

/// Of ops that give positions as well.
const UNREAD: &str = "where nothing reads the positions";

/// How windows lie along the last dimensions, one entry for each.
struct PoolWindows {
    size: Vec<i64>,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
}

impl PoolWindows {
    /// The footprint of windows over a tensor of shape `from`, where the result has the shape `to`.
    fn over(&self, from: &[i64], to: &[i64], outside: f64) -> Result<Footprint, Uncovered> {
        let first = windowed(from, to, self.size.len())?;
        let axes = Index::axes(&[to, &self.size[..]].concat());
        let mut at = axes[..to.len()].to_vec();
        for (axis, place) in at[first..].iter_mut().enumerate() {
            let within = axes[to.len() + axis].times(self.dilation[axis]);
            *place = place.times(self.stride[axis]).plus(&within).shifted(-self.padding[axis]);
        }
        Ok(sliding(from, to, self.size.clone(), at, outside))
    }

    /// For each dimension how many positions of a window lie from `-margin` to below `extent + margin`.
    fn counts(&self, from: &[i64], to: &[i64], margin: &[i64]) -> Vec<Index> {
        let first = from.len() - self.size.len();
        let count = |(axis, &margin): (usize, &i64)| {
            let dim = first + axis;
            let start = Index::axis(dim, to[dim]).times(self.stride[axis]).shifted(-self.padding[axis]);
            let inside = |at: Index| at.clamped(-margin, from[dim] + margin);
            inside(start.shifted(self.size[axis])).plus(&inside(start).times(-1))
        };
        margin.iter().enumerate().map(count).collect()
    }
}

/// Over how many dimensions an op pools, as its name says.
fn pooled_dims(call: &NodeCall<'_>) -> usize {
    let NodeKind::Aten { op, .. } = &call.node.kind else { return 0 };
    op.name.bytes().find(u8::is_ascii_digit).map_or(0, |digit| usize::from(digit - b'0'))
}

/// The first of the last `count` dimensions, over which windows lie.
fn windowed(from: &[i64], to: &[i64], count: usize) -> Result<usize, Uncovered> {
    let first = from.len().checked_sub(count).ok_or("has too few dimensions")?;
    if from.len() == to.len() { Ok(first) } else { Err("has a result of another rank".to_owned()) }
}

/// Windows whose elements lie at `at`, over the dimensions of the result and the window.
fn sliding(from: &[i64], to: &[i64], window: Vec<i64>, at: Vec<Index>, outside: f64) -> Footprint {
    let first = from.len() - window.len().min(from.len());
    let is_inside = at.iter().zip(from).all(|(index, &extent)| index.lies_within(extent));
    Footprint {
        rows: to.to_vec(),
        window,
        at,
        row_of: Index::axes(to),
        outside: (!is_inside).then_some(outside),
        // A single window holds all there is, row by row: a reduction like any other.
        slides: to[first..].iter().any(|&extent| extent > 1),
        ..Footprint::default()
    }
}

/// Extents and distances of windows, which are those of the extents where none are given.
fn sizes_and_strides(call: &NodeCall<'_>, count: usize) -> Result<(Vec<i64>, Vec<i64>), Uncovered> {
    let size = call.each(1, count)?;
    let stride = if call.args.ints(2) == Some(&[]) { size.clone() } else { call.each(2, count)? };
    Ok((size, stride))
}

/// `(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)`.
fn averages(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let (from, to) = call.shapes()?;
    let count = pooled_dims(call);
    let (size, stride) = sizes_and_strides(call, count)?;
    let windows = PoolWindows { size, stride, padding: call.each(3, count)?, dilation: vec![1; count] };
    let footprint = windows.over(from, to, 0.0)?;
    // What lies beyond the padding, where the last window is not whole, never counts.
    let margin = if call.args.bool(5) == Some(false) { vec![0; count] } else { windows.padding.clone() };
    let counts = windows.counts(from, to, &margin);
    let are_whole = counts.iter().zip(&windows.size).all(|(count, &size)| count.range() == (size, size));
    let differ = |(dim, (&stride, &size)): (usize, (&i64, &i64))| {
        let at = from.len() - count + dim;
        let start = -windows.padding[dim];
        start < -margin[dim] || start + (to[at] - 1) * stride + size > from[at] + margin[dim]
    };
    let differ = windows.stride.iter().zip(&windows.size).enumerate().any(differ);
    Ok(Footprint { counts: if differ && !are_whole { counts } else { vec![] }, ..footprint })
}

/// Windows from `i * from / to` to below `(i + 1) * from / to`, rounded down and up.
fn adapts(call: &NodeCall<'_>, outside: f64) -> Result<Footprint, Uncovered> {
    let (from, to) = call.shapes()?;
    let count = pooled_dims(call);
    let first = windowed(from, to, count)?;
    let extents: Vec<(i64, i64)> = from[first..].iter().copied().zip(to[first..].iter().copied()).collect();
    if extents.iter().any(|&(_, to)| to < 1) {
        return Err("has an empty result".to_owned());
    }
    if extents.iter().all(|(from, to)| from % to == 0) {
        let size: Vec<i64> = extents.iter().map(|(from, to)| from / to).collect();
        return PoolWindows { stride: size.clone(), size, padding: vec![0; count], dilation: vec![1; count] }
            .over(from, to, outside);
    }
    let start = |index: i64, (from, to): (i64, i64)| (index * from).div_euclid(to);
    let end = |index: i64, (from, to): (i64, i64)| ((index + 1) * from + to - 1).div_euclid(to);
    let longest = |&extents: &(i64, i64)| (0..extents.1).map(|at| end(at, extents) - start(at, extents)).max();
    let window: Vec<i64> = extents.iter().filter_map(longest).collect();
    let axes = Index::axes(&[to, &window[..]].concat());
    let mut at = axes[..to.len()].to_vec();
    let (mut guard, mut counts) = (Vec::new(), Vec::new());
    for (axis, &(from, to_extent)) in extents.iter().enumerate() {
        let (row, within) = (&axes[first + axis], &axes[to.len() + axis]);
        let start = row.times(from).div(to_extent);
        let end = row.times(from).shifted(from + to_extent - 1).div(to_extent);
        let length = end.plus(&start.times(-1));
        at[first + axis] = start.plus(within);
        // The last position of a shorter window is that of its neighbour.
        if from % to_extent != 0 {
            guard.push((length.plus(&within.times(-1)).shifted(-1), window[axis]));
        }
        counts.push(length);
    }
    let footprint = sliding(from, to, window, at, outside);
    Ok(Footprint { outside: Some(outside), guard, counts, ..footprint })
}

/// `(kernel_size, stride, padding, dilation, ceil_mode)`.
fn maxima(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    values_only(call)?;
    let (from, to) = call.shapes()?;
    let count = pooled_dims(call);
    let (size, stride) = sizes_and_strides(call, count)?;
    let (padding, dilation) = (call.each(3, count)?, call.each(4, count)?);
    PoolWindows { size, stride, padding, dilation }.over(from, to, f64::NEG_INFINITY)
}

fn adaptive_averages(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    adapts(call, 0.0)
}

fn adaptive_maxima(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    values_only(call)?;
    adapts(call, f64::NEG_INFINITY)
}

/// Pools that also say where the largest element was are covered as long as nobody asks.
fn values_only(call: &NodeCall<'_>) -> Result<(), Uncovered> {
    if call.output == 0 { Ok(()) } else { Err("gives positions in the whole tensor".to_owned()) }
}

/// `(self, output_size, kernel_size, dilation, padding, stride)`, from `[.., C * positions in a window, windows]` to
/// `[.., C, H, W]`: for each pixel the sum over the windows that hold it.
fn columns(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let (from, to) = call.shapes()?;
    let (size, dilation) = (call.each(2, 2)?, call.each(3, 2)?);
    let (padding, stride) = (call.each(4, 2)?, call.each(5, 2)?);
    let axes = Index::axes(&[to, &size[..]].concat());
    let (image, within) = axes.split_at(to.len());
    let [batch @ .., channel, row, column] = image else { return Err("has a result that is no image".to_owned()) };
    let mut guard = Vec::new();
    let mut windows = Vec::new();
    let mut counts = Vec::new();
    for (dim, at) in [row, column].into_iter().enumerate() {
        let extent = to[to.len() - 2 + dim];
        let count = (extent + 2 * padding[dim] - dilation[dim] * (size[dim] - 1) - 1) / stride[dim].max(1) + 1;
        let reached = at.shifted(padding[dim]).plus(&within[dim].times(-dilation[dim]));
        guard.push((reached.rem(stride[dim]), 1));
        windows.push(reached.div(stride[dim]));
        guard.push((reached.div(stride[dim]), count));
        counts.push(count);
    }
    let positions = channel.times(size[0] * size[1]).plus(&within[0].times(size[1])).plus(&within[1]);
    let at = [batch, &[positions, Index::ravel(&windows, &counts)]].concat();
    let footprint = sliding(from, to, size, at, 0.0);
    Ok(Footprint { outside: Some(0.0), guard, slides: true, ..footprint })
}

fn average<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let sum = c.fold(ReduceOp::Sum, |x| c.widened(x, c.result))?;
    Ok(match c.number(6) {
        Ok(divisor) => sum / divisor,
        Err(_) => sum / c.counted(sum.dtype())?,
    })
}

fn largest<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    if !c.result.is_float() {
        return Err(format!("works on {}", c.result));
    }
    c.fold(ReduceOp::Max, |x| c.widened(x, c.result))
}
