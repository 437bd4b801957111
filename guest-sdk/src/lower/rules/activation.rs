//! Activation functions. Formulas as in ATen's `Activation.cpp` and `ActivationXxxKernel.cu`.

use super::super::call::{Call, Uncovered};
use super::Rule;
use super::transcendental::one_plus_exp_neg;
use passhost_ir::kernel::{Binary, Compare, Reg, Unary};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};

pub(super) const RULES: &[Rule] = &[
    Rule::cheap("aten::relu", &[""], |c| {
        let x = c.operand(0, c.result)?;
        Ok(c.with(Binary::Max, x, 0.0))
    }),
    Rule::cheap("aten::relu6", &[""], |c| {
        let x = c.operand(0, c.result)?;
        Ok(between(c, x, 0.0, 6.0))
    }),
    Rule::cheap("aten::hardtanh", &[""], |c| {
        let (low, high) = (c.number(1)?, c.number(2)?);
        let x = c.operand(0, c.result)?;
        Ok(between(c, x, low, high))
    }),
    Rule::cheap("aten::hardsigmoid", &[""], |c| {
        let x = c.operand(0, c.result)?;
        let ramp = shifted_ramp(c, x);
        Ok(c.with(Binary::Div, ramp, 6.0))
    }),
    Rule::cheap("aten::hardswish", &[""], |c| {
        let x = c.operand(0, c.result)?;
        let ramp = shifted_ramp(c, x);
        let product = c.binary(Binary::Mul, x, ramp);
        Ok(c.with(Binary::Div, product, 6.0))
    }),
    Rule::cheap("aten::leaky_relu", &[""], |c| {
        let x = c.operand(0, c.result)?;
        let slope = c.number(1)?;
        let scaled = c.with(Binary::Mul, x, slope);
        let positive = c.test(x, Compare::Gt, 0.0);
        Ok(c.kernel.select(positive, x, scaled))
    }),
    Rule::cheap("aten::threshold", &[""], |c| {
        let (x, bound, value) = (c.operand(0, c.result)?, c.operand(1, c.result)?, c.operand(2, c.result)?);
        let below = c.kernel.compare(Compare::Le, x, bound);
        Ok(c.kernel.select(below, value, x))
    }),
    Rule::costly("aten::elu", &[""], |c| {
        let (alpha, scale, input_scale) = (c.number(1)?, c.number(2)?, c.number(3)?);
        elu(c, alpha, scale, input_scale)
    }),
    Rule::costly("aten::celu", &[""], |c| {
        let alpha = c.number(1)?;
        elu(c, alpha, 1.0, 1.0 / alpha)
    }),
    Rule::costly("aten::selu", &[""], |c| elu(c, 1.673_263_242_354_377_2, 1.050_700_987_355_480_5, 1.0)),
    Rule::costly("aten::softplus", &[""], softplus),
    Rule::costly("aten::mish", &[""], |c| {
        let x = c.operand(0, c.result)?;
        let exp = c.unary(Unary::Exp, x);
        let log = c.unary(Unary::Log1p, exp);
        let tanh = c.unary(Unary::Tanh, log);
        Ok(c.binary(Binary::Mul, x, tanh))
    }),
    Rule::costly("aten::silu", &[""], |c| {
        let x = c.operand(0, c.result)?;
        let grown = one_plus_exp_neg(c, x);
        Ok(c.binary(Binary::Div, x, grown))
    }),
    Rule::costly("aten::gelu", &[""], |c| match c.args.text(1) {
        Some("none") => gelu(c),
        Some("tanh") => gelu_tanh(c),
        other => Err(format!("has approximate={other:?}; none and tanh are covered")),
    }),
    Rule::cheap("aten::softshrink", &[""], |c| {
        // x - lambda above it, x + lambda below -lambda, 0 (or NaN) in between.
        let x = c.operand(0, c.result)?;
        let lambda = c.number(1)?;
        let (above, below) = (c.test(x, Compare::Gt, lambda), c.test(x, Compare::Lt, -lambda));
        let (lowered, raised) = (c.with(Binary::Sub, x, lambda), c.with(Binary::Add, x, lambda));
        let rest = c.with(Binary::Mul, x, 0.0);
        let negative = c.kernel.select(below, raised, rest);
        Ok(c.kernel.select(above, lowered, negative))
    }),
];

