//! Compares two tensors with a kernel that says of each row of a chunk what [`crate::compare`] says of a stretch.

use super::formula::Formula;
use super::{CHUNK, OnDeviceError, OwnKernels, Purpose, memory, part};
use crate::compare::{Judge, Stretch, float_kind};
use crate::element::Elements;
use passhost_ir::kernel::{Binary, Compare, ReduceOp, Reg, Unary};
use passhost_ir::{Dtype, Kernel};
use passhost_runtime::{Context, Tensor};
use passhost_score::{LARGEST_T, Ladder, SMALLEST_T};

/// Rows of a chunk, and elements of a row.
const ROWS: usize = CHUNK / ROW;
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
    judge: &Judge,
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
    let chunks = bytes / size / CHUNK;
    let rows = Rows::new(context, chunks)?;
    for chunk in 0..chunks {
        let shape = [ROWS as i64, ROW as i64];
        let inputs = [part(rewritten, loaded, chunk * CHUNK, shape)?, part(eager, loaded, chunk * CHUNK, shape)?];
        let outputs = rows.of_chunk(chunk)?;
        let outputs: Vec<&Tensor> = outputs.iter().collect();
        // SAFETY: the outputs are places of their own, of the kernel's types, in memory that is this function's.
        unsafe { kernels.run(context, Purpose::Compare(loaded), &[&inputs[0], &inputs[1]], &outputs)? };
    }
    let exactly = |first: usize, count: usize| -> Result<Stretch, OnDeviceError> {
        let of = |tensor: &Tensor| part(tensor, loaded, first, [count as i64]).map(|part| part.to_bytes());
        let (rewritten, eager) = (of(rewritten)?, of(eager)?);
        let elements = |bytes| Elements { dtype, bytes };
        let found = judge.stretch(elements(&rewritten), elements(&eager), 0..count);
        Ok(Stretch { first_wrong: found.first_wrong.map(|(at, value, truth)| (first + at, value, truth)), ..found })
    };
    let (mut found, first_wrong) = rows.join();
    if let Some(row) = first_wrong {
        found.first_wrong = exactly(row * ROW, ROW)?.first_wrong;
    }
    match chunks * CHUNK {
        first if first * size < bytes => Ok(found.join(exactly(first, bytes / size - first)?)),
        _ => Ok(found),
    }
}

/// What was found of each row, on the device.
struct Rows {
    chunks: usize,
    counts: Vec<Tensor>,
    extremes: Vec<Tensor>,
}

impl Rows {
    fn new(context: &Context, chunks: usize) -> Result<Rows, OnDeviceError> {
        let made = |dtype, count: usize| (0..count).map(|_| memory(context, dtype, chunks * ROWS)).collect();
        let counts: Result<_, _> = made(Dtype::I64, COUNTS);
        let extremes: Result<_, _> = made(Dtype::F64, EXTREMES);
        Ok(Rows { chunks, counts: counts?, extremes: extremes? })
    }

    /// The places for a chunk, in the order of the kernel's outputs.
    fn of_chunk(&self, chunk: usize) -> Result<Vec<Tensor>, OnDeviceError> {
        let place = |memory: &Tensor, dtype| part(memory, dtype, chunk * ROWS, [ROWS as i64]);
        let counts = self.counts.iter().map(|memory| place(memory, Dtype::I64));
        let extremes = self.extremes.iter().map(|memory| place(memory, Dtype::F64));
        Ok(counts.chain(extremes).collect::<Result<_, _>>()?)
    }

