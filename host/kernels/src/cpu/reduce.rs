//! Reductions and scans over block buffers.
//!
//! A reduction of a block gives a [`Partial`]; partials of successive blocks combine. Sums and products of `f32` run in
//! `f32` over a few thousand elements, in lanes of their own, and in `f64` beyond. So the error grows with the logarithm
//! of the length, about as pairwise summation's.

use super::compute::{nan_max, nan_min};
use super::isa::multiversion;
use super::lanes::{Buffer, Kind, Lane, View};
use passhost_ir::kernel::{ReduceOp, ScanOp};

/// What a reduction knows of the elements it has seen.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Partial {
    Float(f64),
    Integer(i64),
    Bool(bool),
    /// The best value so far and its position.
    FloatAt(f64, i64),
    /// The best value so far and its position.
    IntegerAt(i64, i64),
}

multiversion! {
    /// Reduces lanes `at .. at + len`, of which there is at least one. `position` is the first's among all elements.
    pub(crate) fn reduce(op: ReduceOp, source: View<'_>, at: usize, len: usize, position: i64) -> Partial = reduce_body;
}

#[inline(always)]
fn reduce_body(op: ReduceOp, source: View<'_>, at: usize, len: usize, position: i64) -> Partial {
    let range = at..at + len;
    match (op, source) {
        (ReduceOp::Sum, View::F32(lanes)) => Partial::Float(in_blocks(&lanes[range], 0.0, |x, y| x + y, |x, y| x + y)),
        (ReduceOp::Prod, View::F32(lanes)) => {
            Partial::Float(lanes[range].iter().fold(1.0, |product, x| product * f64::from(*x)))
        }
        (ReduceOp::Sum, View::F64(lanes)) => Partial::Float(fold_lanes(&lanes[range], 0.0, |x, y| x + y)),
        (ReduceOp::Prod, View::F64(lanes)) => Partial::Float(fold_lanes(&lanes[range], 1.0, |x, y| x * y)),
        (ReduceOp::Sum, View::I64(lanes)) => Partial::Integer(fold_lanes(&lanes[range], 0, i64::wrapping_add)),
        (ReduceOp::Prod, View::I64(lanes)) => Partial::Integer(fold_lanes(&lanes[range], 1, i64::wrapping_mul)),
        (ReduceOp::Max, View::F32(lanes)) => {
            Partial::Float(fold_lanes(&lanes[range], f32::NEG_INFINITY, |x, y| nan_max!(x, y)).into())
        }
        (ReduceOp::Max, View::F64(lanes)) => {
            Partial::Float(fold_lanes(&lanes[range], f64::NEG_INFINITY, |x, y| nan_max!(x, y)))
        }
        (ReduceOp::Min, View::F32(lanes)) => {
            Partial::Float(fold_lanes(&lanes[range], f32::INFINITY, |x, y| nan_min!(x, y)).into())
        }
        (ReduceOp::Min, View::F64(lanes)) => {
            Partial::Float(fold_lanes(&lanes[range], f64::INFINITY, |x, y| nan_min!(x, y)))
        }
        (ReduceOp::Max, View::I32(lanes)) => Partial::Integer(fold_lanes(&lanes[range], i32::MIN, i32::max).into()),
        (ReduceOp::Max, View::I64(lanes)) => Partial::Integer(fold_lanes(&lanes[range], i64::MIN, i64::max)),
        (ReduceOp::Min, View::I32(lanes)) => Partial::Integer(fold_lanes(&lanes[range], i32::MAX, i32::min).into()),
        (ReduceOp::Min, View::I64(lanes)) => Partial::Integer(fold_lanes(&lanes[range], i64::MAX, i64::min)),
        (ReduceOp::Any, View::Bool(lanes)) => Partial::Bool(fold_lanes(&lanes[range], 0, |x, y| x | y) != 0),
        (ReduceOp::All, View::Bool(lanes)) => Partial::Bool(fold_lanes(&lanes[range], 1, |x, y| x & y) != 0),
        (ReduceOp::Argmax, View::Bool(lanes)) => integer_at(&lanes[range], position, |x, y| x > y),
        (ReduceOp::Argmax, View::I32(lanes)) => integer_at(&lanes[range], position, |x, y| x > y),
        (ReduceOp::Argmax, View::I64(lanes)) => integer_at(&lanes[range], position, |x, y| x > y),
        (ReduceOp::Argmin, View::Bool(lanes)) => integer_at(&lanes[range], position, |x, y| x < y),
        (ReduceOp::Argmin, View::I32(lanes)) => integer_at(&lanes[range], position, |x, y| x < y),
        (ReduceOp::Argmin, View::I64(lanes)) => integer_at(&lanes[range], position, |x, y| x < y),
        (ReduceOp::Argmax, View::F32(lanes)) => float_at(&lanes[range], position, |x, y| x > y),
        (ReduceOp::Argmax, View::F64(lanes)) => float_at(&lanes[range], position, |x, y| x > y),
        (ReduceOp::Argmin, View::F32(lanes)) => float_at(&lanes[range], position, |x, y| x < y),
        (ReduceOp::Argmin, View::F64(lanes)) => float_at(&lanes[range], position, |x, y| x < y),
        (op, source) => undefined(op, source.kind()),
    }
}

/// A reduction that the verifier does not let through for this type.
#[cold]
fn undefined(op: ReduceOp, kind: Kind) -> Partial {
    unreachable!("`{op}` is not defined for {kind:?}; the kernel was verified")
}

/// Accumulators side by side. Enough to hide the latency of an addition at any vector width.
const LANES: usize = 64;

/// Folds with an associative operation, in [`LANES`] interleaved parts that are then folded in pairs.
#[inline(always)]
fn fold_lanes<T: Lane>(elements: &[T], neutral: T, f: impl Fn(T, T) -> T) -> T {
    let mut sums = [neutral; LANES];
    let (chunks, rest) = elements.as_chunks::<LANES>();
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum = f(*sum, *x);
        }
    }
    for (sum, x) in sums.iter_mut().zip(rest) {
        *sum = f(*sum, *x);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            sums[i] = f(sums[i], sums[i + width]);
        }
        width /= 2;
    }
    sums[0]
}

