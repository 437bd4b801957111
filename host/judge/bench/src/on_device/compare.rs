//! Compares two tensors with a kernel that says of each row of a chunk what [`crate::judge`] says of a stretch.

use super::formula::{Formula, FormulaTerm, IntoTerm as _};
use super::{CHUNKS, OnDeviceError, OwnKernels, Purpose, chunks, memory, part};
use crate::element::HostElements;
use crate::judge::{ElementJudge, Stretch, float_kind};
use passhost_ir::kernel::{Compare, ReduceOp, Unary};
use passhost_ir::{Dtype, Kernel};
use passhost_score::{LARGEST_T, Ladder, SMALLEST_T};
use passhost_torch::{Context, Tensor};
use std::ops::Range;

/// Elements of a row of a chunk.
const ROW: usize = 1 << 12;
/// What a row has instead of a number of steps of tolerance where none is enough.
const NO_STEP: i64 = (LARGEST_T - SMALLEST_T) as i64 + 1;
/// Steps above which an element is wrong.
const WRONG: i64 = (-5 - SMALLEST_T) as i64;
/// Integers and floats that are found of a row.
const COUNTS: usize = 4;
const EXTREMES: usize = 2;

/// What a comparison of two contiguous tensors of one type shows, each given as a tensor of bytes.
pub fn compare(
    context: &Context,
    kernels: &OwnKernels,
    judge: &ElementJudge,
    dtype: Dtype,
    [rewritten, eager]: [&Tensor; 2],
) -> Result<Stretch, OnDeviceError> {
    // Whole numbers are compared as such; whatever a `bool` holds, as a byte.
    let loaded = match dtype {
        Dtype::Bool => Dtype::U8,
        Dtype::C64 | Dtype::C128 => return Err(OnDeviceError::Unsuited("complex numbers are compared on the CPU")),
        other => other,
    };
    if rewritten.same_bytes(eager)? {
        return Ok(Stretch::NOTHING);
    }
    let size = dtype.size() as usize;
    let bytes = rewritten.ty().numel() as usize;
    let (chunks, left) = chunks(bytes / size, CHUNKS);
    let rows = ComparedRows::new(context, left / ROW)?;
    for chunk in chunks {
        let shape = [(chunk.len() / ROW) as i64, ROW as i64];
        let inputs = [part(rewritten, loaded, chunk.start, shape)?, part(eager, loaded, chunk.start, shape)?];
        let outputs = rows.of_chunk(&chunk)?;
        let outputs: Vec<&Tensor> = outputs.iter().collect();
        // SAFETY: the outputs are places of their own, of the kernel's types, in memory that is this function's.
        unsafe { kernels.run(context, (Purpose::Compare(loaded), chunk.len()), &[&inputs[0], &inputs[1]], &outputs)? };
    }
    let exactly = |first: usize, count: usize| -> Result<Stretch, OnDeviceError> {
        let of = |tensor: &Tensor| part(tensor, loaded, first, [count as i64]).map(|part| part.to_bytes());
        let (rewritten, eager) = (of(rewritten)?, of(eager)?);
        let elements = |bytes| HostElements { dtype, bytes };
        let found = judge.stretch(elements(&rewritten), elements(&eager), 0..count);
        Ok(Stretch { first_wrong: found.first_wrong.map(|(at, value, truth)| (first + at, value, truth)), ..found })
    };
    let (mut found, first_wrong) = rows.join();
    if let Some(row) = first_wrong {
        found.first_wrong = exactly(row * ROW, ROW)?.first_wrong;
    }
    let behind = bytes / size - left;
    if behind == 0 { Ok(found) } else { Ok(found.join(exactly(left, behind)?)) }
}

/// What was found of each row, on the device.
struct ComparedRows {
    rows: usize,
    counts: Vec<Tensor>,
    extremes: Vec<Tensor>,
}

impl ComparedRows {
    fn new(context: &Context, rows: usize) -> Result<ComparedRows, OnDeviceError> {
        let made = |dtype, count: usize| (0..count).map(|_| memory(context, dtype, rows)).collect();
        let counts: Result<_, _> = made(Dtype::I64, COUNTS);
        let extremes: Result<_, _> = made(Dtype::F64, EXTREMES);
        Ok(ComparedRows { rows, counts: counts?, extremes: extremes? })
    }

    /// The places for a chunk, in the order of the kernel's outputs.
    fn of_chunk(&self, chunk: &Range<usize>) -> Result<Vec<Tensor>, OnDeviceError> {
        let place = |memory: &Tensor, dtype| part(memory, dtype, chunk.start / ROW, [(chunk.len() / ROW) as i64]);
        let counts = self.counts.iter().map(|memory| place(memory, Dtype::I64));
        let extremes = self.extremes.iter().map(|memory| place(memory, Dtype::F64));
        Ok(counts.chain(extremes).collect::<Result<_, _>>()?)
    }

