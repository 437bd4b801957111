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
        Err(operands) => match name {
            "pos" => operands.into_iter().next().ok_or_else(|| Unsupported("it needs an operand".into())),
            _ => builder.op(op_name(name)?, operands),
        },
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
    match operands {
        [PyValue::List(items)] if name == "not_" => Some(PyValue::Bool(items.is_empty())),
        [operand] => unary(name, operand),
        [PyValue::List(a), PyValue::List(b)] => match name {
            "add" => Some(PyValue::List([a.as_slice(), b.as_slice()].concat())),
            "eq" => Some(PyValue::Bool(a == b)),
            "ne" => Some(PyValue::Bool(a != b)),
            _ => None,
        },
        // `[None] * n`, as long as it stays small.
        [PyValue::List(items), PyValue::Int(count)] | [PyValue::Int(count), PyValue::List(items)] if name == "mul" => {
            let count = usize::try_from(*count).unwrap_or(0);
            let weight = items.iter().map(PyValue::weight).sum::<u64>();
            (weight.saturating_mul(count as u64) <= 4096)
                .then(|| PyValue::List((0..count).flat_map(|_| items.clone()).collect()))
        }
        [left, right] => binary(name, left, right),
        _ => None,
    }
}

fn unary(name: &str, operand: &PyValue) -> Option<PyValue> {
    Some(match (name, operand) {
        ("neg", PyValue::Int(value)) => PyValue::Int(value.checked_neg()?),
        ("neg", PyValue::Float(value)) => PyValue::Float(-value),
        ("pos", PyValue::Int(_) | PyValue::Float(_)) => operand.clone(),
        ("invert", PyValue::Int(value)) => PyValue::Int(!value),
        ("not_", _) => PyValue::Bool(operand.float()? == 0.0),
        _ => return None,
    })
}

fn binary(name: &str, left: &PyValue, right: &PyValue) -> Option<PyValue> {
    if let (Some(a), Some(b)) = (integer(left), integer(right))
        && name != "truediv"
        && !(name == "pow" && b < 0)
    {
        return integers(name, a, b);
    }
    let (a, b) = (left.float()?, right.float()?);
    Some(match name {
        "add" => PyValue::Float(a + b),
        "sub" => PyValue::Float(a - b),
        "mul" => PyValue::Float(a * b),
        "truediv" if b != 0.0 => PyValue::Float(a / b),
        "floordiv" if b != 0.0 => PyValue::Float((a / b).floor()),
        "mod" if b != 0.0 => PyValue::Float(a - b * (a / b).floor()),
        "pow" => PyValue::Float(a.powf(b)),
        _ => PyValue::Bool(compared(name, a, b)?),
    })
}

fn integer(value: &PyValue) -> Option<i64> {
    match value {
        PyValue::Bool(value) => Some(i64::from(*value)),
        PyValue::Int(value) => Some(*value),
        _ => None,
    }
}

/// What stays an integer or is decided exactly. `None` where it does not fit 64 bits.
fn integers(name: &str, a: i64, b: i64) -> Option<PyValue> {
    Some(match name {
        "add" => PyValue::Int(a.checked_add(b)?),
        "sub" => PyValue::Int(a.checked_sub(b)?),
        "mul" => PyValue::Int(a.checked_mul(b)?),
        // Rounded down, whatever the signs.
        "floordiv" if b != 0 => PyValue::Int(a.checked_div(b)? - i64::from(a % b != 0 && (a < 0) != (b < 0))),
        "mod" if b != 0 => {
            let rest = a.checked_rem(b)?;
            PyValue::Int(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        }
        "pow" => PyValue::Int(a.checked_pow(u32::try_from(b).ok()?)?),
        "and_" => PyValue::Int(a & b),
        "or_" => PyValue::Int(a | b),
        "xor" => PyValue::Int(a ^ b),
        _ => PyValue::Bool(compared(name, a, b)?),
    })
}
