//! Pools: reductions over windows of the last dimensions.

use super::super::call::{Call, Emitted, Uncovered};
use super::Rule;
use super::reduction::{Footprint, arguments, mean, shapes};
use crate::args::Args;
use crate::index::Index;
use passhost_ir::kernel::ReduceOp;
use passhost_ir::{Graph, Node};

pub(super) const RULES: &[Rule] = &[
    Rule::over(|graph, node, output| averages(graph, node, output, 1), "aten::avg_pool1d", &[""], mean),
    Rule::over(|graph, node, output| averages(graph, node, output, 2), "aten::avg_pool2d", &[""], average),
    Rule::over(|graph, node, output| averages(graph, node, output, 3), "aten::avg_pool3d", &[""], average),
    Rule::over(|graph, node, output| adapts(graph, node, output, 1), "aten::adaptive_avg_pool1d", &[""], mean),
    Rule::over(|graph, node, output| adapts(graph, node, output, 2), "aten::adaptive_avg_pool2d", &[""], mean),
    Rule::over(|graph, node, output| adapts(graph, node, output, 3), "aten::adaptive_avg_pool3d", &[""], mean),
    Rule::over(|graph, node, output| maxima(graph, node, output, 1), "aten::max_pool1d", &[""], largest),
    Rule::over(|graph, node, output| maxima(graph, node, output, 2), "aten::max_pool2d", &[""], largest),
    Rule::over(|graph, node, output| maxima(graph, node, output, 3), "aten::max_pool3d", &[""], largest),
];

/// How windows lie along the last dimensions, one entry for each.
struct Windows {
    size: Vec<i64>,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
}

impl Windows {
    /// The footprint of windows over a tensor of shape `from`, where the result has the shape `to`.
    fn over(&self, from: &[i64], to: &[i64], outside: f64) -> Result<Footprint, Uncovered> {
        let first = from.len().checked_sub(self.size.len()).ok_or("has too few dimensions")?;
        if from.len() != to.len() {
            return Err("has a result of another rank".to_owned());
        }
        let axes = Index::axes(&[to, &self.size[..]].concat());
        let mut at = axes[..to.len()].to_vec();
        for (axis, place) in at[first..].iter_mut().enumerate() {
            let dim = first + axis;
            let reach = (to[dim] - 1) * self.stride[axis] + (self.size[axis] - 1) * self.dilation[axis];
            if reach >= from[dim] + 2 * self.padding[axis] {
                return Err("has windows that reach beyond the padding".to_owned());
            }
            let within = axes[to.len() + axis].times(self.dilation[axis]);
            *place = place.times(self.stride[axis]).plus(&within).shifted(-self.padding[axis]);
        }
        let is_inside = at.iter().zip(from).all(|(index, &extent)| index.lies_within(extent));
        Ok(Footprint {
            rows: to.to_vec(),
            window: self.size.clone(),
            at,
            row_of: Index::axes(to),
            elementwise: false,
            outside: (!is_inside).then_some(outside),
            // A single window holds all there is, row by row: a reduction like any other.
            slides: to[first..].iter().any(|&extent| extent > 1),
        })
    }
}

/// One number per dimension: the list, one number for all, or `default` where it is empty.
fn spread(args: Args<'_>, place: usize, count: usize, default: &[i64]) -> Result<Vec<i64>, Uncovered> {
    match args.ints(place) {
        Some(&[one]) => Ok(vec![one; count]),
        Some([]) => Ok(default.to_vec()),
        Some(list) if list.len() == count => Ok(list.to_vec()),
        _ => Err(format!("has no {count} numbers as argument {place}")),
    }
}

/// `(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)`.
fn averages(graph: &Graph, node: &Node, output: usize, count: usize) -> Result<Footprint, Uncovered> {
    let (from, to) = shapes(graph, node, output)?;
    let args = arguments(node);
    let size = spread(args, 1, count, &[])?;
    let stride = spread(args, 2, count, &size)?;
    let padding = spread(args, 3, count, &[])?;
    if padding.iter().any(|&amount| amount != 0) && args.bool(5) != Some(true) {
        return Err("does not count its padding".to_owned());
    }
    let dilation = vec![1; count];
    Windows { size, stride, padding, dilation }.over(from, to, 0.0)
}

fn adapts(graph: &Graph, node: &Node, output: usize, count: usize) -> Result<Footprint, Uncovered> {
    let (from, to) = shapes(graph, node, output)?;
    let first = from.len().checked_sub(count).ok_or("has too few dimensions")?;
    let extents = || from[first..].iter().zip(&to[first..]);
    if extents().any(|(from, to)| *to < 1 || from % to != 0) {
        return Err("has windows of different sizes".to_owned());
    }
    let size: Vec<i64> = extents().map(|(from, to)| from / to).collect();
    let (padding, dilation) = (vec![0; count], vec![1; count]);
    Windows { stride: size.clone(), size, padding, dilation }.over(from, to, 0.0)
}

/// `(kernel_size, stride, padding, dilation, ceil_mode)`.
fn maxima(graph: &Graph, node: &Node, output: usize, count: usize) -> Result<Footprint, Uncovered> {
    let (from, to) = shapes(graph, node, output)?;
    let args = arguments(node);
    let size = spread(args, 1, count, &[])?;
    let stride = spread(args, 2, count, &size)?;
    let (padding, dilation) = (spread(args, 3, count, &[])?, spread(args, 4, count, &[])?);
    Windows { size, stride, padding, dilation }.over(from, to, f64::NEG_INFINITY)
}

fn average<'k>(c: &Call<'k>) -> Emitted<'k> {
    let Ok(divisor) = c.number(6) else { return mean(c) };
    Ok(c.fold(ReduceOp::Sum, |x| c.widened(x, c.result))? / divisor)
}

fn largest<'k>(c: &Call<'k>) -> Emitted<'k> {
    if !c.result.is_float() {
        return Err(format!("works on {}", c.result));
    }
    c.fold(ReduceOp::Max, |x| c.widened(x, c.result))
}
