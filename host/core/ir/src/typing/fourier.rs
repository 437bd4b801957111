//! Fourier transforms.

use super::Rules;
use super::layout::{preserving, suggested};
use super::moves::rolled;
use super::operands::{Operands, ResultTypes, distinct, front};
use crate::functional::layout::{formatted, strides_in};
use crate::{Dtype, TensorType};

pub(super) const RULES: Rules = &[
    (along_one, "fft_fft fft_ifft fft_rfft fft_irfft"),
    (along_many, "fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_fftn fft_ifftn fft_rfftn fft_irfftn"),
    (shift, "fft_fftshift fft_ifftshift"),
];

fn along_one(operands: &Operands<'_>) -> ResultTypes {
    let dim = operands.dim(2, operands.tensor(0)?.rank())?;
    // Real numbers are read as they are; the ops for many dimensions take them for complex ones first.
    transform(operands, &[dim], &[operands.optional_int(1)?], true)
}

fn along_many(operands: &Operands<'_>) -> ResultTypes {
    let rank = operands.tensor(0)?.rank();
    let sizes = operands.optional_ints(1)?;
    let dims = match (operands.optional_ints(2)?, sizes) {
        (Some(dims), _) => distinct(dims, rank)?,
        // Sizes alone are those of the last dimensions.
        (None, Some(sizes)) => {
            let first = rank.checked_sub(sizes.len()).ok_or("there are more sizes than dimensions")?;
            (first..rank).collect()
        }
        (None, None) => (0..rank).collect(),
    };
    let sizes: Vec<Option<i64>> = match sizes {
        None => vec![None; dims.len()],
        // A size of -1 keeps the extent.
        Some(sizes) => sizes.iter().map(|&size| (size != -1).then_some(size)).collect(),
    };
    if sizes.len() != dims.len() {
        return Err(format!("{} sizes for {} dimensions", sizes.len(), dims.len()));
    }
    transform(operands, &dims, &sizes, false)
}

/// Complex numbers to such; or real numbers to half a spectrum along the last dimension, or back.
fn transform(operands: &Operands<'_>, dims: &[usize], sizes: &[Option<i64>], reads_real: bool) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let (from_real, to_real) = (operands.op().starts_with("fft_rfft"), operands.op().starts_with("fft_irfft"));
    let (real, complex) = match ty.dtype {
        Dtype::F64 | Dtype::C128 => (Dtype::F64, Dtype::C128),
        Dtype::F16 | Dtype::Bf16 => return Err(format!("`self` is {}, which the CPU does not transform", ty.dtype)),
        _ => (Dtype::F32, Dtype::C64),
    };
    if from_real && ty.dtype.is_complex() {
        return Err(format!("`self` is {}, expected real numbers", ty.dtype));
    }
    let Some((&last, others)) = dims.split_last().filter(|_| ty.rank() > 0) else {
        let copies = dims.is_empty() && !from_real && !to_real;
        return if copies {
            Ok(vec![preserving(ty, complex)])
        } else {
            Err("it needs a dimension to transform".to_owned())
        };
    };
    // Extents of the numbers that may be real, and of their half spectrum.
    let mut points = ty.shape.clone();
    for (&dim, size) in dims.iter().zip(sizes) {
        let known = if to_real && dim == last { points[dim].saturating_sub(1).saturating_mul(2) } else { points[dim] };
        points[dim] = size.unwrap_or(known);
        if points[dim] < 1 {
            return Err(format!("{} points along dimension {dim}, expected at least one", points[dim]));
        }
    }
    let mut half = points.clone();
    half[last] = points[last] / 2 + 1;
    let (from, to, input, output) = match (from_real, to_real) {
        (true, _) => (real, complex, points, half),
        (_, true) => (complex, real, half, points),
        _ if reads_real && !ty.dtype.is_complex() => (real, complex, points.clone(), points),
        _ => (complex, complex, points.clone(), points),
    };
    let operand = read(ty, from, &input);
    let strides = if from_real {
        layout(&operand, &[sorted(&operand, others), vec![last]].concat(), &output)
    } else if to_real && !others.is_empty() {
        // The other dimensions are transformed first, into a tensor of their own.
        let strides = layout(&operand, &sorted(&operand, others), &input);
        layout(&TensorType { dtype: from, shape: input, strides }, &[last], &output)
    } else {
        layout(&operand, &sorted(&operand, dims), &output)
    };
    Ok(vec![TensorType { dtype: to, shape: output, strides }])
}

/// Dimensions by falling stride.
fn sorted(ty: &TensorType, dims: &[usize]) -> Vec<usize> {
    let mut dims = dims.to_vec();
    dims.sort_by_key(|&dim| std::cmp::Reverse(ty.strides[dim]));
    dims
}

/// The operand as the kernel reads it: cast, and cut or padded with zeros to these extents.
fn read(ty: &TensorType, dtype: Dtype, shape: &[i64]) -> TensorType {
    let cast = if ty.dtype == dtype { ty.clone() } else { preserving(ty, dtype) };
    let grows = cast.shape.iter().zip(shape).any(|(old, new)| new > old);
    if grows {
        return formatted(dtype, shape.to_vec(), suggested(&cast));
    }
    TensorType { shape: shape.to_vec(), ..cast }
}

/// The kernel writes the batch before the transformed dimensions, and the batch in the order in which it lies in memory.
fn layout(operand: &TensorType, dims: &[usize], output: &[i64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..output.len()).filter(|dim| !dims.contains(dim)).collect();
    order.sort_by_key(|&dim| std::cmp::Reverse(operand.strides[dim]));
    order.extend(dims);
    strides_in(output, order.into_iter().rev())
}

/// A roll by half of each extent.
fn shift(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let dims: Vec<usize> = match operands.optional_ints(1)? {
        Some(dims) => dims.iter().map(|&dim| front(dim, ty.rank())).collect::<Result<_, _>>()?,
        None => (0..ty.rank()).collect(),
    };
    let halves: Vec<i64> = dims.iter().map(|&dim| ty.shape.get(dim).map_or(0, |extent| extent / 2)).collect();
    rolled(ty, &halves, &dims)
}