/// Folds blocks of `f32` with [`fold_lanes`], and their results in `f64`.
#[inline(always)]
fn in_blocks(elements: &[f32], neutral: f32, f: impl Fn(f32, f32) -> f32, wide: impl Fn(f64, f64) -> f64) -> f64 {
    elements.chunks(4096).fold(f64::from(neutral), |sum, block| wide(sum, fold_lanes(block, neutral, &f).into()))
}

/// The first element that no other beats; NaN beats all.
#[inline(always)]
fn float_at<T: Lane + Into<f64>>(elements: &[T], position: i64, beats: impl Fn(T, T) -> bool) -> Partial {
    let mut best = 0;
    for (i, x) in elements.iter().enumerate() {
        let now = elements[best];
        if beats(*x, now) || (x.is_nan() && !now.is_nan()) {
            best = i;
        }
    }
    Partial::FloatAt(elements[best].into(), position + best as i64)
}

/// The first element that no other beats.
#[inline(always)]
fn integer_at<T: Lane + Into<i64>>(elements: &[T], position: i64, beats: impl Fn(T, T) -> bool) -> Partial {
    let mut best = 0;
    for (i, x) in elements.iter().enumerate() {
        if beats(*x, elements[best]) {
            best = i;
        }
    }
    Partial::IntegerAt(elements[best].into(), position + best as i64)
}

