//! Elementwise ops.

use super::Rules;
use super::layout::{iterated, preserving};
use super::operands::{Operands, ResultTypes};
use crate::{Arg, Dtype, TensorType};

pub(super) const RULES: Rules = &[
    (unary, "relu hardswish"),
    (
        in_place,
        "relu_ hardswish_ hardtanh_ relu6_ abs_ absolute_ nan_to_num_ logical_not_ logical_and_ \
         logical_or_ logical_xor_ logit_ floor_divide_.Scalar",
    ),
    (clamped, "hardtanh relu6 nan_to_num"),
    (log_sigmoid, "log_sigmoid"),
    (magnitude, "abs absolute"),
    (is_special, "isnan isinf isfinite"),
    (logical, "logical_not logical_and logical_or logical_xor"),
    (logit, "logit special_logit"),
    (prelu, "prelu"),
    (angle, "angle"),
    (complex, "complex polar"),
    (is_close, "isclose"),
    (scalar_remainder, "remainder.Scalar_Tensor"),
    (reversed_subtraction, "rsub.Tensor"),
    (|operands| floor_divide(operands, "aten::div.Tensor_mode"), "floor_divide"),
    (|operands| floor_divide(operands, "aten::div.Scalar_mode"), "floor_divide.Scalar"),
];

/// Ops on real numbers that iterate over their operand.
fn unary(operands: &Operands<'_>) -> ResultTypes {
    let ty = real(operands)?;
    Ok(vec![iterated(&[ty], ty.dtype)?])
}

fn real<'a>(operands: &Operands<'a>) -> Result<&'a TensorType, String> {
    let ty = operands.tensor(0)?;
    match ty.dtype == Dtype::Bool || ty.dtype.is_complex() {
        true => Err(format!("`self` is {}, expected real numbers", ty.dtype)),
        false => Ok(ty),
    }
}

/// The operand itself, written to.
fn in_place(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    if let Ok(Arg::Value(other)) = operands.arg(1)
        && iterated(&[ty, other], ty.dtype)?.shape != ty.shape
    {
        return Err(format!("a result of the shapes of {ty} and {other} does not fit the first of them"));
    }
    Ok(vec![ty.clone()])
}

/// Clamps into a result that it makes itself.
fn clamped(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    if operands.op() != "nan_to_num" {
        real(operands)?;
    }
    Ok(vec![preserving(ty, ty.dtype)])
}

/// The magnitude of a complex number is real.
fn magnitude(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let dtype = match ty.dtype {
        Dtype::Bool => return Err("`self` is bool, expected numbers".to_owned()),
        Dtype::C64 => Dtype::F32,
        Dtype::C128 => Dtype::F64,
        dtype => dtype,
    };
    Ok(vec![iterated(&[ty], dtype)?])
}

/// Whether a float is NaN, infinite or neither. Other numbers are not looked at.
fn is_special(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    let whole = !ty.dtype.is_float() && !ty.dtype.is_complex();
    Ok(vec![if whole { preserving(ty, Dtype::Bool) } else { iterated(&[ty], Dtype::Bool)? }])
}

fn logical(operands: &Operands<'_>) -> ResultTypes {
    let tensors: Vec<&TensorType> = operands.all().iter().flat_map(Arg::values).collect();
    Ok(vec![iterated(&tensors, Dtype::Bool)?])
}

/// The kernel works on a row-major copy.
fn log_sigmoid(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    Ok(vec![TensorType::contiguous(ty.dtype, ty.shape.clone())])
}

/// Integers become floats, as for a sigmoid.
fn logit(operands: &Operands<'_>) -> ResultTypes {
    operands.ask("aten::sigmoid", &[operands.arg(0)?.clone()])
}

/// The weight is one number or one per channel.
fn prelu(operands: &Operands<'_>) -> ResultTypes {
    let (ty, weight) = (operands.tensor(0)?, operands.tensor_of_rank(1, &[0, 1])?);
    if ty.dtype != weight.dtype {
        return Err(format!("`weight` is {}, expected {}", weight.dtype, ty.dtype));
    }
    let channels = if ty.rank() > 1 { ty.shape[1].unsigned_abs() } else { 1 };
    if weight.numel() != 1 && (weight.numel() != channels || ty.rank() == 0) {
        return Err(format!("`weight` has {} elements, expected 1 or {channels}", weight.numel()));
    }
    Ok(vec![preserving(ty, ty.dtype)])
}

/// The angle of an integer is a float. That of a complex number is written row-major.
fn angle(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    Ok(vec![match ty.dtype {
        Dtype::C64 => TensorType::contiguous(Dtype::F32, ty.shape.clone()),
        Dtype::C128 => TensorType::contiguous(Dtype::F64, ty.shape.clone()),
        dtype if dtype.is_float() => iterated(&[ty], dtype)?,
        _ => iterated(&[ty], Dtype::F32)?,
    }])
}

/// Complex numbers of two real ones.
fn complex(operands: &Operands<'_>) -> ResultTypes {
    let (a, b) = (operands.tensor(0)?, operands.tensor(1)?);
    let dtype = match (a.dtype, b.dtype) {
        (Dtype::F32, Dtype::F32) => Dtype::C64,
        (Dtype::F64, Dtype::F64) => Dtype::C128,
        _ => return Err(format!("complex numbers of {} and {}, expected twice f32 or f64", a.dtype, b.dtype)),
    };
    Ok(vec![iterated(&[a, b], dtype)?])
}

fn is_close(operands: &Operands<'_>) -> ResultTypes {
    let (a, b) = (operands.tensor(0)?, operands.tensor(1)?);
    if a.dtype != b.dtype {
        return Err(format!("`other` is {}, expected {}", b.dtype, a.dtype));
    }
    Ok(vec![iterated(&[a, b], Dtype::Bool)?])
}

/// The scalar counts as it does on the right.
fn scalar_remainder(operands: &Operands<'_>) -> ResultTypes {
    operands.ask("aten::remainder.Scalar", &[operands.arg(1)?.clone(), operands.arg(0)?.clone()])
}

fn reversed_subtraction(operands: &Operands<'_>) -> ResultTypes {
    operands.ask("aten::sub.Tensor", &[operands.arg(1)?.clone(), operands.arg(0)?.clone(), operands.arg(2)?.clone()])
}

fn floor_divide(operands: &Operands<'_>, op: &str) -> ResultTypes {
    operands.ask(op, &[operands.arg(0)?.clone(), operands.arg(1)?.clone(), Arg::Str("floor".to_owned())])
}
