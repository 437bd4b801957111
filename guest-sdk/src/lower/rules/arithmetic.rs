//! Sums, products, quotients, powers, minima and maxima.

use crate::lower::call::{Emitted, OpCall, Uncovered};
use crate::lower::quantity::Quantity;
use crate::lower::rule::Rule;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Unary};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::cheap("aten::add", &["Tensor", "Scalar"], |c| sum(c, 0, 1, 1.0)),
    Rule::cheap("aten::sub", &["Tensor", "Scalar"], |c| sum(c, 0, 1, -1.0)),
    Rule::cheap("aten::rsub", &["Tensor", "Scalar"], |c| sum(c, 1, 0, -1.0)),
    Rule::cheap("aten::mul", &["Tensor", "Scalar"], |c| {
        c.binary(if c.result == Dtype::Bool { Binary::And } else { Binary::Mul })
    }),
    Rule::cheap("aten::div", &["Tensor", "Scalar", "Tensor_mode", "Scalar_mode"], quotient),
    Rule::cheap("aten::floor_divide", &["", "Scalar"], floor_quotient),
    Rule::costly("aten::fmod", &["Tensor", "Scalar"], |c| {
        let (a, b) = rounded_pair(c)?;
        Ok(a % b)
    }),
    Rule::costly("aten::remainder", &["Tensor", "Scalar", "Scalar_Tensor"], remainder),
    Rule::costly("aten::pow", &["Tensor_Scalar", "Tensor_Tensor", "Scalar"], power)
        .only("of floats; of integers with a number as exponent, or 2 as base"),
    Rule::cheap("aten::square", &[""], |c| {
        let x = c.first()?;
        Ok(x * x)
    }),
    Rule::cheap("aten::neg", &[""], |c| c.unary(Unary::Neg)),
    Rule::cheap("aten::abs", &[""], |c| match c.result {
        // The magnitude of an unsigned or bool element is itself.
        Dtype::Bool | Dtype::U8 => c.first(),
        _ => c.unary(Unary::Abs),
    }),
    Rule::cheap("aten::reciprocal", &[""], |c| Ok(1.0 / c.first()?)),
    Rule::cheap("aten::addcmul", &[""], add_product),
    Rule::cheap("aten::addcdiv", &[""], |c| {
        let (base, a, b) = scaled_triple(c)?;
        Ok(base + a / b)
    }),
    Rule::cheap("aten::lerp", &["Scalar", "Tensor"], interpolate),
    Rule::cheap("aten::maximum", &[""], |c| c.binary(Binary::Max)),
    Rule::cheap("aten::minimum", &[""], |c| c.binary(Binary::Min)),
    Rule::cheap("aten::max", &["other"], |c| c.binary(Binary::Max)),
    Rule::cheap("aten::min", &["other"], |c| c.binary(Binary::Min)),
    Rule::cheap("aten::clamp", &["", "Tensor"], |c| clamp(c, Some(1), Some(2))),
    Rule::cheap("aten::clamp_min", &["", "Tensor"], |c| clamp(c, Some(1), None)),
    Rule::cheap("aten::clamp_max", &["", "Tensor"], |c| clamp(c, None, Some(1))),
];

fn rounded_pair<'k>(c: &OpCall<'k>) -> Result<(Quantity<'k>, Quantity<'k>), Uncovered> {
    Ok((c.rounded(0, c.result)?, c.rounded(1, c.result)?))
}

/// `left + sign * alpha * right`, the product fused into the sum where there is one. A number is taken at the math
/// type's precision, as on CUDA; the CPU rounds it to the tensor type first.
fn sum<'k>(c: &OpCall<'k>, left: usize, right: usize, sign: f64) -> Emitted<'k> {
    let (a, b) = (c.operand(left, c.result)?, c.operand(right, c.result)?);
    let alpha = if c.is_given(2) { c.number(2)? } else { 1.0 };
    if c.result == Dtype::Bool {
        // ATen refuses to subtract bools; a sum of bools is a disjunction.
        let is_sum = sign > 0.0 && alpha != 0.0;
        return if is_sum { Ok(a.binary(Binary::Or, b)) } else { Err("has bool operands".to_owned()) };
    }
    if alpha == 1.0 {
        return Ok(if sign > 0.0 { a + b } else { a - b });
    }
    let factor = a.literal(sign * alpha);
    Ok(if a.dtype().is_float() { factor.fma(b, a) } else { a + factor * b })
}

/// True division, truncation and floor. CUDA multiplies by the reciprocal of a number, which may be one ulp of the math
/// type away from the quotient; this rule divides, as the CPU does.
fn quotient<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    match c.args.text(2) {
        Some("floor") => floor_quotient(c),
        Some("trunc") => {
            let (a, b) = rounded_pair(c)?;
            let quotient = a / b;
            Ok(if c.result.is_float() { quotient.unary(Unary::Trunc) } else { quotient })
        }
        Some(mode) => Err(format!("has the rounding mode `{mode}`; floor, trunc or none is covered")),
        None => c.binary(Binary::Div),
    }
}

