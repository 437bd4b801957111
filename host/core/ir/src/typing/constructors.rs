//! Constructors that PyTorch has no meta kernel for in C++, or one that cannot be asked everything.

use super::Rules;
use super::operands::{Operands, ResultTypes};
use crate::{Arg, Dtype, TensorType};

pub(super) const RULES: Rules =
    &[(range, "arange arange.start arange.start_step"), (triangle, "tril_indices triu_indices")];

/// libtorch subtracts and divides bounds without looking whether 64 bits hold the result.
const MAX_BOUND: i64 = 1 << 53;

fn range(operands: &Operands<'_>) -> ResultTypes {
    for arg in operands.all() {
        let small = match arg {
            Arg::Int(bound) => bound.unsigned_abs() <= MAX_BOUND.unsigned_abs(),
            Arg::Float(bound) => bound.abs() <= MAX_BOUND as f64,
            _ => true,
        };
        if !small {
            return Err(format!("bounds and step must be between {} and {MAX_BOUND}", -MAX_BOUND));
        }
    }
    let whole = operands.all().iter().any(|arg| matches!(arg, Arg::Dtype(dtype) if !dtype.is_float()));
    if let Ok(&Arg::Float(step)) = operands.arg(2)
        && whole
        && (step.is_nan() || step.abs() < 1.0)
    {
        return Err(format!("a step of {step} between integers is none"));
    }
    operands.ask_itself()
}

/// Rows and columns of the elements of a triangle.
fn triangle(operands: &Operands<'_>) -> ResultTypes {
    let (rows, columns, offset) = (operands.int(0)?, operands.int(1)?, operands.int(2)?);
    if rows < 0 || columns < 0 {
        return Err(format!("{rows} rows and {columns} columns, expected none to be negative"));
    }
    let dtype = operands.dtype(3)?.unwrap_or(Dtype::I64);
    let size = i128::from(rows) * i128::from(columns);
    let lower = |offset| lower_triangle(rows.into(), columns.into(), offset);
    let count = match operands.op() {
        "tril_indices" => lower(i128::from(offset)),
        _ => size - lower(i128::from(offset) - 1),
    };
    let count = i64::try_from(count).map_err(|_| format!("{rows} by {columns} elements are too many"))?;
    Ok(vec![TensorType::contiguous(dtype, [2, count])])
}

/// How many elements of a matrix lie on or below the diagonal that is `offset` above the main one. Sizes are those of
/// 64-bit integers, so that nothing here overflows.
fn lower_triangle(rows: i128, columns: i128, offset: i128) -> i128 {
    // Row `r` has `r + 1 + offset` of them, at least 0 and at most `columns`.
    let empty = (-offset).clamp(0, rows);
    let full = (columns - offset).clamp(empty, rows);
    let (first, last) = (empty + 1 + offset, full + offset);
    let ramp = if full > empty { (first + last) * (full - empty) / 2 } else { 0 };
    ramp + (rows - full) * columns
}
