//! `x[...]` and `x[...] = y`: views dimension by dimension, then a gather where tensors are among the indices.

use super::builder::GraphBuilder;
use super::creation;
use super::unsupported::Unsupported;
use super::vmap;
use crate::value::PyValue;
use passhost_ir::Dtype;
use passhost_ir::dims::wrap;

/// `base[index]`.
pub fn get(builder: &mut GraphBuilder<'_>, base: PyValue, index: PyValue) -> Result<PyValue, Unsupported> {
    match base {
        PyValue::List(items) => element(items, &index),
        PyValue::Batched(..) => Err(Unsupported("a subscript under vmap".into())),
        base => {
            let indices = flat(index);
            if indices.iter().any(PyValue::is_batched) {
                return vmap::index(builder, base, indices);
            }
            let (view, gathered) = views(builder, base, indices)?;
            if gathered.iter().all(|index| *index == PyValue::None) {
                return Ok(view);
            }
            builder.gather(view, gathered)
        }
    }
}

/// `base[index] = value`.
pub fn set(
    builder: &mut GraphBuilder<'_>,
    base: PyValue,
    index: PyValue,
    value: PyValue,
) -> Result<PyValue, Unsupported> {
    if base.tensor().is_none() {
        return Err(Unsupported(format!("assignment to an element of a {}", base.kind())));
    }
    let (view, gathered) = views(builder, base, flat(index))?;
    if gathered.iter().any(|index| *index != PyValue::None) {
        let value = if value.tensor().is_some() {
            value
        } else {
            let dtype = builder.ty_of(&view)?.dtype;
            creation::scalar(builder, value, Some(dtype))?
        };
        builder.op("index_put_", [view, PyValue::List(gathered), value])?;
        return Ok(PyValue::None);
    }
    let Some(tensor) = value.tensor() else {
        builder.op("fill_", [view, value])?;
        return Ok(PyValue::None);
    };
    // As in NumPy, leading dimensions of extent 1 of what is assigned do not count.
    let (shape, target) = (builder.ty(tensor).shape.clone(), builder.shape_of(&view)?);
    let extra = shape.len().saturating_sub(target.len());
    let value = if extra > 0 && shape[..extra].iter().all(|&extent| extent == 1) {
        builder.op("view", [value, PyValue::ints(shape[extra..].iter().copied())])?
    } else {
        value
    };
    builder.op("copy_", [view, value])?;
    Ok(PyValue::None)
}

fn element(items: Vec<PyValue>, index: &PyValue) -> Result<PyValue, Unsupported> {
    let PyValue::Int(index) = *index else {
        return Err(Unsupported(format!("a list indexed by a {}", index.kind())));
    };
    let count = items.len();
    let element = wrap(index, count).and_then(|position| items.into_iter().nth(position));
    element.ok_or_else(|| Unsupported(format!("element {index} of {count}")))
}

/// The indices of a tuple; a list stands for one index and comes wrapped in a tuple.
fn flat(index: PyValue) -> Vec<PyValue> {
    match index {
        PyValue::List(items) => items,
        one => vec![one],
    }
}

/// Applies what is a view, and collects the tensors: one entry a dimension of the view, `None` where there is none.
fn views(
    builder: &mut GraphBuilder<'_>,
    base: PyValue,
    indices: Vec<PyValue>,
) -> Result<(PyValue, Vec<PyValue>), Unsupported> {
    let rank = builder.shape_of(&base)?.len();
    let mut consumed = 0;
    for index in &indices {
        consumed += match index {
            PyValue::None | PyValue::Ellipsis | PyValue::Bool(_) => 0,
            // A mask takes the place of as many dimensions as it has.
            PyValue::Tensor(tensor) if builder.ty(*tensor).dtype == Dtype::Bool => builder.ty(*tensor).rank(),
            _ => 1,
        };
    }
    if consumed > rank {
        return Err(Unsupported(format!("{consumed} indices for a tensor of rank {rank}")));
    }
    let (mut view, mut gathered, mut dim) = (base, vec![], 0i64);
    for index in indices {
        let gather = match index {
            PyValue::Int(position) => {
                view = builder.op("select", [view, PyValue::Int(dim), PyValue::Int(position)])?;
                continue;
            }
            PyValue::Ellipsis => {
                gathered.extend(std::iter::repeat_n(PyValue::None, rank - consumed));
                dim += (rank - consumed) as i64;
                continue;
            }
            PyValue::Slice(parts) => {
                if *parts != [const { PyValue::None }; 3] {
                    let [start, stop, step] = *parts;
                    let (start, stop) = (bound(builder, start)?, bound(builder, stop)?);
                    let step = if step == PyValue::None { PyValue::Int(1) } else { step };
                    view = builder.op("slice", [view, PyValue::Int(dim), start, stop, step])?;
                }
                PyValue::None
            }
            PyValue::None => {
                view = builder.op("unsqueeze", [view, PyValue::Int(dim)])?;
                PyValue::None
            }
            PyValue::Tensor(_) => index,
            PyValue::List(_) => creation::tensor(builder, &index, Some(Dtype::I64))?,
            other => return Err(Unsupported(format!("an index that is a {}", other.kind()))),
        };
        gathered.push(gather);
        dim += 1;
    }
    Ok((view, gathered))
}

/// A bound of a slice: a number, or a tensor of one known element.
fn bound(builder: &mut GraphBuilder<'_>, value: PyValue) -> Result<PyValue, Unsupported> {
    match value {
        PyValue::Tensor(_) => super::methods::item(builder, &value),
        other => Ok(other),
    }
}
