//! Types of inserted ops, for native tests.

use crate::lower::{Group, Strength, common};
use passhost_ir::dims::{permutation, wrap};
use passhost_ir::ops::{Gives, shows};
use passhost_ir::typing::{iterated, result_types};
use passhost_ir::{Arg, Dtype, Infer, InferError, OpName, OpRow, OpTable, TensorType, formatted, numel};
use std::cell::Cell;

/// Answers which types an op returns, where no PyTorch is at hand to be asked: calls are held against the host's list of
/// ops and their schemas, the rules say what they say in the host, pointwise ops broadcast and promote, and the usual views,
/// copies, sums and products of matrices are known. What else a pass inserts, its test says by [`answering`](Types::answering).
///
/// ```
/// use passhost_guest_sdk::args;
/// use passhost_guest_sdk::ir::{Graph, Infer};
/// use passhost_guest_sdk::testing::Types;
///
/// let ty = |text: &str| text.parse();
/// let mut types = Types::default().answering("aten::sort", vec![ty("f32[4]")?, ty("i64[4]")?]);
/// let mut ask = |op: &str, ty| types.infer(&op.into(), &[passhost_guest_sdk::ir::Arg::Value(ty)]);
/// assert_eq!(ask("aten::relu", ty("f16[2,3]")?), Ok(vec![ty("f16[2,3]")?]));
/// assert_eq!(
///     ask("relu", ty("f16[2,3]")?).unwrap_err().to_string(),
///     "`relu` is not an op that may be used here; names of ops begin with `aten::`"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Types {
    answers: Vec<(OpName, Vec<TensorType>)>,
}

impl Types {
    /// Also answers with `types` whenever it is asked about `op`.
    pub fn answering(mut self, op: impl Into<OpName>, types: impl Into<Vec<TensorType>>) -> Types {
        self.answers.push((op.into(), types.into()));
        self
    }
}

impl Infer for Types {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        if let Some((_, types)) = self.answers.iter().find(|(known, _)| known == op) {
            return Ok(types.clone());
        }
        let refused = |message: String| InferError::Refused { op: op.to_string(), message };
        let schema = OpTable::sample().get(op).ok_or_else(|| unlisted(op))?;
        schema.check_args(args).map_err(|error| refused(error.to_string()))?;
        let is_unknown = Cell::new(false);
        let native = |op: &OpName, args: &[Arg<TensorType>]| {
            let Some(found) = shape_of(op, args) else {
                is_unknown.set(true);
                return Err(format!(
                    "a native test does not know what `{op}` returns; say so by `Types::default().answering(..)`"
                ));
            };
            found.map(|ty| vec![ty]).ok_or_else(|| "their shapes do not go together".to_owned())
        };
        let answer = result_types(schema, args, &native).unwrap_or_else(|| native(op, args));
        answer.map_err(|message| if is_unknown.get() { InferError::Unavailable(message) } else { refused(message) })
    }

    fn may_insert(&mut self, op: &OpName) -> bool {
        OpTable::insert().get(op).is_some()
    }
}

fn unlisted(op: &OpName) -> InferError {
    let overloads: Vec<String> = OpTable::sample().overloads(&op.name).map(|schema| schema.op.to_string()).collect();
    match overloads.is_empty() {
        true => InferError::NotAllowed(op.to_string()),
        false => InferError::Refused {
            op: op.to_string(),
            message: format!("it has no such overload; there is {}", overloads.join(", ")),
        },
    }
}

