//! The type in which an op calculates.

use passhost_ir::Dtype;

/// The type in which ATen calculates on tensors of a type: `f32` for the half types, `i32` for the narrow integers,
/// whose results wrap to the same bits. `None` for complex types.
pub fn math(dtype: Dtype) -> Option<Dtype> {
    Some(match dtype {
        Dtype::F16 | Dtype::Bf16 => Dtype::F32,
        Dtype::U8 | Dtype::I8 | Dtype::I16 => Dtype::I32,
        Dtype::C64 | Dtype::C128 => return None,
        _ => dtype,
    })
}