impl Partial {
    /// The reduction of this block and then the next.
    pub(crate) fn and(self, op: ReduceOp, next: Partial) -> Partial {
        match (self, next) {
            (Partial::Float(x), Partial::Float(y)) => Partial::Float(match op {
                ReduceOp::Prod => x * y,
                ReduceOp::Max => nan_max!(x, y),
                ReduceOp::Min => nan_min!(x, y),
                _ => x + y,
            }),
            (Partial::Integer(x), Partial::Integer(y)) => Partial::Integer(match op {
                ReduceOp::Prod => x.wrapping_mul(y),
                ReduceOp::Max => x.max(y),
                ReduceOp::Min => x.min(y),
                _ => x.wrapping_add(y),
            }),
            (Partial::Bool(x), Partial::Bool(y)) => Partial::Bool(if op == ReduceOp::Any { x | y } else { x & y }),
            (Partial::FloatAt(x, _), Partial::FloatAt(y, _)) => {
                let beats = if op == ReduceOp::Argmax { y > x } else { y < x };
                if beats || (y.is_nan() && !x.is_nan()) { next } else { self }
            }
            (Partial::IntegerAt(x, _), Partial::IntegerAt(y, _)) => {
                let beats = if op == ReduceOp::Argmax { y > x } else { y < x };
                if beats { next } else { self }
            }
            _ => unreachable!("partial results of one reduction have one form"),
        }
    }

    /// Puts the result into lane `at`.
    pub(crate) fn finish(self, target: &mut Buffer, at: usize) {
        match (self, target) {
            (Partial::Float(x), Buffer::F32(lanes)) => lanes[at] = x as f32,
            (Partial::Float(x), Buffer::F64(lanes)) => lanes[at] = x,
            (Partial::Integer(x), Buffer::I32(lanes)) => lanes[at] = x as i32,
            (Partial::Integer(x), Buffer::I64(lanes)) => lanes[at] = x,
            (Partial::Bool(x), Buffer::Bool(lanes)) => lanes[at] = x.into(),
            (Partial::FloatAt(_, at_best) | Partial::IntegerAt(_, at_best), Buffer::I64(lanes)) => lanes[at] = at_best,
            (partial, target) => unreachable!("{partial:?} does not fit lanes of {:?}", target.kind()),
        }
    }
}

multiversion! {
    /// Reduces lane by lane: takes the first `len` lanes of `source` into the accumulators. The first time it fills them.
    pub(crate) fn accumulate(op: ReduceOp, sums: &mut Buffer, source: View<'_>, len: usize, first: bool) = accumulate_body;
}

/// The lanes of the accumulators that [`accumulate`] needs for lanes of a kind: `f32` adds up in `f64`.
pub(crate) fn accumulator_kind(kind: Kind) -> Kind {
    if kind == Kind::F32 { Kind::F64 } else { kind }
}

/// Folds integers into accumulators of their own type.
macro_rules! accumulate_integers {
    ($op:expr, $sums:expr, $lanes:expr, $first:expr, $ty:ty) => {
        match $op {
            ReduceOp::Prod => fold_into($sums, $lanes, $first, |x| x, <$ty>::wrapping_mul),
            ReduceOp::Max => fold_into($sums, $lanes, $first, |x| x, <$ty as Ord>::max),
            ReduceOp::Min => fold_into($sums, $lanes, $first, |x| x, <$ty as Ord>::min),
            _ => fold_into($sums, $lanes, $first, |x| x, <$ty>::wrapping_add),
        }
    };
}
#[inline(always)]
fn accumulate_body(op: ReduceOp, sums: &mut Buffer, source: View<'_>, len: usize, first: bool) {
    match (sums, source) {
        (Buffer::F64(sums), View::F32(lanes)) => accumulate_floats(op, &mut sums[..len], &lanes[..len], first),
        (Buffer::F64(sums), View::F64(lanes)) => accumulate_floats(op, &mut sums[..len], &lanes[..len], first),
        (Buffer::I32(sums), View::I32(lanes)) => {
            accumulate_integers!(op, &mut sums[..len], &lanes[..len], first, i32)
        }
        (Buffer::I64(sums), View::I64(lanes)) => {
            accumulate_integers!(op, &mut sums[..len], &lanes[..len], first, i64)
        }
        (Buffer::Bool(sums), View::Bool(lanes)) => match op {
            ReduceOp::Any => fold_into(&mut sums[..len], &lanes[..len], first, |x| x, |sum, x| sum | x),
            _ => fold_into(&mut sums[..len], &lanes[..len], first, |x| x, |sum, x| sum & x),
        },
        (sums, source) => unreachable!("{:?} accumulated in {:?}", source.kind(), sums.kind()),
    }
}

#[inline(always)]
fn accumulate_floats<T: Lane + Into<f64>>(op: ReduceOp, sums: &mut [f64], lanes: &[T], first: bool) {
    match op {
        ReduceOp::Prod => fold_into(sums, lanes, first, T::into, |sum, x| sum * x),
        ReduceOp::Max => fold_into(sums, lanes, first, T::into, |sum, x| nan_max!(sum, x)),
        ReduceOp::Min => fold_into(sums, lanes, first, T::into, |sum, x| nan_min!(sum, x)),
        _ => fold_into(sums, lanes, first, T::into, |sum, x| sum + x),
    }
}

#[inline(always)]
fn fold_into<S: Lane, T: Lane>(
    sums: &mut [S],
    lanes: &[T],
    first: bool,
    widen: impl Fn(T) -> S,
    f: impl Fn(S, S) -> S,
) {
    for (sum, x) in sums.iter_mut().zip(lanes) {
        *sum = if first { widen(*x) } else { f(*sum, widen(*x)) };
    }
}

/// The running value of a scan.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Carry {
    Float(f64),
    Integer(i64),
}

