//! What kind of number an element is, and its sign.

use crate::lower::call::{Emitted, OpCall};
use crate::lower::quantity::Quantity;
use crate::lower::rule::Rule;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Unary};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::cheap("aten::isnan", &[""], |c| of_float(c, false, |x| x.unary(Unary::IsNan))),
    Rule::cheap("aten::isinf", &[""], |c| of_float(c, false, |x| magnitude(x).compare(Compare::Eq, f64::INFINITY))),
    Rule::cheap("aten::isfinite", &[""], |c| of_float(c, true, is_finite)),
    Rule::cheap("aten::isposinf", &[""], |c| of_float(c, false, |x| x.compare(Compare::Eq, f64::INFINITY))),
    Rule::cheap("aten::isneginf", &[""], |c| of_float(c, false, |x| x.compare(Compare::Eq, f64::NEG_INFINITY))),
    Rule::cheap("aten::isclose", &[""], is_close).only("of floats"),
    Rule::cheap("aten::nan_to_num", &[""], numbers),
    Rule::cheap("aten::signbit", &[""], |c| Ok(is_negative(c.own(0)?))),
    Rule::cheap("aten::copysign", &["Tensor", "Scalar"], |c| {
        let (x, sign) = c.pair()?;
        let size = magnitude(x);
        Ok(is_negative(sign).select(size.unary(Unary::Neg), size))
    }),
];

/// Something that is asked of floats; integers all give the same.
fn of_float<'k>(c: &OpCall<'k>, of_integers: bool, ask: fn(Quantity<'k>) -> Quantity<'k>) -> Emitted<'k> {
    let x = c.own(0)?;
    Ok(if x.dtype().is_float() { ask(x) } else { c.literal(Dtype::Bool, f64::from(u8::from(of_integers))) })
}

pub(super) fn magnitude(x: Quantity<'_>) -> Quantity<'_> {
    x.unary(Unary::Abs)
}

fn is_finite(x: Quantity<'_>) -> Quantity<'_> {
    magnitude(x).compare(Compare::Lt, f64::INFINITY)
}

/// Whether a number has a minus sign, a zero included; the sign of a NaN counts as plus.
fn is_negative(x: Quantity<'_>) -> Quantity<'_> {
    if x.dtype() == Dtype::Bool {
        return x.compare(Compare::Ne, x);
    }
    let is_below = x.compare(Compare::Lt, 0.0);
    if x.dtype().is_float() { is_below.binary(Binary::Or, (1.0 / x).compare(Compare::Lt, 0.0)) } else { is_below }
}

/// `|a - b| <= atol + |rtol * b|`, with the roundings of the tensors in between.
fn is_close<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let dtype = c.common(&[0, 1])?;
    if !dtype.is_float() {
        return Err(format!("compares {dtype}"));
    }
    let (rtol, atol) = (c.number(2)?, c.number(3)?);
    let (a, b) = (c.operand(0, dtype)?, c.operand(1, dtype)?);
    let mut close = a.compare(Compare::Eq, b);
    if c.args.bool(4) == Some(true) {
        let both = a.unary(Unary::IsNan).binary(Binary::And, b.unary(Unary::IsNan));
        close = close.binary(Binary::Or, both);
    }
    if rtol == 0.0 && atol == 0.0 {
        return Ok(close);
    }
    let allowed = c.widened(atol + magnitude(c.widened(b * rtol, dtype)?), dtype)?;
    let error = magnitude(c.widened(a - b, dtype)?);
    let is_near = is_finite(error).binary(Binary::And, error.compare(Compare::Le, allowed));
    Ok(close.binary(Binary::Or, is_near))
}

/// Numbers in place of NaN and the infinities; by default 0 and the largest finite ones of the type.
fn numbers<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let x = c.first()?;
    let largest = match c.result {
        Dtype::F16 => 65504.0,
        Dtype::Bf16 => f64::from(f32::from_bits(0x7f7f_0000)),
        Dtype::F32 => f64::from(f32::MAX),
        Dtype::F64 => f64::MAX,
        _ => return Ok(x),
    };
    let number = |place: usize, usual: f64| if c.is_given(place) { c.number(place) } else { Ok(usual) };
    let (nan, above, below) = (number(1, 0.0)?, number(2, largest)?, number(3, -largest)?);
    let finite = x.compare(Compare::Eq, f64::NEG_INFINITY).select(x.literal(below), x);
    let bounded = x.compare(Compare::Eq, f64::INFINITY).select(x.literal(above), finite);
    Ok(x.unary(Unary::IsNan).select(x.literal(nan), bounded))
}