/// Python's `//`.
fn floor_quotient<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let (a, b) = rounded_pair(c)?;
    let rest = a % b;
    let adjust = signs_differ(rest, b);
    let floored = |quotient: Quantity<'k>| adjust.select(quotient - 1.0, quotient);
    if !c.result.is_float() {
        return Ok(floored(a / b));
    }
    // c10::div_floor_floating: the quotient of what the remainder leaves is nearly whole and snaps to the nearest one.
    let quotient = floored((a - rest) / b);
    let floor = quotient.unary(Unary::Floor);
    let excess = quotient - floor;
    let above = floor + 1.0;
    let snapped = excess.compare(Compare::Gt, 0.5).select(above, floor);
    // A zero quotient keeps the sign of the true one, and a zero divisor gives what division gives.
    let exact = a / b;
    let zero = exact * 0.0;
    let result = quotient.compare(Compare::Eq, 0.0).select(zero, snapped);
    Ok(b.compare(Compare::Eq, 0.0).select(exact, result))
}

/// Python's `%`: the sign of the divisor.
fn remainder<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let (a, b) = rounded_pair(c)?;
    let rest = a % b;
    let adjust = signs_differ(rest, b);
    Ok(adjust.select(rest + b, rest))
}

/// Whether a remainder is not zero and has another sign than the divisor.
fn signs_differ<'k>(rest: Quantity<'k>, divisor: Quantity<'k>) -> Quantity<'k> {
    let differ = rest.compare(Compare::Lt, 0.0).binary(Binary::Xor, divisor.compare(Compare::Lt, 0.0));
    rest.compare(Compare::Ne, 0.0).binary(Binary::And, differ)
}

/// Powers. The exponents that ATen treats apart are treated apart here; a number as exponent is rounded to the tensor
/// type. The products of small powers are calculated in the tensor type, hence rounded in between.
pub(super) fn power<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let dtype = c.result;
    if !dtype.is_float() {
        return integer_power(c);
    }
    if c.is_tensor(1) {
        let (base, exponent) = rounded_pair(c)?;
        return Ok(base.binary(Binary::Pow, exponent));
    }
    let base = c.first()?;
    let rounded_square = || (base * base).cast(dtype).cast(base.dtype());
    Ok(match c.number(1)? {
        0.0 => base.literal(1.0),
        0.5 => base.unary(Unary::Sqrt),
        -0.5 => base.unary(Unary::Rsqrt),
        1.0 => base,
        -1.0 => 1.0 / base,
        2.0 => base * base,
        3.0 => rounded_square() * base,
        -2.0 => 1.0 / rounded_square(),
        _ => base.binary(Binary::Pow, c.rounded(1, dtype)?),
    })
}

/// By squaring, where the exponent is a number; by shifting, where the base is 2.
fn integer_power<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    match (c.args.int(0), c.args.int(1)) {
        _ if c.result == Dtype::Bool => Err("has bool operands".to_owned()),
        (Some(2), _) => {
            let exponent = c.operand(1, c.result)?;
            Ok(exponent.literal(1.0).binary(Binary::Shl, exponent))
        }
        (_, Some(exponent @ 0..)) => {
            let mut square = c.first()?;
            let (mut power, mut rest) = (None, exponent);
            while rest > 0 {
                if rest % 2 == 1 {
                    power = Some(power.map_or(square, |power: Quantity<'k>| power * square));
                }
                rest /= 2;
                if rest > 0 {
                    square = square * square;
                }
            }
            Ok(power.unwrap_or_else(|| square.literal(1.0)))
        }
        _ => Err("has integers as exponents".to_owned()),
    }
}

/// The operands of `self + value * tensor1 * tensor2` and its like, the second multiplied by the value.
fn scaled_triple<'k>(c: &OpCall<'k>) -> Result<(Quantity<'k>, Quantity<'k>, Quantity<'k>), Uncovered> {
    let (base, a, b) = c.triple()?;
    let value = c.number(3)?;
    Ok((base, if value == 1.0 { a } else { a * value }, b))
}

/// `self + value * tensor1 * tensor2`, the last product fused into the sum.
fn add_product<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let (base, a, b) = scaled_triple(c)?;
    Ok(if a.dtype().is_float() { a.fma(b, base) } else { base + a * b })
}

/// `start + weight * (end - start)`, from the nearer end, so that a weight of 1 gives `end` exactly.
fn interpolate<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let (start, end, weight) = c.triple()?;
    let span = end - start;
    let is_near_start = weight.unary(Unary::Abs).compare(Compare::Lt, 0.5);
    let from_start = weight.fma(span, start);
    let rest = 1.0 - weight;
    let from_end = span.unary(Unary::Neg).fma(rest, end);
    Ok(is_near_start.select(from_start, from_end))
}

/// Lower bound first, so that the upper one wins where they cross. A NaN stays.
fn clamp<'k>(c: &OpCall<'k>, low: Option<usize>, high: Option<usize>) -> Emitted<'k> {
    let mut x = c.first()?;
    for (bound, op) in [(low, Binary::Max), (high, Binary::Min)] {
        if let Some(place) = bound.filter(|&place| c.is_given(place)) {
            x = x.binary(op, c.operand(place, c.result)?);
        }
    }
    Ok(x)
}
