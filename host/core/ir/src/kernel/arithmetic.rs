//! The operations of a kernel on values that carry a bound on their error.

use super::approx::{Approx, SIGN_OF_ZERO, between, corners, product_spread, same_bits};
use super::operations::{Errors, Monotonicity};
use super::scalar::{self, Num};
use super::{Binary, Compare, Scalar, Unary};
use crate::Dtype;

/// How the interpreter treats floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every value rounds to its declared type, as executors round. Bounds say how far a correct executor may differ.
    Declared,
    /// Floats stay in `f64`: no rounding, casts to narrower floats included. Bounds are 0.
    Double,
    /// Values as [`Mode::Declared`]; bounds say how far [`Mode::Double`] may differ.
    Rounding,
}

const NAN: Approx = Approx::exact(Num::Float(f64::NAN));

/// The operations of a kernel on [`Approx`] values in one [`Mode`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Arithmetic {
    pub(super) mode: Mode,
}

impl Arithmetic {
    /// Rounds a result. `exact` is the result in `f64`, `spread` how far the unrounded results of others may be from
    /// it, `ulps` how much they may add by themselves. If nothing spreads, `exact` rounds once to the right bits.
    pub(super) fn settle(self, dtype: Dtype, exact: f64, spread: f64, ulps: f64) -> Approx {
        self.settle_as(dtype, scalar::round(dtype, exact), exact, spread, ulps)
    }

    /// The same where rounding `exact` once more would not give the right bits, which are `rounded`.
    fn settle_as(self, dtype: Dtype, rounded: f64, exact: f64, spread: f64, ulps: f64) -> Approx {
        match self.mode {
            Mode::Double => return Approx::exact(Num::Float(exact)),
            Mode::Declared if spread == 0.0 && ulps == 0.0 => return Approx::exact(Num::Float(rounded)),
            _ => {}
        }
        let value = Num::Float(rounded);
        if exact.is_nan() {
            return NAN;
        }
        if exact.is_infinite() {
            return if spread == 0.0 { Approx::exact(value) } else { Approx::unknown(value) };
        }
        // What follows is itself computed in f64: a little slack covers that.
        let slack = if spread > 0.0 { spread * 1e-9 + exact.abs() * 2f64.powi(-51) } else { 0.0 };
        if self.mode == Mode::Rounding {
            let bound = spread + slack + (exact - rounded).abs() * (1.0 + 1e-9);
            return if bound.is_finite() { Approx { value, bound } } else { Approx::unknown(value) };
        }
        let spread = spread + slack + ulps * ulp(dtype, exact.abs() + spread);
        // Rounding is monotone, so that others round to something between the rounded ends.
        let (low, high) = (scalar::round(dtype, exact - spread), scalar::round(dtype, exact + spread));
        between(rounded, low, high)
    }

    pub(super) fn literal(self, dtype: Dtype, scalar: Scalar) -> Approx {
        match scalar {
            Scalar::Float(x) => self.settle(dtype, x, 0.0, 0.0),
            _ => Approx::exact(scalar::literal(dtype, scalar)),
        }
    }

    pub(super) fn unary(self, op: Unary, dtype: Dtype, x: Approx) -> Approx {
        let Num::Float(v) = x.value else {
            return Approx { value: op.apply(dtype, x.value), ..x };
        };
        let (f, monotonicity) = (op.float(), op.monotonicity());
        let y = f(v);
        match monotonicity {
            Monotonicity::Predicate if x.is_unknown() => return Approx::unknown(Num::Int(0)),
            Monotonicity::Predicate => return Approx::exact(Num::Int(y as i64)),
            Monotonicity::Isometric => return Approx { value: Num::Float(y), ..x },
            _ if x.is_unknown() => return Approx::unknown(Num::Float(y)),
            _ => {}
        }
        let ulps = own_ulps(dtype, op.ulps());
        if x.is_exact() {
            return self.settle(dtype, y, 0.0, ulps);
        }
        let (first, last) = x.range();
        let (low, high) = (f(first), f(last));
        match monotonicity {
            Monotonicity::Bounded(most) => self.settle(dtype, y, x.bound.min(most), ulps),
            Monotonicity::Steps if same_bits(low, high) => Approx::exact(Num::Float(y)),
            Monotonicity::Steps => Approx::unknown(Num::Float(y)),
            Monotonicity::Poles(piece) if piece(first) != piece(last) => Approx::unknown(Num::Float(y)),
            Monotonicity::Valley(lowest) if x.contains_zero() => {
                let spread = (low.max(high) - y).max(y - lowest);
                self.settle(dtype, y, spread, ulps)
            }
            _ => self.settle_between(dtype, y, low, high, ulps),
        }
    }

