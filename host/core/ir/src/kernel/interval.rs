//! Closed integer intervals, and what the integer operations of a kernel do to them.
//!
//! Bounds are held in 128 bits, so that the analysis itself never overflows. An operation that may wrap in its type
//! gives the type's whole range.

use crate::Dtype;
use std::ops::{Add, Mul, Sub};

/// All integers from `low` to `high`, both included; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Smallest.
    pub low: i128,
    /// Largest.
    pub high: i128,
}

impl Interval {
    /// Every integer between the two, which may come in either order.
    pub fn new(a: i128, b: i128) -> Interval {
        Interval { low: a.min(b), high: a.max(b) }
    }

    /// One integer.
    pub fn point(value: i64) -> Interval {
        Interval::new(value.into(), value.into())
    }

    /// The range of an integer type or of `bool`; `None` for other types.
    pub fn of(dtype: Dtype) -> Option<Interval> {
        dtype.integer_range().map(|(low, high)| Interval::new(low.into(), high.into()))
    }

    /// The smallest interval that holds both.
    pub fn union(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether every integer of `other` is in `self`.
    pub fn contains(self, other: Interval) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// Whether every integer is a position in a dimension of this extent.
    pub fn within_extent(self, extent: i64) -> bool {
        self.low >= 0 && self.high < extent.into()
    }

    /// Quotients by a positive constant, rounded down.
    pub fn floor_div(self, divisor: i64) -> Interval {
        let divide = |x: i128| x.div_euclid(divisor.into());
        Interval { low: divide(self.low), high: divide(self.high) }
    }

    /// Remainders of [`Interval::floor_div`].
    pub fn floor_mod(self, divisor: i64) -> Interval {
        let quotients = self.floor_div(divisor);
        if quotients.low == quotients.high {
            let multiple = quotients.low * i128::from(divisor);
            return self - Interval::new(multiple, multiple);
        }
        Interval::new(0, i128::from(divisor) - 1)
    }

    /// The smaller of both.
    pub fn min(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// The larger of both.
    pub fn max(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    fn corners(self, other: Interval, f: impl Fn(i128, i128) -> i128) -> Interval {
        let (a, b, c, d) =
            (f(self.low, other.low), f(self.low, other.high), f(self.high, other.low), f(self.high, other.high));
        Interval { low: a.min(b).min(c).min(d), high: a.max(b).max(c).max(d) }
    }

    /// Itself where the type holds all of it, the type's range where it may wrap.
    pub fn or_wrapped(self, range: Interval) -> Interval {
        if range.contains(self) { self } else { range }
    }

    /// What the negatives are.
    pub fn negated(self) -> Interval {
        Interval::new(-self.high, -self.low)
    }

    /// What the magnitudes are.
    pub fn magnitudes(self) -> Interval {
        if self.non_negative() {
            return self;
        }
        Interval::new(if self.high >= 0 { 0 } else { -self.high }, self.magnitude())
    }

    /// What complements are: those of integers and of `bool` both mirror the type's range, by `-1 - x` and `1 - x`.
    pub fn mirrored(self, range: Interval) -> Interval {
        Interval::new(range.low + range.high - self.high, range.low + range.high - self.low)
    }

    fn non_negative(self) -> bool {
        self.low >= 0
    }

    fn magnitude(self) -> i128 {
        self.low.abs().max(self.high.abs())
    }
}

impl Add for Interval {
    type Output = Interval;

    fn add(self, other: Interval) -> Interval {
        Interval { low: self.low + other.low, high: self.high + other.high }
    }
}

impl Sub for Interval {
    type Output = Interval;

    fn sub(self, other: Interval) -> Interval {
        Interval { low: self.low - other.high, high: self.high - other.low }
    }
}

/// Bounds of 64 bits cannot overflow 128.
impl Mul for Interval {
    type Output = Interval;

    fn mul(self, other: Interval) -> Interval {
        self.corners(other, |a, b| a * b)
    }
}

/// Truncated quotients; 0 by 0.
pub(super) fn quotients(a: Interval, b: Interval) -> Interval {
    if b.low >= 1 { a.corners(b, |a, b| a / b) } else { Interval::new(-a.magnitude(), a.magnitude()) }
}

/// Remainders of truncated quotients; 0 by 0.
pub(super) fn remainders(a: Interval, b: Interval) -> Interval {
    let most = (b.magnitude() - 1).max(0);
    Interval { low: a.low.clamp(-most, 0), high: a.high.clamp(0, most) }
}

/// `and`, bit by bit.
pub(super) fn conjunctions(range: Interval, a: Interval, b: Interval) -> Interval {
    match (a.non_negative(), b.non_negative()) {
        (true, true) => Interval::new(0, a.high.min(b.high)),
        (true, false) => Interval::new(0, a.high),
        (false, true) => Interval::new(0, b.high),
        (false, false) => range,
    }
}

/// `or` and `xor`, bit by bit.
pub(super) fn disjunctions(range: Interval, a: Interval, b: Interval) -> Interval {
    if !a.non_negative() || !b.non_negative() {
        return range;
    }
    let bits = 128 - a.high.max(b.high).leading_zeros();
    Interval::new(0, (1i128 << bits) - 1)
}

/// The count of a shift, if there is only one and it shifts a type with this range.
fn shift(range: Interval, counts: Interval) -> Option<i128> {
    // The type's width, from its range: 2^width - 1 is the distance of the bounds.
    let width = i128::from((range.high - range.low + 1).ilog2());
    (counts.low == counts.high && (0..width).contains(&counts.low)).then_some(counts.low)
}

/// Left shifts.
pub(super) fn left_shifts(range: Interval, a: Interval, counts: Interval) -> Interval {
    match shift(range, counts) {
        Some(count) => Interval::new(a.low << count, a.high << count),
        None => range,
    }
}

/// Right shifts.
pub(super) fn right_shifts(range: Interval, a: Interval, counts: Interval) -> Interval {
    match shift(range, counts) {
        Some(count) => Interval::new(a.low >> count, a.high >> count),
        // Any count gives something between the operand and 0 or -1.
        None => Interval { low: a.low.min(0), high: a.high.max(0) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::scalar::Num;
    use crate::kernel::{Binary, Unary};

    /// Every result over small boxes, near zero and at the ends of the type, lies in the interval.
    #[test]
    fn intervals_hold_every_result() {
        let ends = [i64::from(i32::MIN), -3, -1, 0, 1, 2, 5, 30, 31, 32, i64::from(i32::MAX) - 2];
        let range = Interval::of(Dtype::I32).expect("an integer type");
        for (a, b) in ends.iter().flat_map(|a| ends.iter().map(move |b| (*a, *b))) {
            let wide = |x: i64| Interval::new(x.into(), i128::from(x) + 2);
            for &op in Unary::ALL.iter().filter(|op| op.takes().holds(Dtype::I32)) {
                let bound = (op.interval())(range, wide(a)).or_wrapped(range);
                for x in a..=a + 2 {
                    let Num::Int(y) = op.apply(Dtype::I32, Num::Int(x)) else { unreachable!("integer op") };
                    assert!(bound.contains(Interval::point(y)), "{op} {x} = {y} not in {bound:?}");
                }
            }
            for &op in Binary::ALL.iter().filter(|op| op.takes().holds(Dtype::I32)) {
                for second in [wide(b), Interval::point(b)] {
                    let bound = (op.interval())(range, wide(a), second).or_wrapped(range);
                    for (x, y) in (a..=a + 2).flat_map(|x| (second.low..=second.high).map(move |y| (x, y as i64))) {
                        let Num::Int(z) = op.apply(Dtype::I32, Num::Int(x), Num::Int(y)) else {
                            unreachable!("integer op")
                        };
                        assert!(bound.contains(Interval::point(z)), "{x} {op} {y} = {z} not in {bound:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn remainders_keep_one_period_exact() {
        assert_eq!(Interval::new(8, 11).floor_mod(8), Interval::new(0, 3));
        assert_eq!(Interval::new(-2, 3).floor_mod(8), Interval::new(0, 7));
        assert_eq!(Interval::new(-2, 3).floor_div(8), Interval::new(-1, 0));
    }
}
