//! Softmax and the norms. Half types are normalised in `f32` and rounded once, at the end of the op, as ATen does.
//!
//! Mean and variance are taken in two passes. ATen's kernels take them in one, by Welford's method, and some fold mean and
//! scale into one multiply-add; both differ from the rules by a few ulps of the accumulator. What they round to a half type in
//! between is rounded here as well: an output of such a type must be the same but for few elements.

use super::reduction::{one_dim, squared_differences, sum_of_squares};
use crate::args::Args;
use crate::index::Index;
use crate::lower::call::{Emitted, OpCall, Uncovered};
use crate::lower::footprint::Footprint;
use crate::lower::node_call::NodeCall;
use crate::lower::quantity::Quantity;
use crate::lower::rule::{Align, Rule};
use passhost_ir::DeviceKind;
use passhost_ir::kernel::{ReduceOp, Unary};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::over(one_dim, "aten::softmax", &["int"], |c| softmax(c, false)),
    Rule::over(one_dim, "aten::_softmax", &[""], |c| softmax(c, false)),
    Rule::over(one_dim, "aten::log_softmax", &["int"], |c| softmax(c, true)),
    Rule::over(one_dim, "aten::_log_softmax", &[""], |c| softmax(c, true)),
    Rule::over(last_dims, "aten::layer_norm", &[""], |c| normalized(c, (2, 3), 4)),
    Rule::over(last_dims, "aten::native_layer_norm", &[""], |c| normalized(c, (2, 3), 4)),
    Rule::over(last_dims, "aten::rms_norm", &[""], rms_normalized),
    of_channels(Rule::over(groups, "aten::group_norm", &[""], |c| group_norm(c, (2, 3), 4))),
    of_channels(Rule::over(native_groups, "aten::native_group_norm", &[""], |c| group_norm(c, (1, 2), 7))),
    Rule { applies: takes_none, ..of_channels(Rule::over(instances, "aten::instance_norm", &[""], instance_norm)) }
        .only("that updates no running statistics"),
    Rule {
        applies: takes_none,
        ..of_channels(Rule::over(batches, "aten::batch_norm", &[""], |c| normalized(c, (1, 2), 7)))
    },
];

/// Norms that are given mean and variance, and so are pointwise.
pub(in crate::lower) const BY_STATISTICS: &[Rule] = &[
    Rule {
        applies: takes_statistics,
        ..of_channels(Rule::costly("aten::instance_norm", &[""], |c| by_statistics(c, true)))
    },
    Rule { applies: takes_statistics, ..of_channels(Rule::costly("aten::batch_norm", &[""], batch_norm)) },
];

const fn of_channels(rule: Rule) -> Rule {
    Rule { align: Align::Channels, ..rule }
}

/// Whether a norm over a batch or an instance is given mean and variance instead of taking them.
fn takes_statistics(args: Args<'_>) -> bool {
    args.bool(5) == Some(false) && args.tensor(3).is_some() && args.tensor(4).is_some()
}

/// Whether it takes them itself.
fn takes_none(args: Args<'_>) -> bool {
    !takes_statistics(args)
}

/// Over as many trailing dimensions as the normalised shape has. Results behind the first are rows.
fn last_dims(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let (from, to) = call.shapes()?;
    let first = from.len().checked_sub(call.ints(1)?.len()).ok_or("normalises more dimensions than there are")?;
    let dims: Vec<usize> = (first..from.len()).collect();
    Ok(if call.output == 0 { Footprint::elementwise(from, &dims) } else { Footprint::over(from, &dims, to) })
}

fn groups(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    grouped(call.shapes()?.0, call.int(1)?)
}

/// The same from other arguments. Results behind the first have one element for each sample and group.
fn native_groups(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let (from, to) = call.shapes()?;
    let footprint = grouped(from, call.int(6)?)?;
    Ok(if call.output == 0 {
        footprint
    } else {
        Footprint { elementwise: false, row_of: Index::axes(to), ..footprint }
    })
}

fn instances(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let from = call.shapes()?.0;
    grouped(from, from.get(1).copied().unwrap_or(0))
}

