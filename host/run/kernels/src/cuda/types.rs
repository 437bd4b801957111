//! Types of elements and values as CUDA's, and literals of them.

use super::loops::{Expression, binary};
use half::{bf16, f16};
use passhost_ir::Dtype;
use passhost_ir::kernel::Scalar;

/// The C++ type of a tensor's elements.
pub(super) fn storage(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bool | Dtype::U8 => "u8",
        Dtype::I8 => "i8",
        Dtype::I16 => "i16",
        Dtype::I32 => "int",
        Dtype::I64 => "i64",
        Dtype::F16 => "f16",
        Dtype::Bf16 => "bf16",
        Dtype::F32 => "float",
        Dtype::F64 => "double",
        Dtype::C64 | Dtype::C128 => unreachable!("the verifier lets no complex value through"),
    }
}

/// The C++ type of a value: narrow integers are held as `int`.
pub(super) fn held(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bool => "bool",
        Dtype::U8 | Dtype::I8 | Dtype::I16 => "int",
        other => storage(other),
    }
}

/// A tensor's element as a value.
pub(super) fn from_storage(dtype: Dtype, element: Expression) -> Expression {
    match dtype {
        // Any byte but 0 is true.
        Dtype::Bool => binary("!=", element, 0),
        _ => element,
    }
}

/// A value as a tensor's element.
pub(super) fn to_storage(dtype: Dtype, value: Expression) -> Expression {
    match dtype {
        Dtype::Bool | Dtype::U8 | Dtype::I8 | Dtype::I16 => value.cast(storage(dtype)),
        _ => value,
    }
}

/// A literal of a type.
pub(super) fn literal(dtype: Dtype, scalar: Scalar) -> Expression {
    let bits = match scalar {
        Scalar::Bool(value) => return Expression::Bits(Dtype::Bool, value.into()),
        Scalar::Int(value) => value.cast_unsigned(),
        Scalar::Float(value) => match dtype {
            Dtype::F16 => f16::from_f32(value as f32).to_bits().into(),
            Dtype::Bf16 => bf16::from_f32(value as f32).to_bits().into(),
            Dtype::F32 => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        },
    };
    Expression::Bits(dtype, bits)
}
