//! What the functional counterparts of in-place ops return.
//!
//! An in-place op keeps element type and layout of what it writes to; its counterpart returns a new tensor with both as
//! its own kernel chooses them. `host/run/torch/tests/functional` holds these rules against libtorch.

use super::layout::{elementwise_strides, preserved_strides};
use crate::promote::{Strength, common};
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
        | "bitwise_right_shift" => promoted(program, name, args),
        "cumsum" | "cumprod" if target.is_integer() || target == Dtype::Bool => match args.get(2) {
            Some(Arg::Dtype(dtype)) => *dtype,
            _ => Dtype::I64,
        },
        // Everything else returns the type of its first operand, or refuses what it is given.
        _ => target,
    }
}

/// The common type of the operands among the arguments of an op.
fn promoted(program: &Graph, name: &str, args: &[Arg]) -> Dtype {
    // The operand of a `.Scalar` overload is the second argument; what follows only scales, but for the second bound
    // of a clamp.
    let numbers = if matches!(name, "clamp" | "clip") { 1..3 } else { 1..2 };
    let operand = |(position, arg): (usize, &Arg)| match arg {
        Arg::Value(id) if program.ty(*id).rank() == 0 => Some((program.ty(*id).dtype, Strength::Scalar)),
        Arg::Value(id) => Some((program.ty(*id).dtype, Strength::Tensor)),
        _ if !numbers.contains(&position) => None,
        Arg::Bool(_) => Some((Dtype::Bool, Strength::Number)),
        Arg::Int(_) => Some((Dtype::I64, Strength::Number)),
        Arg::Float(_) => Some((Dtype::F64, Strength::Number)),
        _ => None,
    };
    common(args.iter().enumerate().filter_map(operand)).unwrap_or(Dtype::F32)
}