    /// All of them together but for the first wrong element, and the row that it is in.
    fn join(&self) -> (Stretch, Option<usize>) {
        let bytes: Vec<Vec<u8>> = self.counts.iter().chain(&self.extremes).map(Tensor::to_bytes).collect();
        let count = |kind: usize, row: usize| Elements { dtype: Dtype::I64, bytes: &bytes[kind] }.get(row) as u64;
        let extreme = |kind: usize, row: usize| Elements { dtype: Dtype::F64, bytes: &bytes[COUNTS + kind] }.get(row);
        let of_row = |row: usize| Stretch {
            right_from: match count(3, row) as i64 {
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
        let rows = 0..self.chunks * ROWS;
        let first_wrong = rows.clone().find(|&row| count(1, row) > 0);
        (rows.map(of_row).fold(Stretch::NOTHING, Stretch::join), first_wrong)
    }
}

/// Compares a chunk: of each row how many elements differ, are wrong, and are not finite where they should be, the steps of
/// tolerance that the worst needs, and the largest absolute and relative error.
pub(super) fn kernel(dtype: Dtype) -> Kernel {
    let mut f = Formula::over(&[ROWS as i64], &[ROW as i64]);
    let (value, truth) = (f.element(dtype), f.element(dtype));
    match float_kind(dtype) {
        Some(kind) => floats(&mut f, &Ladder::new(kind), value, truth),
        None => integers(&mut f, value, truth),
    }
    f.into_kernel()
}

fn integers(f: &mut Formula, value: Reg, truth: Reg) {
    let (value, truth) = (f.cast(Dtype::I64, value), f.cast(Dtype::I64, truth));
    let different = f.compare(Compare::Ne, value, truth);
    let different = f.cast(Dtype::I64, different);
    let (none, no_step) = (f.integer(0), f.integer(NO_STEP));
    let steps = f.binary(Binary::Mul, different, no_step);
    let (value, truth) = (f.cast(Dtype::F64, value), f.cast(Dtype::F64, truth));
    let error = f.binary(Binary::Sub, value, truth);
    let error = f.unary(Unary::Abs, error);
    let relative = f.float(0.0);
    for count in [different, different, none] {
        f.reduced(ReduceOp::Sum, count);
    }
    f.reduced(ReduceOp::Max, steps);
    f.reduced(ReduceOp::Max, error);
    f.reduced(ReduceOp::Max, relative);
}

fn floats(f: &mut Formula, ladder: &Ladder, value: Reg, truth: Reg) {
    let (value, truth) = (f.cast(Dtype::F64, value), f.cast(Dtype::F64, truth));
    let magnitude = f.unary(Unary::Abs, truth);
    let difference = f.binary(Binary::Sub, value, truth);
    let error = f.unary(Unary::Abs, difference);
    let (value_finite, truth_finite) = (is_finite(f, value), is_finite(f, truth));
    let both_finite = f.binary(Binary::And, value_finite, truth_finite);
    let different = differs(f, value, truth);
    let value_infinite = f.unary(Unary::Not, value_finite);
    let lost = f.binary(Binary::And, truth_finite, value_infinite);
    let lost = f.binary(Binary::And, different, lost);

    let zero = f.float(0.0);
    let measurable = is_finite(f, error);
    let measurable = f.binary(Binary::And, different, measurable);
    let absolute = f.select(measurable, error, zero);
    let has_size = f.compare(Compare::Ne, truth, zero);
    let quotient = f.binary(Binary::Div, error, magnitude);
    let comparable = f.binary(Binary::And, measurable, has_size);
    let relative = f.select(comparable, quotient, zero);

    let (none, no_step) = (f.integer(0), f.integer(NO_STEP));
    let climbed = steps(f, ladder, error, magnitude);
    let climbed = f.select(both_finite, climbed, no_step);
    let climbed = f.select(different, climbed, none);
    let most = f.integer(WRONG);
    let wrong = f.compare(Compare::Gt, climbed, most);
    for is_counted in [different, wrong, lost] {
        let count = f.cast(Dtype::I64, is_counted);
        f.reduced(ReduceOp::Sum, count);
    }
    f.reduced(ReduceOp::Max, climbed);
    f.reduced(ReduceOp::Max, absolute);
    f.reduced(ReduceOp::Max, relative);
}

fn is_finite(f: &mut Formula, value: Reg) -> Reg {
    let magnitude = f.unary(Unary::Abs, value);
    let infinity = f.float(f64::INFINITY);
    f.compare(Compare::Lt, magnitude, infinity)
}

/// Whether two values are neither equal nor both NaN.
fn differs(f: &mut Formula, value: Reg, truth: Reg) -> Reg {
    let unequal = f.compare(Compare::Ne, value, truth);
    let (one, other) = (f.unary(Unary::IsNan, value), f.unary(Unary::IsNan, truth));
    let both = f.binary(Binary::And, one, other);
    let not_both = f.unary(Unary::Not, both);
    f.binary(Binary::And, unequal, not_both)
}

/// How many tolerances are too small, all in one comparison each: they grow.
fn steps(f: &mut Formula, ladder: &Ladder, error: Reg, magnitude: Reg) -> Reg {
    let mut count = f.integer(0);
    for tolerance in ladder.tolerances() {
        let (relative, absolute) = (f.float(tolerance.rtol), f.float(tolerance.atol));
        let product = f.binary(Binary::Mul, relative, magnitude);
        let allowed = f.binary(Binary::Add, absolute, product);
        let is_within = f.compare(Compare::Le, error, allowed);
        let is_beyond = f.unary(Unary::Not, is_within);
        let step = f.cast(Dtype::I64, is_beyond);
        count = f.binary(Binary::Add, count, step);
    }
    count
}