/// For each channel over all else.
fn batches(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let from = call.shapes()?.0;
    if from.len() < 2 {
        return Err("has no dimension of channels".to_owned());
    }
    let dims: Vec<usize> = (0..from.len()).filter(|&dim| dim != 1).collect();
    Ok(Footprint::elementwise(from, &dims))
}

/// For each sample and group of channels, over the group's channels and everything behind them.
fn grouped(shape: &[i64], groups: i64) -> Result<Footprint, Uncovered> {
    let [samples, channels, behind @ ..] = shape else { return Err("has no dimension of channels".to_owned()) };
    if groups < 1 || *channels < groups || channels % groups != 0 {
        return Err(format!("has {channels} channels in {groups} groups"));
    }
    let each = channels / groups;
    let rows = vec![*samples, groups];
    let window = [&[each], behind].concat();
    let axes = Index::axes(&[&rows[..], &window[..]].concat());
    let at = [&[axes[0].clone(), axes[1].times(each).plus(&axes[2])], &axes[3..]].concat();
    let place = Index::axes(shape);
    let row_of = vec![place[0].clone(), place[1].div(each)];
    Ok(Footprint { rows, window, at, row_of, elementwise: true, ..Footprint::default() })
}

/// `exp(x - max) / sum`, or its logarithm `x - max - log(sum)`.
fn softmax<'k>(c: &OpCall<'k>, logarithm: bool) -> Emitted<'k> {
    let dtype = c.result;
    let max = c.fold(ReduceOp::Max, |x| c.widened(x, dtype))?;
    let sum = c.fold(ReduceOp::Sum, |x| Ok((c.widened(x, dtype)? - max).unary(Unary::Exp)))?;
    let below = c.first()? - max;
    Ok(if logarithm { below - sum.unary(Unary::Log) } else { below.unary(Unary::Exp) / sum })
}

/// From this many elements on, a mean is corrected by the mean of the differences from it.
///
/// A sum is off by the more the more is added up, and where a row hardly varies the root multiplies what the mean is off by
/// with hundreds. Welford's method, which ATen has, is exact there. The correction costs no further pass, as the squares of
/// the differences are added up as well.
const LONG_ROW: f64 = 1024.0;

/// The mean of a window in the type that it is calculated in, what is to be added to it, and `rsqrt(var + eps)`.
struct Statistics<'k> {
    mean: Quantity<'k>,
    correction: Option<Quantity<'k>>,
    scale: Quantity<'k>,
}

impl<'k> Statistics<'k> {
    fn of(c: &OpCall<'k>, eps: usize) -> Result<Statistics<'k>, Uncovered> {
        let eps = c.number(eps)?;
        let dtype = c.reduced()?;
        let (mean, squares) = squared_differences(c, dtype)?;
        let scale = (squares / c.count()? + eps).unary(Unary::Rsqrt);
        let correction = match c.count()? >= LONG_ROW && c.output < 2 {
            true => Some(c.fold(ReduceOp::Sum, |x| Ok(c.widened(x, dtype)? - mean))? / c.count()?),
            false => None,
        };
        Ok(Statistics { mean, correction, scale })
    }

    fn corrected_mean(&self) -> Quantity<'k> {
        self.correction.map_or(self.mean, |correction| self.mean + correction)
    }
}

/// `(x - mean) * rsqrt(var + eps) * weight + bias`; results behind the first are the mean and the root.
fn normalized<'k>(c: &OpCall<'k>, (weight, bias): (usize, usize), eps: usize) -> Emitted<'k> {
    let statistics = Statistics::of(c, eps)?;
    match c.output {
        1 => return Ok(statistics.corrected_mean()),
        2 => return Ok(statistics.scale),
        _ => {}
    }
    let difference = c.operand(0, c.reduced()?)? - statistics.mean;
    let difference = statistics.correction.map_or(difference, |correction| difference - correction);
    affine(c, difference * statistics.scale, weight, bias)
}