    /// Rounds a result whose unrounded variants lie between `low` and `high`, in either order.
    fn settle_between(self, dtype: Dtype, exact: f64, low: f64, high: f64, ulps: f64) -> Approx {
        let all_nan = exact.is_nan() && low.is_nan() && high.is_nan();
        if all_nan || (exact.is_infinite() && same_bits(low, exact) && same_bits(high, exact)) {
            return Approx::exact(Num::Float(exact));
        }
        if !(exact.is_finite() && low.is_finite() && high.is_finite()) {
            return Approx::unknown(Num::Float(exact));
        }
        let spread = (exact - low).abs().max((exact - high).abs());
        self.settle(dtype, exact, spread.max(SIGN_OF_ZERO), ulps)
    }

    pub(super) fn binary(self, op: Binary, dtype: Dtype, a: Approx, b: Approx) -> Approx {
        let (Num::Float(x), Num::Float(y)) = (a.value, b.value) else {
            return self.integers(op.apply(dtype, a.value, b.value), &[a, b]);
        };
        let z = (op.float())(x, y);
        if op.nan_prevails() && (a.is_certain_nan() || b.is_certain_nan()) {
            return NAN;
        }
        if a.is_unknown() || b.is_unknown() {
            return Approx::unknown(Num::Float(z));
        }
        let errors = op.errors();
        if matches!(errors, Errors::Choice) {
            return if self.mode == Mode::Double { Approx::exact(Num::Float(z)) } else { extremum(op, a, b) };
        }
        let ulps = own_ulps(dtype, op.ulps());
        if a.is_exact() && b.is_exact() {
            return self.settle(dtype, z, 0.0, ulps);
        }
        let finite = x.is_finite() && y.is_finite();
        let spread = match errors {
            Errors::Arithmetic(_) if !finite => return beside_infinity(op, a, b, z),
            Errors::Arithmetic(spread) => spread(a, b),
            Errors::Function(spread) if finite => spread(a, b, z),
            Errors::Function(_) | Errors::Choice => f64::INFINITY,
        };
        if !spread.is_finite() || !z.is_finite() {
            return Approx::unknown(Num::Float(z));
        }
        self.settle(dtype, z, spread.max(SIGN_OF_ZERO), ulps)
    }

    fn integers(self, value: Num, operands: &[Approx]) -> Approx {
        if operands.iter().all(|operand| operand.is_exact()) { Approx::exact(value) } else { Approx::unknown(value) }
    }

    pub(super) fn compare(self, op: Compare, a: Approx, b: Approx) -> Approx {
        let value = Num::Int(op.holds(a.value, b.value).into());
        if a.is_certain_nan() || b.is_certain_nan() || (a.is_exact() && b.is_exact()) {
            return Approx::exact(value);
        }
        let ((a0, a1), (b0, b1)) = (a.range(), b.range());
        let apart = !a.is_unknown() && !b.is_unknown() && (a1 < b0 || b1 < a0);
        if apart { Approx::exact(value) } else { Approx::unknown(value) }
    }

    pub(super) fn select(self, condition: Approx, a: Approx, b: Approx) -> Approx {
        let chosen = if condition.value.is_true() { a } else { b };
        let same = a.is_exact() && b.is_exact() && same_value(a.value, b.value);
        if condition.is_exact() || same { chosen } else { Approx::unknown(chosen.value) }
    }

    pub(super) fn fma(self, dtype: Dtype, a: Approx, b: Approx, c: Approx) -> Approx {
        let (x, y, z) = (a.value.as_f64(), b.value.as_f64(), c.value.as_f64());
        let exact = x.mul_add(y, z);
        if a.is_certain_nan() || b.is_certain_nan() || c.is_certain_nan() {
            return NAN;
        }
        if a.is_exact() && b.is_exact() && c.is_exact() {
            return self.settle_as(dtype, scalar::fma(dtype, x, y, z), exact, 0.0, 0.0);
        }
        let spread = product_spread(a, b) + c.bound;
        if !spread.is_finite() || !exact.is_finite() {
            return Approx::unknown(Num::Float(exact));
        }
        self.settle(dtype, exact, spread.max(SIGN_OF_ZERO), 0.0)
    }

    pub(super) fn cast(self, to: Dtype, x: Approx) -> Approx {
        let value = scalar::cast(to, x.value);
        if x.is_unknown() {
            return Approx::unknown(value);
        }
        match x.value {
            Num::Int(v) if to.is_float() => self.settle_as(to, value.as_f64(), v as f64, 0.0, 0.0),
            Num::Float(v) if to.is_float() => self.settle(to, v, x.bound, 0.0),
            Num::Float(_) => {
                let (low, high) = x.range();
                let certain = match to {
                    Dtype::Bool => x.is_exact() || !x.contains_zero(),
                    _ => scalar::cast(to, Num::Float(low)) == scalar::cast(to, Num::Float(high)),
                };
                if certain { Approx::exact(value) } else { Approx::unknown(value) }
            }
            Num::Int(_) => Approx::exact(value),
        }
    }
}

