//! Reductions and scans over [`Approx`] values: one element at a time, the result so far at any time.

use super::approx::{Approx, SIGN_OF_ZERO, same_bits};
use super::arithmetic::{Arithmetic, Mode};
use super::scalar::{self, Num};
use super::{Binary, Compare};
use crate::Dtype;

/// The elements so far.
pub(super) enum Fold {
    Integers { op: Binary, dtype: Dtype, total: Option<Num>, unknown: bool },
    Sum(Floats, Dtype),
    Product(Floats, Dtype),
    Extremum { op: Binary, so_far: Option<Approx>, nan: bool },
    Position { better: Compare, elements: Vec<Approx> },
    Logic { deciding: bool, decided: bool, unknown: bool },
}

impl Fold {
    pub(super) fn sum(dtype: Dtype) -> Fold {
        if dtype.is_float() { Fold::Sum(Floats::none(), dtype) } else { Fold::integers(Binary::Add, dtype) }
    }

    pub(super) fn product(dtype: Dtype) -> Fold {
        if dtype.is_float() { Fold::Product(Floats::none(), dtype) } else { Fold::integers(Binary::Mul, dtype) }
    }

    /// The smallest or the largest.
    pub(super) fn extremum(op: Binary, dtype: Dtype) -> Fold {
        if !dtype.is_float() {
            return Fold::integers(op, dtype);
        }
        Fold::Extremum { op, so_far: None, nan: false }
    }

    /// Where the first is that no other is better than.
    pub(super) fn position(better: Compare) -> Fold {
        Fold::Position { better, elements: Vec::new() }
    }

    /// Whether there is a value that decides.
    pub(super) fn logic(deciding: bool) -> Fold {
        Fold::Logic { deciding, decided: false, unknown: false }
    }

    fn integers(op: Binary, dtype: Dtype) -> Fold {
        Fold::Integers { op, dtype, total: None, unknown: false }
    }

    pub(super) fn push(&mut self, arithmetic: Arithmetic, x: Approx) {
        match self {
            Fold::Integers { op, dtype, total, unknown } => {
                *total = Some(total.map_or(x.value, |total| op.apply(*dtype, total, x.value)));
                *unknown |= x.is_unknown();
            }
            Fold::Sum(floats, _) | Fold::Product(floats, _) => floats.push(x),
            Fold::Extremum { op, so_far, nan } => {
                *nan |= x.is_certain_nan();
                // The type only says that these are floats: an extremum does not round.
                *so_far = Some(so_far.map_or(x, |so_far| arithmetic.binary(*op, Dtype::F64, so_far, x)));
            }
            Fold::Position { elements, .. } => elements.push(x),
            Fold::Logic { deciding, decided, unknown } => {
                *decided |= x.value.is_true() == *deciding && x.is_exact();
                *unknown |= x.is_unknown();
            }
        }
    }

    /// The same of a product, which a sum may take in before it is rounded: one that is too large or too small for its type
    /// counts all the same.
    pub(super) fn push_product(&mut self, arithmetic: Arithmetic, product: Approx, factors: [Approx; 2]) {
        if let Fold::Sum(floats, _) = self {
            let value = product.value.as_f64();
            let are = |holds: fn(f64) -> bool| factors.iter().all(|factor| holds(factor.value.as_f64()));
            floats.overflows |= value.is_infinite() && are(f64::is_finite);
            floats.underflows |= value == 0.0 && are(|factor| factor != 0.0);
        }
        self.push(arithmetic, product);
    }

