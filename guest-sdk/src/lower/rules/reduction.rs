//! Sums, means, extrema and the like over dimensions of a tensor.
//!
//! Half types are accumulated in `f32` and rounded once, at the end of the op, as ATen does.

use crate::args::Args;
use crate::index::Index;
use crate::lower::call::{Emitted, OpCall, Uncovered};
use crate::lower::footprint::Footprint;
use crate::lower::node_call::NodeCall;
use crate::lower::quantity::Quantity;
use crate::lower::rule::Rule;
use passhost_ir::dims::wrap;
use passhost_ir::kernel::{Binary, Compare, ReduceOp, Unary};
use passhost_ir::{Arg, Dtype};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::over(all_dims, "aten::sum", &[""], |c| total(c, ReduceOp::Sum)),
    Rule::over(listed_dims, "aten::sum", &["dim_IntList"], |c| total(c, ReduceOp::Sum)),
    Rule::over(all_dims, "aten::prod", &[""], |c| total(c, ReduceOp::Prod)),
    Rule::over(listed_dims, "aten::prod", &["dim_int"], |c| total(c, ReduceOp::Prod)),
    Rule::over(all_dims, "aten::mean", &[""], mean),
    Rule::over(listed_dims, "aten::mean", &["dim"], mean),
    Rule::over(listed_dims, "aten::amax", &[""], |c| extremum(c, ReduceOp::Max)),
    Rule::over(listed_dims, "aten::amin", &[""], |c| extremum(c, ReduceOp::Min)),
    Rule::over(all_dims, "aten::max", &[""], |c| extremum(c, ReduceOp::Max)),
    Rule::over(all_dims, "aten::min", &[""], |c| extremum(c, ReduceOp::Min)),
    Rule::over(listed_dims, "aten::aminmax", &[""], |c| extremum(c, [ReduceOp::Min, ReduceOp::Max][c.output.min(1)])),
    Rule::over(listed_dims, "aten::argmax", &[""], |c| position(c, ReduceOp::Max, ReduceOp::Argmax)),
    Rule::over(listed_dims, "aten::argmin", &[""], |c| position(c, ReduceOp::Min, ReduceOp::Argmin)),
    Rule::over(listed_dims, "aten::logsumexp", &[""], log_sum_exp),
    Rule::over(listed_dims, "aten::nansum", &[""], sum_of_numbers),
    Rule::over(listed_dims, "aten::nanmean", &[""], mean_of_numbers),
    Rule::over(listed_dims, "aten::count_nonzero", &["", "dim_IntList"], |c| {
        c.fold(ReduceOp::Sum, |x| Ok(x.truth().cast(Dtype::I64)))
    }),
    Rule::over(diagonal, "aten::trace", &[""], |c| total(c, ReduceOp::Sum)),
    Rule::over(listed_dims, "aten::max", &["dim"], |c| with_position(c, ReduceOp::Max, ReduceOp::Argmax)),
    Rule::over(listed_dims, "aten::min", &["dim"], |c| with_position(c, ReduceOp::Min, ReduceOp::Argmin)),
    Rule::over(all_dims, "aten::any", &[""], |c| truth(c, ReduceOp::Any)),
    Rule::over(all_dims, "aten::all", &[""], |c| truth(c, ReduceOp::All)),
    Rule::over(listed_dims, "aten::any", &["dim", "dims"], |c| truth(c, ReduceOp::Any)),
    Rule::over(listed_dims, "aten::all", &["dim", "dims"], |c| truth(c, ReduceOp::All)),
    Rule::over(all_dims, "aten::var", &[""], |c| whole_variance(c, false)),
    Rule::over(all_dims, "aten::std", &[""], |c| whole_variance(c, true)),
    Rule::over(listed_dims, "aten::var", &["dim", "correction"], |c| listed_variance(c, false)),
    Rule::over(listed_dims, "aten::std", &["dim", "correction"], |c| listed_variance(c, true)),
    Rule::over(all_dims, "aten::var_mean", &[""], |c| with_mean(c, |c| whole_variance(c, false))),
    Rule::over(all_dims, "aten::std_mean", &[""], |c| with_mean(c, |c| whole_variance(c, true))),
    Rule::over(listed_dims, "aten::var_mean", &["dim", "correction"], |c| with_mean(c, |c| listed_variance(c, false))),
    Rule::over(listed_dims, "aten::std_mean", &["dim", "correction"], |c| with_mean(c, |c| listed_variance(c, true))),
];

