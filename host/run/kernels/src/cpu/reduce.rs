//! Reductions and scans over block buffers.
//!
//! A reduction of a block gives a [`Partial`]; partials of successive blocks combine. Sums and products of `f32` run in
//! `f32` over a few thousand elements, in lanes of their own, and in `f64` beyond. So the error grows with the logarithm
//! of the length, about as pairwise summation's.

use super::column::by_reduction;
use super::isa::multiversion;
use super::lanes::{Buffer, Lane, LaneKind, LaneView};
use passhost_ir::kernel::operations::IdentityElement;
use passhost_ir::kernel::{ReduceOp, ScanOp};
use std::ops::Range;

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
    pub(crate) fn reduce(op: ReduceOp, source: LaneView<'_>, at: usize, len: usize, position: i64) -> Partial = reduce_body;
}

#[inline(always)]
fn reduce_body(op: ReduceOp, source: LaneView<'_>, at: usize, len: usize, position: i64) -> Partial {
    by_reduction!(op, R => reduce_as::<R>(source, at..at + len, position))
}

#[inline(always)]
fn reduce_as<R: ReduceRow>(source: LaneView<'_>, range: Range<usize>, position: i64) -> Partial {
    if R::FORM == ReduceForm::Position {
        return match source {
            LaneView::Bool(lanes) => integer_at(&lanes[range], position, R::beats),
            LaneView::I32(lanes) => integer_at(&lanes[range], position, R::beats),
            LaneView::I64(lanes) => integer_at(&lanes[range], position, R::beats),
            LaneView::F32(lanes) => float_at(&lanes[range], position, R::beats),
            LaneView::F64(lanes) => float_at(&lanes[range], position, R::beats),
        };
    }
    match source {
        LaneView::F32(lanes) if R::FORM == ReduceForm::Blocks => {
            Partial::Float(in_blocks(&lanes[range], f32::start(R::OP), R::f32, R::f64))
        }
        LaneView::F32(lanes) if R::FORM == ReduceForm::Wide => {
            Partial::Float(lanes[range].iter().fold(f64::start(R::OP), |sum, x| R::f64(sum, f64::from(*x))))
        }
        LaneView::F32(lanes) => Partial::Float(fold_lanes(&lanes[range], f32::start(R::OP), R::f32).into()),
        LaneView::F64(lanes) => Partial::Float(fold_lanes(&lanes[range], f64::start(R::OP), R::f64)),
        LaneView::I32(lanes) => Partial::Integer(fold_lanes(&lanes[range], i32::start(R::OP), R::integer).into()),
        LaneView::I64(lanes) => Partial::Integer(fold_lanes(&lanes[range], i64::start(R::OP), R::integer)),
        LaneView::Bool(lanes) => Partial::Bool(fold_lanes(&lanes[range], u8::start(R::OP), R::bool) != 0),
    }
}

/// How lanes of `f32` are reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReduceForm {
    /// In lanes side by side.
    Lanes,
    /// In lanes side by side for some thousand elements, and in `f64` beyond.
    Blocks,
    /// One after the other, in `f64`.
    Wide,
    /// To the position of the first that no other beats.
    Position,
}

/// A row of the column of reductions: what takes two elements, or what is reduced of some and of others, into one.
pub(super) trait ReduceRow {
    const OP: ReduceOp;
    const FORM: ReduceForm;

    /// Not needed by [`ReduceForm::Wide`].
    #[inline(always)]
    fn f32(x: f32, _: f32) -> f32 {
        undefined(Self::OP, "f32");
        x
    }

    #[inline(always)]
    fn f64(x: f64, _: f64) -> f64 {
        undefined(Self::OP, "f64");
        x
    }

    #[inline(always)]
    fn integer<T: Integer>(x: T, _: T) -> T {
        undefined(Self::OP, "integers");
        x
    }

    #[inline(always)]
    fn bool(x: u8, _: u8) -> u8 {
        undefined(Self::OP, "bool");
        x
    }

    /// For positions: whether the first is chosen over the second.
    #[inline(always)]
    fn beats<T: Lane>(_: T, _: T) -> bool {
        undefined(Self::OP, "positions");
        false
    }
}

/// Lanes of integers.
pub(super) trait Integer: Lane + Ord {
    fn wrapping_add(self, other: Self) -> Self;
    fn wrapping_mul(self, other: Self) -> Self;
}

macro_rules! integer {
    ($($ty:ty),*) => {$(
        impl Integer for $ty {
            #[inline(always)]
            fn wrapping_add(self, other: $ty) -> $ty {
                <$ty>::wrapping_add(self, other)
            }

            #[inline(always)]
            fn wrapping_mul(self, other: $ty) -> $ty {
                <$ty>::wrapping_mul(self, other)
            }
        }
    )*};
}
integer!(i32, i64);

/// What accumulators start with.
trait ReduceStart: Lane {
    /// The identity of an operation; for one that has none, or none of this type, anything.
    fn start(op: ReduceOp) -> Self;
}

macro_rules! start {
    ($($ty:ty: $zero:expr, $one:expr, $lowest:expr, $highest:expr;)*) => {$(
        impl ReduceStart for $ty {
            #[inline(always)]
            fn start(op: ReduceOp) -> $ty {
                match op.identity() {
                    Some(IdentityElement::Zero | IdentityElement::False) | None => $zero,
                    Some(IdentityElement::One | IdentityElement::True) => $one,
                    Some(IdentityElement::Lowest) => $lowest,
                    Some(IdentityElement::Highest) => $highest,
                }
            }
        }
    )*};
}
start! {
    u8: 0, 1, 0, 1;
    i32: 0, 1, i32::MIN, i32::MAX;
    i64: 0, 1, i64::MIN, i64::MAX;
    f32: 0.0, 1.0, f32::NEG_INFINITY, f32::INFINITY;
    f64: 0.0, 1.0, f64::NEG_INFINITY, f64::INFINITY;
}

