//! Digests of tensors under a key that no program knows: whether something wrote to them while it ran.

use super::formula::Formula;
use super::{OnDeviceError, OwnKernels, Purpose, chunks, draws, memory, part, uploaded};
use passhost_ir::kernel::ReduceOp;
use passhost_ir::{Dtype, Kernel};
use passhost_torch::{Context, Tensor};
use std::ops::Range;

/// Words of 64 bits of a chunk.
const CHUNKS: [usize; 4] = [1 << 22, FULL, 1 << 16, 1 << 14];
/// Words that fill the device.
pub(super) const FULL: usize = 1 << 18;
/// Words of a row of a large chunk.
const ROW: usize = 1 << 12;
/// Rows of a small chunk.
const ROWS: usize = 1 << 6;

/// Rows of a chunk.
fn rows(chunk: usize) -> usize {
    (chunk / ROW).max(ROWS)
}
/// Integers that a launch is told: the position of its first word and the key.
const INTEGERS: usize = 2;

/// Digests of tensors of bytes: of each row of words their sum, each times a number that depends on its position and the
/// key; and the bytes left over after whole chunks.
pub fn digests(
    context: &Context,
    kernels: &OwnKernels,
    key: u64,
    tensors: &[Tensor],
) -> Result<Vec<Vec<u8>>, OnDeviceError> {
    let bytes: Vec<usize> = tensors.iter().map(|bytes| bytes.ty().numel() as usize).collect();
    let chunked = bytes.iter().map(|bytes| chunks(bytes / 8, CHUNKS));
    let chunked: Vec<_> = chunked.map(|(chunks, left)| (chunks, left * 8)).collect();
    let launches = chunked.iter().flat_map(|(chunks, _)| chunks);
    let parameters: Vec<i64> = launches.flat_map(|chunk| [chunk.start as i64, key as i64]).collect();
    let parameters = uploaded(context, Dtype::I64, &parameters, i64::to_le_bytes)?.as_bytes()?;
    let sums_of = |chunks: &[Range<usize>]| chunks.iter().map(|chunk| rows(chunk.len())).sum::<usize>();
    let sums = memory(context, Dtype::I64, chunked.iter().map(|(chunks, _)| sums_of(chunks)).sum())?;
    let left = bytes.iter().zip(&chunked).map(|(bytes, (_, left))| bytes - left);
    let rest = memory(context, Dtype::U8, left.clone().sum())?;
    let (mut launch, mut row, mut kept) = (0, 0, 0);
    for ((tensor, (chunks, first)), left) in tensors.iter().zip(&chunked).zip(left.clone()) {
        for chunk in chunks {
            let parameters = part(&parameters, Dtype::I64, launch * INTEGERS, [INTEGERS as i64])?;
            let rows = rows(chunk.len());
            let words = part(tensor, Dtype::I64, chunk.start, [rows as i64, (chunk.len() / rows) as i64])?;
            let output = part(&sums, Dtype::I64, row, [rows as i64])?;
            let kernel = (Purpose::Digest, chunk.len());
            // SAFETY: the output is a place of its own, of the kernel's type, in memory that is this function's.
            unsafe { kernels.run(context, kernel, &[&parameters, &words], &[&output])? };
            (launch, row) = (launch + 1, row + rows);
        }
        if left > 0 {
            let bytes = part(tensor, Dtype::U8, *first, [left as i64])?;
            part(&rest, Dtype::U8, kept, [left as i64])?.copy_from(&bytes)?;
            kept += left;
        }
    }
    let (sums, rest) = (sums.to_bytes(), rest.to_bytes());
    let (mut sums, mut rest) = (sums.as_slice(), rest.as_slice());
    let digests = chunked.iter().zip(left).map(|((chunks, _), left)| {
        let (of_words, of_rest);
        (of_words, sums) = sums.split_at(sums_of(chunks) * 8);
        (of_rest, rest) = rest.split_at(left);
        [of_words, of_rest].concat()
    });
    Ok(digests.collect())
}

/// The sums of a chunk.
pub(super) fn kernel(chunk: usize) -> Kernel {
    let rows = rows(chunk);
    let row = (chunk / rows) as i64;
    let f = Formula::over(&[rows as i64], &[row]);
    let [first, key] = f.parameters::<INTEGERS>(Dtype::I64);
    let word = f.element(Dtype::I64);
    let position = first + (f.position(0) * row + f.position(1));
    // An odd factor loses no bit of the word.
    (word * (draws::hash(key, position) | 1)).reduced(ReduceOp::Sum);
    f.into_kernel()
}
