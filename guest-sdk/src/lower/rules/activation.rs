//! Activation functions. Formulas as in ATen's `Activation.cpp` and `ActivationXxxKernel.cu`.

use super::transcendental::one_plus_exp_neg;
use crate::lower::call::{Emitted, OpCall};
use crate::lower::quantity::Quantity;
use crate::lower::rule::{Align, Rule};
use passhost_ir::kernel::{Binary, Compare, Unary};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::cheap("aten::relu", &[""], |c| Ok(c.first()?.max(0.0))),
    Rule::cheap("aten::relu6", &[""], |c| Ok(between(c.first()?, 0.0, 6.0))),
    Rule::cheap("aten::hardtanh", &[""], |c| Ok(between(c.first()?, c.number(1)?, c.number(2)?))),
    Rule::cheap("aten::hardsigmoid", &[""], |c| Ok(shifted_ramp(c.first()?) / 6.0)),
    Rule::cheap("aten::hardswish", &[""], |c| {
        let x = c.first()?;
        Ok(x * shifted_ramp(x) / 6.0)
    }),
    Rule::cheap("aten::leaky_relu", &[""], |c| {
        let x = c.first()?;
        let scaled = x * c.number(1)?;
        Ok(x.compare(Compare::Gt, 0.0).select(x, scaled))
    }),
    Rule::cheap("aten::threshold", &[""], |c| {
        let (x, bound, value) = c.triple()?;
        Ok(x.compare(Compare::Le, bound).select(value, x))
    }),
    Rule {
        align: Align::Channels,
        ..Rule::cheap("aten::prelu", &[""], |c| {
            let (x, weight) = c.pair()?;
            Ok(x.compare(Compare::Gt, 0.0).select(x, weight * x))
        })
    },
    Rule::cheap("aten::hardshrink", &[""], |c| {
        let (x, lambda) = (c.first()?, c.number(1)?);
        let (from, to) = (x.compare(Compare::Ge, -lambda), x.compare(Compare::Le, lambda));
        Ok(from.binary(Binary::And, to).select(x.literal(0.0), x))
    }),
    Rule::costly("aten::elu", &[""], |c| elu(c, c.number(1)?, c.number(2)?, c.number(3)?)),
    Rule::costly("aten::celu", &[""], |c| elu(c, c.number(1)?, 1.0, 1.0 / c.number(1)?)),
    Rule::costly("aten::selu", &[""], |c| elu(c, 1.673_263_242_354_377_2, 1.050_700_987_355_480_5, 1.0)),
    Rule::costly("aten::softplus", &[""], softplus),
    Rule::costly("aten::mish", &[""], |c| {
        let x = c.first()?;
        Ok(x * x.unary(Unary::Exp).unary(Unary::Log1p).unary(Unary::Tanh))
    }),
    Rule::costly("aten::silu", &[""], |c| {
        let x = c.first()?;
        Ok(x / one_plus_exp_neg(x))
    }),
    Rule::costly("aten::gelu", &[""], |c| match c.args.text(1) {
        Some("none") => gelu(c),
        Some("tanh") => gelu_tanh(c),
        other => Err(format!("has approximate={other:?}; none and tanh are covered")),
    })
    .only("approximate none or tanh"),
    Rule::cheap("aten::softshrink", &[""], |c| {
        // x - lambda above it, x + lambda below -lambda, 0 (or NaN) in between.
        let (x, lambda) = (c.first()?, c.number(1)?);
        let (above, below) = (x.compare(Compare::Gt, lambda), x.compare(Compare::Lt, -lambda));
        let (lowered, raised) = (x - lambda, x + lambda);
        Ok(above.select(lowered, below.select(raised, x * 0.0)))
    }),
];

/// `min(max(x, low), high)`; a NaN stays.
fn between(x: Quantity<'_>, low: f64, high: f64) -> Quantity<'_> {
    x.max(low).min(high)
}

/// `min(max(x + 3, 0), 6)`. It is divided by 6, as on the CPU; CUDA multiplies by a sixth.
fn shifted_ramp(x: Quantity<'_>) -> Quantity<'_> {
    between(x + 3.0, 0.0, 6.0)
}

/// `x > 0 ? x * scale : expm1(x * input_scale) * alpha * scale`, with `alpha * scale` one constant of the math type.
fn elu<'k>(c: &OpCall<'k>, alpha: f64, scale: f64, input_scale: f64) -> Emitted<'k> {
    let x = c.first()?;
    // The factors are rounded to the math type before they are multiplied there.
    let factor = if x.dtype().size() == 4 { f64::from(alpha as f32 * scale as f32) } else { alpha * scale };
    let negative = (x * input_scale).unary(Unary::Expm1) * factor;
    let positive = x * scale;
    Ok(x.compare(Compare::Gt, 0.0).select(positive, negative))
}

/// `x * beta > threshold ? x : log1p(exp(x * beta)) / beta`.
fn softplus<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let x = c.first()?;
    let (beta, threshold) = (c.number(1)?, c.number(2)?);
    let scaled = x * beta;
    let soft = scaled.unary(Unary::Exp).unary(Unary::Log1p) / beta;
    Ok(scaled.compare(Compare::Gt, threshold).select(x, soft))
}

/// `x * 0.5 * (1 + erf(x / sqrt(2)))`.
fn gelu<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let x = c.first()?;
    Ok(x * 0.5 * (1.0 + (x * FRAC_1_SQRT_2).unary(Unary::Erf)))
}

/// `0.5 * x * (1 + tanh(beta * (x + 0.044715 * x^3)))` with `beta = sqrt(2) * (2 / sqrt(pi)) * 0.5`, the cube's product
/// fused into the sum.
fn gelu_tanh<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let x = c.first()?;
    let cube = x * x * x;
    let inner = x.literal(0.044_715).fma(cube, x) * (SQRT_2 * FRAC_2_SQRT_PI * 0.5);
    let grown = 1.0 + inner.unary(Unary::Tanh);
    Ok(x * 0.5 * grown)
}
