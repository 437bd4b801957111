//! Scans and searches along one dimension. Most of their results are row-major.

use super::Rules;
use super::operands::{Operands, ResultTypes};
use crate::{Arg, Dtype, TensorType};

pub(super) const RULES: Rules = &[
    (running_extremum, "cummax cummin"),
    (difference, "diff"),
    (bucketize, "bucketize.Tensor"),
    (searchsorted, "searchsorted.Tensor"),
];

/// Values, and where each came from.
fn running_extremum(operands: &Operands<'_>) -> ResultTypes {
    let ty = operands.tensor(0)?;
    operands.dim(1, ty.rank())?;
    let of = |dtype| TensorType::contiguous(dtype, ty.shape.clone());
    Ok(vec![of(ty.dtype), of(Dtype::I64)])
}

/// How often differences may be taken: the meta kernel takes them one after the other.
const MAX_DIFFERENCES: i64 = 64;

/// Bools differ or not; the meta kernel knows numbers only.
fn difference(operands: &Operands<'_>) -> ResultTypes {
    let (ty, times) = (operands.tensor(0)?, operands.int(1)?);
    if times > MAX_DIFFERENCES {
        return Err(format!("differences of differences {times} times, at most {MAX_DIFFERENCES} are supported"));
    }
    if ty.dtype != Dtype::Bool {
        return operands.ask_itself();
    }
    let numbers = |arg: &Arg<TensorType>| arg.map(|ty| TensorType { dtype: Dtype::U8, ..ty.clone() });
    let types = operands.ask("aten::diff", &operands.all().iter().map(numbers).collect::<Vec<_>>())?;
    Ok(types.into_iter().map(|ty| TensorType { dtype: Dtype::Bool, ..ty }).collect())
}

fn bucketize(operands: &Operands<'_>) -> ResultTypes {
    operands.tensor_of_rank(1, &[1])?;
    positions(operands.tensor(0)?, operands.bool(2)?)
}

/// One sorted sequence for all values, or one for each row of them.
fn searchsorted(operands: &Operands<'_>) -> ResultTypes {
    let (sequence, values) = (operands.tensor(0)?, operands.tensor(1)?);
    let rows = |ty: &TensorType| ty.shape.split_last().map(|(_, rows)| rows.to_vec());
    if sequence.rank() != 1 && (sequence.rank() == 0 || rows(sequence) != rows(values)) {
        return Err(format!("`sorted_sequence` is {sequence}, expected one sequence for each row of {values}"));
    }
    positions(values, operands.bool(2)?)
}

fn positions(values: &TensorType, narrow: bool) -> ResultTypes {
    let dtype = if narrow { Dtype::I32 } else { Dtype::I64 };
    Ok(vec![TensorType::contiguous(dtype, values.shape.clone())])
}
