//! Losses: something of each pair of elements, alone or added up or averaged. ATen's kernels calculate in the tensor type,
//! so that each step rounds to it; and what is reduced is rounded, as eager stores it in a tensor.

use super::classification::magnitude;
use super::length::same_shapes;
use super::reduction::all_dims;
use super::transcendental::log_sigmoid;
use crate::args::Args;
use crate::lower::call::{Emitted, OpCall, Uncovered};
use crate::lower::footprint::Footprint;
use crate::lower::node_call::NodeCall;
use crate::lower::quantity::Quantity;
use crate::lower::rule::{Emit, Rule};
use passhost_ir::kernel::{Compare, ReduceOp, Unary};

pub(in crate::lower) const RULES: &[Rule] = &[
    each("aten::mse_loss", mean_square),
    reduced("aten::mse_loss", mean_square),
    each("aten::l1_loss", absolute),
    reduced("aten::l1_loss", absolute),
    each("aten::smooth_l1_loss", smooth),
    reduced("aten::smooth_l1_loss", smooth),
    each("aten::huber_loss", huber),
    reduced("aten::huber_loss", huber),
    each("aten::soft_margin_loss", soft_margin),
    reduced("aten::soft_margin_loss", soft_margin),
    each("aten::kl_div", divergence),
    reduced("aten::kl_div", divergence),
    Rule { applies: |args| weighs_nothing(args, 0), ..Rule::costly(LOGITS, &[""], cross_entropy) },
    Rule {
        applies: |args| weighs_nothing(args, 1) || weighs_nothing(args, 2),
        folds: 2,
        ..Rule::over(whole, LOGITS, &[""], cross_entropy)
    }
    .only("without weights; reduced, of one shape"),
];

const LOGITS: &str = "aten::binary_cross_entropy_with_logits";

/// Where most losses say how they are reduced: 0 for not at all, 1 for the mean, 2 for the sum.
const REDUCTION: usize = 2;

const fn each(name: &'static str, emit: Emit) -> Rule {
    Rule { applies: |args| args.int(REDUCTION) == Some(0), ..Rule::costly(name, &[""], emit) }
}

const fn reduced(name: &'static str, emit: Emit) -> Rule {
    Rule { folds: 2, ..Rule::over(whole, name, &[""], emit) }.only("reduced, of one shape")
}

fn weighs_nothing(args: Args<'_>, reduction: i64) -> bool {
    args.int(4) == Some(reduction) && args.tensor(2).is_none() && args.tensor(3).is_none()
}

fn whole(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    same_shapes(call)?;
    all_dims(call)
}

/// The loss of pairs of elements, reduced as an argument says.
fn loss<'k>(c: &OpCall<'k>, reduction: usize, of: impl Fn(Quantity<'k>, Quantity<'k>) -> Emitted<'k>) -> Emitted<'k> {
    if !c.result.is_float() {
        return Err(format!("has a result of type {}", c.result));
    }
    if c.args.int(reduction) == Some(0) {
        let (x, target) = c.pair()?;
        return of(x, target);
    }
    let element = |tensor: usize| c.widened(c.element(tensor)?, c.result);
    let sum = c.reduction(ReduceOp::Sum, c.stored(of(element(0)?, element(1)?)?)?)?;
    Ok(if c.args.int(reduction) == Some(1) { sum / c.count()? } else { sum })
}

fn mean_square<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    loss(c, REDUCTION, |x, target| {
        let difference = c.stored(x - target)?;
        Ok(difference * difference)
    })
}

fn absolute<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    loss(c, REDUCTION, |x, target| Ok(magnitude(c.stored(x - target)?)))
}

/// `z * z / (2 beta)` below `beta`, `z - beta / 2` from it on, with `z = |x - target|`.
fn smooth<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let beta = c.number(3)?;
    loss(c, REDUCTION, |x, target| {
        let size = magnitude(c.stored(x - target)?);
        let beta = c.stored(x.literal(beta))?;
        let near = c.stored(half_square(c, size)?)? / beta;
        let far = size - c.stored(beta * 0.5)?;
        Ok(size.compare(Compare::Lt, beta).select(near, far))
    })
}

/// `z * z / 2` up to `delta`, `delta * (z - delta / 2)` above it.
fn huber<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let delta = c.number(3)?;
    loss(c, REDUCTION, |x, target| {
        let size = magnitude(c.stored(x - target)?);
        let delta = c.stored(x.literal(delta))?;
        let near = half_square(c, size)?;
        let far = delta * c.stored(size - c.stored(delta * 0.5)?)?;
        Ok(size.compare(Compare::Le, delta).select(near, far))
    })
}

fn half_square<'k>(c: &OpCall<'k>, x: Quantity<'k>) -> Emitted<'k> {
    Ok(c.stored(x * 0.5)? * x)
}

/// `log1p(exp(-target * x))`.
fn soft_margin<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    loss(c, REDUCTION, |x, target| {
        let product = c.stored(x.unary(Unary::Neg) * target)?;
        Ok(c.stored(product.unary(Unary::Exp))?.unary(Unary::Log1p))
    })
}

/// `target * (log(target) - x)`, of a target that may be given as its logarithm.
fn divergence<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let is_logarithm = c.args.bool(3) == Some(true);
    loss(c, REDUCTION, |x, target| {
        if is_logarithm {
            return Ok(c.stored(target.unary(Unary::Exp))? * c.stored(target - x)?);
        }
        let entropy = target * c.stored(target.unary(Unary::Log))?;
        let entropy = target.compare(Compare::Eq, 0.0).select(target.literal(0.0), entropy);
        let entropy = target.unary(Unary::IsNan).select(target, entropy);
        Ok(c.stored(entropy)? - c.stored(target * x)?)
    })
}

/// `(1 - target) * x - log_sigmoid(x)`.
fn cross_entropy<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    loss(c, 4, |x, target| {
        let rest = c.stored(1.0 - target)?;
        Ok(c.stored(rest * x)? - c.stored(log_sigmoid(x))?)
    })
}
