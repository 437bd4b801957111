//! Values that carry a rigorous bound on how far another correct implementation may differ.
//!
//! Another implementation is correct if it computes `+ - * /`, `sqrt`, `fma`, comparisons and casts in the declared
//! type as IEEE 754 rounds them, transcendental functions within 2 ulp, and sums and products in any order. A sum may
//! take in products before these are rounded (`fma`). Results that only pass through exact operations have bound 0: the
//! bits are given. Where the intervals of possible operands reach over a decision (a comparison, a cast to an integer, an
//! overflow) the result is unknown.

use super::scalar::{self, Num};

/// A value, and how far others may be from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Approx {
    /// The value computed here.
    pub value: Num,
    /// The largest distance to another correct result; 0 if the bits are given, infinite if nothing is known.
    pub bound: f64,
}

impl Approx {
    /// A value that every correct implementation shares.
    pub const fn exact(value: Num) -> Approx {
        Approx { value, bound: 0.0 }
    }

    /// A value of which nothing is known.
    pub const fn unknown(value: Num) -> Approx {
        Approx { value, bound: f64::INFINITY }
    }

    /// Whether nothing is known of it.
    pub fn is_unknown(self) -> bool {
        self.bound == f64::INFINITY
    }

    /// Whether every correct implementation has the same bits.
    pub fn is_exact(self) -> bool {
        self.bound == 0.0
    }

    /// A float that is certainly not a number.
    pub(super) fn is_certain_nan(self) -> bool {
        self.is_exact() && matches!(self.value, Num::Float(x) if x.is_nan())
    }

    /// The smallest and the largest float it may be.
    pub(super) fn range(self) -> (f64, f64) {
        let x = self.value.as_f64();
        if self.is_exact() {
            return (x, x);
        }
        ((x - self.bound).next_down(), (x + self.bound).next_up())
    }

    pub(super) fn contains_zero(self) -> bool {
        let (low, high) = self.range();
        low <= 0.0 && high >= 0.0
    }
}

/// The smallest bound above 0: a zero whose sign is not given.
pub(super) const SIGN_OF_ZERO: f64 = f64::from_bits(1);

/// Whether two floats have the same bits, any NaN equal to any other.
pub(super) fn same_bits(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// A result that others give somewhere between `low` and `high`, all rounded to its type.
pub(super) fn between(value: f64, low: f64, high: f64) -> Approx {
    let number = Num::Float(value);
    if low.is_infinite() || high.is_infinite() || value.is_infinite() {
        return if low == high { Approx::exact(number) } else { Approx::unknown(number) };
    }
    let bound = (value - low).max(high - value);
    if bound == 0.0 && low.is_sign_negative() != high.is_sign_negative() {
        return Approx { value: number, bound: SIGN_OF_ZERO };
    }
    Approx { value: number, bound }
}

/// `|ab - a'b'|` for all `a'`, `b'` within the bounds.
pub(super) fn product_spread(a: Approx, b: Approx) -> f64 {
    a.value.as_f64().abs() * b.bound + b.value.as_f64().abs() * a.bound + a.bound * b.bound
}

/// `|a/b - a'/b'|` for all `a'`, `b'` within the bounds.
pub(super) fn quotient_spread(a: Approx, b: Approx) -> f64 {
    if b.contains_zero() {
        return f64::INFINITY;
    }
    let (x, y) = (a.value.as_f64(), b.value.as_f64());
    (a.bound + (x / y).abs() * b.bound) / (y.abs() - b.bound)
}

/// The same of remainders, where all quotients truncate to one integer.
pub(super) fn remainder_spread(a: Approx, b: Approx, _: f64) -> f64 {
    let spread = quotient_spread(a, b);
    let quotient = a.value.as_f64() / b.value.as_f64();
    let (low, high) = Approx { value: Num::Float(quotient), bound: spread }.range();
    let whole = quotient.trunc();
    let one = low.trunc() == whole && high.trunc() == whole && spread.is_finite();
    if one { a.bound + whole.abs() * b.bound } else { f64::INFINITY }
}

/// The same of powers of positive numbers.
pub(super) fn power_spread(a: Approx, b: Approx, z: f64) -> f64 {
    if a.range().0 > 0.0 { corner_spread(f64::powf, a, b, z) } else { f64::INFINITY }
}

/// The same of angles, which turn over at the negative half of the second operand's axis.
pub(super) fn angle_spread(a: Approx, b: Approx, z: f64) -> f64 {
    let one = !a.contains_zero() || b.range().0 > 0.0;
    if one { corner_spread(f64::atan2, a, b, z) } else { f64::INFINITY }
}

/// The spread of a function that takes its extremes over a box at the corners.
fn corner_spread(f: fn(f64, f64) -> f64, a: Approx, b: Approx, z: f64) -> f64 {
    let spread = corners(a, b).map(|(x, y)| (f(x, y) - z).abs()).into_iter().fold(0.0, scalar::larger);
    if spread.is_nan() { f64::INFINITY } else { spread }
}

pub(super) fn corners(a: Approx, b: Approx) -> [(f64, f64); 4] {
    let ((a0, a1), (b0, b1)) = (a.range(), b.range());
    [(a0, b0), (a0, b1), (a1, b0), (a1, b1)]
}
