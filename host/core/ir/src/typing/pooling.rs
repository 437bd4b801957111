//! Pooling.

use super::Rules;
use super::layout::{batch_of_one, suggested, unsqueezed, without};
use super::operands::{Operands, ResultTypes, floats};
use crate::functional::layout::{formatted, is_in};
use crate::{Arg, Dtype, MemoryFormat, TensorType};

pub(super) const RULES: Rules = &[
    (adaptive_line, "adaptive_avg_pool1d"),
    (adaptive_image, "adaptive_avg_pool2d _adaptive_avg_pool2d"),
    (adaptive_volume, "adaptive_avg_pool3d"),
    (max_line, "max_pool1d"),
    (max_volume, "max_pool3d"),
    (max_volume_with_indices, "max_pool3d_with_indices"),
];

/// The operand's shape with the extents asked for at its end, in a batch or alone.
fn resized(operands: &Operands<'_>, spatial: usize) -> Result<Vec<i64>, String> {
    let ty = operands.tensor_of_rank(0, &[spatial + 1, spatial + 2])?;
    let size = operands.expanded_ints(1, spatial)?;
    let leading = ty.rank() - spatial;
    if let Some(extent) = size.iter().find(|&&extent| extent < 0) {
        return Err(format!("output extent {extent} is negative"));
    }
    // A batch may be empty, images may not.
    if ty.shape[1..].contains(&0) {
        return Err(format!("`self` is {ty}, expected no extent of 0 behind the batch"));
    }
    Ok([&ty.shape[..leading], &size[..]].concat())
}

/// Runs as images of height 1.
fn adaptive_line(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let (mut shape, height) = (resized(operands, 1)?, ty.rank() - 1);
    shape.insert(height, 1);
    let image = formatted(ty.dtype, shape, suggested(&unsqueezed(ty, height)));
    Ok(vec![without(&image, height)])
}

fn adaptive_image(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    if operands.op() == "adaptive_avg_pool2d" && operands.ints(1)? == [1, 1] {
        return mean(ty, 2);
    }
    Ok(vec![formatted(ty.dtype, resized(operands, 2)?, suggested(ty))])
}

fn adaptive_volume(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    if operands.ints(1)? == [1, 1, 1] {
        return mean(ty, 3);
    }
    Ok(vec![TensorType::contiguous(ty.dtype, resized(operands, 3)?)])
}

/// A pool to a single element is a mean, of tensors of any rank.
fn mean(ty: &TensorType, spatial: usize) -> ResultTypes {
    let Some(leading) = ty.rank().checked_sub(spatial) else {
        return Err(format!("`self` has rank {}, expected at least {spatial}", ty.rank()));
    };
    floats(ty)?;
    let mut shape = ty.shape.clone();
    shape[leading..].fill(1);
    let batch = ty.rank() == spatial + 2;
    Ok(vec![formatted(ty.dtype, shape, if batch { suggested(ty) } else { MemoryFormat::Contiguous })])
}

/// Without a gradient to compute, the kernel keeps no indices and writes row-major.
fn max_line(operands: &Operands<'_>) -> ResultTypes {
    let types = operands.ask_itself()?;
    Ok(types.into_iter().map(|ty| TensorType::contiguous(ty.dtype, ty.shape)).collect())
}

fn max_volume(operands: &Operands<'_>) -> ResultTypes {
    Ok(max_volume_with_indices(operands)?.into_iter().take(1).collect())
}

/// Extents are those of three lines, each pooled on its own.
fn max_volume_with_indices(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor_of_rank(0, &[4, 5])?;
    let (kernel, padding) = (operands.expanded_ints(1, 3)?, operands.expanded_ints(3, 3)?);
    let stride = if operands.ints(2)?.is_empty() { kernel.clone() } else { operands.expanded_ints(2, 3)? };
    let dilation = operands.expanded_ints(4, 3)?;
    let ceil = operands.bool(5)?;
    let mut shape = ty.shape[..ty.rank() - 3].to_vec();
    for dim in 0..3 {
        let line = TensorType::contiguous(Dtype::F32, [1, ty.shape[ty.rank() - 3 + dim]]);
        let of = |list: &[i64]| Arg::Ints(vec![list[dim]]);
        let args = [Arg::Value(line), of(&kernel), of(&stride), of(&padding), of(&dilation), Arg::Bool(ceil)];
        shape.extend(operands.ask("aten::max_pool1d", &args)?.iter().filter_map(|ty| ty.shape.last()));
    }
    if ty.rank() == 5 {
        let of = |dtype| formatted(dtype, shape.clone(), suggested(ty));
        return Ok(vec![of(ty.dtype), of(Dtype::I64)]);
    }
    // One volume is taken for a batch with its channels last only where it is nothing else.
    let batch = batch_of_one(ty);
    let last = !batch.is_contiguous() && is_in(&batch, MemoryFormat::ChannelsLast3d);
    let format = if last { MemoryFormat::ChannelsLast3d } else { MemoryFormat::Contiguous };
    shape.insert(0, 1);
    let of = |dtype| without(&formatted(dtype, shape.clone(), format), 0);
    Ok(vec![of(ty.dtype), of(Dtype::I64)])
}
