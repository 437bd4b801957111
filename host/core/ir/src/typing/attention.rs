//! Attention: the fused kernel of the CPU where it applies, plain products elsewhere.

use super::Rules;
use super::layout::{preserving, transposed};
use super::operands::{Operands, ResultTypes};
use crate::{Arg, Dtype, TensorType};

pub(super) const RULES: Rules =
    &[(scaled_dot_product, "scaled_dot_product_attention"), (multi_head, "_native_multi_head_attention")];

fn scaled_dot_product(operands: &Operands<'_>) -> ResultTypes {
    let (query, key, value) = (operands.tensor(0)?, operands.tensor(1)?, operands.tensor(2)?);
    let mask = operands.optional_tensor(3)?;
    if let Some(other) = [key, value].iter().find(|ty| ty.dtype != query.dtype) {
        return Err(format!("attention of {} and {}, expected one type of elements", query.dtype, other.dtype));
    }
    if let Some(mask) = mask {
        if mask.dtype != query.dtype && mask.dtype != Dtype::Bool {
            return Err(format!("`attn_mask` is {}, expected bool or {}", mask.dtype, query.dtype));
        }
        if query.rank() == 4 && mask.rank() < 2 {
            return Err(format!("`attn_mask` has rank {}, expected at least 2", mask.rank()));
        }
    }
    if [query, key, value].iter().any(|ty| ty.rank() < 2) {
        return Err("query, key and value must have at least 2 dimensions".to_owned());
    }
    let grouped = operands.bool(7)?;
    if runs_fused(query, key, value, mask, grouped)? {
        return Ok(vec![preserving(query, query.dtype)]);
    }
    if mask.is_some() && operands.bool(5)? {
        return Err("`attn_mask` is given, expected none because `is_causal` is true".to_owned());
    }
    Ok(vec![plain_products(operands, [query, key, value], mask, grouped)?])
}

/// Products, mask and softmax one after the other.
fn plain_products(
    operands: &Operands<'_>,
    [query, key, value]: [&TensorType; 3],
    mask: Option<&TensorType>,
    grouped: bool,
) -> Result<TensorType, String> {
    let shared = |ty: &TensorType| if grouped { shared_heads(query, ty) } else { Ok(ty.clone()) };
    let (key, value) = (shared(key)?, shared(value)?);
    let scores = [Arg::Value(query.clone()), Arg::Value(transposed(&key, key.rank() - 2, key.rank() - 1))];
    let scores = operands.ask_one("aten::matmul", &scores)?;
    if let Some(mask) = mask {
        operands
            .ask_one("aten::expand", &[Arg::Value(mask.clone()), Arg::Ints(scores.shape.clone()), Arg::Bool(false)])?;
    }
    let weights = operands.ask_one("aten::_softmax", &[Arg::Value(scores), Arg::Int(-1), Arg::Bool(false)])?;
    operands.ask_one("aten::matmul", &[Arg::Value(weights), Arg::Value(value)])
}

/// Key or value repeated for every query head that shares it.
fn shared_heads(query: &TensorType, ty: &TensorType) -> Result<TensorType, String> {
    let heads = |ty: &TensorType| ty.rank().checked_sub(3).map(|dim| (dim, ty.shape[dim]));
    match (heads(query), heads(ty)) {
        (Some((_, queries)), Some((dim, heads))) if heads > 0 && queries % heads == 0 => {
            let mut shape = ty.shape.clone();
            shape[dim] = queries;
            Ok(TensorType::contiguous(ty.dtype, shape))
        }
        _ => Err(format!("the heads of {query} do not share those of {ty} evenly")),
    }
}

/// Whether libtorch picks its fused kernel, which reads as many values as there are keys without looking.
fn runs_fused(
    query: &TensorType,
    key: &TensorType,
    value: &TensorType,
    mask: Option<&TensorType>,
    grouped: bool,
) -> Result<bool, String> {
    let operands = [query, key, value];
    let same = |dim: usize| operands.iter().all(|ty| ty.shape[dim] == query.shape[dim]);
    let fused = operands.iter().all(|ty| ty.rank() == 4 && ty.dtype.is_float() && ty.strides[3] == 1)
        && same(0)
        && (same(1) || grouped)
        && same(3)
        && query.shape[2] > 0
        && key.shape[2] > 0
        && mask.is_none_or(|mask| mask_fits(mask, query, key));
    if fused && key.shape[2] != value.shape[2] {
        return Err(format!("there are {} keys and {} values", key.shape[2], value.shape[2]));
    }
    if fused && grouped {
        shared_heads(query, key)?;
        shared_heads(query, value)?;
    }
    Ok(fused)
}

fn mask_fits(mask: &TensorType, query: &TensorType, key: &TensorType) -> bool {
    let fits = |extent: i64, full: i64| extent == 1 || extent == full;
    match mask.shape[..] {
        [rows, columns] => fits(rows, query.shape[2]) && fits(columns, key.shape[2]),
        [batch, heads, rows, columns] => {
            fits(batch, query.shape[0])
                && fits(heads, query.shape[1])
                && fits(rows, query.shape[2])
                && fits(columns, key.shape[2])
        }
        _ => false,
    }
}

/// Projections, attention and projection in one: the result, and the attention itself where it is asked for.
fn multi_head(operands: &Operands<'_>) -> ResultTypes {
    let query = operands.tensor_of_rank(0, &[3])?;
    let key = operands.tensor_of_rank(1, &[3])?;
    let (width, heads) = (operands.int(3)?, operands.int(4)?);
    if heads <= 0 || width % heads != 0 || query.shape[2] != width {
        return Err(format!("{heads} heads of a width of {width} in {query}"));
    }
    let (batch, length) = (query.shape[0], query.shape[1]);
    let attention = match (operands.bool(10)?, operands.bool(11)?) {
        (true, true) => vec![batch, length, key.shape[1]],
        (true, false) => vec![batch, heads, length, key.shape[1]],
        // What an op leaves out is an empty tensor of single precision.
        (false, _) => vec![0],
    };
    let dtype = if operands.bool(10)? { query.dtype } else { Dtype::F32 };
    Ok(vec![TensorType::contiguous(query.dtype, [batch, length, width]), TensorType::contiguous(dtype, attention)])
}
