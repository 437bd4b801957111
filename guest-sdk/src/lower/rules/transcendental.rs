//! Exponentials, logarithms, roots, trigonometry.

use crate::lower::call::{Emitted, OpCall};
use crate::lower::quantity::Quantity;
use crate::lower::rule::Rule;
use passhost_ir::kernel::{Binary, Compare, Unary};
use std::f64::consts::PI;

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::costly("aten::exp", &[""], |c| c.unary(Unary::Exp)),
    Rule::costly("aten::exp2", &[""], |c| c.unary(Unary::Exp2)),
    Rule::costly("aten::expm1", &[""], |c| c.unary(Unary::Expm1)),
    Rule::costly("aten::log", &[""], |c| c.unary(Unary::Log)),
    Rule::costly("aten::log2", &[""], |c| c.unary(Unary::Log2)),
    Rule::costly("aten::log10", &[""], |c| c.unary(Unary::Log10)),
    Rule::costly("aten::log1p", &[""], |c| c.unary(Unary::Log1p)),
    Rule::cheap("aten::sqrt", &[""], |c| c.unary(Unary::Sqrt)),
    Rule::cheap("aten::rsqrt", &[""], |c| c.unary(Unary::Rsqrt)),
    Rule::costly("aten::sin", &[""], |c| c.unary(Unary::Sin)),
    Rule::costly("aten::cos", &[""], |c| c.unary(Unary::Cos)),
    Rule::costly("aten::tan", &[""], |c| c.unary(Unary::Tan)),
    Rule::costly("aten::atan", &[""], |c| c.unary(Unary::Atan)),
    Rule::costly("aten::sinh", &[""], |c| c.unary(Unary::Sinh)),
    Rule::costly("aten::cosh", &[""], |c| c.unary(Unary::Cosh)),
    Rule::costly("aten::tanh", &[""], |c| c.unary(Unary::Tanh)),
    Rule::costly("aten::erf", &[""], |c| c.unary(Unary::Erf)),
    Rule::costly("aten::atan2", &[""], |c| c.binary(Binary::Atan2)),
    Rule::costly("aten::sigmoid", &[""], |c| Ok(1.0 / one_plus_exp_neg(c.first()?))),
    Rule::costly("aten::log_sigmoid", &[""], |c| Ok(log_sigmoid(c.first()?))),
    Rule::cheap("aten::deg2rad", &[""], |c| Ok(c.first()? * (PI / 180.0))),
    Rule::cheap("aten::rad2deg", &[""], |c| Ok(c.first()? * (180.0 / PI))),
    Rule::costly("aten::logit", &[""], logit),
];

/// `1 + exp(-x)`.
pub(super) fn one_plus_exp_neg(x: Quantity<'_>) -> Quantity<'_> {
    1.0 + x.unary(Unary::Neg).unary(Unary::Exp)
}

/// `min(x, 0) - log1p(exp(-|x|))`, which never overflows.
pub(super) fn log_sigmoid(x: Quantity<'_>) -> Quantity<'_> {
    let log = x.unary(Unary::Abs).unary(Unary::Neg).unary(Unary::Exp).unary(Unary::Log1p);
    x.min(0.0) - log
}

/// `log(x / (1 - x))`, of `x` brought between `eps` and `1 - eps` where there is an `eps`. The bounds are of the math type,
/// as on CUDA; the CPU rounds them to the tensor type.
fn logit<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let mut x = c.first()?;
    if c.is_given(1) && c.number(1)? >= 0.0 {
        let eps = c.number(1)?;
        let high = if x.dtype().size() == 4 { f64::from(1.0 - eps as f32) } else { 1.0 - eps };
        let bounded = x.compare(Compare::Gt, high).select(x.literal(high), x);
        x = x.compare(Compare::Lt, eps).select(x.literal(eps), bounded);
    }
    let rest = 1.0 - x;
    Ok((x / rest).unary(Unary::Log))
}