/// A reduction that the verifier does not let through for this type.
#[cold]
fn undefined(op: ReduceOp, elements: &str) {
    unreachable!("`{op}` is not defined for {elements}; the kernel was verified")
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
        by_reduction!(op, R => self.and_as::<R>(next))
    }

    fn and_as<R: ReduceRow>(self, next: Partial) -> Partial {
        match (self, next) {
            (Partial::Float(x), Partial::Float(y)) => Partial::Float(R::f64(x, y)),
            (Partial::Integer(x), Partial::Integer(y)) => Partial::Integer(R::integer(x, y)),
            (Partial::Bool(x), Partial::Bool(y)) => Partial::Bool(R::bool(x.into(), y.into()) != 0),
            (Partial::FloatAt(x, _), Partial::FloatAt(y, _)) => {
                if R::beats(y, x) || (y.is_nan() && !x.is_nan()) {
                    next
                } else {
                    self
                }
            }
            (Partial::IntegerAt(x, _), Partial::IntegerAt(y, _)) => {
                if R::beats(y, x) {
                    next
                } else {
                    self
                }
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
    pub(crate) fn accumulate(op: ReduceOp, sums: &mut Buffer, source: LaneView<'_>, len: usize, first: bool) = accumulate_body;
}

/// The lanes of the accumulators that [`accumulate`] needs for lanes of a kind: `f32` adds up in `f64`.
pub(crate) fn accumulator_kind(kind: LaneKind) -> LaneKind {
    if kind == LaneKind::F32 { LaneKind::F64 } else { kind }
}

#[inline(always)]
fn accumulate_body(op: ReduceOp, sums: &mut Buffer, source: LaneView<'_>, len: usize, first: bool) {
    by_reduction!(op, R => accumulate_as::<R>(sums, source, len, first));
}

#[inline(always)]
fn accumulate_as<R: ReduceRow>(sums: &mut Buffer, source: LaneView<'_>, len: usize, first: bool) {
    match (sums, source) {
        (Buffer::F64(sums), LaneView::F32(lanes)) => {
            fold_into(&mut sums[..len], &lanes[..len], first, f32::into, R::f64)
        }
        (Buffer::F64(sums), LaneView::F64(lanes)) => fold_into(&mut sums[..len], &lanes[..len], first, |x| x, R::f64),
        (Buffer::I32(sums), LaneView::I32(lanes)) => {
            fold_into(&mut sums[..len], &lanes[..len], first, |x| x, R::integer)
        }
        (Buffer::I64(sums), LaneView::I64(lanes)) => {
            fold_into(&mut sums[..len], &lanes[..len], first, |x| x, R::integer)
        }
        (Buffer::Bool(sums), LaneView::Bool(lanes)) => {
            fold_into(&mut sums[..len], &lanes[..len], first, |x| x, R::bool)
        }
        (sums, source) => unreachable!("{:?} accumulated in {:?}", source.kind(), sums.kind()),
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
    pub(crate) fn neutral(op: ScanOp, kind: LaneKind) -> Carry {
        match kind {
            LaneKind::F32 | LaneKind::F64 => Carry::Float(f64::start(op.reduction())),
            LaneKind::Bool | LaneKind::I32 | LaneKind::I64 => Carry::Integer(i64::start(op.reduction())),
        }
    }

    /// Scans lanes `at .. at + len`, going on from this value. Floats run in `f64`.
    pub(crate) fn scan(&mut self, op: ScanOp, target: &mut Buffer, source: LaneView<'_>, at: usize, len: usize) {
        by_reduction!(op.reduction(), R => self.scan_as::<R>(target, source, at..at + len));
    }

    fn scan_as<R: ReduceRow>(&mut self, target: &mut Buffer, source: LaneView<'_>, range: Range<usize>) {
        match (&mut *self, target, source) {
            (Carry::Float(sum), Buffer::F32(target), LaneView::F32(source)) => {
                for (target, x) in target[range.clone()].iter_mut().zip(&source[range]) {
                    *sum = R::f64(*sum, f64::from(*x));
                    *target = *sum as f32;
                }
            }
            (Carry::Float(sum), Buffer::F64(target), LaneView::F64(source)) => {
                for (target, x) in target[range.clone()].iter_mut().zip(&source[range]) {
                    *sum = R::f64(*sum, *x);
                    *target = *sum;
                }
            }
            (Carry::Integer(sum), Buffer::I32(target), LaneView::I32(source)) => {
                for (target, x) in target[range.clone()].iter_mut().zip(&source[range]) {
                    *sum = R::integer(*sum, i64::from(*x));
                    *target = *sum as i32;
                }
            }
            (Carry::Integer(sum), Buffer::I64(target), LaneView::I64(source)) => {
                for (target, x) in target[range.clone()].iter_mut().zip(&source[range]) {
                    *sum = R::integer(*sum, *x);
                    *target = *sum;
                }
            }
            (carry, target, source) => {
                unreachable!("a scan with {carry:?} from {:?} to {:?}", source.kind(), target.kind())
            }
        }
    }
}
