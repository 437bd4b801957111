//! The type of elements that operands have in common.

use passhost_ir::{Dtype, TensorType};

/// `torch.result_type` of two tensors. One without dimensions yields to one with dimensions, unless it is of a higher
/// kind.
pub(super) fn result_dtype(a: &TensorType, b: &TensorType) -> Result<Dtype, String> {
    let (with, without) = match (a.rank(), b.rank()) {
        (0, 1..) => (b.dtype, a.dtype),
        (1.., 0) => (a.dtype, b.dtype),
        _ => return Ok(promoted(a.dtype, b.dtype)),
    };
    match (with, without) {
        // A float keeps its precision beside a complex number.
        (Dtype::F16, other) if other.is_complex() => Err("there are no complex numbers of half precision".to_owned()),
        (Dtype::Bf16 | Dtype::F32, other) if other.is_complex() => Ok(Dtype::C64),
        (Dtype::F64, other) if other.is_complex() => Ok(Dtype::C128),
        _ if kind(without) > kind(with) => Ok(promoted(with, without)),
        _ => Ok(with),
    }
}

/// Bool before integers before floats before complex numbers.
fn kind(dtype: Dtype) -> u8 {
    match dtype {
        _ if dtype.is_complex() => 3,
        _ if dtype.is_float() => 2,
        _ if dtype.is_integer() => 1,
        _ => 0,
    }
}

/// `torch.promote_types`.
pub(super) fn promoted(a: Dtype, b: Dtype) -> Dtype {
    use Dtype::{Bf16, C64, C128, F16, F32, F64, I8, I16, U8};
    match (a, b) {
        (F16, Bf16) | (Bf16, F16) => F32,
        (U8, I8) | (I8, U8) => I16,
        (C64, F64) | (F64, C64) => C128,
        _ if kind(a) > kind(b) => a,
        _ if kind(a) < kind(b) => b,
        _ if a.size() >= b.size() => a,
        _ => b,
    }
}
