//! Whether a rewrite can be wrong anywhere, by ops of PyTorch on the device: if not, nothing is brought to the CPU.

use super::OnDeviceError;
use super::precision::{doubled, in_one_dimension, integer, is_close, narrowed, op};
use passhost_score::Tolerance;
use passhost_torch::Tensor;

/// Elements that are looked at together, in double precision.
const PART: u64 = 1 << 24;

/// Whether there is an element of eager's that is close to the truth, and of the rewrite's close to neither.
pub fn is_contested(tensors: [&Tensor; 3], tolerance: Tolerance) -> Result<bool, OnDeviceError> {
    let count = tensors[0].ty().numel();
    for first in (0..count).step_by(PART as usize) {
        let range = first as usize..(first + PART).min(count) as usize;
        let part = |tensor: &Tensor| doubled(&narrowed(&in_one_dimension(tensor)?, &range)?);
        let [rewritten, eager, truth] = tensors;
        let (rewritten, eager, truth) = (part(rewritten)?, part(eager)?, part(truth)?);
        let is_known = is_close(&eager, &truth, tolerance)?;
        let is_met =
            op("logical_or", &[&is_close(&rewritten, &eager, tolerance)?, &is_close(&rewritten, &truth, tolerance)?])?;
        let contested = op("logical_and", &[&is_known, &op("logical_not", &[&is_met])?])?;
        if integer(&op("any", &[&contested])?) != 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
