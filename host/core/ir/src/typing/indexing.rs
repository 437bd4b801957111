//! Gathers and scatters.

use super::Rules;
use super::operands::{Operands, ResultTypes};
use crate::{Arg, Dtype, TensorType};

pub(super) const RULES: Rules = &[
    (embedding, "embedding"),
    (one_hot, "one_hot"),
    (index_select, "index_select"),
    (index, "index.Tensor"),
    (index_put, "index_put index_put_"),
    (repeat_by_tensor, "repeat_interleave.self_Tensor"),
    (repeat_by_number, "repeat_interleave.self_int"),
    (take, "take"),
];

fn is_mask(ty: &TensorType) -> bool {
    matches!(ty.dtype, Dtype::Bool | Dtype::U8)
}

fn check_index(ty: &TensorType) -> Result<(), String> {
    match ty.dtype {
        Dtype::I32 | Dtype::I64 => Ok(()),
        other => Err(format!("the index is {other}, expected i32 or i64")),
    }
}

/// A row of the table per index.
fn embedding(operands: &Operands<'_>) -> ResultTypes {
    let (weight, index) = (operands.tensor_of_rank(0, &[2])?, operands.tensor(1)?);
    check_index(index)?;
    Ok(vec![TensorType::contiguous(weight.dtype, [&index.shape[..], &weight.shape[1..]].concat())])
}

fn one_hot(operands: &Operands<'_>) -> ResultTypes {
    let (index, classes) = (operands.tensor(0)?, operands.int(1)?);
    if index.dtype != Dtype::I64 {
        return Err(format!("`self` is {}, expected i64", index.dtype));
    }
    match classes {
        1.. => Ok(vec![TensorType::contiguous(Dtype::I64, [&index.shape[..], &[classes]].concat())]),
        -1 if index.numel() > 0 => {
            Err("the number of classes depends on the elements, so that it must be given".to_owned())
        }
        _ => Err(format!("{classes} classes, expected at least one")),
    }
}

fn index_select(operands: &Operands<'_>) -> ResultTypes {
    let (ty, index) = (operands.tensor(0)?, operands.tensor_of_rank(2, &[0, 1])?);
    let dim = operands.dim(1, ty.rank())?;
    check_index(index)?;
    let count = i64::try_from(index.numel()).unwrap_or(i64::MAX);
    let mut shape = ty.shape.clone();
    match shape.get_mut(dim) {
        Some(0) if count > 0 => return Err(format!("`self` is {ty}, expected elements along dimension {dim}")),
        Some(extent) => *extent = count,
        None if count != 1 => return Err(format!("{count} indices into a tensor without dimensions, expected one")),
        None => {}
    }
    Ok(vec![TensorType::contiguous(ty.dtype, shape)])
}

/// The meta kernel answers for indices. A mask selects as many elements as it has true ones.
fn index(operands: &Operands<'_>) -> ResultTypes {
    let (ty, indices) = (operands.tensor(0)?, operands.optional_tensors(1)?);
    check_masks(ty, &indices)?;
    if indices.iter().flatten().any(|ty| is_mask(ty)) {
        return Err("its shape depends on how many elements of the mask are true".to_owned());
    }
    operands.ask_itself()
}

/// A mask lies over as many dimensions as it has itself.
fn check_masks(ty: &TensorType, indices: &[Option<&TensorType>]) -> Result<(), String> {
    let mut dim = 0;
    for index in indices {
        match index {
            Some(mask) if is_mask(mask) => {
                if ty.shape.get(dim..).is_none_or(|rest| !rest.starts_with(&mask.shape)) {
                    return Err(format!("a mask of shape {:?} at dimension {dim} of {ty}", mask.shape));
                }
                dim += mask.rank();
            }
            _ => dim += 1,
        }
    }
    Ok(())
}

/// The operand with its layout; the values must fit what is selected.
fn index_put(operands: &Operands<'_>) -> ResultTypes {
    let (ty, indices, values) = (operands.tensor(0)?, operands.optional_tensors(1)?, operands.tensor(2)?);
    if ty.dtype != values.dtype {
        return Err(format!("`values` is {}, expected {}", values.dtype, ty.dtype));
    }
    check_masks(ty, &indices)?;
    if !indices.iter().flatten().any(|ty| is_mask(ty)) {
        let selected = operands.ask_one("aten::index.Tensor", &[Arg::Value(ty.clone()), operands.arg(1)?.clone()])?;
        operands.ask("aten::expand", &[Arg::Value(values.clone()), Arg::Ints(selected.shape), Arg::Bool(false)])?;
    }
    let op = if operands.is_in_place() { "aten::index_put_" } else { "aten::index_put" };
    operands.ask(op, operands.all())
}

fn repeat_by_number(operands: &Operands<'_>) -> ResultTypes {
    let (ty, repeats) = (operands.tensor(0)?, operands.int(1)?);
    repeated(operands, ty, &|extent| extent.checked_mul(repeats).filter(|_| repeats >= 0))
}

/// Only a given size says how often the elements are repeated in all.
fn repeat_by_tensor(operands: &Operands<'_>) -> ResultTypes {
    let (ty, repeats) = (operands.tensor(0)?, operands.tensor_of_rank(1, &[0, 1])?);
    check_index(repeats)?;
    let Some(size) = operands.optional_int(3)? else {
        return Err("its size depends on the elements of `repeats`, so that `output_size` must be given".to_owned());
    };
    let count = i64::try_from(repeats.numel()).unwrap_or(i64::MAX);
    repeated(operands, ty, &|extent| (count == 1 || count == extent).then_some(size))
}

/// Repeats along a dimension, or all elements in row-major order.
fn repeated(operands: &Operands<'_>, ty: &TensorType, times: &dyn Fn(i64) -> Option<i64>) -> ResultTypes {
    let wrong = || format!("the repetitions do not fit {ty}");
    let shape = match operands.optional_int(2)? {
        None => vec![times(i64::try_from(ty.numel()).unwrap_or(i64::MAX)).ok_or_else(wrong)?],
        Some(_) => {
            let dim = operands.dim(2, ty.rank())?;
            let mut shape = ty.shape.clone();
            let extent = shape.get_mut(dim).ok_or_else(wrong)?;
            *extent = times(*extent).ok_or_else(wrong)?;
            shape
        }
    };
    Ok(vec![TensorType::contiguous(ty.dtype, shape)])
}

/// Elements by their position in row-major order, in the shape of the index.
fn take(operands: &Operands<'_>) -> ResultTypes {
    let (ty, index) = (operands.tensor(0)?, operands.tensor(1)?);
    if index.dtype != Dtype::I64 {
        return Err(format!("`index` is {}, expected i64", index.dtype));
    }
    if ty.numel() == 0 && index.numel() > 0 {
        return Err("`self` has no elements to take".to_owned());
    }
    Ok(vec![TensorType::contiguous(ty.dtype, index.shape.clone())])
}
