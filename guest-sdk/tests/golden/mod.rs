//! Results of eager's CPU kernels as files: how they are written, and when a result is the same.

use passhost_guest_sdk::ir::kernel::Tensor;
use passhost_guest_sdk::ir::{Dtype, TensorType};

/// Elements written as hexadecimal bits.
pub fn tensor(ty: &TensorType, line: &str) -> Tensor {
    let width = ty.dtype.size() as usize;
    let mut tensor = Tensor::zeros(ty.dtype, ty.shape.clone());
    tensor.data.clear();
    for word in line.split(' ') {
        tensor.data.extend(&u64::from_str_radix(word, 16).unwrap().to_le_bytes()[..width]);
    }
    assert_eq!(tensor.data.len(), tensor.len() * width);
    tensor
}

/// Whether a result is what eager has: the same number or both NaN. `close` results may be off by a last place of a half
/// type, of at least that of the number given, and by ten of a wider one, which is what eager's own sums of
/// some twenty terms are off by; where terms cancel, of 1.
pub fn agrees(dtype: Dtype, close: Option<f64>, found: f64, expected: f64) -> bool {
    if found == expected || (found.is_nan() && expected.is_nan()) {
        return true;
    }
    let Some(least) = close.filter(|_| found.is_finite() && expected.is_finite()) else { return false };
    let tolerance = match dtype {
        Dtype::F16 | Dtype::Bf16 => dtype.ulp(expected.abs().max(least)),
        _ => 10.0 * dtype.ulp(expected.abs().max(1.0)),
    };
    (found - expected).abs() <= tolerance
}
