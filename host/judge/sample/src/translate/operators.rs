//! Python's operators: on numbers and lists as Python has them, on tensors the ops that PyTorch's methods call.

use super::builder::GraphBuilder;
use super::unsupported::Unsupported;
use super::vmap;
use crate::fx::operator::{self, compared};
use crate::value::PyValue;

/// `-x`, `x + y`, `x < y` by the name of the function in Python's module `operator`.
pub fn operator(builder: &mut GraphBuilder<'_>, name: &str, operands: Vec<PyValue>) -> Result<PyValue, Unsupported> {
    let is_tensor = |value: &PyValue| value.tensor().is_some();
    if operands.iter().any(PyValue::is_batched) {
        return vmap::pointwise(builder, op_name(name)?, operands);
    }
    if !operands.iter().any(is_tensor) {
        if operands.iter().any(|operand| matches!(operand, PyValue::Element(_) | PyValue::Unknown)) {
            return Ok(PyValue::Unknown);
        }
        return python(name, &operands).ok_or_else(|| {
            let kinds: Vec<&str> = operands.iter().map(PyValue::kind).collect();
            Unsupported(format!("Python's {name} of {} has no value here", kinds.join(" and ")))
        });
    }
    match <[PyValue; 2]>::try_from(operands) {
        Err(operands) => builder.op(op_name(name)?, operands),
        Ok([left, right]) if is_tensor(&left) => builder.op(op_name(name)?, [left, right]),
        Ok([left, right]) => reflected(builder, name, left, right),
    }
}

/// A Python value on the left and a tensor on the right.
fn reflected(
    builder: &mut GraphBuilder<'_>,
    name: &str,
    left: PyValue,
    right: PyValue,
) -> Result<PyValue, Unsupported> {
    match name {
        "add" | "mul" | "and_" | "or_" | "xor" => builder.op(op_name(name)?, [right, left]),
        "sub" => builder.op("rsub", [right, left]),
        // Tensor.__rtruediv__ multiplies by the reciprocal.
        "truediv" => {
            let reciprocal = builder.op("reciprocal", [right])?;
            builder.op("mul", [reciprocal, left])
        }
        "pow" | "mod" => builder.op(op_name(name)?, [left, right]),
        "eq" | "ne" => builder.op(name, [right, left]),
        "lt" => builder.op("gt", [right, left]),
        "le" => builder.op("ge", [right, left]),
        "gt" => builder.op("lt", [right, left]),
        "ge" => builder.op("le", [right, left]),
        _ => Err(Unsupported(format!("{name} of a {} and a tensor", left.kind()))),
    }
}

/// `x += y`: in place on a tensor, a new value otherwise.
pub fn in_place(
    builder: &mut GraphBuilder<'_>,
    name: &str,
    left: PyValue,
    right: PyValue,
) -> Result<PyValue, Unsupported> {
    match left {
        PyValue::Tensor(_) => builder.op(&format!("{}_", op_name(name)?), [left, right]),
        left => operator(builder, name, vec![left, right]),
    }
}

/// The op that an operator calls.
fn op_name(operator: &str) -> Result<&'static str, Unsupported> {
    operator::op(operator).ok_or_else(|| Unsupported(format!("the operator {operator} of tensors")))
}

/// Python's own arithmetic; `None` where it has none or overflows.
fn python(name: &str, operands: &[PyValue]) -> Option<PyValue> {
    Some(match (name, operands) {
        ("neg", [PyValue::Int(value)]) => PyValue::Int(value.checked_neg()?),
        ("neg", [PyValue::Float(value)]) => PyValue::Float(-value),
        ("not_", [value]) => PyValue::Bool(value.float()? == 0.0),
        // `[None] * n`, as long as it stays small.
        ("mul", [PyValue::List(items), PyValue::Int(count)] | [PyValue::Int(count), PyValue::List(items)]) => {
            let count = usize::try_from(*count).unwrap_or(0);
            let weight = items.iter().map(PyValue::weight).sum::<u64>();
            let is_small = weight.saturating_mul(count as u64) <= 4096;
            PyValue::List(is_small.then(|| (0..count).flat_map(|_| items.clone()).collect())?)
        }
        (_, [left, right]) => match (integer(left), integer(right)) {
            (Some(a), Some(b)) if name != "truediv" && (name != "pow" || b >= 0) => integers(name, a, b)?,
            _ => floats(name, left.float()?, right.float()?)?,
        },
        _ => return None,
    })
}

fn integer(value: &PyValue) -> Option<i64> {
    match value {
        PyValue::Bool(value) => Some(i64::from(*value)),
        PyValue::Int(value) => Some(*value),
        _ => None,
    }
}

fn floats(name: &str, a: f64, b: f64) -> Option<PyValue> {
    Some(PyValue::Float(match name {
        "add" => a + b,
        "sub" => a - b,
        "mul" => a * b,
        "truediv" if b != 0.0 => a / b,
        "floordiv" if b != 0.0 => (a / b).floor(),
        "mod" if b != 0.0 => a - b * (a / b).floor(),
        "pow" => a.powf(b),
        _ => return Some(PyValue::Bool(compared(name, a, b)?)),
    }))
}

/// What stays an integer or is decided exactly. `None` where it does not fit 64 bits.
fn integers(name: &str, a: i64, b: i64) -> Option<PyValue> {
    // Rounded down, whatever the signs.
    let is_rounded = |rest: i64| rest != 0 && (rest < 0) != (b < 0);
    Some(PyValue::Int(match name {
        "add" => a.checked_add(b)?,
        "sub" => a.checked_sub(b)?,
        "mul" => a.checked_mul(b)?,
        "floordiv" => a.checked_div(b)? - i64::from(is_rounded(a.checked_rem(b)?)),
        "mod" => a.checked_rem(b).map(|rest| if is_rounded(rest) { rest + b } else { rest })?,
        "pow" => a.checked_pow(u32::try_from(b).ok()?)?,
        _ => return Some(PyValue::Bool(compared(name, a, b)?)),
    }))
}
