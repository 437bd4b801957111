//! Reductions, and the scans that some of them have.

use super::{Accepts, Binary, Compare, Gives, operations};
use crate::Dtype;
use crate::kernel::fold::Fold;
use crate::kernel::interval::Interval;
use crate::kernel::scalar::{self, Num};

/// The element that changes no result, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityElement {
    /// 0.
    Zero,
    /// 1.
    One,
    /// The smallest value of the type; of floats, minus infinity.
    Lowest,
    /// The largest value of the type; of floats, infinity.
    Highest,
    /// False.
    False,
    /// True.
    True,
}

operations! {
    /// Elements to a row, over all of `R` at once, in no stated order.
    enum ReduceOp: "reduction";

    /// What is usual takes numbers and gives one of the elements.
    row ReduceRow {
        /// The types that it takes.
        pub takes: Accepts = Accepts::Numbers,
        /// The type of its result.
        pub gives: Gives = Gives::Operand,
        /// What an accumulator starts with; `None` for positions, which start with no candidate.
        pub identity: Option<IdentityElement> = None,
        /// The operation that takes an element into what is reduced so far, if there is one.
        pub combine: Option<Binary> = None,
        /// Its result for elements of a type in their order, of which there is at least one.
        pub meaning: fn(Dtype, &[Num]) -> Num = |_, elements| elements[0],
        /// How the interpreter bounds errors for elements of a type.
        pub(in crate::kernel) fold: fn(Dtype) -> Fold = |dtype| Fold::extremum(Binary::Max, dtype),
        /// Its results for as many integers or `bool` as the third interval says, each in the second, given the range
        /// of the result's type; they may leave it.
        pub interval: fn(Interval, Interval, Interval) -> Interval = |_, of, _| of,
    }

    {
        /// Sum of `f32`, `f64` or `i64`; integers wrap.
        Sum = "sum" {
            takes: Accepts::Accumulators, identity: Some(IdentityElement::Zero), combine: Some(Binary::Add),
            meaning: |dtype, elements| running(Binary::Add, dtype, Num::Int(0), elements),
            fold: Fold::sum, interval: |_, of, counts| of * counts,
        }
        /// Product of `f32`, `f64` or `i64`; integers wrap.
        Prod = "prod" {
            takes: Accepts::Accumulators, identity: Some(IdentityElement::One), combine: Some(Binary::Mul),
            meaning: |dtype, elements| running(Binary::Mul, dtype, Num::Int(1), elements),
            fold: Fold::product, interval: |range, _, _| range,
        }
        /// Largest of floats or integers; NaN if any is NaN.
        Max = "max" {
            identity: Some(IdentityElement::Lowest), combine: Some(Binary::Max),
            meaning: |dtype, elements| running(Binary::Max, dtype, elements[0], elements),
            fold: |dtype| Fold::extremum(Binary::Max, dtype),
        }
        /// Smallest of floats or integers; NaN if any is NaN.
        Min = "min" {
            identity: Some(IdentityElement::Highest), combine: Some(Binary::Min),
            meaning: |dtype, elements| running(Binary::Min, dtype, elements[0], elements),
            fold: |dtype| Fold::extremum(Binary::Min, dtype),
        }
        /// Row-major position over `R`, an `i64`, of the first largest; NaN counts as largest.
        Argmax = "argmax" {
            gives: Gives::Position, meaning: |_, elements| first(Compare::Gt, elements),
            fold: |_| Fold::position(Compare::Gt), interval: |_, _, counts| positions(counts),
        }
        /// Row-major position over `R`, an `i64`, of the first smallest; NaN counts as smallest.
        Argmin = "argmin" {
            gives: Gives::Position, meaning: |_, elements| first(Compare::Lt, elements),
            fold: |_| Fold::position(Compare::Lt), interval: |_, _, counts| positions(counts),
        }
        /// Whether any `bool` is true.
        Any = "any" {
            takes: Accepts::Bool, identity: Some(IdentityElement::False), combine: Some(Binary::Or),
            meaning: |_, elements| Num::Int(elements.iter().any(|x| x.is_true()).into()), fold: |_| Fold::logic(true),
        }
        /// Whether every `bool` is true.
        All = "all" {
            takes: Accepts::Bool, identity: Some(IdentityElement::True), combine: Some(Binary::And),
            meaning: |_, elements| Num::Int(elements.iter().all(|x| x.is_true()).into()), fold: |_| Fold::logic(false),
        }
    }
}

operations! {
    /// Elements to elements: inclusive, along the last axis of `R`.
    enum ScanOp: "scan";

    /// Everything else is that of the reduction.
    row ScanRow {
        /// The reduction of which it gives every result so far.
        pub reduction: ReduceOp = ReduceOp::Sum,
    }

    {
        /// Running sum, types as [`ReduceOp::Sum`].
        Sum = "cumsum" { reduction: ReduceOp::Sum }
        /// Running product, types as [`ReduceOp::Prod`].
        Prod = "cumprod" { reduction: ReduceOp::Prod }
        /// Running maximum, types as [`ReduceOp::Max`].
        Max = "cummax" { reduction: ReduceOp::Max }
        /// Running minimum, types as [`ReduceOp::Min`].
        Min = "cummin" { reduction: ReduceOp::Min }
    }
}

/// Element after element, rounded or wrapped each time.
fn running(op: Binary, dtype: Dtype, start: Num, elements: &[Num]) -> Num {
    let start = scalar::cast(dtype, start);
    elements.iter().fold(start, |total, &x| op.apply(dtype, total, x))
}

/// The position of the first element that no other beats; one that is not a number beats those that are.
fn first(better: Compare, elements: &[Num]) -> Num {
    let is_nan = |x: Num| x.as_f64().is_nan();
    let wins = |x: Num, best: Num| !is_nan(best) && (is_nan(x) || better.holds(x, best));
    let first = |best: usize, at: usize| if wins(elements[at], elements[best]) { at } else { best };
    Num::Int((0..elements.len()).fold(0, first) as i64)
}

fn positions(counts: Interval) -> Interval {
    Interval { low: 0, high: counts.high - 1 }
}
