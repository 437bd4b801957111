//! Reductions and scans over lanes.
//!
//! What is reduced of a row is kept in an *accumulator*, so that a row may come in parts, or many rows side by side, one
//! point of each at a time. Sums and products of `f32` take four elements at once in `f32`, and their results in `f64`. So
//! the error hardly grows with the length.

use super::column::by_reduction;
use super::halves::Instructions;
use super::isa::multiversion;
use super::lanes::{Element, across, lanes, lanes_mut};
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::IdentityElement;
use passhost_ir::kernel::{ReduceOp, ScanOp};

/// The type of the accumulators of a reduction, given its elements'.
pub(crate) fn accumulator(op: ReduceOp, elements: Dtype) -> Dtype {
    let wide = by_reduction!(op, R => matches!(R::FORM, ReduceForm::Fours | ReduceForm::Wide));
    if wide && elements == Dtype::F32 { Dtype::F64 } else { elements }
}

/// The elements that a reduction takes next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowPart {
    /// Lanes of each row.
    pub(crate) points: usize,
    /// The position of the first of them in its row.
    pub(crate) position: i64,
}

multiversion! {
    /// Takes lanes, `part.points` for each accumulator, into the accumulators, which they fill if they are the first of
    /// their rows. `places` has the positions of a reduction that gives one, and is empty otherwise.
    pub(crate) fn reduce(op: ReduceOp, elements: Dtype, sums: &mut [u8], places: &mut [u8], source: &[u8], part: RowPart)
        = reduce_body;
}

#[inline(always)]
fn reduce_body<I: Instructions>(
    op: ReduceOp,
    elements: Dtype,
    sums: &mut [u8],
    places: &mut [u8],
    source: &[u8],
    part: RowPart,
) {
    by_reduction!(op, R => reduce_as::<R>(elements, sums, places, source, part));
}

/// Takes elements into accumulators: where each row has one, side by side. A macro, since the compiler may leave a large
/// closure alone, which then is compiled for the baseline.
macro_rules! take {
    ($sums:expr, $elements:expr, $part:expr, $widen:expr, $f:expr, |$row:ident: &[$ty:ty]| $block:expr) => {{
        let (sums, elements, first) = (lanes_mut($sums), lanes::<$ty>($elements), $part.position == 0);
        if $part.points == 1 {
            for (sum, x) in sums.iter_mut().zip(elements) {
                *sum = if first { $widen(*x) } else { $f(*sum, $widen(*x)) };
            }
        } else {
            for (sum, $row) in sums.iter_mut().zip(elements.chunks_exact($part.points)) {
                let block = $block;
                *sum = if first { block } else { $f(*sum, block) };
            }
        }
    }};
}
#[inline(always)]
fn reduce_as<R: ReduceRow>(elements: Dtype, sums: &mut [u8], places: &mut [u8], source: &[u8], part: RowPart) {
    if R::FORM == ReduceForm::Position {
        let places = lanes_mut::<i64>(places);
        return match elements {
            Dtype::I32 => find::<R, i32>(lanes_mut(sums), places, lanes(source), part),
            Dtype::I64 => find::<R, i64>(lanes_mut(sums), places, lanes(source), part),
            Dtype::F32 => find::<R, f32>(lanes_mut(sums), places, lanes(source), part),
            Dtype::F64 => find::<R, f64>(lanes_mut(sums), places, lanes(source), part),
            other => undefined(R::OP, other.name()),
        };
    }
    match elements {
        Dtype::F32 if R::FORM == ReduceForm::Fours => {
            let neutral = f64::start(R::OP);
            take!(sums, source, part, f64::from, R::f64, |row: &[f32]| fold(row, neutral, R::f32, f64::from, R::f64));
        }
        Dtype::F32 if R::FORM == ReduceForm::Wide => {
            let neutral = f64::start(R::OP);
            take!(sums, source, part, f64::from, R::f64, |row: &[f32]| {
                row.iter().fold(neutral, |sum, x| R::f64(sum, f64::from(*x)))
            });
        }
        Dtype::F32 => same::<f32>(R::OP, sums, source, part, R::f32),
        Dtype::F64 => same::<f64>(R::OP, sums, source, part, R::f64),
        Dtype::I32 => same::<i32>(R::OP, sums, source, part, R::integer),
        Dtype::I64 => same::<i64>(R::OP, sums, source, part, R::integer),
        Dtype::Bool => same::<u8>(R::OP, sums, source, part, R::bool),
        other => undefined(R::OP, other.name()),
    }
}

