//! Norms of vectors, and what is divided by them.

use super::classification::magnitude;
use super::reduction::{all_dims, over_dims_at, sum_of_squares};
use crate::lower::call::{Emitted, OpCall, Uncovered};
use crate::lower::footprint::Footprint;
use crate::lower::node_call::NodeCall;
use crate::lower::quantity::Quantity;
use crate::lower::rule::Rule;
use passhost_ir::kernel::{Binary, Compare, ReduceOp, Unary};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::over(listed_dims, "aten::linalg_vector_norm", &[""], norm),
    Rule::over(all_dims, "aten::norm", &["Scalar", "ScalarOpt_dtype"], norm),
    Rule::over(listed_dims, "aten::norm", &["ScalarOpt_dim", "ScalarOpt_dim_dtype"], norm),
    Rule::over(vectors, "aten::linalg_norm", &[""], norm).only("of vectors"),
    Rule::over(all_but_one, "aten::_weight_norm", &[""], |c| {
        let dtype = c.reduced()?;
        let length = sum_of_squares(c, dtype)?.unary(Unary::Sqrt);
        Ok(c.operand(0, dtype)? * (c.own(1)? / length))
    }),
    Rule { folds: 2, ..Rule::over(pairs, "aten::cosine_similarity", &[""], cosine) }.only("of one shape"),
    Rule { folds: 2, ..Rule::over(last_of_pairs, "aten::pairwise_distance", &[""], distance) }.only("of one shape"),
];

fn listed_dims(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    over_dims_at(call, 2)
}

/// As `linalg_norm` has it: without an order all elements; with one a vector, or the norm of a matrix.
fn vectors(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let listed = call.args.ints(2).map_or(call.shapes()?.0.len(), <[i64]>::len);
    if call.args.number(1).is_some() && listed != 1 {
        return Err("has the norm of a matrix".to_owned());
    }
    over_dims_at(call, 2)
}

/// Over all dimensions but the one that an argument names; over all where it is -1.
fn all_but_one(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    let from = call.shapes()?.0;
    let kept = call.int(2)?;
    let dims: Vec<usize> = (0..from.len()).filter(|&dim| i64::try_from(dim) != Ok(kept)).collect();
    Ok(Footprint::elementwise(from, &dims))
}

/// That both operands have one shape.
pub(super) fn same_shapes(call: &NodeCall<'_>) -> Result<(), Uncovered> {
    let same = call.shape(call.tensor(0)?) == call.shape(call.tensor(1)?);
    if same { Ok(()) } else { Err("has operands of different shapes".to_owned()) }
}

fn pairs(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    same_shapes(call)?;
    over_dims_at(call, 2)
}

fn last_of_pairs(call: &NodeCall<'_>) -> Result<Footprint, Uncovered> {
    same_shapes(call)?;
    let (from, to) = call.shapes()?;
    let last = from.len().checked_sub(1).ok_or("has no dimensions")?;
    Ok(Footprint::over(from, &[last], to))
}

/// The norm of the order that argument 1 names, 2 where it is absent, of the elements in the result's type.
fn norm<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let order = if c.is_given(1) { c.number(1)? } else { 2.0 };
    of_order(c, order, |x| c.widened(x, c.result))
}

fn of_order<'k>(c: &OpCall<'k>, order: f64, map: impl Fn(Quantity<'k>) -> Emitted<'k>) -> Emitted<'k> {
    let size = |x| Ok(magnitude(map(x)?));
    match order {
        0.0 => c.fold(ReduceOp::Sum, |x| {
            let x = map(x)?;
            Ok(x.compare(Compare::Ne, 0.0).cast(x.dtype()))
        }),
        1.0 => c.fold(ReduceOp::Sum, size),
        2.0 => {
            let square = |x| map(x).map(|x| x * x);
            Ok(c.fold(ReduceOp::Sum, square)?.unary(Unary::Sqrt))
        }
        f64::INFINITY => c.fold(ReduceOp::Max, size),
        f64::NEG_INFINITY => c.fold(ReduceOp::Min, size),
        _ => {
            let powers = c.fold(ReduceOp::Sum, |x| Ok(size(x)?.binary(Binary::Pow, order)))?;
            Ok(powers.binary(Binary::Pow, 1.0 / order))
        }
    }
}

/// Both operands divided by their lengths, multiplied and added up; rounded wherever eager stores a tensor.
fn cosine<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let eps = c.number(3)?;
    let unit = |tensor: usize| {
        let x = c.widened(c.element(tensor)?, c.result)?;
        let length = c.stored(c.reduction(ReduceOp::Sum, x * x)?.unary(Unary::Sqrt))?.max(eps);
        c.stored(x / c.stored(length)?)
    };
    let product = c.stored(unit(0)? * unit(1)?)?;
    c.reduction(ReduceOp::Sum, product)
}

/// The norm of `x1 - x2 + eps`.
fn distance<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    if !c.result.is_float() {
        return Err(format!("has a result of type {}", c.result));
    }
    let eps = c.number(3)?;
    let other = c.widened(c.element(1)?, c.result)?;
    of_order(c, c.number(2)?, |x| {
        let difference = c.stored(c.widened(x, c.result)? - other)?;
        c.stored(difference + eps)
    })
}