/// The distance from `x` to the next larger magnitude in a compute type.
fn ulp(dtype: Dtype, x: f64) -> f64 {
    if dtype == Dtype::F32 {
        let x = (x.abs() as f32).min(f32::MAX.next_down());
        return f64::from(x.next_up()) - f64::from(x);
    }
    let x = x.abs().min(f64::MAX.next_down());
    x.next_up() - x
}

/// Our own `f64` function is not exact either, which shows where the result is not rounded further.
fn own_ulps(dtype: Dtype, ulps: f64) -> f64 {
    if dtype == Dtype::F32 { ulps } else { 2.0 * ulps }
}

fn same_value(a: Num, b: Num) -> bool {
    match (a, b) {
        (Num::Float(a), Num::Float(b)) => same_bits(a, b),
        (a, b) => a == b,
    }
}

/// An infinite operand decides, unless the other's sign or magnitude does.
fn beside_infinity(op: Binary, a: Approx, b: Approx, z: f64) -> Approx {
    let decided = corners(a, b).iter().all(|&(x, y)| same_bits((op.float())(x, y), z));
    if decided { Approx::exact(Num::Float(z)) } else { Approx::unknown(Num::Float(z)) }
}

fn extremum(op: Binary, a: Approx, b: Approx) -> Approx {
    let ((a0, a1), (b0, b1)) = (a.range(), b.range());
    let pick = op.float();
    let value = pick(a.value.as_f64(), b.value.as_f64());
    let settled = between(value, pick(a0, b0), pick(a1, b1));
    // Of two zeros of different sign either may be returned.
    let zeros = value == 0.0 && a.contains_zero() && b.contains_zero();
    if zeros && settled.is_exact() && a.value.as_f64().is_sign_negative() != b.value.as_f64().is_sign_negative() {
        return Approx { bound: SIGN_OF_ZERO, ..settled };
    }
    settled
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: Arithmetic = Arithmetic { mode: Mode::Declared };

    fn near(value: f64, bound: f64) -> Approx {
        Approx { value: Num::Float(value), bound }
    }

    #[test]
    fn exact_operations_on_exact_operands_stay_exact() {
        let (a, b) = (near(0.1f32.into(), 0.0), near(0.3f32.into(), 0.0));
        for op in [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Rem, Binary::Min] {
            assert!(DECLARED.binary(op, Dtype::F32, a, b).is_exact(), "{op}");
        }
        assert_eq!(DECLARED.binary(Binary::Div, Dtype::F32, a, b).value, Num::Float((0.1f32 / 0.3f32).into()));
        assert!(DECLARED.unary(Unary::Sqrt, Dtype::F32, a).is_exact());
        let exp = DECLARED.unary(Unary::Exp, Dtype::F32, near(1.0, 0.0));
        assert!(exp.bound > 0.0 && exp.bound < 1e-6, "{exp:?}");
    }

    #[test]
    fn rounding_to_a_narrow_type_makes_small_errors_vanish() {
        let exp = DECLARED.unary(Unary::Exp, Dtype::F32, near(1.0, 0.0));
        assert!(DECLARED.cast(Dtype::Bf16, exp).is_exact());
    }

    #[test]
    fn decisions_within_the_bounds_are_unknown() {
        let x = near(1.0, 1e-6);
        assert!(DECLARED.compare(Compare::Gt, x, near(1.0, 0.0)).is_unknown());
        assert!(DECLARED.compare(Compare::Gt, x, near(1.1, 0.0)).is_exact());
        assert!(DECLARED.unary(Unary::Floor, Dtype::F32, x).is_unknown());
        assert!(DECLARED.cast(Dtype::I32, x).is_unknown());
        assert!(DECLARED.cast(Dtype::I32, near(1.5, 0.25)).is_exact());
        assert!(DECLARED.binary(Binary::Div, Dtype::F32, x, near(0.0, 1e-6)).is_unknown());
        assert!(DECLARED.unary(Unary::Exp, Dtype::F32, near(88.72, 0.5)).is_unknown());
        assert!(DECLARED.unary(Unary::Log, Dtype::F32, near(1e-7, 1e-6)).is_unknown());
    }

    #[test]
    fn the_sign_of_a_zero_is_open_after_an_extremum() {
        let zero = DECLARED.binary(Binary::Max, Dtype::F32, near(-0.0, 0.0), near(0.0, 0.0));
        assert_eq!(zero.bound, SIGN_OF_ZERO);
        assert!(DECLARED.binary(Binary::Div, Dtype::F32, near(1.0, 0.0), zero).is_unknown());
        assert!(DECLARED.binary(Binary::Add, Dtype::F32, near(1.0, 0.0), zero).is_exact());
    }
}