    pub(super) fn result(&self, arithmetic: Arithmetic) -> Approx {
        match self {
            Fold::Integers { total, unknown, .. } => {
                let total = total.unwrap_or(Num::Int(0));
                if *unknown { Approx::unknown(total) } else { Approx::exact(total) }
            }
            Fold::Sum(floats, dtype) => floats.sum(arithmetic, *dtype),
            Fold::Product(floats, dtype) => floats.product(arithmetic, *dtype),
            Fold::Extremum { nan: true, .. } => Approx::exact(Num::Float(f64::NAN)),
            Fold::Extremum { so_far, .. } => so_far.unwrap_or(Approx::exact(Num::Float(0.0))),
            Fold::Position { better, elements } => position(*better, elements),
            Fold::Logic { deciding, decided, unknown } => {
                let value = Num::Int((decided == deciding).into());
                if *unknown && !*decided { Approx::unknown(value) } else { Approx::exact(value) }
            }
        }
    }
}

/// What sums and products of floats in any order depend on.
#[derive(Default)]
pub(super) struct Floats {
    count: f64,
    sum: f64,
    product: f64,
    first: Option<Approx>,
    /// Sum of the bounds.
    bounds: f64,
    /// Sum of the magnitudes of finite elements, bounds included.
    magnitudes: f64,
    /// Product of the magnitudes of finite elements, bounds included.
    largest_product: f64,
    /// Logarithm to base 2 of the largest and the smallest product that some of the elements may have.
    log_largest: f64,
    log_smallest: f64,
    nan: bool,
    unknown: bool,
    infinite: bool,
    /// Some element is infinite, or 0, only because it was rounded.
    overflows: bool,
    underflows: bool,
    /// Some element may be above 0, and some below.
    positive: bool,
    negative: bool,
    /// Some element may be 0.
    maybe_zero: bool,
    /// Some element is 0.
    zero: bool,
}

impl Floats {
    /// No elements: every product is 1.
    fn none() -> Floats {
        Floats { product: 1.0, largest_product: 1.0, ..Floats::default() }
    }

    fn push(&mut self, x: Approx) {
        let value = x.value.as_f64();
        self.count += 1.0;
        self.sum += value;
        self.product *= value;
        self.first.get_or_insert(x);
        self.nan |= x.is_certain_nan();
        self.unknown |= x.is_unknown();
        self.infinite |= value.is_infinite();
        self.positive |= value + x.bound > 0.0;
        self.negative |= value - x.bound < 0.0;
        self.zero |= value == 0.0 && x.bound <= SIGN_OF_ZERO;
        if value.is_finite() && !x.is_unknown() {
            let (smallest, largest) = (value.abs() - x.bound, value.abs() + x.bound);
            self.bounds += x.bound;
            self.magnitudes += largest;
            self.largest_product *= largest;
            self.log_largest += largest.log2().max(0.0);
            self.maybe_zero |= smallest <= 0.0;
            if smallest > 0.0 {
                self.log_smallest += smallest.log2().min(0.0);
            }
        }
    }

    /// Decides what does not depend on rounding; otherwise `None`.
    fn shortcut(&self, arithmetic: Arithmetic, dtype: Dtype, total: f64) -> Option<Approx> {
        match self.first {
            _ if arithmetic.mode == Mode::Double => Some(Approx::exact(Num::Float(total))),
            _ if self.nan => Some(Approx::exact(Num::Float(f64::NAN))),
            _ if self.unknown => Some(Approx::unknown(Num::Float(scalar::round(dtype, total)))),
            first if self.count == 1.0 => first,
            _ => None,
        }
    }

