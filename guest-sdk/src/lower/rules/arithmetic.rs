//! Sums, products, quotients, powers, minima and maxima.

use super::super::call::{Call, Uncovered};
use super::Rule;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Reg, Unary};

pub(super) const RULES: &[Rule] = &[
    Rule::cheap("aten::add", &["Tensor", "Scalar"], |c| sum(c, 0, 1, 1.0)),
    Rule::cheap("aten::sub", &["Tensor", "Scalar"], |c| sum(c, 0, 1, -1.0)),
    Rule::cheap("aten::rsub", &["Tensor", "Scalar"], |c| sum(c, 1, 0, -1.0)),
    Rule::cheap("aten::mul", &["Tensor", "Scalar"], product),
    Rule::cheap("aten::div", &["Tensor", "Scalar", "Tensor_mode", "Scalar_mode"], quotient),
    Rule::cheap("aten::true_divide", &["Tensor", "Scalar"], quotient),
    Rule::cheap("aten::floor_divide", &["", "Scalar"], floor_quotient),
    Rule::costly("aten::fmod", &["Tensor", "Scalar"], |c| {
        let (a, b) = rounded_pair(c)?;
        Ok(c.binary(Binary::Rem, a, b))
    }),
    Rule::costly("aten::remainder", &["Tensor", "Scalar"], remainder),
    Rule::costly("aten::pow", &["Tensor_Scalar", "Tensor_Tensor", "Scalar"], power),
    Rule::cheap("aten::square", &[""], |c| {
        let x = c.operand(0, c.result)?;
        Ok(c.binary(Binary::Mul, x, x))
    }),
    Rule::cheap("aten::neg", &[""], |c| unary(c, Unary::Neg)),
    Rule::cheap("aten::abs", &[""], absolute),
    Rule::cheap("aten::reciprocal", &[""], |c| {
        let x = c.operand(0, c.result)?;
        Ok(c.from(1.0, Binary::Div, x))
    }),
    Rule::cheap("aten::addcmul", &[""], add_product),
    Rule::cheap("aten::addcdiv", &[""], add_quotient),
    Rule::cheap("aten::lerp", &["Scalar", "Tensor"], interpolate),
    Rule::cheap("aten::maximum", &[""], |c| extremum(c, Binary::Max)),
    Rule::cheap("aten::minimum", &[""], |c| extremum(c, Binary::Min)),
    Rule::cheap("aten::max", &["other"], |c| extremum(c, Binary::Max)),
    Rule::cheap("aten::min", &["other"], |c| extremum(c, Binary::Min)),
    Rule::cheap("aten::clamp", &["", "Tensor"], |c| clamp(c, Some(1), Some(2))),
    Rule::cheap("aten::clamp_min", &["", "Tensor"], |c| clamp(c, Some(1), None)),
    Rule::cheap("aten::clamp_max", &["", "Tensor"], |c| clamp(c, None, Some(1))),
];

fn unary(c: &mut Call<'_>, op: Unary) -> Result<Reg, Uncovered> {
    let x = c.operand(0, c.result)?;
    Ok(c.unary(op, x))
}

fn absolute(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let x = c.operand(0, c.result)?;
    // The magnitude of an unsigned or bool element is itself.
    Ok(if matches!(c.result, Dtype::Bool | Dtype::U8) { x } else { c.unary(Unary::Abs, x) })
}

fn rounded_pair(c: &mut Call<'_>) -> Result<(Reg, Reg), Uncovered> {
    Ok((c.rounded(0, c.result)?, c.rounded(1, c.result)?))
}

/// `left + sign * alpha * right`, the product fused into the sum where there is one. A number is taken at the math
/// type's precision, as on CUDA; the CPU rounds it to the tensor type first.
fn sum(c: &mut Call<'_>, left: usize, right: usize, sign: f64) -> Result<Reg, Uncovered> {
    let (a, b) = (c.operand(left, c.result)?, c.operand(right, c.result)?);
    let alpha = if c.is_given(2) { c.number(2)? } else { 1.0 };
    if c.result == Dtype::Bool {
        // ATen refuses to subtract bools; a sum of bools is a disjunction.
        return if sign > 0.0 && alpha != 0.0 {
            Ok(c.binary(Binary::Or, a, b))
        } else {
            Err("has bool operands".to_owned())
        };
    }
    if alpha == 1.0 {
        return Ok(c.binary(if sign > 0.0 { Binary::Add } else { Binary::Sub }, a, b));
    }
    let math = c.math(c.result)?;
    let factor = c.literal(math, sign * alpha);
    if math.is_float() {
        return Ok(c.kernel.fma(factor, b, a));
    }
    let scaled = c.binary(Binary::Mul, factor, b);
    Ok(c.binary(Binary::Add, a, scaled))
}

