//! Another float type: inputs are cast, and the calls follow as far as their operands tell.

use super::VaryRefusal;
use super::candidate::CandidateProgram;
use crate::fx::{CallTarget, Expr, TraceNode, ValueRef};
use crate::python::PythonSource;
use crate::reading::Reading;
use crate::weights::Weight;
use passhost_ir::{Dtype, Infer};
use std::collections::HashMap;

/// Numbers beyond this have no finite form in either type of 16 bits, wherever they stand: the largest bf16.
const LARGEST_BF16: f64 = 3.389_531_389_251_535_5e38;
/// The largest f16.
const LARGEST_F16: f64 = 65_504.0;

/// Casts every f32 input to `dtype`, f16 or bf16.
///
/// What the graph says of types stays: `.to(torch.float32)`, `.float()`, `softmax(dtype=torch.float32)`,
/// `torch.zeros(..., dtype=torch.float32)` compute in f32 as they do in a model of that type. So do tensors that are made
/// from Python floats. Where they meet the inputs again PyTorch promotes, and where it does not, in matrix products,
/// convolutions, attention and norms, the f32 operand is cast by a new `.to(...)` in front of the call. An input that is
/// read as a Python number (`.item()`) stays as it is, since what is computed from it has no element type.
///
/// Minima and maxima of f32, which are written to stand for infinity in masks, become the finite ones of the new type:
/// in calls, and in the recorded bounds of inputs. In a call on a tensor of the new type so does any finite number that
/// is beyond its range, because PyTorch refuses it there.
///
/// This is the rule of the published `dtype_generalization_pass_*`, but for these. The published passes leave the inputs
/// in f32 and cast them in the graph. They cast every f32 operand of linear, matmul and the like, including those of a
/// product that is in f32 on purpose on both sides; here an operand is cast only if the others are of the new type. They
/// do not do so for norms and scatters, whose calls then fail; and they leave f32's minimum as it is, which is infinite in
/// the new type.
pub fn cast(
    source: &PythonSource<'_>,
    before: &Reading,
    dtype: Dtype,
    infer: &mut dyn Infer,
) -> Result<Reading, VaryRefusal> {
    if !matches!(dtype, Dtype::F16 | Dtype::Bf16) {
        return Err(VaryRefusal(format!("inputs cannot be cast to {dtype}; expected f16 or bf16")));
    }
    let parameters = before.program.parameters.iter().enumerate();
    let fixed = parameters.filter(|(position, _)| before.is_fixed(*position));
    let fixed: Vec<&str> = fixed.map(|(_, parameter)| parameter.name.as_str()).collect();
    let follows = |weight: &Weight| weight.ty.dtype == Dtype::F32 && !fixed.contains(&weight.name.as_str());
    if !before.weights.iter().any(follows) {
        return Err(VaryRefusal(format!("no input is an f32 that may be cast to {dtype}")));
    }
    let weights = before
        .weights
        .iter()
        .map(|weight| if follows(weight) { record(weight, dtype) } else { weight.clone() })
        .collect();
    let mut candidate = CandidateProgram::new(source, before, weights, infer)?;
    for position in 0..before.program.nodes.len() {
        let mut node = candidate.moved(position);
        saturate(&candidate, &mut node, dtype);
        align(&mut candidate, &mut node)?;
        candidate.push(node)?;
    }
    Ok(candidate.finish()?)
}

fn record(weight: &Weight, dtype: Dtype) -> Weight {
    let limit = largest(dtype);
    let mut weight = weight.clone();
    weight.ty.dtype = dtype;
    let bounds = [&mut weight.mean, &mut weight.std, &mut weight.min, &mut weight.max];
    for number in weight.data.iter_mut().flatten().chain(bounds.into_iter().flatten()) {
        if number.is_finite() {
            *number = number.clamp(-limit, limit);
        }
    }
    weight
}