    /// n elements in any order: each of the n - 1 sums rounds by at most half an ulp of what it sums up so far. The other
    /// halves are room for elements that are products and are taken in before they are rounded. Where these underflow, an
    /// ulp is the smallest number.
    fn sum(&self, arithmetic: Arithmetic, dtype: Dtype) -> Approx {
        let precision = Precision::of(dtype);
        if let Some(sum) = self.shortcut(arithmetic, dtype, self.sum) {
            // An accumulator that starts from +0 turns -0 into it.
            let negative_zero = same_bits(sum.value.as_f64(), -0.0) && sum.is_exact();
            let open = negative_zero && arithmetic.mode != Mode::Double;
            return if open { Approx { bound: SIGN_OF_ZERO, ..sum } } else { sum };
        }
        let value = Num::Float(scalar::round(dtype, self.sum));
        if self.magnitudes >= precision.max / 2.0 {
            return Approx::unknown(value);
        }
        if self.infinite {
            // Elements of the other sign may bring back what overflows.
            let is_open = self.overflows && self.positive && self.negative;
            return if is_open { Approx::unknown(value) } else { Approx::exact(value) };
        }
        let underflow = if self.magnitudes > 0.0 || self.underflows { self.count * precision.tiny } else { 0.0 };
        let spread = self.bounds + self.count * precision.epsilon * self.magnitudes + underflow;
        let sum = arithmetic.settle(dtype, self.sum, spread, 0.0);
        if sum.is_exact() && self.sum == 0.0 { Approx { bound: SIGN_OF_ZERO, ..sum } } else { sum }
    }

    fn product(&self, arithmetic: Arithmetic, dtype: Dtype) -> Approx {
        let precision = Precision::of(dtype);
        if let Some(product) = self.shortcut(arithmetic, dtype, self.product) {
            return product;
        }
        let value = Num::Float(scalar::round(dtype, self.product));
        let may_underflow = self.log_smallest < precision.log_tiny + 32.0;
        if self.infinite {
            // A zero makes it NaN in every order; an infinity wins unless something small becomes a zero first.
            let decided = self.zero || (!self.maybe_zero && !may_underflow);
            return match decided {
                true if self.zero => Approx::exact(Num::Float(f64::NAN)),
                true => Approx::exact(value),
                false => Approx::unknown(value),
            };
        }
        if self.log_largest >= precision.max.log2() - 1.0 {
            return Approx::unknown(value);
        }
        if self.zero {
            return Approx { value: Num::Float(0.0), bound: SIGN_OF_ZERO };
        }
        // Each product rounds relatively, or by a tiny amount that the other factors may enlarge.
        let rounding = 2.0 * self.count * precision.epsilon * self.largest_product;
        let underflow = 2.0 * self.count * precision.tiny * self.log_largest.exp2();
        let propagated = if self.bounds > 0.0 { self.largest_product - self.product.abs() } else { 0.0 };
        arithmetic.settle(dtype, self.product, propagated + rounding + underflow, 0.0)
    }
}

/// A float type as error bounds see it.
struct Precision {
    /// Twice the unit roundoff; twice that again for `f64`, in which the interpreter itself rounds.
    epsilon: f64,
    max: f64,
    /// The smallest positive number, and its logarithm to base 2.
    tiny: f64,
    log_tiny: f64,
}

impl Precision {
    fn of(dtype: Dtype) -> Precision {
        if dtype == Dtype::F32 {
            let tiny = f64::from(f32::from_bits(1));
            return Precision { epsilon: f32::EPSILON.into(), max: f32::MAX.into(), tiny, log_tiny: -149.0 };
        }
        Precision { epsilon: 2.0 * f64::EPSILON, max: f64::MAX, tiny: f64::from_bits(1), log_tiny: -1074.0 }
    }
}

/// The first element that no other is better than, if no other may be it. NaN is better than numbers.
fn position(better: Compare, elements: &[Approx]) -> Approx {
    if let Some(nan) = elements.iter().position(|x| x.value.as_f64().is_nan()) {
        let certain = elements[..=nan].iter().all(|x| !x.is_unknown());
        return as_position(nan, certain);
    }
    let mut best = 0;
    for candidate in 1..elements.len() {
        if better.holds(elements[candidate].value, elements[best].value) {
            best = candidate;
        }
    }
    let winner = elements[best];
    let certain = elements.iter().enumerate().all(|(other, x)| {
        let apart = || {
            let ((low, high), (other_low, other_high)) = (winner.range(), x.range());
            [low, high].iter().all(|end| [other_low, other_high].iter().all(|other| (better.float())(end, other)))
        };
        !x.is_unknown() && (other == best || (winner.is_exact() && x.is_exact()) || apart())
    });
    as_position(best, certain)
}

