//! Operations of one operand.

use super::{Accepts, Gives, OperandDraw, TRANSCENDENTAL_ULPS, operations};
use crate::Dtype;
use crate::kernel::interval::Interval;
use crate::kernel::scalar::{Num, round, wrap};

/// How a function of floats runs: what its values at the ends of an interval say of those between.
#[derive(Debug, Clone, Copy)]
pub enum Monotonicity {
    /// Up or down wherever it is a number.
    Monotone,
    /// Distances between operands are distances between results, and nothing rounds.
    Isometric,
    /// Constant but for steps.
    Steps,
    /// Distances between results are at most those between operands, and at most this.
    Bounded(f64),
    /// Monotone between poles; the function numbers what lies between two.
    Poles(fn(f64) -> f64),
    /// Down to this value at 0, and up again.
    Valley(f64),
    /// True or false of the value that is there.
    Predicate,
}

operations! {
    /// One operand, result of the same type unless said otherwise. Floats only, unless said otherwise.
    enum Unary: "unary operation";

    /// What is usual is a transcendental function of floats.
    row UnaryRow {
        /// The types that it takes.
        pub takes: Accepts = Accepts::Floats,
        /// The type of its result.
        pub gives: Gives = Gives::Operand,
        /// Its result for a float, in `f64`, before it rounds to the operand's type; 0 or 1 for a `bool`.
        pub float: fn(f64) -> f64 = |x| x,
        /// Its result for an integer or a `bool`, before it wraps in the operand's type.
        pub integer: fn(i64) -> i64 = |x| x,
        /// How far an executor may be off, in units in the last place; 0 where it must round the true value correctly.
        pub ulps: f64 = TRANSCENDENTAL_ULPS,
        /// How its values run, for bounds of errors.
        pub monotonicity: Monotonicity = Monotonicity::Monotone,
        /// Its results for integers of an interval, given the range of their type; they may leave it.
        pub interval: fn(Interval, Interval) -> Interval = |range, _| range,
        /// Roughly, in simple vector operations.
        pub cost: u64 = 20,
        /// Its operand in a random kernel.
        pub drawn: OperandDraw = OperandDraw::Any,
    }

    {
        /// Negation; integers wrap.
        Neg = "neg" {
            takes: Accepts::Numbers, float: |x| -x, integer: i64::wrapping_neg,
            ulps: 0.0, monotonicity: Monotonicity::Isometric, interval: |_, a| a.negated(), cost: 1,
        }
        /// Magnitude; integers wrap.
        Abs = "abs" {
            takes: Accepts::Numbers, float: f64::abs, integer: i64::wrapping_abs,
            ulps: 0.0, monotonicity: Monotonicity::Isometric, interval: |_, a| a.magnitudes(), cost: 1,
        }
        /// e to the power.
        Exp = "exp" { float: f64::exp, drawn: OperandDraw::Small }
        /// 2 to the power.
        Exp2 = "exp2" { float: f64::exp2, drawn: OperandDraw::Small }
        /// `exp(x) - 1` without cancellation.
        Expm1 = "expm1" { float: f64::exp_m1, drawn: OperandDraw::Small }
        /// Natural logarithm.
        Log = "log" { float: f64::ln, drawn: OperandDraw::Positive }
        /// Logarithm to base 2.
        Log2 = "log2" { float: f64::log2, drawn: OperandDraw::Positive }
        /// Logarithm to base 10.
        Log10 = "log10" { float: f64::log10, drawn: OperandDraw::Positive }
        /// `log(1 + x)` without cancellation.
        Log1p = "log1p" { float: f64::ln_1p, drawn: OperandDraw::Positive }
        /// Square root, correctly rounded.
        Sqrt = "sqrt" { float: f64::sqrt, ulps: 0.0, drawn: OperandDraw::Positive }
        /// Reciprocal square root.
        Rsqrt = "rsqrt" { float: |x| 1.0 / x.sqrt(), drawn: OperandDraw::Positive }
        /// Sine.
        Sin = "sin" { float: f64::sin, monotonicity: Monotonicity::Bounded(2.0) }
        /// Cosine.
        Cos = "cos" { float: f64::cos, monotonicity: Monotonicity::Bounded(2.0) }
        /// Tangent.
        Tan = "tan" {
            // The poles lie half a turn apart.
            float: f64::tan, monotonicity: Monotonicity::Poles(|x| (x / std::f64::consts::PI + 0.5).floor()), drawn: OperandDraw::Small,
        }
        /// Inverse tangent.
        Atan = "atan" { float: f64::atan }
        /// Hyperbolic sine.
        Sinh = "sinh" { float: f64::sinh, drawn: OperandDraw::Small }
        /// Hyperbolic cosine.
        Cosh = "cosh" { float: f64::cosh, monotonicity: Monotonicity::Valley(1.0), drawn: OperandDraw::Small }
        /// Hyperbolic tangent.
        Tanh = "tanh" { float: f64::tanh }
        /// Error function.
        Erf = "erf" { float: libm::erf }
        /// Round down.
        Floor = "floor" { float: f64::floor, ulps: 0.0, monotonicity: Monotonicity::Steps, cost: 1, drawn: OperandDraw::Uneven }
        /// Round up.
        Ceil = "ceil" { float: f64::ceil, ulps: 0.0, monotonicity: Monotonicity::Steps, cost: 1, drawn: OperandDraw::Uneven }
        /// Round towards zero.
        Trunc = "trunc" { float: f64::trunc, ulps: 0.0, monotonicity: Monotonicity::Steps, cost: 1, drawn: OperandDraw::Uneven }
        /// Round to nearest, ties to even.
        Round = "round" { float: f64::round_ties_even, ulps: 0.0, monotonicity: Monotonicity::Steps, cost: 1, drawn: OperandDraw::Uneven }
        /// Complement, bit by bit. `bool` and integers.
        Not = "not" {
            takes: Accepts::Bits, integer: |x| !x, ulps: 0.0,
            interval: |range, a| a.mirrored(range), cost: 1,
        }
        /// Whether the operand is not a number; result `bool`.
        IsNan = "isnan" {
            gives: Gives::Bool, float: |x| if x.is_nan() { 1.0 } else { 0.0 }, ulps: 0.0,
            monotonicity: Monotonicity::Predicate, cost: 1,
        }
    }
}

impl Unary {
    /// What it gives for an operand of type `dtype`.
    pub fn apply(self, dtype: Dtype, x: Num) -> Num {
        match x {
            Num::Float(x) if self.gives() == Gives::Bool => Num::Int((self.float())(x) as i64),
            Num::Float(x) => Num::Float(round(dtype, (self.float())(x))),
            Num::Int(x) => Num::Int(wrap(dtype, (self.integer())(x))),
        }
    }
}
