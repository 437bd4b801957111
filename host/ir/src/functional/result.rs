//! What the functional counterparts of in-place ops return.
//!
//! An in-place op keeps element type and layout of what it writes to; its counterpart returns a new tensor with both as
//! its own kernel chooses them. `host/torch/tests/functional` holds these rules against libtorch.

use super::layout::{elementwise_strides, preserved_strides};
use crate::{Arg, Dtype, Graph, OpName, OpTable, Schema, TensorType, contiguous_strides};

/// The op that returns what an in-place op writes: the same name without `_`, with the same types of arguments.
pub(crate) fn functional_schema<'a>(in_place: &Schema, ops: &'a OpTable) -> Option<&'a Schema> {
    let name = in_place.op.name.strip_suffix('_')?;
    let fits = |schema: &&Schema| {
        let types = |schema: &Schema| schema.args.iter().map(|arg| arg.ty).collect::<Vec<_>>();
        !schema.writes() && schema.returns.len() == 1 && types(schema) == types(in_place)
    };
    // Of several with the same types (`div.Tensor_mode`) the one with the same overload; `pow_.Scalar` has none.
    ops.get(&OpName::new(name, &in_place.op.overload)).filter(fits).or_else(|| ops.overloads(name).find(fits))
}

/// The type of what the functional op returns for the arguments of the in-place op, which writes to a `target`.
pub(super) fn functional_type(program: &Graph, op: &OpName, args: &[Arg], target: &TensorType) -> TensorType {
    let name = op.name.strip_prefix("aten::").unwrap_or(&op.name);
    let strides = match name {
        // Dropout does nothing outside of training.
        "copy" | "dropout" | "feature_dropout" | "alpha_dropout" => target.strides.clone(),
        "fill" | "zero" | "index_put" | "index_fill" | "hardtanh" | "relu6" | "nan_to_num" | "deg2rad" | "rad2deg" => {
            preserved_strides(target)
        }
        "masked_fill" | "masked_scatter" | "index_add" | "index_copy" | "index_reduce" | "scatter" | "scatter_add"
        | "scatter_reduce" | "cumsum" | "cumprod" | "tril" | "triu" | "addmm" | "addbmm" | "baddbmm" | "addmv" => {
            contiguous_strides(&target.shape)
        }
        _ => {
            let mut operands: Vec<&TensorType> = args.iter().flat_map(Arg::values).map(|&id| program.ty(id)).collect();
            let number = TensorType::contiguous(target.dtype, []);
            if name == "addr" {
                // The vectors run along one dimension each and say nothing of the order of both.
                operands.truncate(1);
                operands.push(&number);
            } else if ["Scalar", "Scalar_mode", "Tensor_Scalar", "Scalar_Other"].contains(&op.overload.as_str())
                && !["pow", "lerp", "clamp_min", "clamp_max"].contains(&name)
            {
                // These make a tensor of the number first.
                operands.push(&number);
            }
            elementwise_strides(&target.shape, &operands)
        }
    };
    TensorType { dtype: functional_dtype(program, name, args, target.dtype), shape: target.shape.clone(), strides }
}

fn functional_dtype(program: &Graph, name: &str, args: &[Arg], target: Dtype) -> Dtype {
    match name {
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "not_equal" | "less" | "less_equal" | "greater" | "greater_equal"
        | "logical_and" | "logical_or" | "logical_xor" | "logical_not" => Dtype::Bool,
        "add"
        | "addr"
        | "sub"
        | "subtract"
        | "mul"
        | "multiply"
        | "div"
        | "divide"
        | "true_divide"
        | "floor_divide"
        | "remainder"
        | "fmod"
        | "pow"
        | "clamp"
        | "clip"
        | "clamp_min"
        | "clamp_max"
        | "addcmul"
        | "addcdiv"
        | "atan2"
        | "arctan2"
        | "hypot"
        | "copysign"
        | "xlogy"
        | "bitwise_and"
        | "bitwise_or"
        | "bitwise_xor"
        | "bitwise_left_shift"
        | "bitwise_right_shift" => promote(program, name, args),
        "cumsum" | "cumprod" if target.is_integer() || target == Dtype::Bool => match args.get(2) {
            Some(Arg::Dtype(dtype)) => *dtype,
            _ => Dtype::I64,
        },
        // Everything else returns the type of its first operand, or refuses what it is given.
        _ => target,
    }
}

/// PyTorch's promotion: tensors with dimensions decide; tensors without, then numbers, only where they are of a higher
/// kind (bool, integer, float, complex).
fn promote(program: &Graph, name: &str, args: &[Arg]) -> Dtype {
    let mut of_rank: [Option<Dtype>; 3] = [None; 3];
    let mut add = |class: usize, dtype: Dtype| of_rank[class] = Some(of_rank[class].map_or(dtype, |d| wider(d, dtype)));
    for arg in args {
        if let Arg::Value(id) = arg {
            let ty = program.ty(*id);
            add(usize::from(ty.rank() == 0), ty.dtype);
        }
    }
    // The operand of a `.Scalar` overload is the second argument; what follows only scales, but for the second bound
    // of a clamp.
    let end = if matches!(name, "clamp" | "clip") { 3 } else { 2 };
    for arg in args.iter().take(end).skip(1) {
        match arg {
            Arg::Bool(_) => add(2, Dtype::Bool),
            Arg::Int(_) => add(2, Dtype::I64),
            Arg::Float(_) => add(2, Dtype::F32),
            _ => {}
        }
    }
    let kind = |dtype: Dtype| match dtype {
        Dtype::Bool => 0,
        d if d.is_integer() => 1,
        d if d.is_float() => 2,
        _ => 3,
    };
    let mut result: Option<Dtype> = None;
    for dtype in of_rank.into_iter().flatten() {
        result = Some(match result {
            None => dtype,
            Some(result) if kind(dtype) > kind(result) => wider(result, dtype),
            Some(result) => result,
        });
    }
    result.unwrap_or(Dtype::F32)
}

/// `c10::promoteTypes`.
fn wider(a: Dtype, b: Dtype) -> Dtype {
    match (a, b) {
        _ if a == b => a,
        (Dtype::C128, _) | (_, Dtype::C128) | (Dtype::C64, Dtype::F64) | (Dtype::F64, Dtype::C64) => Dtype::C128,
        (Dtype::C64, _) | (_, Dtype::C64) => Dtype::C64,
        (Dtype::F16, Dtype::Bf16) | (Dtype::Bf16, Dtype::F16) => Dtype::F32,
        (Dtype::U8, Dtype::I8) | (Dtype::I8, Dtype::U8) => Dtype::I16,
        // The rest is ordered as `Dtype` declares it: bool, integers by width, floats by width.
        _ => a.max(b),
    }
}