fn largest(dtype: Dtype) -> f64 {
    if dtype == Dtype::F16 { LARGEST_F16 } else { LARGEST_BF16 }
}

/// Brings the numbers of a call into the range of the new type.
fn saturate(candidate: &CandidateProgram<'_, '_>, node: &mut TraceNode, dtype: Dtype) {
    let types: Vec<Dtype> = operand_types(candidate, node).into_iter().map(|(_, dtype)| dtype).collect();
    if types.contains(&Dtype::F64) {
        return;
    }
    let beyond = if types.contains(&dtype) { largest(dtype) } else { LARGEST_BF16 };
    let saturated = |value: f64| {
        let is_beyond = value.is_finite() && value.abs() > beyond;
        is_beyond.then(|| largest(dtype).copysign(value))
    };
    for argument in node.arguments_mut() {
        argument.each_leaf(&mut |leaf| {
            if let Expr::Float(value) = leaf {
                *value = saturated(*value).unwrap_or(*value);
            }
        });
    }
}

/// Casts float operands of calls that want one type of all of them: to the type that a call writes to, else to the
/// narrow one.
fn align(candidate: &mut CandidateProgram<'_, '_>, node: &mut TraceNode) -> Result<(), VaryRefusal> {
    if !wants_one_type(&node.target) {
        return Ok(());
    }
    let operands = operand_types(candidate, node);
    let floats = || operands.iter().filter(|(_, dtype)| dtype.is_float()).map(|(_, dtype)| *dtype);
    let wanted = if is_written(&node.target) { floats().next() } else { floats().find(|dtype| dtype.size() == 2) };
    let Some(wanted) = wanted else { return Ok(()) };
    let mut casts: HashMap<ValueRef, ValueRef> = HashMap::new();
    for (value, dtype) in operands {
        if dtype.is_float() && dtype != wanted && !casts.contains_key(&value) {
            let constant = Expr::Constant(format!("torch.{}", wanted.torch_name()));
            let cast = TraceNode {
                name: String::new(),
                target: CallTarget::Method("to".into()),
                args: vec![Expr::Value(value), constant],
                kwargs: vec![],
                offset: node.offset,
            };
            casts.insert(value, candidate.insert(cast)?);
        }
    }
    *node = node.map(&mut |value| Expr::Value(casts.get(&value).copied().unwrap_or(value)));
    Ok(())
}

/// The tensors that a call reads, with their element types.
fn operand_types(candidate: &CandidateProgram<'_, '_>, node: &TraceNode) -> Vec<(ValueRef, Dtype)> {
    let typed = |value: ValueRef| Some((value, candidate.ty(&Expr::Value(value))?.dtype));
    node.operands().into_iter().filter_map(typed).collect()
}

/// Whether the first operand is written to: it cannot be replaced by a copy.
fn is_written(target: &CallTarget) -> bool {
    match target {
        CallTarget::SetItem => true,
        CallTarget::Method(name) => name.ends_with('_') && !name.ends_with("__"),
        CallTarget::Function(path) => path.ends_with('_'),
        _ => false,
    }
}

/// The calls that refuse operands of different float types, or may do so.
fn wants_one_type(target: &CallTarget) -> bool {
    if matches!(target, CallTarget::SetItem | CallTarget::Operator("matmul")) {
        return true;
    }
    let known = |name: &str| ONE_TYPE.split_whitespace().any(|known| known == name.trim_end_matches('_'));
    target.called().is_some_and(known)
}

/// Functions and methods among them.
const ONE_TYPE: &str = "linear bilinear matmul mm bmm mv dot addmm baddbmm addmv einsum conv1d conv2d conv3d \
    conv_transpose1d conv_transpose2d conv_transpose3d scaled_dot_product_attention multi_head_attention_forward \
    _native_multi_head_attention _weight_norm batch_norm group_norm instance_norm layer_norm rms_norm prelu lerp \
    grid_sample lstm gru index_put index_add index_copy masked_scatter scatter scatter_add";