impl Carry {
    /// The value before the first element.
    pub(crate) fn neutral(op: ScanOp, kind: Kind) -> Carry {
        match kind {
            Kind::F32 | Kind::F64 => Carry::Float(match op {
                ScanOp::Sum => 0.0,
                ScanOp::Prod => 1.0,
                ScanOp::Max => f64::NEG_INFINITY,
                ScanOp::Min => f64::INFINITY,
            }),
            Kind::Bool | Kind::I32 | Kind::I64 => Carry::Integer(match op {
                ScanOp::Sum => 0,
                ScanOp::Prod => 1,
                ScanOp::Max => i64::MIN,
                ScanOp::Min => i64::MAX,
            }),
        }
    }

    /// Scans lanes `at .. at + len`, going on from this value. Floats run in `f64`.
    pub(crate) fn scan(&mut self, op: ScanOp, target: &mut Buffer, source: View<'_>, at: usize, len: usize) {
        let range = at..at + len;
        match (&mut *self, target, source) {
            (Carry::Float(sum), Buffer::F32(target), View::F32(source)) => {
                for (target, x) in target[range.clone()].iter_mut().zip(&source[range]) {
                    *sum = scan_float(op, *sum, f64::from(*x));
                    *target = *sum as f32;
                }
            }
            (Carry::Float(sum), Buffer::F64(target), View::F64(source)) => {
                for (target, x) in target[range.clone()].iter_mut().zip(&source[range]) {
                    *sum = scan_float(op, *sum, *x);
                    *target = *sum;
                }
            }
            (Carry::Integer(sum), Buffer::I32(target), View::I32(source)) => {
                for (target, x) in target[range.clone()].iter_mut().zip(&source[range]) {
                    *sum = scan_integer(op, *sum, i64::from(*x));
                    *target = *sum as i32;
                }
            }
            (Carry::Integer(sum), Buffer::I64(target), View::I64(source)) => {
                for (target, x) in target[range.clone()].iter_mut().zip(&source[range]) {
                    *sum = scan_integer(op, *sum, *x);
                    *target = *sum;
                }
            }
            (carry, target, source) => {
                unreachable!("a scan with {carry:?} from {:?} to {:?}", source.kind(), target.kind())
            }
        }
    }
}

#[inline(always)]
fn scan_float(op: ScanOp, sum: f64, x: f64) -> f64 {
    match op {
        ScanOp::Sum => sum + x,
        ScanOp::Prod => sum * x,
        ScanOp::Max => nan_max!(sum, x),
        ScanOp::Min => nan_min!(sum, x),
    }
}

#[inline(always)]
fn scan_integer(op: ScanOp, sum: i64, x: i64) -> i64 {
    match op {
        ScanOp::Sum => sum.wrapping_add(x),
        ScanOp::Prod => sum.wrapping_mul(x),
        ScanOp::Max => sum.max(x),
        ScanOp::Min => sum.min(x),
    }
}
