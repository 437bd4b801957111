//! Choosing between two tensors or scalars.

use super::Rules;
use super::layout::{iterated, preserving};
use super::operands::{Operands, ResultTypes};
use crate::promote::{Strength, common, promote};
use crate::{Arg, Dtype, TensorType};

pub(super) const RULES: Rules = &[
    (where_self, "where.self"),
    (where_scalar_self, "where.ScalarSelf"),
    (where_scalar_other, "where.ScalarOther"),
    (where_scalars, "where.Scalar"),
];

fn where_self(operands: &Operands<'_>) -> ResultTypes {
    let (a, b) = (operands.tensor(1)?, operands.tensor(2)?);
    chosen(operands, a, b, result_dtype(a, b)?)
}

fn where_scalar_self(operands: &Operands<'_>) -> ResultTypes {
    let other = operands.tensor(2)?;
    let dtype = beside_scalar(operands, other, operands.arg(1)?)?;
    chosen(operands, &TensorType::contiguous(dtype, []), other, dtype)
}

fn where_scalar_other(operands: &Operands<'_>) -> ResultTypes {
    let this = operands.tensor(1)?;
    let dtype = beside_scalar(operands, this, operands.arg(2)?)?;
    chosen(operands, this, &TensorType::contiguous(dtype, []), dtype)
}

fn where_scalars(operands: &Operands<'_>) -> ResultTypes {
    let dtype = |position| {
        Ok::<_, String>(match operands.arg(position)? {
            Arg::Bool(_) => Dtype::Bool,
            Arg::Int(_) => Dtype::I64,
            _ => Dtype::F32,
        })
    };
    let dtype = promote(dtype(1)?, dtype(2)?);
    let scalar = TensorType::contiguous(dtype, []);
    chosen(operands, &scalar, &scalar, dtype)
}

/// `torch.result_type` of two tensors.
fn result_dtype(a: &TensorType, b: &TensorType) -> Result<Dtype, String> {
    let beside_complex = match (a.rank(), b.rank()) {
        (0, 1..) if a.dtype.is_complex() => Some(b.dtype),
        (1.., 0) if b.dtype.is_complex() => Some(a.dtype),
        _ => None,
    };
    match beside_complex {
        // A float keeps its precision beside a complex number without dimensions.
        Some(Dtype::F16) => Err("there are no complex numbers of half precision".to_owned()),
        Some(Dtype::Bf16 | Dtype::F32) => Ok(Dtype::C64),
        Some(Dtype::F64) => Ok(Dtype::C128),
        _ => {
            let strength = |ty: &TensorType| if ty.rank() == 0 { Strength::Scalar } else { Strength::Tensor };
            Ok(common([a, b].into_iter().map(|ty| (ty.dtype, strength(ty)))).unwrap_or(a.dtype))
        }
    }
}

/// The type of elements of a tensor and a number.
fn beside_scalar(operands: &Operands<'_>, ty: &TensorType, scalar: &Arg<TensorType>) -> Result<Dtype, String> {
    Ok(operands.ask_one("aten::mul.Scalar", &[Arg::Value(ty.clone()), scalar.clone()])?.dtype)
}

/// Both choices are cast to their common type before one of each is chosen.
fn chosen(operands: &Operands<'_>, a: &TensorType, b: &TensorType, dtype: Dtype) -> ResultTypes {
    let mut condition = operands.tensor(0)?.clone();
    match condition.dtype {
        Dtype::Bool => {}
        Dtype::U8 => condition = preserving(&condition, Dtype::Bool),
        other => return Err(format!("`condition` is {other}, expected bool")),
    }
    let cast = |ty: &TensorType| if ty.dtype == dtype { ty.clone() } else { preserving(ty, dtype) };
    Ok(vec![iterated(&[&condition, &cast(a), &cast(b)], dtype)?])
}