/// Accumulators of the elements' own type.
#[inline(always)]
fn same<T: ReduceStart>(op: ReduceOp, sums: &mut [u8], source: &[u8], part: RowPart, f: impl Fn(T, T) -> T + Copy) {
    take!(sums, source, part, T::from, f, |row: &[T]| fold(row, T::start(op), f, |x| x, f));
}

/// The first element that no other beats, and its position. NaN beats all.
#[inline(always)]
fn find<R: ReduceRow, T: Element>(best: &mut [T], places: &mut [i64], elements: &[T], part: RowPart) {
    for ((best, place), row) in best.iter_mut().zip(places).zip(elements.chunks_exact(part.points)) {
        for (i, x) in row.iter().enumerate() {
            let at = part.position + i as i64;
            if at == 0 || R::beats(*x, *best) || (x.is_nan() && !best.is_nan()) {
                (*best, *place) = (*x, at);
            }
        }
    }
}

/// How lanes of `f32` are reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReduceForm {
    /// In lanes side by side.
    Lanes,
    /// Four at once, and their results in `f64`.
    Fours,
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
    fn beats<T: Element>(_: T, _: T) -> bool {
        undefined(Self::OP, "positions");
        false
    }
}

/// Lanes of integers.
pub(super) trait Integer: Element + Ord {
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
trait ReduceStart: Element {
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

/// Accumulators side by side.
const LANES: usize = 16;

/// Folds with an associative operation: four elements at once, which hides its latency, then in accumulators side by side
/// of a type that may be wider, and these in pairs. Short rows have four accumulators.
#[inline(always)]
fn fold<T: Element, W: Element>(
    elements: &[T],
    neutral: W,
    f: impl Fn(T, T) -> T,
    widen: impl Fn(T) -> W,
    wide: impl Fn(W, W) -> W,
) -> W {
    if elements.len() < 4 * LANES {
        let (chunks, rest) = elements.as_chunks::<4>();
        let add = |sums: [W; 4], chunk: &[T; 4]| std::array::from_fn(|lane| wide(sums[lane], widen(chunk[lane])));
        let [a, b, c, d] = chunks.iter().fold([neutral; 4], add);
        return rest.iter().fold(wide(wide(a, b), wide(c, d)), |sum, x| wide(sum, widen(*x)));
    }
    let mut sums = [neutral; LANES];
    let (chunks, rest) = elements.as_chunks::<LANES>();
    let (fours, chunks) = chunks.as_chunks::<4>();
    for [a, b, c, d] in fours {
        for lane in 0..LANES {
            sums[lane] = wide(widen(f(f(a[lane], b[lane]), f(c[lane], d[lane]))), sums[lane]);
        }
    }
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] = wide(widen(chunk[lane]), sums[lane]);
        }
    }
    rest.iter().fold(across(sums, &wide), |sum, x| wide(sum, widen(*x)))
}

/// The running value of a scan; floats run in `f64`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carry {
    float: f64,
    integer: i64,
}

impl Carry {
    /// Scans lanes that begin at a position of their row. The scan starts anew with each run of `last` points.
    pub(crate) fn scan(&mut self, op: ScanOp, dtype: Dtype, out: &mut [u8], source: &[u8], position: i64, last: i64) {
        let op = op.reduction();
        let size = dtype.size() as usize;
        let (mut done, len) = (0, out.len() / size);
        while done < len {
            let along = (position + done as i64) % last;
            if along == 0 {
                *self = Carry { float: f64::start(op), integer: i64::start(op) };
            }
            let run = ((last - along) as usize).min(len - done);
            let range = done * size..(done + run) * size;
            by_reduction!(op, R => self.scan_run::<R>(dtype, &mut out[range.clone()], &source[range]));
            done += run;
        }
    }

    fn scan_run<R: ReduceRow>(&mut self, dtype: Dtype, out: &mut [u8], source: &[u8]) {
        fn run<T: Element, S: Copy>(
            sum: &mut S,
            out: &mut [u8],
            source: &[u8],
            widen: impl Fn(T) -> S,
            narrow: impl Fn(S) -> T,
            f: impl Fn(S, S) -> S,
        ) {
            for (out, x) in lanes_mut::<T>(out).iter_mut().zip(lanes::<T>(source)) {
                *sum = f(*sum, widen(*x));
                *out = narrow(*sum);
            }
        }
        match dtype {
            Dtype::F32 => run(&mut self.float, out, source, f64::from, |x| x as f32, R::f64),
            Dtype::F64 => run(&mut self.float, out, source, |x| x, |x| x, R::f64),
            Dtype::I32 => run(&mut self.integer, out, source, i64::from, |x| x as i32, R::integer),
            Dtype::I64 => run(&mut self.integer, out, source, |x| x, |x| x, R::integer),
            other => undefined(R::OP, other.name()),
        }
    }
}
