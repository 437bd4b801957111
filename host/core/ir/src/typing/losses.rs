//! Losses: one number for each element or row, or their mean or sum.

use super::Rules;
use super::layout::{iterated, preserving};
use super::operands::{Operands, ResultTypes, floats};
use crate::{Arg, Dtype, TensorType};

pub(super) const RULES: Rules = &[
    (huber, "huber_loss"),
    (absolute, "l1_loss"),
    (binary_cross_entropy, "binary_cross_entropy"),
    (with_logits, "binary_cross_entropy_with_logits"),
    (classified, "cross_entropy_loss nll_loss_nd nll_loss2d"),
    (hinge_embedding, "hinge_embedding_loss"),
    (cosine_embedding, "cosine_embedding_loss"),
    (multi_margin, "multi_margin_loss"),
    (multilabel_margin, "multilabel_margin_loss"),
];

/// What stands for `reduction='none'`.
const NONE: i64 = 0;
/// What stands for `reduction='mean'`.
const MEAN: i64 = 1;

/// In the type of `self`, whatever that of `target` is.
fn huber(operands: &Operands<'_>) -> ResultTypes {
    let (input, target) = (operands.tensor(0)?, operands.tensor(1)?);
    if !matches!(operands.arg(3)?, Arg::Float(delta) if *delta > 0.0) {
        return Err("`delta` must be greater than 0".to_owned());
    }
    floats(input)?;
    Ok(vec![of_each(operands, 2, iterated(&[input, target], input.dtype)?)?])
}

/// The absolute values of a difference.
fn absolute(operands: &Operands<'_>) -> ResultTypes {
    let (input, target) = (operands.tensor(0)?, operands.tensor(1)?);
    let args = [Arg::Value(input.clone()), Arg::Value(target.clone()), Arg::Int(1)];
    let each = operands.ask_one("aten::sub.Tensor", &args)?;
    if operands.int(2)? == MEAN && !each.dtype.is_float() {
        return Err(format!("the mean of {}", each.dtype));
    }
    Ok(vec![of_each(operands, 2, each)?])
}

fn binary_cross_entropy(operands: &Operands<'_>) -> ResultTypes {
    let (input, target) = (operands.tensor(0)?, operands.tensor(1)?);
    if input.shape != target.shape || input.dtype != target.dtype {
        return Err(format!("`target` is {target}, expected the shape and type of {input}"));
    }
    floats(input)?;
    if let Some(weight) = operands.optional_tensor(2)? {
        spread(operands, weight, input)?;
    }
    Ok(vec![of_each(operands, 3, preserving(input, input.dtype))?])
}

/// Calculated in a tensor that is made of the target.
fn with_logits(operands: &Operands<'_>) -> ResultTypes {
    let (input, target) = (operands.tensor(0)?, operands.tensor(1)?);
    if !input.dtype.is_float() || !target.dtype.is_float() {
        return Err(format!("`self` is {} and `target` {}, expected floats", input.dtype, target.dtype));
    }
    spread(operands, input, target)?;
    if let Some(weight) = operands.optional_tensor(2)? {
        spread(operands, weight, target)?;
    }
    if let Some(weight) = operands.optional_tensor(3)? {
        spread(operands, &iterated(&[weight, target], target.dtype)?, input)?;
    }
    Ok(vec![of_each(operands, 4, iterated(&[target], target.dtype)?)?])
}

/// Refuses what cannot be taken into a tensor of this type in place.
fn spread(operands: &Operands<'_>, ty: &TensorType, over: &TensorType) -> Result<(), String> {
    let args = [Arg::Value(ty.clone()), Arg::Ints(over.shape.clone()), Arg::Bool(false)];
    operands.ask_one("aten::expand", &args).map(|_| ()).map_err(|_| format!("{ty} does not spread over {over}"))
}

/// Of pixels, PyTorch has its meta kernel in Python.
fn classified(operands: &Operands<'_>) -> ResultTypes {
    let (input, target) = (operands.tensor(0)?, operands.tensor(1)?);
    if input.rank() <= 2 || target.shape == input.shape {
        return operands.ask_itself();
    }
    let mut pixels = input.shape.clone();
    let classes = pixels.remove(1);
    if target.shape != pixels || target.dtype != Dtype::I64 {
        return Err(format!("`target` is {target}, expected {}", TensorType::contiguous(Dtype::I64, pixels)));
    }
    floats(input)?;
    if let Some(weight) = operands.optional_tensor(2)?
        && (weight.shape != [classes] || weight.dtype != input.dtype)
    {
        return Err(format!("`weight` is {weight}, expected {}", TensorType::contiguous(input.dtype, [classes])));
    }
    Ok(vec![of_each(operands, 3, TensorType::contiguous(input.dtype, pixels))?])
}

/// What becomes of the loss of each element or row by the reduction at a position.
fn of_each(operands: &Operands<'_>, reduction: usize, each: TensorType) -> Result<TensorType, String> {
    Ok(if operands.int(reduction)? == NONE { each } else { TensorType::contiguous(each.dtype, []) })
}

/// One of two numbers for each element, and what the other condition leaves, added.
fn hinge_embedding(operands: &Operands<'_>) -> ResultTypes {
    let (input, target) = (operands.tensor(0)?, operands.tensor(1)?);
    floats(input)?;
    let zeros = TensorType::contiguous(input.dtype, &input.shape[..]);
    let far = iterated(&[target, &iterated(&[input], input.dtype)?, &zeros], input.dtype)?;
    let near = iterated(&[target, input, &zeros], input.dtype)?;
    Ok(vec![of_each(operands, 3, iterated(&[&far, &near], input.dtype)?)?])
}

/// For each row, or for one vector where the target is one number.
fn cosine_embedding(operands: &Operands<'_>) -> ResultTypes {
    let (first, second) = (operands.tensor(0)?, operands.tensor(1)?);
    let target = operands.tensor_of_rank(2, &[0, 1])?;
    let rank = target.rank() + 1;
    if first.rank() != rank || second.rank() != rank {
        return Err(format!("the target {target} does not say one thing of each row of {first} and {second}"));
    }
    let product = operands.ask_one("aten::mul.Tensor", &[first, second].map(|ty| Arg::Value(ty.clone())))?;
    let cosine = TensorType::contiguous(product.dtype, &product.shape[..rank - 1]);
    Ok(vec![of_each(operands, 4, iterated(&[target, &cosine], product.dtype)?)?])
}

fn multi_margin(operands: &Operands<'_>) -> ResultTypes {
    let (input, target) = (operands.tensor_of_rank(0, &[1, 2])?, operands.tensor(1)?);
    let fits = match input.shape[..] {
        [rows, _] => target.shape == [rows],
        _ => target.rank() <= 1 && target.numel() == 1,
    };
    if !fits {
        return Err(format!("`target` is {target}, expected a class for each row of {input}"));
    }
    let each = TensorType::contiguous(input.dtype, &target.shape[..]);
    Ok(vec![of_each(operands, 5, each)?])
}

fn multilabel_margin(operands: &Operands<'_>) -> ResultTypes {
    let (input, target) = (operands.tensor_of_rank(0, &[1, 2])?, operands.tensor(1)?);
    if input.shape != target.shape {
        return Err(format!("`target` is {target}, expected the shape of {input}"));
    }
    let each = TensorType::contiguous(input.dtype, &input.shape[..input.rank() - 1]);
    Ok(vec![of_each(operands, 2, each)?])
}