/// The type of the result, `None` of an op that is not known here; within, `None` of operands that do not fit.
fn shape_of(op: &OpName, args: &[Arg<TensorType>]) -> Option<Option<TensorType>> {
    let tensors: Vec<&TensorType> = args.iter().flat_map(Arg::values).collect();
    let &first = tensors.first()?;
    let name = op.name.strip_prefix("aten::").unwrap_or(&op.name);
    let dense = |shape: Vec<i64>| TensorType::contiguous(first.dtype, shape);
    let given = args.iter().find_map(Arg::as_dtype);
    let of_given = |ty: TensorType| TensorType { dtype: given.unwrap_or(ty.dtype), ..ty };
    Some(match name {
        "permute" | "transpose" | "t" | "mT" => permuted(&op.name, args, first),
        "view" | "reshape" | "_unsafe_view" => {
            args.get(1).and_then(Arg::as_ints).and_then(|sizes| regrouped(first, sizes)).map(dense)
        }
        "expand" => args.get(1).and_then(Arg::as_ints).and_then(|sizes| expanded(first, sizes)),
        "clone" | "contiguous" => Some(match args.get(1) {
            Some(Arg::MemoryFormat(format)) => formatted(first.dtype, first.shape.clone(), *format),
            _ => dense(first.shape.clone()),
        }),
        "to" | "_to_copy" => Some(of_given(first.clone())),
        "softmax" | "_softmax" | "log_softmax" => Some(of_given(dense(first.shape.clone()))),
        "cumsum" | "cumprod" => Some(of_given(summed(dense(first.shape.clone())))),
        "sum" | "prod" => reduced(first, args).map(|shape| of_given(summed(dense(shape)))),
        "mean" | "amax" | "amin" => reduced(first, args).map(|shape| of_given(dense(shape))),
        "mm" | "bmm" | "matmul" => product(first, tensors.get(1)?.shape.as_slice()).map(dense),
        "linear" => {
            let mut weight = tensors.get(1)?.shape.clone();
            weight.reverse();
            product(first, &weight).map(dense)
        }
        _ if is_pointwise(op) => pointwise((op, name), args, &tensors),
        _ => return None,
    })
}

/// What a sum or a product is held in: integers and bools in `i64`.
fn summed(ty: TensorType) -> TensorType {
    TensorType { dtype: if ty.dtype.is_float() { ty.dtype } else { Dtype::I64 }, ..ty }
}

fn is_pointwise(op: &OpName) -> bool {
    let groups = [Group::POINTWISE, Group::CREATION, Group::SPREAD, Group::LOSSES];
    groups.into_iter().flat_map(Group::ops).any(|known| OpName::parse(&known).name == op.name)
}

fn permuted(name: &str, args: &[Arg<TensorType>], ty: &TensorType) -> Option<TensorType> {
    let untyped: Vec<Arg> = args.iter().map(|arg| arg.map(|_| passhost_ir::ValueId(0))).collect();
    let order = permutation(*shows(name)?, &untyped, ty.rank())?;
    let of = |list: &[i64]| order.iter().map(|&dim| list[dim]).collect();
    Some(TensorType { dtype: ty.dtype, shape: of(&ty.shape), strides: of(&ty.strides) })
}

fn regrouped(ty: &TensorType, sizes: &[i64]) -> Option<Vec<i64>> {
    let known: i64 = sizes.iter().filter(|&&size| size != -1).product();
    let count = i64::try_from(ty.numel()).ok()?;
    let sizes: Vec<i64> =
        sizes.iter().map(|&size| if size == -1 { count.checked_div(known).unwrap_or(0) } else { size }).collect();
    (numel(&sizes) == ty.numel()).then_some(sizes)
}

fn expanded(ty: &TensorType, sizes: &[i64]) -> Option<TensorType> {
    let missing = sizes.len().checked_sub(ty.rank())?;
    let old = |dim: usize| dim.checked_sub(missing).map(|dim| (ty.shape[dim], ty.strides[dim]));
    let new = |(dim, &size): (usize, &i64)| match old(dim) {
        Some((extent, stride)) if size == -1 || size == extent => Some((extent, stride)),
        Some((1, _)) | None if size >= 0 => Some((size, 0)),
        _ => None,
    };
    let (shape, strides) = sizes.iter().enumerate().map(new).collect::<Option<Vec<_>>>()?.into_iter().unzip();
    Some(TensorType { dtype: ty.dtype, shape, strides })
}

fn reduced(ty: &TensorType, args: &[Arg<TensorType>]) -> Option<Vec<i64>> {
    // Of `prod` one dimension, and of the others a list, of which an empty one means all.
    let dims = match args.get(1) {
        Some(Arg::Int(dim)) => vec![*dim],
        Some(Arg::Ints(dims)) if !dims.is_empty() => dims.clone(),
        _ => (0..ty.rank() as i64).collect(),
    };
    let dims: Vec<usize> = dims.iter().map(|&dim| wrap(dim, ty.rank())).collect::<Option<_>>()?;
    let keeps = matches!(args.get(2), Some(Arg::Bool(true)));
    let extent = |(dim, &extent): (usize, &i64)| match (dims.contains(&dim), keeps) {
        (false, _) => Some(extent),
        (true, true) => Some(1),
        (true, false) => None,
    };
    Some(ty.shape.iter().enumerate().filter_map(extent).collect())
}