    /// All of them together but for the first wrong element, and the row that it is in.
    fn join(&self) -> (Stretch, Option<usize>) {
        let bytes: Vec<Vec<u8>> = self.counts.iter().chain(&self.extremes).map(Tensor::to_bytes).collect();
        let count = |kind: usize, row: usize| HostElements { dtype: Dtype::I64, bytes: &bytes[kind] }.get(row) as u64;
        let extreme =
            |kind: usize, row: usize| HostElements { dtype: Dtype::F64, bytes: &bytes[COUNTS + kind] }.get(row);
        let of_row = |row: usize| Stretch {
            passes_at: match count(3, row) as i64 {
                NO_STEP => None,
                steps => Some(SMALLEST_T + steps as i8),
            },
            different: count(0, row),
            wrong: count(1, row),
            non_finite: count(2, row),
            max_abs: extreme(0, row),
            max_rel: extreme(1, row),
            first_wrong: None,
        };
        let rows = 0..self.rows;
        let first_wrong = rows.clone().find(|&row| count(1, row) > 0);
        (rows.map(of_row).fold(Stretch::NOTHING, Stretch::join), first_wrong)
    }
}

/// Compares a chunk: of each row how many elements differ, are wrong, and are not finite where they should be, the steps of
/// tolerance that the worst needs, and the largest absolute and relative error.
pub(super) fn kernel(dtype: Dtype, chunk: usize) -> Kernel {
    let f = Formula::over(&[(chunk / ROW) as i64], &[ROW as i64]);
    let (value, truth) = (f.element(dtype), f.element(dtype));
    let (counts, extremes) = match float_kind(dtype) {
        Some(kind) => floats(&f, &Ladder::new(kind), value.cast(Dtype::F64), truth.cast(Dtype::F64)),
        None => integers(&f, value.cast(Dtype::I64), truth.cast(Dtype::I64)),
    };
    counts.into_iter().for_each(|count| count.cast(Dtype::I64).reduced(ReduceOp::Sum));
    extremes.into_iter().for_each(|extreme| extreme.reduced(ReduceOp::Max));
    f.into_kernel()
}

/// What is counted, and of what the largest is sought.
type RowFindings<'f> = ([FormulaTerm<'f>; 3], [FormulaTerm<'f>; 1 + EXTREMES]);

fn integers<'f>(f: &'f Formula, value: FormulaTerm<'f>, truth: FormulaTerm<'f>) -> RowFindings<'f> {
    let different = value.is(Compare::Ne, truth).cast(Dtype::I64);
    let error = (value.cast(Dtype::F64) - truth.cast(Dtype::F64)).unary(Unary::Abs);
    ([different, different, 0_i64.term(f)], [different * NO_STEP, error, 0.0_f64.term(f)])
}

fn floats<'f>(f: &'f Formula, ladder: &Ladder, value: FormulaTerm<'f>, truth: FormulaTerm<'f>) -> RowFindings<'f> {
    let magnitude = truth.unary(Unary::Abs);
    let error = (value - truth).unary(Unary::Abs);
    let (value_finite, truth_finite) = (is_finite(value), is_finite(truth));
    // Neither equal nor both NaN.
    let both_nan = value.unary(Unary::IsNan) & truth.unary(Unary::IsNan);
    let different = value.is(Compare::Ne, truth) & !both_nan;
    let lost = different & (truth_finite & !value_finite);

    let measurable = different & is_finite(error);
    let absolute = measurable.select(error, 0.0);
    let relative = (measurable & truth.is(Compare::Ne, 0.0)).select(error / magnitude, 0.0);

    let climbed = (value_finite & truth_finite).select(steps(f, ladder, error, magnitude), NO_STEP);
    let climbed = different.select(climbed, 0);
    ([different, climbed.is(Compare::Gt, WRONG), lost], [climbed, absolute, relative])
}

fn is_finite(value: FormulaTerm<'_>) -> FormulaTerm<'_> {
    value.unary(Unary::Abs).is(Compare::Lt, f64::INFINITY)
}

/// How many tolerances are too small, all in one comparison each: they grow.
fn steps<'f>(f: &'f Formula, ladder: &Ladder, error: FormulaTerm<'f>, magnitude: FormulaTerm<'f>) -> FormulaTerm<'f> {
    ladder.tolerances().iter().fold(0_i64.term(f), |count, tolerance| {
        let allowed = tolerance.atol.term(f) + tolerance.rtol.term(f) * magnitude;
        count + (!error.is(Compare::Le, allowed)).cast(Dtype::I64)
    })
}
