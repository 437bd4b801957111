//! What the functional counterparts of in-place ops return.
//!
//! An in-place op keeps element type and layout of what it writes to; its counterpart returns a new tensor with both as
//! its own kernel chooses them. `host/run/torch/tests/functional` holds these rules against libtorch.

use super::layout::{elementwise_strides, preserved_strides};
use crate::ops::{Gives, Lays};
use crate::promote::{Strength, common};
use crate::{Arg, Dtype, Graph, OpName, OpRow, OpTable, Schema, TensorType, contiguous_strides};
use std::ops::Range;

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
    let (lays, gives) = OpRow::of(op).map_or((Lays::WithNumber, Gives::Operand), |row| (row.lays, row.gives));
    let mut operands: Vec<&TensorType> = args.iter().flat_map(Arg::values).map(|&id| program.ty(id)).collect();
    let number = TensorType::contiguous(target.dtype, []);
    match lays {
        Lays::WithNumber if !["Scalar", "Scalar_mode", "Tensor_Scalar", "Scalar_Other"].contains(&&op.overload[..]) => {
        }
        Lays::WithNumber => operands.push(&number),
        _ => {}
    }
    let strides = match lays {
        Lays::Target => target.strides.clone(),
        Lays::Preserved => preserved_strides(target),
        Lays::Contiguous => contiguous_strides(&target.shape),
        Lays::WithNumber | Lays::Elementwise => elementwise_strides(&target.shape, &operands),
    };
    TensorType { dtype: functional_dtype(program, gives, args, target.dtype), shape: target.shape.clone(), strides }
}

fn functional_dtype(program: &Graph, gives: Gives, args: &[Arg], target: Dtype) -> Dtype {
    match gives {
        Gives::Bool => Dtype::Bool,
        Gives::Promoted => promoted(program, 1..2, args),
        Gives::Bounds => promoted(program, 1..3, args),
        Gives::Summed if target.is_integer() || target == Dtype::Bool => match args.get(2) {
            Some(Arg::Dtype(dtype)) => *dtype,
            _ => Dtype::I64,
        },
        // Everything else returns the type of its first operand, or refuses what it is given.
        Gives::Summed | Gives::Operand => target,
    }
}

/// The common type of the operands among the arguments of an op: tensors, and the numbers at these positions. What other
/// numbers there are only scales.
fn promoted(program: &Graph, numbers: Range<usize>, args: &[Arg]) -> Dtype {
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
