//! Exponentials, logarithms, roots, trigonometry.

use super::super::call::{Call, Emitted};
use super::super::quantity::Quantity;
use super::Rule;
use super::arithmetic::both;
use passhost_ir::kernel::{Binary, Unary};
use std::f64::consts::PI;

pub(super) const RULES: &[Rule] = &[
    Rule::costly("aten::exp", &[""], |c| direct(c, Unary::Exp)),
    Rule::costly("aten::exp2", &[""], |c| direct(c, Unary::Exp2)),
    Rule::costly("aten::expm1", &[""], |c| direct(c, Unary::Expm1)),
    Rule::costly("aten::log", &[""], |c| direct(c, Unary::Log)),
    Rule::costly("aten::log2", &[""], |c| direct(c, Unary::Log2)),
    Rule::costly("aten::log10", &[""], |c| direct(c, Unary::Log10)),
    Rule::costly("aten::log1p", &[""], |c| direct(c, Unary::Log1p)),
    Rule::cheap("aten::sqrt", &[""], |c| direct(c, Unary::Sqrt)),
    Rule::cheap("aten::rsqrt", &[""], |c| direct(c, Unary::Rsqrt)),
    Rule::costly("aten::sin", &[""], |c| direct(c, Unary::Sin)),
    Rule::costly("aten::cos", &[""], |c| direct(c, Unary::Cos)),
    Rule::costly("aten::tan", &[""], |c| direct(c, Unary::Tan)),
    Rule::costly("aten::atan", &[""], |c| direct(c, Unary::Atan)),
    Rule::costly("aten::sinh", &[""], |c| direct(c, Unary::Sinh)),
    Rule::costly("aten::cosh", &[""], |c| direct(c, Unary::Cosh)),
    Rule::costly("aten::tanh", &[""], |c| direct(c, Unary::Tanh)),
    Rule::costly("aten::erf", &[""], |c| direct(c, Unary::Erf)),
    Rule::costly("aten::atan2", &[""], |c| both(c, Binary::Atan2)),
    Rule::costly("aten::sigmoid", &[""], |c| Ok(1.0 / one_plus_exp_neg(c.first()?))),
    Rule::costly("aten::log_sigmoid", &[""], |c| Ok(log_sigmoid(c.first()?))),
    Rule::cheap("aten::deg2rad", &[""], |c| Ok(c.first()? * (PI / 180.0))),
    Rule::cheap("aten::rad2deg", &[""], |c| Ok(c.first()? * (180.0 / PI))),
];

/// An op that a kernel has too. Integer operands become floats first: the result type says which.
pub(super) fn direct<'k>(c: &Call<'k>, op: Unary) -> Emitted<'k> {
    Ok(c.first()?.unary(op))
}

/// `1 + exp(-x)`.
pub(super) fn one_plus_exp_neg(x: Quantity<'_>) -> Quantity<'_> {
    1.0 + x.unary(Unary::Neg).unary(Unary::Exp)
}

/// `min(x, 0) - log1p(exp(-|x|))`, which never overflows.
pub(super) fn log_sigmoid(x: Quantity<'_>) -> Quantity<'_> {
    let log = x.unary(Unary::Abs).unary(Unary::Neg).unary(Unary::Exp).unary(Unary::Log1p);
    x.min(0.0) - log
}
