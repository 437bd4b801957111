//! Images as columns of windows, and back.

use super::Rules;
use super::operands::{Operands, ResultTypes};
use crate::TensorType;

pub(super) const RULES: Rules = &[(im2col, "im2col"), (col2im, "col2im")];

/// How many windows fit along one dimension.
fn windows(extent: i64, size: i64, dilation: i64, padding: i64, stride: i64) -> Result<i64, String> {
    if size <= 0 || dilation <= 0 || stride <= 0 || padding < 0 {
        return Err(format!("window {size}, dilation {dilation}, stride {stride}, padding {padding}"));
    }
    let reach = i128::from(dilation) * (i128::from(size) - 1);
    let room = i128::from(extent) + 2 * i128::from(padding) - reach - 1;
    let count = if room < 0 { 0 } else { room / i128::from(stride) + 1 };
    i64::try_from(count).ok().filter(|&count| count > 0).ok_or_else(|| format!("no window of {size} fits {extent}"))
}

/// Columns of windows.
fn im2col(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor_of_rank(0, &[3, 4])?;
    let pairs = [1, 2, 3, 4].map(|position| operands.expanded_ints(position, 2));
    let [kernel, dilation, padding, stride] = pairs;
    let (kernel, dilation, padding, stride) = (kernel?, dilation?, padding?, stride?);
    let leading = ty.rank() - 3;
    if ty.shape[leading..].contains(&0) {
        return Err(format!("`self` is {ty}, expected no extent of 0 behind the batch"));
    }
    let mut count = 1i64;
    for dim in 0..2 {
        let extent = ty.shape[leading + 1 + dim];
        count = count.saturating_mul(windows(extent, kernel[dim], dilation[dim], padding[dim], stride[dim])?);
    }
    let rows = ty.shape[leading].saturating_mul(kernel[0]).saturating_mul(kernel[1]);
    Ok(vec![TensorType::contiguous(ty.dtype, [&ty.shape[..leading], &[rows, count]].concat())])
}

/// Columns of windows, added up where they overlap.
fn col2im(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor_of_rank(0, &[2, 3])?;
    let pairs = [1, 2, 3, 4, 5].map(|position| operands.expanded_ints(position, 2));
    let [size, kernel, dilation, padding, stride] = pairs;
    let (size, kernel, dilation, padding, stride) = (size?, kernel?, dilation?, padding?, stride?);
    let leading = ty.rank() - 2;
    let mut count = 1i64;
    for dim in 0..2 {
        count = count.saturating_mul(windows(size[dim], kernel[dim], dilation[dim], padding[dim], stride[dim])?);
    }
    let area = kernel[0].saturating_mul(kernel[1]);
    let (rows, columns) = (ty.shape[leading], ty.shape[leading + 1]);
    if rows == 0 || rows % area != 0 || columns != count {
        return Err(format!("`self` is {ty}, expected {count} columns of windows of {area} elements"));
    }
    let shape = [&ty.shape[..leading], &[rows / area], &size[..]].concat();
    Ok(vec![TensorType::contiguous(ty.dtype, shape)])
}
