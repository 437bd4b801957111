//! What `torch.vmap` leaves in a graph: tensors gain batch dimensions by level, ops work on what is left, and the
//! dimensions are put back in the end. Models use it to build causal masks.
//!
//! A batched tensor is one tensor whose first dimensions are its batches, in the order of its levels.

use super::builder::GraphBuilder;
use super::unsupported::Unsupported;
use crate::value::PyValue;
use passhost_ir::dims::wrap;

/// `_add_batch_dim(x, dim, level)`.
pub fn add_batch_dim(builder: &mut GraphBuilder<'_>, x: PyValue, dim: i64, level: i64) -> Result<PyValue, Unsupported> {
    let (value, mut levels) = parts(x)?;
    let rank = logical_rank(builder, &value, &levels)?;
    let dim = front(dim, rank)?;
    if levels.contains(&level) {
        return Err(Unsupported(format!("the tensor already has a batch of level {level}")));
    }
    let moved = move_dim(builder, value, levels.len() + dim, 0)?;
    levels.insert(0, level);
    batched(moved, levels)
}

/// `_remove_batch_dim(x, level, batch_size, out_dim)`.
pub fn remove_batch_dim(
    builder: &mut GraphBuilder<'_>,
    x: PyValue,
    level: i64,
    size: i64,
    out_dim: i64,
) -> Result<PyValue, Unsupported> {
    let (value, mut levels) = parts(x)?;
    let rank = logical_rank(builder, &value, &levels)?;
    let out_dim = front(out_dim, rank + 1)?;
    match levels.iter().position(|&found| found == level) {
        Some(position) => {
            levels.remove(position);
            let moved = move_dim(builder, value, position, levels.len() + out_dim)?;
            batched(moved, levels)
        }
        // The result does not depend on this batch: it is the same for all of it.
        None => {
            let dim = levels.len() + out_dim;
            let mut shape = builder.shape_of(&value)?;
            shape.insert(dim, size);
            let value = builder.op("unsqueeze", [value, PyValue::Int(dim as i64)])?;
            let value = builder.op("expand", [value, PyValue::ints(shape)])?;
            batched(value, levels)
        }
    }
}

/// An op that works element by element.
pub fn pointwise(builder: &mut GraphBuilder<'_>, op: &str, operands: Vec<PyValue>) -> Result<PyValue, Unsupported> {
    let (operands, levels) = aligned(builder, operands)?;
    let shapes = operands.iter().filter(|operand| operand.tensor().is_some()).map(|operand| builder.shape_of(operand));
    let rank = shapes.collect::<Result<Vec<_>, _>>()?.iter().map(Vec::len).max();
    let result = builder.op(op, operands)?;
    // An op that keeps the rank of its operands has nothing to do with the batches in front.
    if builder.ty_of(&result).map(|ty| ty.rank()).ok() != rank {
        return Err(Unsupported("an op that does not work element by element, under vmap".into()));
    }
    batched(result, levels)
}

/// `x[i, j]` where only the indices are batched, each a number a batch: a gather of as many elements as there are batches.
pub fn index(builder: &mut GraphBuilder<'_>, x: PyValue, indices: Vec<PyValue>) -> Result<PyValue, Unsupported> {
    if x.is_batched() {
        return Err(Unsupported("indexing a batched tensor under vmap".into()));
    }
    let (indices, levels) = aligned(builder, indices)?;
    for index in &indices {
        if builder.shape_of(index)?.len() != levels.len() {
            return Err(Unsupported("a batched index with dimensions of its own under vmap".into()));
        }
    }
    let result = builder.op("index", [x, PyValue::List(indices)])?;
    batched(result, levels)
}

/// The operands with the same leading batch dimensions, of extent 1 where one has no such batch, and equally many
/// dimensions behind them.
fn aligned(builder: &mut GraphBuilder<'_>, operands: Vec<PyValue>) -> Result<(Vec<PyValue>, Vec<i64>), Unsupported> {
    let mut levels: Vec<i64> = vec![];
    let mut rank = 0;
    let mut split = vec![];
    for operand in operands {
        if !matches!(operand, PyValue::Tensor(_) | PyValue::Batched(..)) {
            split.push((operand, None));
            continue;
        }
        let (value, own) = parts(operand)?;
        rank = rank.max(logical_rank(builder, &value, &own)?);
        levels.extend(&own);
        split.push((value, Some(own)));
    }
    levels.sort_unstable();
    levels.dedup();
    let mut result = vec![];
    for (value, own) in split {
        let Some(own) = own else {
            result.push(value);
            continue;
        };
        let shape = builder.shape_of(&value)?;
        let logical = &shape[own.len()..];
        // A number needs no alignment unless it is batched.
        if own.is_empty() && logical.is_empty() {
            result.push(value);
            continue;
        }
        let order: Vec<usize> = levels.iter().filter_map(|level| own.iter().position(|found| found == level)).collect();
        let permutation = order.iter().copied().chain(own.len()..shape.len());
        let permutation: Vec<i64> = permutation.map(|dim| dim as i64).collect();
        let in_order = permutation.iter().copied().eq(0..shape.len() as i64);
        let value = if in_order { value } else { builder.op("permute", [value, PyValue::ints(permutation)])? };
        let batch = levels.iter().map(|level| own.iter().position(|found| found == level).map_or(1, |dim| shape[dim]));
        let padding = std::iter::repeat_n(1, rank - logical.len());
        let target: Vec<i64> = batch.chain(padding).chain(logical.iter().copied()).collect();
        result.push(if target == shape { value } else { builder.op("view", [value, PyValue::ints(target)])? });
    }
    Ok((result, levels))
}

/// How many dimensions a tensor has besides its batches.
fn logical_rank(builder: &GraphBuilder<'_>, value: &PyValue, levels: &[i64]) -> Result<usize, Unsupported> {
    let rank = builder.ty_of(value)?.rank();
    rank.checked_sub(levels.len())
        .ok_or_else(|| Unsupported(format!("{} batches of a tensor of rank {rank}", levels.len())))
}

fn parts(x: PyValue) -> Result<(PyValue, Vec<i64>), Unsupported> {
    match x {
        PyValue::Tensor(value) => Ok((PyValue::Tensor(value), vec![])),
        PyValue::Batched(value, levels) => Ok((PyValue::Tensor(value), levels)),
        other => Err(Unsupported(format!("vmap over a {}", other.kind()))),
    }
}

fn batched(value: PyValue, levels: Vec<i64>) -> Result<PyValue, Unsupported> {
    match value {
        PyValue::Tensor(value) if levels.is_empty() => Ok(PyValue::Tensor(value)),
        PyValue::Tensor(value) => Ok(PyValue::Batched(value, levels)),
        other => Err(Unsupported(format!("a {} under vmap", other.kind()))),
    }
}

fn front(dim: i64, rank: usize) -> Result<usize, Unsupported> {
    wrap(dim, rank).ok_or_else(|| Unsupported(format!("dimension {dim} of a tensor of rank {rank}")))
}

fn move_dim(builder: &mut GraphBuilder<'_>, value: PyValue, from: usize, to: usize) -> Result<PyValue, Unsupported> {
    if from == to {
        return Ok(value);
    }
    builder.op("movedim", [value, PyValue::Int(from as i64), PyValue::Int(to as i64)])
}
