//! Who is right where a rewrite and eager differ, and whether an answer that nobody computes is right, by ops of PyTorch on
//! the device.

use super::OnDeviceError;
use super::ops::{VALUE, all, call, is_close, op, parts};
use passhost_ir::Arg;
use passhost_result::Decided;
use passhost_score::{FloatKind, LARGEST_T, SMALLEST_T, Tolerance, tolerance};
use passhost_torch::Tensor;

/// As [`crate::decided::decide`] of floats.
pub fn decide(kind: FloatKind, [rewritten, eager, truth]: [&Tensor; 3]) -> Result<Decided, OnDeviceError> {
    let mut decided = Decided { passes_at: Some(SMALLEST_T), eager_passes_at: Some(SMALLEST_T) };
    let count = eager.ty().numel() as usize;
    for part in parts([rewritten, eager, truth], 0..count)? {
        let (_, [rewritten, eager, truth]) = part?;
        decided.passes_at = least(kind, decided.passes_at, |tolerance| {
            let is_either = [&eager, &truth].map(|side| is_close(&rewritten, side, tolerance));
            let [eagers, truths] = is_either;
            all(&op("logical_or", &[&eagers?, &truths?])?)
        })?;
        decided.eager_passes_at =
            least(kind, decided.eager_passes_at, |tolerance| all(&is_close(&eager, &truth, tolerance)?))?;
    }
    Ok(decided)
}

/// The least t from `least` on, which is right before, at which this is right.
fn least(
    kind: FloatKind,
    least: Option<i8>,
    is_right: impl Fn(Tolerance) -> Result<bool, OnDeviceError>,
) -> Result<Option<i8>, OnDeviceError> {
    let Some(least) = least else { return Ok(None) };
    for t in least..=LARGEST_T {
        if is_right(tolerance(kind, f64::from(t)))? {
            return Ok(Some(t));
        }
    }
    Ok(None)
}

/// An answer that nobody computes.
#[derive(Debug, Clone, Copy)]
pub enum TrivialAnswer<T> {
    /// The same number everywhere.
    Number(f64),
    /// A copy of a tensor of as many elements.
    Copy(T),
}

/// Whether an answer is right everywhere.
pub fn is_met(output: &Tensor, by: TrivialAnswer<&Tensor>, tolerance: Tolerance) -> Result<bool, OnDeviceError> {
    let candidate = match by {
        TrivialAnswer::Number(_) => output,
        TrivialAnswer::Copy(tensor) => tensor,
    };
    for part in parts([candidate, output], 0..output.ty().numel() as usize)? {
        let (_, [candidate, output]) = part?;
        let is_right = match by {
            TrivialAnswer::Copy(_) => is_close(&candidate, &output, tolerance)?,
            TrivialAnswer::Number(number) => {
                let like = [VALUE, Arg::Float(number), Arg::None, Arg::None, Arg::None, Arg::None, Arg::None];
                is_close(&call("full_like", "", &like, &[&output])?, &output, tolerance)?
            }
        };
        if !all(&is_right)? {
            return Ok(false);
        }
    }
    Ok(true)
}
