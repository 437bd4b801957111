//! Recurrent layers: a sequence of outputs and the last states.

use super::Rules;
use super::layout::transposed;
use super::operands::{Operands, ResultTypes};
use crate::TensorType;

pub(super) const RULES: Rules = &[(lstm, "lstm.input"), (gru, "gru.input")];

fn lstm(operands: &Operands<'_>) -> ResultTypes {
    match operands.tensors(1)? {
        [hidden, cell] => layers(operands, hidden, &[hidden, cell]),
        states => Err(format!("`hx` has {} tensors, expected hidden state and cell state", states.len())),
    }
}

fn gru(operands: &Operands<'_>) -> ResultTypes {
    let hidden = operands.tensor(1)?;
    layers(operands, hidden, &[hidden])
}

/// The kernel computes with time before batch; with `batch_first` it returns a transposed view of that.
fn layers(operands: &Operands<'_>, hidden: &TensorType, states: &[&TensorType]) -> ResultTypes {
    let input = operands.tensor_of_rank(0, &[3])?;
    let (layers, bidirectional, batch_first) = (operands.int(4)?, operands.bool(7)?, operands.bool(8)?);
    let directions = if bidirectional { 2 } else { 1 };
    let (time, batch) = if batch_first { (input.shape[1], input.shape[0]) } else { (input.shape[0], input.shape[1]) };
    let &[count, of, width] = &hidden.shape[..] else {
        return Err(format!("the hidden state has rank {}, expected 3", hidden.rank()));
    };
    if layers.checked_mul(directions) != Some(count) || of != batch {
        return Err(format!("the hidden state is {hidden}, expected {layers} layers of batch {batch} in front"));
    }
    let width = width.saturating_mul(directions);
    let output = TensorType::contiguous(input.dtype, [time, batch, width]);
    let mut results = vec![if batch_first { transposed(&output, 0, 1) } else { output }];
    results.extend(states.iter().map(|ty| TensorType::contiguous(input.dtype, ty.shape.clone())));
    Ok(results)
}