/// `min(max(x, low), high)`; a NaN stays.
fn between(c: &mut Call<'_>, x: Reg, low: f64, high: f64) -> Reg {
    let x = c.with(Binary::Max, x, low);
    c.with(Binary::Min, x, high)
}

/// `min(max(x + 3, 0), 6)`. It is divided by 6, as on the CPU; CUDA multiplies by a sixth.
fn shifted_ramp(c: &mut Call<'_>, x: Reg) -> Reg {
    let x = c.with(Binary::Add, x, 3.0);
    between(c, x, 0.0, 6.0)
}

/// `x > 0 ? x * scale : expm1(x * input_scale) * alpha * scale`, with `alpha * scale` one constant of the math type.
fn elu(c: &mut Call<'_>, alpha: f64, scale: f64, input_scale: f64) -> Result<Reg, Uncovered> {
    let x = c.operand(0, c.result)?;
    let math = c.math(c.result)?;
    // The factors are rounded to the math type before they are multiplied there.
    let factor = if math.size() == 4 { f64::from(alpha as f32 * scale as f32) } else { alpha * scale };
    let inner = c.with(Binary::Mul, x, input_scale);
    let exp = c.unary(Unary::Expm1, inner);
    let negative = c.with(Binary::Mul, exp, factor);
    let positive = c.with(Binary::Mul, x, scale);
    let above = c.test(x, Compare::Gt, 0.0);
    Ok(c.kernel.select(above, positive, negative))
}

/// `x * beta > threshold ? x : log1p(exp(x * beta)) / beta`.
fn softplus(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let x = c.operand(0, c.result)?;
    let (beta, threshold) = (c.number(1)?, c.number(2)?);
    let scaled = c.with(Binary::Mul, x, beta);
    let exp = c.unary(Unary::Exp, scaled);
    let log = c.unary(Unary::Log1p, exp);
    let soft = c.with(Binary::Div, log, beta);
    let linear = c.test(scaled, Compare::Gt, threshold);
    Ok(c.kernel.select(linear, x, soft))
}

/// `x * 0.5 * (1 + erf(x / sqrt(2)))`.
fn gelu(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let x = c.operand(0, c.result)?;
    let half = c.with(Binary::Mul, x, 0.5);
    let scaled = c.with(Binary::Mul, x, FRAC_1_SQRT_2);
    let erf = c.unary(Unary::Erf, scaled);
    let grown = c.from(1.0, Binary::Add, erf);
    Ok(c.binary(Binary::Mul, half, grown))
}

/// `0.5 * x * (1 + tanh(beta * (x + 0.044715 * x^3)))` with `beta = sqrt(2) * (2 / sqrt(pi)) * 0.5`, the cube's product
/// fused into the sum.
fn gelu_tanh(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let x = c.operand(0, c.result)?;
    let square = c.binary(Binary::Mul, x, x);
    let cube = c.binary(Binary::Mul, square, x);
    let math = c.math(c.result)?;
    let kappa = c.literal(math, 0.044_715);
    let sum = c.kernel.fma(kappa, cube, x);
    let inner = c.with(Binary::Mul, sum, SQRT_2 * FRAC_2_SQRT_PI * 0.5);
    let tanh = c.unary(Unary::Tanh, inner);
    let grown = c.from(1.0, Binary::Add, tanh);
    let half = c.with(Binary::Mul, x, 0.5);
    Ok(c.binary(Binary::Mul, half, grown))
}