/// The dimension or dimensions that argument 1 names, of a result with the shape of the operand.
pub(super) fn one_dim(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let from = call.shapes()?.0;
    Ok(Footprint::elementwise(from, &dims(call.args, 1, from.len())?))
}

pub(super) fn all_dims(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let (from, to) = call.shapes()?;
    Ok(Footprint::over(from, &(0..from.len()).collect::<Vec<_>>(), to))
}

fn listed_dims(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    over_dims_at(call, 1)
}

/// The elements of a matrix whose row and column have the same number.
fn diagonal(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let &[rows, columns] = call.shapes()?.0 else { return Err("has no rows and columns".to_owned()) };
    let window = vec![rows.min(columns)];
    let at = vec![Index::axis(0, window[0]); 2];
    Ok(Footprint { window, at, ..Footprint::default() })
}

pub(super) fn over_dims_at(call: &NodeCall<'_>, place: usize) -> Result<Footprint, Uncovered> {
    let (from, to) = call.shapes()?;
    let dims = dims(call.args, place, from.len())?;
    Ok(Footprint::over(from, &dims, to))
}

/// The dimensions that an argument names, ascending: one, a list, or all of them where it is absent or empty.
pub(super) fn dims(args: Args<'_>, place: usize, rank: usize) -> Result<Vec<usize>, Uncovered> {
    let listed = match args.get(place) {
        Some(Arg::Int(dim)) => vec![*dim],
        Some(Arg::Ints(dims)) => dims.clone(),
        _ => vec![],
    };
    if listed.is_empty() || rank == 0 {
        return Ok((0..rank).collect());
    }
    let mut dims = vec![];
    for dim in listed {
        let dim = wrap(dim, rank).ok_or_else(|| format!("reduces dimension {dim} of {rank}"))?;
        dims.insert(dims.partition_point(|&before| before <= dim), dim);
    }
    Ok(dims)
}

/// Sums and products, in the result's type: `dtype` converts the elements first.
fn total<'k>(c: &OpCall<'k>, op: ReduceOp) -> Emitted<'k> {
    let accumulator = accumulator(c, c.result)?;
    c.fold(op, |x| Ok(c.widened(x, c.result)?.cast(accumulator)))
}

/// The type in which elements of a type are added up.
pub(super) fn accumulator(c: &OpCall<'_>, dtype: Dtype) -> Result<Dtype, Uncovered> {
    if dtype.is_float() { c.math(dtype) } else { Ok(Dtype::I64) }
}

/// The sum divided by the count. CUDA multiplies by the reciprocal of the count, which may be one ulp of the accumulator
/// away; this rule divides, as the CPU does.
pub(super) fn mean<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    Ok(total(c, ReduceOp::Sum)? / c.count()?)
}

fn extremum<'k>(c: &OpCall<'k>, op: ReduceOp) -> Emitted<'k> {
    let dtype = c.reduced()?;
    c.fold(op, |x| {
        let x = c.widened(x, dtype)?;
        Ok(if dtype == Dtype::Bool { x.cast(Dtype::I32) } else { x })
    })
}

fn with_position<'k>(c: &OpCall<'k>, value: ReduceOp, place: ReduceOp) -> Emitted<'k> {
    extremum(c, if c.output == 0 { value } else { place })
}

/// Where the first of the largest or smallest elements is. Over several dimensions the kernel's axes may follow memory
/// rather than the tensor, so that the element with the least position in the tensor is looked for among the equal ones.
fn position<'k>(c: &OpCall<'k>, value: ReduceOp, place: ReduceOp) -> Emitted<'k> {
    if c.long_extents()? <= 1 {
        return extremum(c, place);
    }
    let dtype = c.reduced()?;
    let best = extremum(c, value)?;
    let mut x = c.widened(c.element(0)?, dtype)?;
    x = x.cast(best.dtype());
    let mut is_best = x.compare(Compare::Eq, best);
    if dtype.is_float() {
        is_best = is_best.binary(Binary::Or, x.unary(Unary::IsNan));
    }
    let ordinal = c.ordinal()?;
    c.reduction(ReduceOp::Min, is_best.select(ordinal, ordinal.literal(c.count()?)))
}

