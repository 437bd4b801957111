//! The elements of outputs that a rewrite may have wrong on unusual inputs, found by ops of PyTorch on the device.

use super::OnDeviceError;
use super::ops::{VALUE, call, count, float, is_close, op, parts};
use passhost_ir::{Arg, Dtype};
use passhost_score::Tolerance;
use passhost_torch::Tensor;

/// The exponent field of a number of `f64`.
const EXPONENT: i64 = 0x7ff0_0000_0000_0000;
/// Where it begins.
pub const EXPONENT_AT: u32 = 52;
/// The exponent field of infinities and NaNs.
const INFINITE: usize = 0x7ff;
/// Contested elements after which no more are sought: these say enough.
const MOST: usize = 1 << 20;

/// The elements of an output of which eager's is close to the truth, and the rewrite's to neither.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Contested {
    /// Where they are, in order.
    pub places: Vec<usize>,
    /// What the rewrite, eager and the truth have there.
    pub values: [Vec<f64>; 3],
    /// What the truth has there of inputs that are a few roundings away, where sums of large numbers may cancel.
    pub shaken: Option<Vec<f64>>,
}

/// What is known of an output as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Around {
    /// The magnitude below which no last place counts as smaller: the power of two at or below an eighth of the truth's median
    /// magnitude, 0 where nothing is finite. Where sums cancel, an error is that of the summands.
    pub scale: f64,
    /// How far eager is from the truth at most where it is close to it, in last places.
    pub eagers: f64,
    /// Finite elements of eager's that are not close to a finite truth.
    pub strays: usize,
}

/// The contested elements of the rewrite, eager and the truth; of very many, the first.
pub fn contested(
    tensors: [&Tensor; 3],
    shaken: Option<&Tensor>,
    tolerance: Tolerance,
) -> Result<Contested, OnDeviceError> {
    let [rewritten, eager, truth] = tensors;
    let all = 0..eager.ty().numel() as usize;
    let mut found = Contested { shaken: shaken.map(|_| vec![]), ..Contested::default() };
    for part in parts([rewritten, eager, truth, shaken.unwrap_or(truth)], all)? {
        let (first, [rewritten, eager, truth, shaken]) = part?;
        let is_met =
            op("logical_or", &[&is_close(&rewritten, &eager, tolerance)?, &is_close(&rewritten, &truth, tolerance)?])?;
        let is_known = is_close(&eager, &truth, tolerance)?;
        let contested = op("logical_and", &[&is_known, &op("logical_not", &[&is_met])?])?;
        if count(&contested)? == 0 {
            continue;
        }
        let at = op("nonzero", &[&contested])?.to_bytes();
        found.places.extend(eights(&at).map(|at| first + i64::from_le_bytes(at) as usize));
        let there = |tensor: &Tensor| -> Result<Vec<f64>, OnDeviceError> {
            let values = op("masked_select", &[tensor, &contested])?.to_bytes();
            Ok(eights(&values).map(f64::from_le_bytes).collect())
        };
        for (values, tensor) in found.values.iter_mut().zip([&rewritten, &eager, &truth]) {
            values.extend(there(tensor)?);
        }
        if let Some(values) = &mut found.shaken {
            values.extend(there(&shaken)?);
        }
        if found.places.len() > MOST {
            break;
        }
    }
    Ok(found)
}

fn eights(bytes: &[u8]) -> impl Iterator<Item = [u8; 8]> {
    bytes.as_chunks().0.iter().copied()
}

/// What is known of eager and the truth as a whole, eager's elements being of this type.
pub fn around(dtype: Dtype, [eager, truth]: [&Tensor; 2], tolerance: Tolerance) -> Result<Around, OnDeviceError> {
    let all = 0..eager.ty().numel() as usize;
    let scale = scale(truth)?;
    let (mut eagers, mut strays) = (0.0f64, 0);
    for part in parts([eager, truth], all)? {
        let (_, [eager, truth]) = part?;
        let is_far = op("logical_not", &[&is_close(&eager, &truth, tolerance)?])?;
        let are_finite = op("logical_and", &[&op("isfinite", &[&eager])?, &op("isfinite", &[&truth])?])?;
        strays += count(&op("logical_and", &[&is_far, &are_finite])?)? as usize;
        // What is close to the truth and not finite is the same there.
        let says_nothing = op("logical_or", &[&is_far, &op("logical_not", &[&are_finite])?])?;
        let error = op("abs", &[&op("sub.Tensor", &[&eager, &truth])?])?;
        op("div_.Tensor", &[&error, &last_places(&truth, scale, dtype)?])?;
        call("masked_fill_", "Scalar", &[VALUE, VALUE, Arg::Float(0.0)], &[&error, &says_nothing])?;
        eagers = eagers.max(float(&op("max", &[&error])?));
    }
    Ok(Around { scale, eagers, strays })
}

/// See [`Around`]. Numbers that are not negative are ordered as their exponents are, and of the scale only that counts.
fn scale(truth: &Tensor) -> Result<f64, OnDeviceError> {
    let mut counts = vec![0u64; INFINITE + 1];
    for part in parts([truth], 0..truth.ty().numel() as usize)? {
        let (_, [truth]) = part?;
        let bits = call("view", "dtype", &[VALUE, Arg::Dtype(Dtype::I64)], &[&op("abs", &[&truth])?])?;
        let exponents = call("__rshift__", "Scalar", &[VALUE, Arg::Int(i64::from(EXPONENT_AT))], &[&bits])?;
        // A NaN may have a sign all the same.
        call("bitwise_and_", "Scalar", &[VALUE, Arg::Int(INFINITE as i64)], &[&exponents])?;
        let of_part = call("bincount", "", &[VALUE, Arg::None, Arg::Int(INFINITE as i64 + 1)], &[&exponents])?;
        for (count, more) in counts.iter_mut().zip(eights(&of_part.to_bytes())) {
            *count += u64::from_le_bytes(more);
        }
    }
    let finite = &counts[..INFINITE];
    let middle = finite.iter().sum::<u64>() / 2;
    let median = finite.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    let median = median.into_iter().position(|sum| sum > middle);
    Ok(median.map_or(0.0, |exponent| f64::from_bits((exponent as u64) << EXPONENT_AT) / 8.0))
}

/// One unit in the last place of this type at each element of the truth, none smaller than at `scale`.
pub(super) fn last_places(truth: &Tensor, scale: f64, dtype: Dtype) -> Result<Tensor, OnDeviceError> {
    let places = op("abs", &[truth])?;
    call("clamp_min_", "", &[VALUE, Arg::Float(scale)], &[&places])?;
    let bits = call("view", "dtype", &[VALUE, Arg::Dtype(Dtype::I64)], &[&places])?;
    call("bitwise_and_", "Scalar", &[VALUE, Arg::Int(EXPONENT)], &[&bits])?;
    // What is left is the power of two at or below each.
    call("mul_", "Scalar", &[VALUE, Arg::Float(dtype.ulp(1.0))], &[&places])?;
    call("clamp_min_", "", &[VALUE, Arg::Float(dtype.ulp(0.0))], &[&places])?;
    Ok(places)
}
