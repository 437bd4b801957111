//! Typed values, their roundings and conversions: total functions.
//!
//! Executors must agree with these bit by bit, but for transcendental functions, which may be off by 2 ulp.

use super::Scalar;
use crate::Dtype;
use half::{bf16, f16};

/// A value of a known [`Dtype`]: floats as the `f64` that equals them, integers sign-extended, `bool` as 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Num {
    /// A float of any width.
    Float(f64),
    /// An integer of any width, or a `bool`.
    Int(i64),
}

impl Num {
    /// The float, or the integer as one.
    pub fn as_f64(self) -> f64 {
        match self {
            Num::Float(x) => x,
            Num::Int(x) => x as f64,
        }
    }

    /// The integer, or the float as one, truncated and saturated.
    pub fn as_i64(self) -> i64 {
        match self {
            Num::Float(x) => x as i64,
            Num::Int(x) => x,
        }
    }

    /// Whether it is not equal to 0; NaN is not.
    pub fn is_true(self) -> bool {
        match self {
            Num::Float(x) => x != 0.0,
            Num::Int(x) => x != 0,
        }
    }
}

/// The nearest value of a float type, ties to even; 16-bit types by way of `f32`.
pub fn round(dtype: Dtype, x: f64) -> f64 {
    match dtype {
        Dtype::F32 => f64::from(x as f32),
        Dtype::F16 => f16::from_f32(x as f32).to_f64(),
        Dtype::Bf16 => bf16::from_f32(x as f32).to_f64(),
        _ => x,
    }
}

/// An integer reduced to the width of its type, two's complement.
pub fn wrap(dtype: Dtype, x: i64) -> i64 {
    match dtype {
        Dtype::Bool => x & 1,
        Dtype::U8 => i64::from(x as u8),
        Dtype::I8 => i64::from(x as i8),
        Dtype::I16 => i64::from(x as i16),
        Dtype::I32 => i64::from(x as i32),
        _ => x,
    }
}

/// The value of a literal in a type.
pub fn literal(dtype: Dtype, scalar: Scalar) -> Num {
    match scalar {
        Scalar::Bool(x) => Num::Int(x.into()),
        Scalar::Int(x) => Num::Int(x),
        Scalar::Float(x) => Num::Float(round(dtype, x)),
    }
}

/// A value of one type in another: see [`Op::Cast`](super::Op::Cast).
pub fn cast(to: Dtype, x: Num) -> Num {
    match (x, to) {
        (x, Dtype::Bool) => Num::Int(x.is_true().into()),
        (Num::Float(x), _) if to.is_float() => Num::Float(round(to, x)),
        // Rust's float to integer casts truncate, saturate and turn NaN into 0.
        (Num::Float(x), _) => {
            let (low, high) = to.integer_range().unwrap_or((i64::MIN, i64::MAX));
            Num::Int((x as i64).clamp(low, high))
        }
        (Num::Int(x), Dtype::F64) => Num::Float(x as f64),
        // Straight to `f32`: by way of `f64` a large integer would round twice.
        (Num::Int(x), _) if to.is_float() => Num::Float(round(to, f64::from(x as f32))),
        (Num::Int(x), _) => Num::Int(wrap(to, x)),
    }
}

/// The smaller; NaN if either is. Of two zeros, either.
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// The larger; NaN if either is. Of two zeros, either.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// `a * b + c`, rounded once to `dtype`.
pub fn fma(dtype: Dtype, a: f64, b: f64, c: f64) -> f64 {
    match dtype {
        // The sum of an exact product and `c` does not fit `f64`: rounding there first would round twice.
        Dtype::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
        _ => a.mul_add(b, c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Binary, Compare, Unary};

    #[test]
    fn operations_are_total() {
        let int = |op, dtype, a, b| Binary::apply(op, dtype, Num::Int(a), Num::Int(b)).as_i64();
        let min = i64::from(i32::MIN);
        let cases = [
            (int(Binary::Div, Dtype::I32, 7, 0), 0),
            (int(Binary::Rem, Dtype::I32, 7, 0), 0),
            (int(Binary::Div, Dtype::I32, min, -1), min),
            (int(Binary::Rem, Dtype::I64, i64::MIN, -1), 0),
            (int(Binary::Div, Dtype::I64, -7, 2), -3),
            (int(Binary::Rem, Dtype::I64, -7, 2), -1),
            (int(Binary::Add, Dtype::I32, i32::MAX.into(), 1), min),
            (int(Binary::Shl, Dtype::I32, 1, 31), min),
            (int(Binary::Shl, Dtype::I32, 1, 32), 0),
            (int(Binary::Shr, Dtype::I64, -8, 64), 0),
            (int(Binary::Shr, Dtype::I64, -8, 1), -4),
            (int(Binary::Shr, Dtype::I64, -8, -1), 0),
            (Unary::Neg.apply(Dtype::I32, Num::Int(min)).as_i64(), min),
            (Unary::Not.apply(Dtype::Bool, Num::Int(1)).as_i64(), 0),
        ];
        for (number, (found, expected)) in cases.into_iter().enumerate() {
            assert_eq!(found, expected, "case {number}");
        }
    }

    #[test]
    fn casts_round_wrap_and_saturate() {
        let cases = [
            (Dtype::U8, Num::Float(300.7), Num::Int(255)),
            (Dtype::U8, Num::Float(-1.0), Num::Int(0)),
            (Dtype::U8, Num::Int(-1), Num::Int(255)),
            (Dtype::I8, Num::Int(200), Num::Int(-56)),
            (Dtype::I32, Num::Float(f64::NAN), Num::Int(0)),
            (Dtype::I64, Num::Float(f64::INFINITY), Num::Int(i64::MAX)),
            (Dtype::I32, Num::Float(-1.9), Num::Int(-1)),
            (Dtype::Bool, Num::Float(f64::NAN), Num::Int(1)),
            (Dtype::Bool, Num::Float(-0.0), Num::Int(0)),
            (Dtype::F16, Num::Float(65520.0), Num::Float(f64::INFINITY)),
            (Dtype::F16, Num::Float(65519.0), Num::Float(65504.0)),
            // 1 + 2^-11 + 2^-40 rounds up to f16 at once, but to even by way of f32.
            (Dtype::F16, Num::Float(1.0 + 2f64.powi(-11) + 2f64.powi(-40)), Num::Float(1.0)),
            // 2^60 + 2^36 + 1 would round twice by way of f64.
            (Dtype::F32, Num::Int((1 << 60) + (1 << 36) + 1), Num::Float(2f64.powi(60) + 2f64.powi(37))),
        ];
        for (to, from, expected) in cases {
            assert_eq!(cast(to, from), expected, "{from:?} to {to}");
        }
    }

    #[test]
    fn extrema_propagate_nan_and_comparisons_are_false() {
        for op in [Binary::Min, Binary::Max] {
            for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
                assert!(op.apply(Dtype::F32, Num::Float(a), Num::Float(b)).as_f64().is_nan());
            }
        }
        for op in Compare::ALL {
            assert_eq!(op.holds(Num::Float(f64::NAN), Num::Float(1.0)), *op == Compare::Ne);
        }
    }

    #[test]
    fn fma_rounds_once() {
        let (a, c) = (1.0 + 2f64.powi(-12), 2f64.powi(-60));
        assert_eq!(fma(Dtype::F32, a, a, c), f64::from((a as f32).mul_add(a as f32, c as f32)));
        assert_eq!(fma(Dtype::F32, 4097.0, 4097.0, 2f64.powi(-30)), 16_785_410.0);
    }
}
