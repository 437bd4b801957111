//! Real tensors for the types in a case.

use passhost_ir::{Arg, Dtype, OpName, TensorType};
use passhost_torch::{PreparedCall, Target, Tensor};

/// A tensor of this type, strides included. Floats are small and distinct, integers are ones and twos: divisors, and
/// indices into three elements.
pub fn filled(ty: &TensorType) -> Tensor {
    let reach = usize::try_from(ty.reach_bytes() / ty.dtype.size()).expect("cases are small");
    let bytes: Vec<u8> = (0..reach).flat_map(|position| element(ty.dtype, position)).collect();
    let target = Target::cpu().inference();
    let flat = TensorType::contiguous(ty.dtype, [reach as i64]);
    let flat = Tensor::from_bytes(&target, &flat, &bytes).expect("as many bytes");
    let args = [Arg::Value(()), Arg::Ints(ty.shape.clone()), Arg::Ints(ty.strides.clone()), Arg::None];
    PreparedCall::new(&target, &OpName::parse("aten::as_strided"), &args)
        .and_then(|call| target.within(|scope| call.call(scope, &[&flat])))
        .unwrap_or_else(|error| panic!("{ty}: {error}"))
        .remove(0)
}

fn element(dtype: Dtype, position: usize) -> Vec<u8> {
    let real = (position % 13) as f32 * 0.25 + 0.5;
    let index = (position % 2 + 1) as u8;
    match dtype {
        Dtype::Bool => vec![(position % 2) as u8],
        Dtype::U8 | Dtype::I8 => vec![index],
        Dtype::I16 => i16::from(index).to_le_bytes().to_vec(),
        Dtype::I32 => i32::from(index).to_le_bytes().to_vec(),
        Dtype::I64 => i64::from(index).to_le_bytes().to_vec(),
        // One.
        Dtype::F16 => vec![0x00, 0x3c],
        Dtype::Bf16 => real.to_bits().to_le_bytes()[2..].to_vec(),
        Dtype::F32 => real.to_le_bytes().to_vec(),
        Dtype::F64 => f64::from(real).to_le_bytes().to_vec(),
        Dtype::C64 => [real.to_le_bytes(), 0.25f32.to_le_bytes()].concat(),
        Dtype::C128 => [f64::from(real).to_le_bytes(), 0.25f64.to_le_bytes()].concat(),
    }
}
