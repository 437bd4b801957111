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
    Rule::cheap("aten::round", &["decimals"], decimals),
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

/// To a number of digits behind the point, or in front of it where that is negative. The scaled number is rounded to the
/// tensor type before it loses its fraction, as CUDA calculates in that type; the CPU rounds once.
fn decimals<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let (x, digits) = (c.first()?, c.args.int(1).ok_or("has no number of digits")?);
    if !c.result.is_float() {
        return Err(format!("has a result of type {}", c.result));
    }
    let power = c.stored(x.literal(10f64.powi(i32::try_from(digits.abs()).unwrap_or(i32::MAX))))?;
    let scaled = c.stored(if digits < 0 { x / power } else { x * power })?;
    let whole = scaled.unary(Unary::Round);
    Ok(match digits {
        0 => x.unary(Unary::Round),
        ..0 => whole * power,
        _ => whole / power,
    })
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
