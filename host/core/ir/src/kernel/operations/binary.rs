//! Operations of two operands.

use super::{Accepts, OperandDraw, TRANSCENDENTAL_ULPS, operations};
use crate::Dtype;
use crate::kernel::approx::{self, Approx};
use crate::kernel::interval::{self, Interval};
use crate::kernel::scalar::{self, Num};

/// What errors of the operands make of a result of floats: how far it may spread, before it rounds.
#[derive(Debug, Clone, Copy)]
pub enum Errors {
    /// As this says for finite operands. An infinite one decides where the result is the same whatever the errors are.
    Arithmetic(fn(Approx, Approx) -> f64),
    /// As this says for finite operands and a finite result, the third argument. Unknown beside an infinity.
    Function(fn(Approx, Approx, f64) -> f64),
    /// One of the operands, unrounded.
    Choice,
}

operations! {
    /// Two operands of one type, result of the same type. Floats and integers unless said otherwise.
    enum Binary: "binary operation";

    /// What is usual is exact on numbers.
    row BinaryRow {
        /// The types that it takes.
        pub takes: Accepts = Accepts::Numbers,
        /// Its result for floats, in `f64`, before it rounds to their type. Sums, products and quotients of two `f32`
        /// that round to `f64` and then to `f32` equal those that round once: 53 bits are at least 2 * 24 + 2.
        pub float: fn(f64, f64) -> f64 = |a, _| a,
        /// Its result for integers or `bool` of a type, before it wraps in it.
        pub integer: fn(Dtype, i64, i64) -> i64 = |_, a, _| a,
        /// How far an executor may be off, in units in the last place; 0 where it must round the true value correctly.
        pub ulps: f64 = 0.0,
        /// What errors of the operands do.
        pub errors: Errors = Errors::Choice,
        /// Whether an operand that is not a number always makes the result one.
        pub nan_prevails: bool = true,
        /// Its results for integers of two intervals, given the range of their type; they may leave it.
        pub interval: fn(Interval, Interval, Interval) -> Interval = |range, _, _| range,
        /// Roughly, in simple vector operations.
        pub cost: u64 = 1,
        /// Its first operand in a random kernel.
        pub drawn: OperandDraw = OperandDraw::Any,
    }

    {
        /// Sum; integers wrap.
        Add = "add" {
            float: |a, b| a + b, integer: |_, a, b| a.wrapping_add(b),
            errors: Errors::Arithmetic(|a, b| a.bound + b.bound), interval: |_, a, b| a + b,
        }
        /// Difference; integers wrap.
        Sub = "sub" {
            float: |a, b| a - b, integer: |_, a, b| a.wrapping_sub(b),
            errors: Errors::Arithmetic(|a, b| a.bound + b.bound), interval: |_, a, b| a - b,
        }
        /// Product; integers wrap.
        Mul = "mul" {
            float: |a, b| a * b, integer: |_, a, b| a.wrapping_mul(b),
            errors: Errors::Arithmetic(approx::product_spread), interval: |_, a, b| a * b,
        }
        /// Quotient; integers truncate and `x / 0 = 0`.
        Div = "div" {
            float: |a, b| a / b, integer: |_, a, b| if b == 0 { 0 } else { a.wrapping_div(b) },
            errors: Errors::Arithmetic(approx::quotient_spread), interval: |_, a, b| interval::quotients(a, b), cost: 8,
        }
        /// Remainder of the truncated quotient, as C's `fmod`; integers `x % 0 = 0`.
        Rem = "rem" {
            float: |a, b| a % b, integer: |_, a, b| if b == 0 { 0 } else { a.wrapping_rem(b) },
            errors: Errors::Function(approx::remainder_spread), interval: |_, a, b| interval::remainders(a, b), cost: 20,
        }
        /// Power. Floats only.
        Pow = "pow" {
            takes: Accepts::Floats, float: f64::powf, ulps: TRANSCENDENTAL_ULPS,
            errors: Errors::Function(approx::power_spread), nan_prevails: false, cost: 20, drawn: OperandDraw::Positive,
        }
        /// Angle of the point (second, first). Floats only.
        Atan2 = "atan2" {
            takes: Accepts::Floats, float: f64::atan2, ulps: TRANSCENDENTAL_ULPS,
            errors: Errors::Function(approx::angle_spread), cost: 20,
        }
        /// The smaller; NaN if either is NaN. Also `bool`.
        Min = "min" {
            takes: Accepts::Compute, float: scalar::smaller, integer: |_, a, b| a.min(b), interval: |_, a, b| a.min(b),
        }
        /// The larger; NaN if either is NaN. Also `bool`.
        Max = "max" {
            takes: Accepts::Compute, float: scalar::larger, integer: |_, a, b| a.max(b), interval: |_, a, b| a.max(b),
        }
        /// Bit by bit. `bool` and integers only.
        And = "and" { takes: Accepts::Bits, integer: |_, a, b| a & b, interval: interval::conjunctions }
        /// Bit by bit. `bool` and integers only.
        Or = "or" { takes: Accepts::Bits, integer: |_, a, b| a | b, interval: interval::disjunctions }
        /// Bit by bit. `bool` and integers only.
        Xor = "xor" { takes: Accepts::Bits, integer: |_, a, b| a ^ b, interval: interval::disjunctions }
        /// Left shift; 0 if the count is negative or at least the width. Integers only.
        Shl = "shl" {
            takes: Accepts::Integers, integer: |dtype, a, b| if is_count(dtype, b) { a << b } else { 0 },
            interval: interval::left_shifts,
        }
        /// Arithmetic right shift; 0 if the count is negative or at least the width. Integers only.
        Shr = "shr" {
            takes: Accepts::Integers, integer: |dtype, a, b| if is_count(dtype, b) { a >> b } else { 0 },
            interval: interval::right_shifts,
        }
    }
}

impl Binary {
    /// What it gives for two operands of type `dtype`.
    pub fn apply(self, dtype: Dtype, a: Num, b: Num) -> Num {
        match (a, b) {
            (Num::Int(a), Num::Int(b)) => Num::Int(scalar::wrap(dtype, (self.integer())(dtype, a, b))),
            (a, b) => Num::Float(scalar::round(dtype, (self.float())(a.as_f64(), b.as_f64()))),
        }
    }
}

/// Whether bits can be shifted by this count in a type.
fn is_count(dtype: Dtype, count: i64) -> bool {
    (0..8 * dtype.size() as i64).contains(&count)
}