/// The shape of a product of a tensor of matrices with one matrix, or with as many.
fn product(left: &TensorType, right: &[i64]) -> Option<Vec<i64>> {
    let (&[.., inner], &[ref outer @ .., rows, columns]) = (&left.shape[..], right) else { return None };
    let batch = left.shape.get(..left.rank().checked_sub(2)?)?;
    let mut shape = left.shape.clone();
    *shape.last_mut()? = columns;
    (inner == rows && (outer.is_empty() || outer == batch)).then_some(shape)
}

fn pointwise((op, name): (&OpName, &str), args: &[Arg<TensorType>], tensors: &[&TensorType]) -> Option<TensorType> {
    // What these make of integers is a number with a point.
    const FRACTIONS: &str =
        "div reciprocal sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan tanh sigmoid erf atan2";
    let operands: Vec<(Dtype, Strength)> = args.iter().flat_map(strengths).collect();
    let is_rounded = args.iter().any(|arg| matches!(arg, Arg::Str(_)));
    let dtype = match common(operands.iter().copied())? {
        _ if OpRow::of(op).is_some_and(|row| row.gives == Gives::Bool) => Dtype::Bool,
        dtype if FRACTIONS.split(' ').any(|known| known == name) && !dtype.is_float() && !is_rounded => Dtype::F32,
        dtype => dtype,
    };
    iterated(tensors, dtype).ok()
}

fn strengths(arg: &Arg<TensorType>) -> Vec<(Dtype, Strength)> {
    let tensor = |ty: &TensorType| (ty.dtype, if ty.rank() == 0 { Strength::Scalar } else { Strength::Tensor });
    match arg {
        Arg::Int(_) => vec![(Dtype::I64, Strength::Number)],
        Arg::Float(_) => vec![(Dtype::F64, Strength::Number)],
        other => other.values().map(tensor).collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_types_that_aten_gives_them() {
        let ty = |text: &str| text.parse::<TensorType>().unwrap();
        let x = |text: &str| Arg::Value(ty(text));
        let dims = || Arg::Ints(vec![-1]);
        for (op, args, expected) in [
            ("aten::sum", vec![x("i32[2,3]"), Arg::None], "i64[]"),
            ("aten::sum", vec![x("bool[2,3]"), Arg::None], "i64[]"),
            ("aten::sum", vec![x("f16[2,3]"), Arg::Dtype(Dtype::F32)], "f32[]"),
            ("aten::sum.dim_IntList", vec![x("u8[2,3]"), dims(), Arg::Bool(true), Arg::None], "i64[2,1]"),
            ("aten::sum.dim_IntList", vec![x("u8[2,3]"), dims(), Arg::Bool(false), Arg::Dtype(Dtype::I16)], "i16[2]"),
            ("aten::mean.dim", vec![x("f16[2,3]"), dims(), Arg::Bool(false), Arg::Dtype(Dtype::F32)], "f32[2]"),
            ("aten::prod.dim_int", vec![x("i8[2,3]"), Arg::Int(0), Arg::Bool(false), Arg::None], "i64[3]"),
            ("aten::cumsum", vec![x("i32[2,3]"), Arg::Int(1), Arg::None], "i64[2,3]"),
            ("aten::amax", vec![x("i32[2,3]"), dims(), Arg::Bool(false)], "i32[2]"),
            ("aten::softmax.int", vec![x("f16[2,3]"), Arg::Int(1), Arg::Dtype(Dtype::F32)], "f32[2,3]"),
            ("aten::div.Tensor", vec![x("i32[2,3]"), x("i32[3]")], "f32[2,3]"),
            ("aten::exp", vec![x("i64[2,3]")], "f32[2,3]"),
            ("aten::exp", vec![x("f16[2,3]")], "f16[2,3]"),
            ("aten::isnan", vec![x("f16[2,3]")], "bool[2,3]"),
            ("aten::eq.Scalar", vec![x("f16[2,3]{1,2}"), Arg::Int(0)], "bool[2,3]{1,2}"),
            (
                "aten::embedding",
                vec![x("f16[9,3]"), x("i64[2,4]"), Arg::Int(-1), Arg::Bool(false), Arg::Bool(false)],
                "f16[2,4,3]",
            ),
            ("aten::bmm", vec![x("f32[2,3,4]"), x("f32[2,4,5]")], "f32[2,3,5]"),
            ("aten::add.Scalar", vec![x("i32[2,3]"), Arg::Int(1), Arg::Int(1)], "i32[2,3]"),
        ] {
            let found = Types::default().infer(&OpName::parse(op), &args);
            assert_eq!(found, Ok(vec![ty(expected)]), "{op} {args:?}");
        }
    }
}
