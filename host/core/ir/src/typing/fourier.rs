//! Fourier transforms.

use super::TypeRule;
use super::layout::{preserving, suggested};
use super::moves::rolled;
use super::operands::{Operands, ResultTypes, distinct, front};
use crate::functional::layout::{formatted, strides_in};
use crate::{Dtype, TensorType};

pub(super) const RULES: &[(&str, TypeRule)] = &[
    ("aten::fft_fft", along_one),
    ("aten::fft_ifft", along_one),
    ("aten::fft_rfft", along_one),
    ("aten::fft_irfft", along_one),
    ("aten::fft_fft2", along_two),
    ("aten::fft_ifft2", along_two),
    ("aten::fft_rfft2", along_two),
    ("aten::fft_irfft2", along_two),
    ("aten::fft_fftn", along_many),
    ("aten::fft_ifftn", along_many),
    ("aten::fft_rfftn", along_many),
    ("aten::fft_irfftn", along_many),
    ("aten::fft_fftshift", shift),
    ("aten::fft_ifftshift", shift),
];

/// What a transform reads and writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TransformKind {
    /// Complex numbers, or real ones taken for such.
    Full,
    /// Real numbers to half a spectrum.
    FromReal,
    /// Half a spectrum to real numbers.
    ToReal,
}

impl TransformKind {
    fn of(op: &str) -> TransformKind {
        match op {
            _ if op.starts_with("fft_rfft") => TransformKind::FromReal,
            _ if op.starts_with("fft_irfft") => TransformKind::ToReal,
            _ => TransformKind::Full,
        }
    }
}

fn along_one(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let size = operands.optional_int(1)?;
    transform(operands, ty, &[operands.dim(2, ty.rank())?], &[size])
}

fn along_two(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let dims = distinct(operands.ints(2)?, ty.rank())?;
    sized(operands, ty, &dims)
}

fn along_many(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let dims = match (operands.optional_ints(2)?, operands.optional_ints(1)?) {
        (Some(dims), _) => distinct(dims, ty.rank())?,
        // Sizes alone are those of the last dimensions.
        (None, Some(sizes)) => {
            let first = ty.rank().checked_sub(sizes.len()).ok_or("there are more sizes than dimensions")?;
            (first..ty.rank()).collect()
        }
        (None, None) => (0..ty.rank()).collect(),
    };
    sized(operands, ty, &dims)
}

fn sized(operands: &Operands<'_>, ty: &TensorType, dims: &[usize]) -> ResultTypes {
    let sizes: Vec<Option<i64>> = match operands.optional_ints(1)? {
        None => vec![None; dims.len()],
        // A size of -1 keeps the extent.
        Some(sizes) => sizes.iter().map(|&size| (size != -1).then_some(size)).collect(),
    };
    if sizes.len() != dims.len() {
        return Err(format!("{} sizes for {} dimensions", sizes.len(), dims.len()));
    }
    transform(operands, ty, dims, &sizes)
}

/// The types of elements before and after.
fn dtypes(ty: &TensorType, kind: TransformKind) -> Result<(Dtype, Dtype), String> {
    let complex = match ty.dtype {
        Dtype::F64 | Dtype::C128 => Dtype::C128,
        Dtype::F16 | Dtype::Bf16 => return Err(format!("`self` is {}, which the CPU does not transform", ty.dtype)),
        _ => Dtype::C64,
    };
    let real = if complex == Dtype::C128 { Dtype::F64 } else { Dtype::F32 };
    match kind {
        TransformKind::FromReal if ty.dtype.is_complex() => {
            Err(format!("`self` is {}, expected real numbers", ty.dtype))
        }
        TransformKind::FromReal => Ok((real, complex)),
        TransformKind::ToReal => Ok((complex, real)),
        TransformKind::Full => Ok((if ty.dtype.is_complex() { complex } else { real }, complex)),
    }
}

fn transform(operands: &Operands<'_>, ty: &TensorType, dims: &[usize], sizes: &[Option<i64>]) -> ResultTypes {
    if ty.rank() == 0 && !dims.is_empty() {
        return Err("`self` has no dimension to transform".to_owned());
    }
    let kind = TransformKind::of(operands.op());
    let (mut from, to) = dtypes(ty, kind)?;
    if kind == TransformKind::Full && !matches!(operands.op(), "fft_fft" | "fft_ifft") {
        // Only the ops for one dimension read real numbers as they are.
        from = to;
    }
    let Some((&last, others)) = dims.split_last() else {
        return match kind {
            TransformKind::Full => Ok(vec![preserving(ty, to)]),
            _ => Err("it needs a dimension to transform".to_owned()),
        };
    };
    // Extents of what is transformed, and of the result.
    let mut input = ty.shape.clone();
    for (&dim, size) in dims.iter().zip(sizes) {
        let extent = match (size, kind) {
            (None, TransformKind::ToReal) if dim == last => input[dim].saturating_sub(1).saturating_mul(2),
            (None, _) => input[dim],
            (Some(size), _) => *size,
        };
        if extent < 1 {
            return Err(format!("{extent} points along dimension {dim}, expected at least one"));
        }
        input[dim] = extent;
    }
    let mut output = input.clone();
    match kind {
        TransformKind::FromReal => output[last] = input[last] / 2 + 1,
        TransformKind::ToReal => input[last] = input[last] / 2 + 1,
        TransformKind::Full => {}
    }
    let operand = read(ty, from, &input)?;
    let strides = match kind {
        TransformKind::ToReal if others.is_empty() => layout(&operand, &[last], &output),
        // The other dimensions are transformed first, into a tensor of their own.
        TransformKind::ToReal => {
            let between = layout(&operand, &sorted(&operand, others, 0), &input);
            let between = TensorType { dtype: from, shape: input, strides: between };
            layout(&between, &[last], &output)
        }
        TransformKind::FromReal => layout(&operand, &sorted(&operand, dims, 1), &output),
        TransformKind::Full => layout(&operand, &sorted(&operand, dims, 0), &output),
    };
    Ok(vec![TensorType { dtype: to, shape: output, strides }])
}

/// The operand as the kernel reads it: cast, and cut or padded with zeros to these extents.
fn read(ty: &TensorType, dtype: Dtype, shape: &[i64]) -> Result<TensorType, String> {
    let cast = if ty.dtype == dtype { ty.clone() } else { preserving(ty, dtype) };
    let grows = cast.shape.iter().zip(shape).any(|(old, new)| new > old);
    if grows {
        return Ok(formatted(dtype, shape.to_vec(), suggested(&cast)));
    }
    Ok(TensorType { shape: shape.to_vec(), ..cast })
}

/// Dimensions by falling stride, but for the last `fixed` ones, which stay where they are.
fn sorted(ty: &TensorType, dims: &[usize], fixed: usize) -> Vec<usize> {
    let mut dims = dims.to_vec();
    let free = dims.len().saturating_sub(fixed);
    dims[..free].sort_by_key(|&dim| std::cmp::Reverse(ty.strides[dim]));
    dims
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
