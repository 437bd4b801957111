//! Rounding to integers, and signs.

use super::super::call::{Call, Uncovered};
use super::Rule;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Reg, Unary};

pub(super) const RULES: &[Rule] = &[
    Rule::cheap("aten::floor", &[""], |c| round(c, Unary::Floor)),
    Rule::cheap("aten::ceil", &[""], |c| round(c, Unary::Ceil)),
    Rule::cheap("aten::trunc", &[""], |c| round(c, Unary::Trunc)),
    Rule::cheap("aten::round", &[""], |c| round(c, Unary::Round)),
    Rule::cheap("aten::frac", &[""], |c| {
        let x = c.operand(0, c.result)?;
        let whole = c.unary(Unary::Trunc, x);
        Ok(c.binary(Binary::Sub, x, whole))
    }),
    Rule::cheap("aten::sign", &[""], sign),
    Rule::cheap("aten::sgn", &[""], sign),
];

/// Integers are whole already.
fn round(c: &mut Call<'_>, op: Unary) -> Result<Reg, Uncovered> {
    let x = c.operand(0, c.result)?;
    Ok(if c.result.is_float() { c.unary(op, x) } else { x })
}

/// 1, 0 or -1; 0 for a NaN.
fn sign(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    let x = c.operand(0, c.result)?;
    if c.result == Dtype::Bool {
        return Ok(x);
    }
    let math = c.math(c.result)?;
    let (plus, zero, minus) = (c.literal(math, 1.0), c.literal(math, 0.0), c.literal(math, -1.0));
    let negative = c.test(x, Compare::Lt, 0.0);
    let low = c.kernel.select(negative, minus, zero);
    let positive = c.test(x, Compare::Gt, 0.0);
    Ok(c.kernel.select(positive, plus, low))
}
