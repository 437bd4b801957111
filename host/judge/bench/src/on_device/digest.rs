//! Digests of tensors under a key that no program knows: whether something wrote to them while it ran.

use super::formula::Formula;
use super::{OnDeviceError, OwnKernels, Purpose, draws, memory, part, uploaded};
use passhost_ir::kernel::ReduceOp;
use passhost_ir::{Dtype, Kernel};
use passhost_torch::{Context, Tensor};

/// Rows of a chunk, and words of 64 bits of a row.
const ROWS: usize = 1 << 6;
const ROW: usize = 1 << 12;
const CHUNK: usize = ROWS * ROW;
/// Integers that a launch is told: the position of its first word and the key.
const INTEGERS: usize = 2;

/// A digest of a tensor of bytes: of each row of words their sum, each times a number that depends on its position and the
/// key; and the bytes left over after whole chunks.
pub fn digest(context: &Context, kernels: &OwnKernels, key: u64, bytes: &Tensor) -> Result<Vec<u8>, OnDeviceError> {
    let count = bytes.ty().numel() as usize;
    let chunks = count / 8 / CHUNK;
    let parameters: Vec<i64> = (0..chunks).flat_map(|chunk| [(chunk * CHUNK) as i64, key as i64]).collect();
    let parameters = uploaded(context, Dtype::I64, &parameters, i64::to_le_bytes)?.as_bytes()?;
    let sums = memory(context, Dtype::I64, chunks * ROWS)?;
    for chunk in 0..chunks {
        let parameters = part(&parameters, Dtype::I64, chunk * INTEGERS, [INTEGERS as i64])?;
        let words = part(bytes, Dtype::I64, chunk * CHUNK, [ROWS as i64, ROW as i64])?;
        let output = part(&sums, Dtype::I64, chunk * ROWS, [ROWS as i64])?;
        // SAFETY: the output is a place of its own, of the kernel's type, in memory that is this function's.
        unsafe { kernels.run(context, Purpose::Digest, &[&parameters, &words], &[&output])? };
    }
    let mut digest = sums.to_bytes();
    let first = chunks * CHUNK * 8;
    digest.extend(part(bytes, Dtype::U8, first, [(count - first) as i64])?.to_bytes());
    Ok(digest)
}

/// The sums of a chunk.
pub(super) fn kernel() -> Kernel {
    let f = Formula::over(&[ROWS as i64], &[ROW as i64]);
    let [first, key] = f.parameters::<INTEGERS>(Dtype::I64);
    let word = f.element(Dtype::I64);
    let position = first + (f.position(0) * ROW as i64 + f.position(1));
    // An odd factor loses no bit of the word.
    (word * (draws::hash(key, position) | 1)).reduced(ReduceOp::Sum);
    f.into_kernel()
}
