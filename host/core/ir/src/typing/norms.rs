//! Normalisation.

use super::Rules;
use super::layout::{preserving, suggested};
use super::operands::{Operands, ResultTypes, channels, divides};
use crate::functional::layout::{formatted, is_in};
use crate::{Arg, MemoryFormat, TensorType};

pub(super) const RULES: Rules = &[
    (layer_norm, "layer_norm"),
    (native_layer_norm, "native_layer_norm"),
    (batch_norm, "batch_norm"),
    (instance_norm, "instance_norm"),
    (group_norm, "group_norm"),
    (native_group_norm, "native_group_norm"),
    (weight_norm, "_weight_norm"),
];

/// A tensor of one number per channel, if there is one.
fn per_channel<'a>(operands: &Operands<'a>, position: usize, channels: i64) -> Result<Option<&'a TensorType>, String> {
    let Some(ty) = operands.optional_tensor(position)? else { return Ok(None) };
    if ty.numel() != channels.unsigned_abs() {
        return Err(format!("argument {} has {} elements, expected {channels}", position + 1, ty.numel()));
    }
    Ok(Some(ty))
}

/// The kernel computes rows, whatever order they come in.
fn layer_norm(operands: &Operands<'_>) -> ResultTypes {
    let ty = normalised_rows(operands)?.0;
    Ok(vec![TensorType::contiguous(ty.dtype, ty.shape.clone())])
}

/// The statistics are those of each row, in single precision where the weight is.
fn native_layer_norm(operands: &Operands<'_>) -> ResultTypes {
    let (ty, rows) = normalised_rows(operands)?;
    let parameter = operands.optional_tensor(2)?.or(operands.optional_tensor(3)?);
    let statistics = TensorType::contiguous(parameter.map_or(ty.dtype, |ty| ty.dtype), rows);
    Ok(vec![TensorType::contiguous(ty.dtype, ty.shape.clone()), statistics.clone(), statistics])
}

/// The operand, and its shape with extents of 1 where it is normalised.
fn normalised_rows<'a>(operands: &Operands<'a>) -> Result<(&'a TensorType, Vec<i64>), String> {
    let (ty, normalised) = (operands.tensor(0)?, operands.ints(1)?);
    if normalised.is_empty() || !ty.shape.ends_with(normalised) {
        return Err(format!("normalised over {normalised:?}, expected the last extents of {:?}", ty.shape));
    }
    for position in [2, 3] {
        if let Some(parameter) = operands.optional_tensor(position)?
            && parameter.shape != normalised
        {
            return Err(format!("argument {} is {:?}, expected {normalised:?}", position + 1, parameter.shape));
        }
    }
    let mut rows = ty.shape.clone();
    for extent in rows.iter_mut().rev().take(normalised.len()) {
        *extent = 1;
    }
    Ok((ty, rows))
}

/// The format in which everything is dense, else the one the operand is nearest to.
fn batch_norm(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let channels = channels(ty)?;
    let mut dense = true;
    for position in 1..5 {
        dense &= per_channel(operands, position, channels)?.is_none_or(TensorType::is_contiguous);
    }
    let training = operands.bool(5)?;
    if !training && (operands.optional_tensor(3)?.is_none() || operands.optional_tensor(4)?.is_none()) {
        return Err("without training, it needs the running mean and variance".to_owned());
    }
    if ty.numel() == 0 {
        return Ok(vec![preserving(ty, ty.dtype)]);
    }
    let exact = [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d];
    let format = exact.into_iter().find(|&format| dense && is_in(ty, format)).unwrap_or_else(|| suggested(ty));
    Ok(vec![formatted(ty.dtype, ty.shape.clone(), format)])
}

/// A batch norm in which every image is its own channel.
fn instance_norm(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let channels = channels(ty)?;
    for position in 1..5 {
        per_channel(operands, position, channels)?;
    }
    if !operands.bool(5)? && (operands.optional_tensor(3)?.is_none() || operands.optional_tensor(4)?.is_none()) {
        return Err("without the statistics of its input, it needs the running mean and variance".to_owned());
    }
    Ok(vec![TensorType::contiguous(ty.dtype, ty.shape.clone())])
}

fn group_norm(operands: &Operands<'_>) -> ResultTypes {
    let (ty, groups) = (operands.tensor(0)?, operands.int(1)?);
    let channels = channels(ty)?;
    divides(groups, channels)?;
    per_channel(operands, 2, channels)?;
    per_channel(operands, 3, channels)?;
    Ok(vec![formatted(ty.dtype, ty.shape.clone(), suggested(ty))])
}

/// The statistics are those of each group, in single precision where the weight is.
fn native_group_norm(operands: &Operands<'_>) -> ResultTypes {
    let (ty, groups) = (operands.tensor(0)?, operands.int(6)?);
    let (images, channels, pixels) = (operands.int(3)?, operands.int(4)?, operands.int(5)?);
    divides(groups, channels)?;
    let elements = i128::from(images).checked_mul(i128::from(channels)).and_then(|n| n.checked_mul(pixels.into()));
    if elements != Some(i128::from(ty.numel())) {
        return Err(format!("{images} images of {channels} channels of {pixels} pixels are not {ty}"));
    }
    let parameter = per_channel(operands, 1, channels)?.or(per_channel(operands, 2, channels)?);
    let statistics = TensorType::contiguous(parameter.map_or(ty.dtype, |ty| ty.dtype), [images, groups]);
    let result = formatted(ty.dtype, ty.shape.clone(), suggested(ty));
    Ok(vec![result, statistics.clone(), statistics])
}

/// Both are made row-major before they are multiplied.
fn weight_norm(operands: &Operands<'_>) -> ResultTypes {
    let (direction, magnitude) = (operands.tensor(0)?, operands.tensor(1)?);
    if direction.dtype != magnitude.dtype {
        return Err(format!("`g` is {}, expected {}", magnitude.dtype, direction.dtype));
    }
    let row_major = |ty: &TensorType| Arg::Value(TensorType::contiguous(ty.dtype, ty.shape.clone()));
    Ok(vec![operands.ask_one("aten::mul.Tensor", &[row_major(direction), row_major(magnitude)])?])
}
