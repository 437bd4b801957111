//! Functions of two operands that go by logarithms, roots or exponentials.

use super::arithmetic::power;
use super::classification::magnitude;
use crate::lower::call::{Emitted, OpCall};
use crate::lower::quantity::Quantity;
use crate::lower::rule::Rule;
use passhost_ir::kernel::{Binary, Compare, Unary};
use std::f64::consts::{LN_2, PI};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::costly("aten::hypot", &[""], distance),
    Rule::costly("aten::logaddexp", &[""], |c| log_of_sum(c, Unary::Exp, 1.0)),
    Rule::costly("aten::logaddexp2", &[""], |c| log_of_sum(c, Unary::Exp2, 1.0 / LN_2)),
    Rule::costly("aten::xlogy", &["Tensor", "Scalar_Self", "Scalar_Other"], |c| {
        let (x, y) = c.pair()?;
        let product = x * c.stored(y.unary(Unary::Log))?;
        let number = x.compare(Compare::Eq, 0.0).select(x.literal(0.0), product);
        Ok(y.unary(Unary::IsNan).select(y, number))
    }),
    Rule::costly("aten::float_power", &["Tensor_Tensor", "Tensor_Scalar", "Scalar"], power).only("of floats"),
    Rule::costly("aten::sinc", &[""], |c| {
        let x = c.first()?;
        let angle = x * PI;
        Ok(x.compare(Compare::Eq, 0.0).select(x.literal(1.0), angle.unary(Unary::Sin) / angle))
    }),
];

/// `sqrt(a * a + b * b)`, scaled by the larger so that nothing overflows on the way.
fn distance<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let (a, b) = c.pair()?;
    let (a, b) = (magnitude(a), magnitude(b));
    let (long, short) = (a.max(b), a.min(b));
    let ratio = short / long;
    let scaled = long * (ratio * ratio + 1.0).unary(Unary::Sqrt);
    let of_finite = long.compare(Compare::Eq, 0.0).select(long, scaled);
    let is_infinite = |x: Quantity<'k>| x.compare(Compare::Eq, f64::INFINITY);
    let infinite = is_infinite(a).binary(Binary::Or, is_infinite(b));
    Ok(infinite.select(a.literal(f64::INFINITY), of_finite))
}

/// `max(a, b) + log1p(exp(-|a - b|)) * scale`; equal infinities stay.
fn log_of_sum<'k>(c: &OpCall<'k>, exponential: Unary, scale: f64) -> Emitted<'k> {
    let (a, b) = c.pair()?;
    let mut above = magnitude(a - b).unary(Unary::Neg).unary(exponential).unary(Unary::Log1p);
    if scale != 1.0 {
        above = above * scale;
    }
    let sum = a.max(b) + above;
    let stays = magnitude(a).compare(Compare::Eq, f64::INFINITY).binary(Binary::And, a.compare(Compare::Eq, b));
    Ok(stays.select(a, sum))
}
