//! Exponentials, logarithms, roots, trigonometry.

use super::super::call::{Call, Uncovered};
use super::Rule;
use passhost_ir::kernel::{Binary, Reg, Unary};

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
    Rule::costly("aten::atan2", &[""], |c| {
        let (y, x) = c.pair()?;
        Ok(c.binary(Binary::Atan2, y, x))
    }),
    Rule::costly("aten::sigmoid", &[""], |c| {
        let x = c.operand(0, c.result)?;
        Ok(sigmoid(c, x))
    }),
    Rule::costly("aten::log_sigmoid", &[""], |c| {
        // min(x, 0) - log1p(exp(-|x|)) never overflows.
        let x = c.operand(0, c.result)?;
        let magnitude = c.unary(Unary::Abs, x);
        let negative = c.unary(Unary::Neg, magnitude);
        let small = c.unary(Unary::Exp, negative);
        let log = c.unary(Unary::Log1p, small);
        let low = c.with(Binary::Min, x, 0.0);
        Ok(c.binary(Binary::Sub, low, log))
    }),
];

/// An op that a kernel has too. Integer operands become floats first: the result type says which.
fn direct(c: &mut Call<'_>, op: Unary) -> Result<Reg, Uncovered> {
    let x = c.operand(0, c.result)?;
    Ok(c.unary(op, x))
}

/// `1 / (1 + exp(-x))`.
pub(super) fn sigmoid(c: &mut Call<'_>, x: Reg) -> Reg {
    let grown = one_plus_exp_neg(c, x);
    c.from(1.0, Binary::Div, grown)
}

/// `1 + exp(-x)`.
pub(super) fn one_plus_exp_neg(c: &mut Call<'_>, x: Reg) -> Reg {
    let negative = c.unary(Unary::Neg, x);
    let exp = c.unary(Unary::Exp, negative);
    c.from(1.0, Binary::Add, exp)
}