/// `log(sum(exp(x - max))) + max`, with the roundings of the tensors in between; an infinite maximum counts as 0.
fn log_sum_exp<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let dtype = c.result;
    let largest = c.fold(ReduceOp::Max, |x| c.widened(x, dtype))?;
    let is_infinite = largest.unary(Unary::Abs).compare(Compare::Eq, f64::INFINITY);
    let finite = is_infinite.select(largest.literal(0.0), largest);
    let sum = c.fold(ReduceOp::Sum, |x| {
        let below = c.stored(c.widened(x, dtype)? - finite)?;
        c.stored(below.unary(Unary::Exp))
    })?;
    Ok(c.stored(c.stored(sum)?.unary(Unary::Log))? + finite)
}

/// The sum of what is a number.
fn sum_of_numbers<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let accumulator = accumulator(c, c.result)?;
    c.fold(ReduceOp::Sum, |x| {
        let x = c.widened(x, c.result)?.cast(accumulator);
        Ok(if accumulator.is_float() { x.unary(Unary::IsNan).select(x.literal(0.0), x) } else { x })
    })
}

/// Their mean, both sum and count rounded to the result's type.
fn mean_of_numbers<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let sum = c.stored(sum_of_numbers(c)?)?;
    let count = c.fold(ReduceOp::Sum, |x| {
        let x = c.widened(x, c.result)?;
        Ok(x.unary(Unary::IsNan).unary(Unary::Not).cast(Dtype::I64))
    })?;
    Ok(sum / c.stored(count)?)
}

fn with_mean<'k>(c: &OpCall<'k>, first: impl Fn(&OpCall<'k>) -> Emitted<'k>) -> Emitted<'k> {
    if c.output == 0 { first(c) } else { mean(c) }
}

fn truth<'k>(c: &OpCall<'k>, op: ReduceOp) -> Emitted<'k> {
    c.fold(op, |x| Ok(x.truth()))
}

fn whole_variance<'k>(c: &OpCall<'k>, root: bool) -> Emitted<'k> {
    let unbiased = c.args.bool(1) != Some(false);
    variance(c, if unbiased { 1.0 } else { 0.0 }, root)
}

/// `correction` is a number or absent, which means 1; the older overload has a flag in its place.
fn listed_variance<'k>(c: &OpCall<'k>, root: bool) -> Emitted<'k> {
    variance(c, c.args.number(2).unwrap_or(1.0), root)
}

fn variance<'k>(c: &OpCall<'k>, correction: f64, root: bool) -> Emitted<'k> {
    let (_, squares) = squared_differences(c, c.result)?;
    let variance = squares / (c.count()? - correction).max(0.0);
    Ok(if root { variance.unary(Unary::Sqrt) } else { variance })
}

/// The mean of the elements as elements of `dtype`, and the sum of the squares of their differences from it.
pub(super) fn squared_differences<'k>(c: &OpCall<'k>, dtype: Dtype) -> Result<(Quantity<'k>, Quantity<'k>), Uncovered> {
    if !dtype.is_float() {
        return Err(format!("has a result of type {dtype}"));
    }
    let mean = c.fold(ReduceOp::Sum, |x| c.widened(x, dtype))? / c.count()?;
    let squares = c.fold(ReduceOp::Sum, |x| {
        let difference = c.widened(x, dtype)? - mean;
        Ok(difference * difference)
    })?;
    Ok((mean, squares))
}

/// The sum of the squares of the elements as elements of `dtype`.
pub(super) fn sum_of_squares<'k>(c: &OpCall<'k>, dtype: Dtype) -> Emitted<'k> {
    c.fold(ReduceOp::Sum, |x| {
        let x = c.widened(x, dtype)?;
        Ok(x * x)
    })
}