fn as_position(position: usize, certain: bool) -> Approx {
    let value = Num::Int(position as i64);
    if certain { Approx::exact(value) } else { Approx::unknown(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ReduceOp;

    fn reduce(op: ReduceOp, dtype: Dtype, elements: &[Approx]) -> Approx {
        let arithmetic = Arithmetic { mode: Mode::Declared };
        let mut fold = (op.fold())(dtype);
        elements.iter().for_each(|&x| fold.push(arithmetic, x));
        fold.result(arithmetic)
    }

    fn floats(elements: &[f64]) -> Vec<Approx> {
        elements.iter().map(|&x| Approx::exact(Num::Float(x))).collect()
    }

    #[test]
    fn sums_and_products_in_other_orders_stay_within_the_bound() {
        let elements: Vec<f32> = (0..300).map(|i| ((i * 37 % 101) as f32 - 50.3) / 20.7).collect();
        let wide: Vec<f64> = elements.iter().map(|&x| x.into()).collect();
        let by_op = [
            (ReduceOp::Sum, elements.iter().sum::<f32>(), elements.iter().rev().sum::<f32>()),
            (ReduceOp::Prod, elements[..60].iter().product(), elements[..60].iter().rev().product()),
        ];
        for (op, forward, backward) in by_op {
            let count = if op == ReduceOp::Sum { 300 } else { 60 };
            let result = reduce(op, Dtype::F32, &floats(&wide[..count]));
            assert!(!result.is_unknown(), "{op}");
            for found in [forward, backward] {
                let distance = (f64::from(found) - result.value.as_f64()).abs();
                assert!(distance <= result.bound, "{op}: {distance} above {}", result.bound);
            }
        }
    }

    #[test]
    fn sums_that_take_products_in_before_they_are_rounded_stay_within_the_bound() {
        let tiny = f32::from_bits(1);
        let odd = |i: i32| ((i * 37 % 101) as f32 - 50.3) / 20.7;
        // The product of the second underflows to 2.5 of the smallest number: half of it depends on what is added.
        let cases: [Vec<(f32, f32)>; 3] = [
            (0..300).map(|i| (odd(i), odd(i * 7 + 3))).collect(),
            vec![(tiny, 1.0), (2.5 * 2f32.powi(-100), 2f32.powi(-49))],
            vec![(odd(1), odd(2)), (-odd(1), odd(2).next_up())],
        ];
        for products in cases {
            let rounded: Vec<f64> = products.iter().map(|(a, b)| (a * b).into()).collect();
            let result = reduce(ReduceOp::Sum, Dtype::F32, &floats(&rounded));
            let fused = products.iter().fold(0f32, |sum, (a, b)| a.mul_add(*b, sum));
            let distance = (f64::from(fused) - result.value.as_f64()).abs();
            assert!(distance > 0.0 && distance <= result.bound, "{distance} above {}: {products:?}", result.bound);
        }
    }

    /// The sum of products in `f32`, and what adding them up without rounding them first gives.
    fn sum_of_products(products: &[(f32, f32)]) -> (Approx, f64) {
        let arithmetic = Arithmetic { mode: Mode::Declared };
        let mut fold = Fold::sum(Dtype::F32);
        for &(a, b) in products {
            let factors = [a, b].map(|x| Approx::exact(Num::Float(x.into())));
            let product = arithmetic.binary(Binary::Mul, Dtype::F32, factors[0], factors[1]);
            fold.push_product(arithmetic, product, factors);
        }
        let exact: f64 = products.iter().map(|&(a, b)| f64::from(a) * f64::from(b)).sum();
        (fold.result(arithmetic), scalar::round(Dtype::F32, exact))
    }

    #[test]
    fn products_that_overflow_may_be_brought_back_before_they_are_rounded() {
        let inf = f32::INFINITY;
        for products in
            [vec![(3e38, 1.5), (-1.5e38, 1.0)], vec![(-3e38, 2.0), (3e38, 2.0)], vec![(2.0, -3e38), (inf, 1.0)]]
        {
            let (sum, _) = sum_of_products(&products);
            assert!(sum.is_unknown(), "{sum:?}: {products:?}");
        }
        for products in [vec![(3e38, 1.5)], vec![(3e38, 1.5), (3.0, 1.0), (0.0, -1.0)], vec![(inf, 1.0), (-3.0, 1.0)]] {
            let (sum, exact) = sum_of_products(&products);
            assert_eq!((sum, exact), (Approx::exact(Num::Float(f64::INFINITY)), f64::INFINITY), "{products:?}");
        }
        let (nan, _) = sum_of_products(&[(3e38, 1.5), (-3e38, 1.0), (inf, 0.0)]);
        assert!(nan.is_certain_nan(), "{nan:?}");
    }

    #[test]
    fn products_that_underflow_may_add_up_before_they_are_rounded() {
        let small = 2f32.powi(-75);
        for (count, product) in [(300, (small, small)), (2, (small, -small)), (70, (1e-30, 1e-16))] {
            let (sum, exact) = sum_of_products(&vec![product; count]);
            assert_eq!(sum.value, Num::Float(0.0), "each product is 0 by itself");
            assert!(exact != 0.0 && exact.abs() <= sum.bound, "{exact} beyond {sum:?}");
        }
        // Zeros that nothing was lost of stay zeros.
        let (zero, _) = sum_of_products(&[(0.0, 1.0), (3.0, 0.0)]);
        assert_eq!(zero, Approx { value: Num::Float(0.0), bound: SIGN_OF_ZERO });
    }

    #[test]
    fn special_values_decide_reductions() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let cases = [
            (ReduceOp::Sum, vec![1.0, inf, -inf], nan),
            (ReduceOp::Sum, vec![1.0, inf], inf),
            (ReduceOp::Prod, vec![0.0, inf], nan),
            (ReduceOp::Prod, vec![-2.0, inf], -inf),
            (ReduceOp::Max, vec![1.0, nan, 3.0], nan),
            (ReduceOp::Min, vec![1.0, -3.0, -inf], -inf),
            (ReduceOp::Argmax, vec![1.0, 3.0, 3.0], 1.0),
            (ReduceOp::Argmax, vec![1.0, nan, inf, nan], 1.0),
            (ReduceOp::Argmin, vec![1.0, nan, -inf], 1.0),
        ];
        for (op, elements, expected) in cases {
            let result = reduce(op, Dtype::F32, &floats(&elements));
            assert!(result.is_exact() && same_bits(result.value.as_f64(), expected), "{op} {elements:?}: {result:?}");
        }
        assert!(reduce(ReduceOp::Sum, Dtype::F32, &floats(&[3e38, 3e38, -3e38])).is_unknown());
        assert!(reduce(ReduceOp::Prod, Dtype::F32, &floats(&[1e30, 1e30, 1e-30])).is_unknown());
    }

    #[test]
    fn near_ties_leave_the_position_unknown() {
        let near = |value, bound| Approx { value: Num::Float(value), bound };
        assert!(reduce(ReduceOp::Argmax, Dtype::F32, &[near(1.0, 0.1), near(1.05, 0.1)]).is_unknown());
        assert!(reduce(ReduceOp::Argmax, Dtype::F32, &[near(1.0, 0.1), near(1.5, 0.1)]).is_exact());
        let unknown = Approx::unknown(Num::Int(0));
        let (no, yes) = (Approx::exact(Num::Int(0)), Approx::exact(Num::Int(1)));
        assert_eq!(reduce(ReduceOp::Any, Dtype::Bool, &[unknown, yes]), yes);
        assert!(reduce(ReduceOp::Any, Dtype::Bool, &[unknown, no]).is_unknown());
        assert_eq!(reduce(ReduceOp::All, Dtype::Bool, &[unknown, no]), no);
    }
}