fn product(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let (a, b) = c.pair()?;
    Ok(c.binary(if c.result == Dtype::Bool { Binary::And } else { Binary::Mul }, a, b))
}

/// True division, truncation and floor. CUDA multiplies by the reciprocal of a number, which may be one ulp of the math
/// type away from the quotient; this rule divides, as the CPU does.
fn quotient(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    match c.args.text(2) {
        Some("floor") => return floor_quotient(c),
        Some("trunc") => {
            let (a, b) = rounded_pair(c)?;
            let quotient = c.binary(Binary::Div, a, b);
            return Ok(if c.result.is_float() { c.unary(Unary::Trunc, quotient) } else { quotient });
        }
        Some(mode) => return Err(format!("has the rounding mode `{mode}`; floor, trunc or none is covered")),
        None => {}
    }
    let (a, b) = c.pair()?;
    Ok(c.binary(Binary::Div, a, b))
}

/// Python's `//`.
fn floor_quotient(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let (a, b) = rounded_pair(c)?;
    let rest = c.binary(Binary::Rem, a, b);
    let adjust = signs_differ(c, rest, b);
    if !c.result.is_float() {
        let quotient = c.binary(Binary::Div, a, b);
        let below = c.with(Binary::Sub, quotient, 1.0);
        return Ok(c.kernel.select(adjust, below, quotient));
    }
    // c10::div_floor_floating: the quotient of what the remainder leaves is nearly whole and snaps to the nearest one.
    let whole = c.binary(Binary::Sub, a, rest);
    let quotient = c.binary(Binary::Div, whole, b);
    let below = c.with(Binary::Sub, quotient, 1.0);
    let quotient = c.kernel.select(adjust, below, quotient);
    let floor = c.unary(Unary::Floor, quotient);
    let excess = c.binary(Binary::Sub, quotient, floor);
    let above = c.with(Binary::Add, floor, 1.0);
    let far = c.test(excess, Compare::Gt, 0.5);
    let snapped = c.kernel.select(far, above, floor);
    // A zero quotient keeps the sign of the true one, and a zero divisor gives what division gives.
    let exact = c.binary(Binary::Div, a, b);
    let zero = c.with(Binary::Mul, exact, 0.0);
    let is_zero = c.test(quotient, Compare::Eq, 0.0);
    let result = c.kernel.select(is_zero, zero, snapped);
    let by_zero = c.test(b, Compare::Eq, 0.0);
    Ok(c.kernel.select(by_zero, exact, result))
}

/// Python's `%`: the sign of the divisor.
fn remainder(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let (a, b) = rounded_pair(c)?;
    let rest = c.binary(Binary::Rem, a, b);
    let adjust = signs_differ(c, rest, b);
    let moved = c.binary(Binary::Add, rest, b);
    Ok(c.kernel.select(adjust, moved, rest))
}

/// Whether a remainder is not zero and has another sign than the divisor.
fn signs_differ(c: &mut Call<'_>, rest: Reg, divisor: Reg) -> Reg {
    let negative = c.test(rest, Compare::Lt, 0.0);
    let divisor_negative = c.test(divisor, Compare::Lt, 0.0);
    let differ = c.binary(Binary::Xor, negative, divisor_negative);
    let nonzero = c.test(rest, Compare::Ne, 0.0);
    c.binary(Binary::And, nonzero, differ)
}

