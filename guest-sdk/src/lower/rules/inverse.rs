//! Inverse functions of trigonometry, from those that kernels have.
//!
//! They are as near as CUDA's own: within 4 ulp of the math type, of which the kernel's logarithm or angle may take 2.

use super::classification::magnitude;
use crate::lower::call::{Emitted, OpCall};
use crate::lower::quantity::Quantity;
use crate::lower::rule::Rule;
use passhost_ir::kernel::{Binary, Compare, Unary};
use std::f64::consts::{LN_2, PI};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::costly("aten::asin", &[""], |c| {
        let x = c.first()?;
        Ok(x.binary(Binary::Atan2, cathetus(x)))
    }),
    Rule::costly("aten::acos", &[""], |c| {
        let x = c.first()?;
        Ok(cathetus(x).binary(Binary::Atan2, x))
    }),
    Rule::costly("aten::asinh", &[""], |c| odd(c, inverse_sinh)),
    Rule::costly("aten::acosh", &[""], |c| Ok(inverse_cosh(c.first()?))),
    Rule::costly("aten::atanh", &[""], |c| {
        odd(c, |x| {
            let rest = 1.0 - x;
            (x * 2.0 / rest).unary(Unary::Log1p) * 0.5
        })
    }),
    // Of a real number: 0, or half a turn.
    Rule::cheap("aten::angle", &[""], |c| {
        let x = c.first()?;
        let turned = x.compare(Compare::Lt, 0.0).select(x.literal(PI), x.literal(0.0));
        Ok(x.unary(Unary::IsNan).select(x, turned))
    }),
];

/// From here on `x * x` outweighs 1 by more than the precision of `f64`.
const LARGE: f64 = 268_435_456.0;

/// `sqrt(1 - x * x)`, without cancellation next to 1.
fn cathetus(x: Quantity<'_>) -> Quantity<'_> {
    let below = 1.0 - x;
    (below * (1.0 + x)).unary(Unary::Sqrt)
}

/// A function of which only the half above 0 is given; a zero keeps its sign.
fn odd<'k>(c: &OpCall<'k>, above: fn(Quantity<'k>) -> Quantity<'k>) -> Emitted<'k> {
    let x = c.first()?;
    let result = above(magnitude(x));
    let signed = x.compare(Compare::Lt, 0.0).select(result.unary(Unary::Neg), result);
    Ok(x.compare(Compare::Eq, 0.0).select(x, signed))
}

/// `log1p(x + x * x / (1 + sqrt(x * x + 1)))` of a number that is not negative.
fn inverse_sinh(x: Quantity<'_>) -> Quantity<'_> {
    let square = x * x;
    let root = 1.0 + (square + 1.0).unary(Unary::Sqrt);
    let near = (x + square / root).unary(Unary::Log1p);
    x.compare(Compare::Gt, LARGE).select(x.unary(Unary::Log) + LN_2, near)
}

/// `log1p(t + sqrt(2 t + t * t))` with `t = x - 1`.
fn inverse_cosh(x: Quantity<'_>) -> Quantity<'_> {
    let above = x - 1.0;
    let near = (above + (above * 2.0 + above * above).unary(Unary::Sqrt)).unary(Unary::Log1p);
    x.compare(Compare::Gt, LARGE).select(x.unary(Unary::Log) + LN_2, near)
}
