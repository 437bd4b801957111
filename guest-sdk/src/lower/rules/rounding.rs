//! Rounding to integers, and signs.

use crate::lower::call::{Emitted, OpCall};
use crate::lower::rule::Rule;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Compare, Unary};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::cheap("aten::floor", &[""], |c| round(c, Unary::Floor)),
    Rule::cheap("aten::ceil", &[""], |c| round(c, Unary::Ceil)),
    Rule::cheap("aten::trunc", &[""], |c| round(c, Unary::Trunc)),
    Rule::cheap("aten::round", &[""], |c| round(c, Unary::Round)),
    Rule::cheap("aten::frac", &[""], |c| {
        let x = c.first()?;
        Ok(x - x.unary(Unary::Trunc))
    }),
    Rule::cheap("aten::sign", &[""], sign),
    Rule::cheap("aten::sgn", &[""], sign),
];

/// Integers are whole already.
fn round<'k>(c: &OpCall<'k>, op: Unary) -> Emitted<'k> {
    let x = c.first()?;
    Ok(if c.result.is_float() { x.unary(op) } else { x })
}

/// 1, 0 or -1; 0 for a NaN.
fn sign<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let x = c.first()?;
    if c.result == Dtype::Bool {
        return Ok(x);
    }
    let (plus, zero, minus) = (x.literal(1.0), x.literal(0.0), x.literal(-1.0));
    let low = x.compare(Compare::Lt, 0.0).select(minus, zero);
    Ok(x.compare(Compare::Gt, 0.0).select(plus, low))
}