/// Powers. The exponents that ATen treats apart are treated apart here; a number as exponent is rounded to the tensor
/// type. The products of small powers are calculated in the tensor type, hence rounded in between.
fn power(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let dtype = c.result;
    if !dtype.is_float() {
        return integer_power(c);
    }
    if c.is_tensor(1) {
        let (base, exponent) = rounded_pair(c)?;
        return Ok(c.binary(Binary::Pow, base, exponent));
    }
    let base = c.operand(0, dtype)?;
    let exponent = c.number(1)?;
    let math = c.math(dtype)?;
    let rounded = |c: &mut Call<'_>, x: Reg| {
        let stored = c.kernel.cast(dtype, x);
        c.kernel.cast(math, stored)
    };
    Ok(if exponent == 0.0 {
        c.literal(math, 1.0)
    } else if exponent == 0.5 {
        c.unary(Unary::Sqrt, base)
    } else if exponent == -0.5 {
        c.unary(Unary::Rsqrt, base)
    } else if exponent == 1.0 {
        base
    } else if exponent == -1.0 {
        c.from(1.0, Binary::Div, base)
    } else if exponent == 2.0 {
        c.binary(Binary::Mul, base, base)
    } else if exponent == 3.0 {
        let square = c.binary(Binary::Mul, base, base);
        let square = rounded(c, square);
        c.binary(Binary::Mul, square, base)
    } else if exponent == -2.0 {
        let square = c.binary(Binary::Mul, base, base);
        let square = rounded(c, square);
        c.from(1.0, Binary::Div, square)
    } else {
        let exponent = c.rounded(1, dtype)?;
        c.binary(Binary::Pow, base, exponent)
    })
}

fn integer_power(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let base = c.operand(0, c.result)?;
    match (c.is_tensor(1), c.args.int(1)) {
        (false, Some(exponent @ 1..=4)) if c.result != Dtype::Bool => {
            Ok((1..exponent).fold(base, |power, _| c.binary(Binary::Mul, power, base)))
        }
        _ => Err("has an integer base and an exponent other than 1 to 4".to_owned()),
    }
}

/// `self + value * tensor1 * tensor2`, the last product fused into the sum.
fn add_product(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let (base, a, b) = (c.operand(0, c.result)?, c.operand(1, c.result)?, c.operand(2, c.result)?);
    let value = c.number(3)?;
    let a = if value == 1.0 { a } else { c.with(Binary::Mul, a, value) };
    if c.math(c.result)?.is_float() {
        return Ok(c.kernel.fma(a, b, base));
    }
    let product = c.binary(Binary::Mul, a, b);
    Ok(c.binary(Binary::Add, base, product))
}

/// `self + value * tensor1 / tensor2`.
fn add_quotient(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let (base, a, b) = (c.operand(0, c.result)?, c.operand(1, c.result)?, c.operand(2, c.result)?);
    let value = c.number(3)?;
    let a = if value == 1.0 { a } else { c.with(Binary::Mul, a, value) };
    let quotient = c.binary(Binary::Div, a, b);
    Ok(c.binary(Binary::Add, base, quotient))
}

/// `start + weight * (end - start)`, from the nearer end, so that a weight of 1 gives `end` exactly.
fn interpolate(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let (start, end, weight) = (c.operand(0, c.result)?, c.operand(1, c.result)?, c.operand(2, c.result)?);
    let span = c.binary(Binary::Sub, end, start);
    let magnitude = c.unary(Unary::Abs, weight);
    let near_start = c.test(magnitude, Compare::Lt, 0.5);
    let from_start = c.kernel.fma(weight, span, start);
    let rest = c.from(1.0, Binary::Sub, weight);
    let back = c.unary(Unary::Neg, span);
    let from_end = c.kernel.fma(back, rest, end);
    Ok(c.kernel.select(near_start, from_start, from_end))
}

fn extremum(c: &mut Call<'_>, op: Binary) -> Result<Reg, Uncovered> {
    let (a, b) = c.pair()?;
    Ok(c.binary(op, a, b))
}

/// Lower bound first, so that the upper one wins where they cross. A NaN stays.
fn clamp(c: &mut Call<'_>, low: Option<usize>, high: Option<usize>) -> Result<Reg, Uncovered> {
    let mut x = c.operand(0, c.result)?;
    for (bound, op) in [(low, Binary::Max), (high, Binary::Min)] {
        if let Some(place) = bound.filter(|&place| c.is_given(place)) {
            let bound = c.operand(place, c.result)?;
            x = c.binary(op, x, bound);
        }
    }
    Ok(x)
}