/// The same over groups of channels. ATen's CUDA kernels keep mean and root of half types in the type of the parameters, and
/// make a factor and a summand for each channel of them.
fn group_norm<'k>(c: &OpCall<'k>, (weight, bias): (usize, usize), eps: usize) -> Emitted<'k> {
    let dtype = c.reduced()?;
    let kept = c.tensor_type(weight).unwrap_or(dtype);
    if c.device != Some(DeviceKind::Cuda) || dtype.size() != 2 || kept != dtype || c.output > 0 {
        return normalized(c, (weight, bias), eps);
    }
    let statistics = Statistics::of(c, eps)?;
    let x = c.operand(0, dtype)?;
    let [mean, scale] = [statistics.corrected_mean(), statistics.scale].map(|value| value.cast(dtype).cast(x.dtype()));
    if !c.is_given(weight) && !c.is_given(bias) {
        return Ok((x - mean) * scale);
    }
    let factor = if c.is_given(weight) { scale * c.own(weight)?.cast(x.dtype()) } else { scale };
    let shift = factor.unary(Unary::Neg) * mean;
    let shift = if c.is_given(bias) { shift + c.own(bias)?.cast(x.dtype()) } else { shift };
    Ok(factor.fma(x, shift))
}

/// `x * weight + bias`, each where it is given.
fn affine<'k>(c: &OpCall<'k>, x: Quantity<'k>, weight: usize, bias: usize) -> Emitted<'k> {
    let given = |place: usize| c.is_given(place).then(|| Ok::<_, Uncovered>(c.own(place)?.cast(x.dtype()))).transpose();
    Ok(match (given(weight)?, given(bias)?) {
        (Some(weight), Some(bias)) => x.fma(weight, bias),
        (Some(weight), None) => x * weight,
        (None, Some(bias)) => x + bias,
        (None, None) => x,
    })
}

fn instance_norm<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    if c.is_given(3) || c.is_given(4) {
        return Err("updates running statistics".to_owned());
    }
    normalized(c, (1, 2), 7)
}

/// `x * rsqrt(mean(x * x) + eps) * weight`. Without an eps it is the distance from 1 to the next number of the math type.
fn rms_normalized<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let dtype = c.reduced()?;
    let eps = match c.is_given(3) {
        true => c.number(3)?,
        false if c.math(dtype)?.size() == 4 => f64::from(f32::EPSILON),
        false => f64::EPSILON,
    };
    let scale = (sum_of_squares(c, dtype)? / c.count()? + eps).unary(Unary::Rsqrt);
    affine(c, c.operand(0, dtype)? * scale, 2, usize::MAX)
}

/// With running statistics: `weight * (x - mean) * rsqrt(var + eps) + bias`, rounded where ATen's kernel for the device
/// rounds. On a CPU that makes a factor and a summand for each channel of what is packed, as an instance norm always has it.
fn by_statistics<'k>(c: &OpCall<'k>, is_packed: bool) -> Emitted<'k> {
    let eps = c.number(7)?;
    let x = c.first()?;
    let own = |place: usize| Ok::<_, Uncovered>(c.own(place)?.cast(x.dtype()));
    let given = |place: usize| c.is_given(place).then(|| own(place)).transpose();
    let (scale, mean) = ((own(4)? + eps).unary(Unary::Rsqrt), own(3)?);
    let (weight, bias) = (given(1)?, given(2)?);
    if c.device != Some(DeviceKind::Cpu) {
        let weighted = weight.map_or(x - mean, |weight| (x - mean) * weight);
        return Ok(bias.map_or(weighted * scale, |bias| weighted.fma(scale, bias)));
    }
    if !is_packed {
        let normal = (x - mean) * scale;
        let weighted = weight.map_or(normal, |weight| normal * weight);
        return Ok(bias.map_or(weighted, |bias| weighted + bias));
    }
    let factor = weight.map_or(scale, |weight| scale * weight);
    let shift = mean.unary(Unary::Neg).fma(factor, bias.unwrap_or(mean.literal(0.0)));
    Ok(x.fma(factor, shift))
}

fn batch_norm<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let is_packed = c.operands.first().copied().flatten().is_some_and(|x| x.is_packed);
    by_statistics(c, is_packed)
}
