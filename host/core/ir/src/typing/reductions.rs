//! Reductions. Their results are row-major.

use super::Rules;
use super::operands::{Operands, ResultTypes, distinct, floats};
use crate::{Dtype, TensorType};

pub(super) const RULES: Rules = &[
    (product, "prod"),
    (extremum, "max min median"),
    (moments_of_all, "var std var_mean std_mean"),
    (
        moments,
        "var.dim std.dim var_mean.dim std_mean.dim var.correction std.correction \
         var_mean.correction std_mean.correction",
    ),
    (logsumexp, "logsumexp"),
    (sum_of_numbers, "nansum"),
    (mean_of_numbers, "nanmean"),
    (count, "count_nonzero count_nonzero.dim_IntList"),
    (trace, "trace"),
    (median_along, "median.dim"),
];

/// The shape without the reduced dimensions, or with extents of 1 in their place.
pub(super) fn reduced(shape: &[i64], dims: &[usize], keep: bool) -> Vec<i64> {
    let extent = |(dim, &extent): (usize, &i64)| match dims.contains(&dim) {
        true => keep.then_some(1),
        false => Some(extent),
    };
    shape.iter().enumerate().filter_map(extent).collect()
}

/// The dimensions in a list, all of them if there is none or it is empty.
fn all_or(dims: Option<&[i64]>, rank: usize) -> Result<Vec<usize>, String> {
    match dims {
        Some(dims) if !dims.is_empty() => distinct(dims, rank),
        _ => Ok((0..rank).collect()),
    }
}

fn product(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let whole = ty.dtype.is_integer() || ty.dtype == Dtype::Bool;
    let dtype = operands.dtype(1)?.unwrap_or(if whole { Dtype::I64 } else { ty.dtype });
    Ok(vec![TensorType::contiguous(dtype, [])])
}

fn extremum(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    if ty.numel() == 0 && operands.op() != "median" {
        return Err("`self` has no elements, and so no largest or smallest one".to_owned());
    }
    Ok(vec![TensorType::contiguous(ty.dtype, [])])
}

fn moments_of_all(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    moments_over(operands, ty, &(0..ty.rank()).collect::<Vec<_>>(), false)
}

/// Of the overloads `dim` and `correction`, which have their arguments at the same places.
fn moments(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    moments_over(operands, ty, &all_or(operands.optional_ints(1)?, ty.rank())?, operands.bool(3)?)
}

/// The variance of complex numbers is real, their mean is not.
fn moments_over(operands: &Operands<'_>, ty: &TensorType, dims: &[usize], keep: bool) -> ResultTypes {
    let real = match ty.dtype {
        Dtype::C64 => Dtype::F32,
        Dtype::C128 => Dtype::F64,
        dtype if dtype.is_float() => dtype,
        other => return Err(format!("`self` is {other}, expected floats or complex numbers")),
    };
    let shape = reduced(&ty.shape, dims, keep);
    let mut results = vec![TensorType::contiguous(real, shape.clone())];
    if operands.op().ends_with("mean") {
        results.push(TensorType::contiguous(ty.dtype, shape));
    }
    Ok(results)
}

/// Integers become floats.
fn logsumexp(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let dims = all_or(Some(operands.ints(1)?), ty.rank())?;
    let dtype = if ty.dtype.is_float() || ty.dtype.is_complex() { ty.dtype } else { Dtype::F32 };
    Ok(vec![TensorType::contiguous(dtype, reduced(&ty.shape, &dims, operands.bool(2)?))])
}

/// Integers add up to 64-bit ones.
fn sum_of_numbers(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let dims = all_or(operands.optional_ints(1)?, ty.rank())?;
    let dtype = match (operands.dtype(3)?, ty.dtype) {
        (Some(dtype), _) => dtype,
        (None, dtype) if dtype.is_float() => dtype,
        (None, dtype) if dtype.is_complex() => return Err(format!("`self` is {dtype}, expected real numbers")),
        (None, _) => Dtype::I64,
    };
    Ok(vec![TensorType::contiguous(dtype, reduced(&ty.shape, &dims, operands.bool(2)?))])
}

fn mean_of_numbers(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    floats(ty)?;
    sum_of_numbers(operands)
}

fn count(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let dims = all_or(operands.optional_ints(1)?, ty.rank())?;
    Ok(vec![TensorType::contiguous(Dtype::I64, reduced(&ty.shape, &dims, false))])
}

fn trace(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor_of_rank(0, &[2])?;
    let floating = ty.dtype.is_float() || ty.dtype.is_complex();
    Ok(vec![TensorType::contiguous(if floating { ty.dtype } else { Dtype::I64 }, [])])
}

fn median_along(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let dim = operands.dim(1, ty.rank())?;
    if ty.shape.get(dim) == Some(&0) {
        return Err(format!("`self` has no elements along dimension {dim}"));
    }
    let shape = reduced(&ty.shape, &[dim], operands.bool(2)?);
    Ok(vec![TensorType::contiguous(ty.dtype, shape.clone()), TensorType::contiguous(Dtype::I64, shape)])
}
