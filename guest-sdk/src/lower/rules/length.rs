//! Norms of vectors, and what is divided by them.

use super::super::call::{Emitted, OpCall, Uncovered};
use super::super::quantity::Quantity;
use super::Rule;
use super::classification::magnitude;
use super::reduction::{Footprint, all_dims, over_dims_at, shapes, sum_of_squares};
use crate::args::Args;
use passhost_ir::kernel::{Binary, Compare, ReduceOp, Unary};
use passhost_ir::{Dtype, Graph, Node};

pub(super) const RULES: &[Rule] = &[
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

fn listed_dims(graph: &Graph, node: &Node, output: usize) -> Result<Footprint, Uncovered> {
    over_dims_at(graph, node, output, 2)
}

/// As `linalg_norm` has it: without an order all elements; with one a vector, or the norm of a matrix.
fn vectors(graph: &Graph, node: &Node, output: usize) -> Result<Footprint, Uncovered> {
    let (from, _) = shapes(graph, node, output)?;
    let args = Args::of(node);
    let listed = args.ints(2).map_or(from.len(), <[i64]>::len);
    if args.number(1).is_some() && listed != 1 {
        return Err("has the norm of a matrix".to_owned());
    }
    over_dims_at(graph, node, output, 2)
}

/// Over all dimensions but the one that an argument names; over all where it is -1.
fn all_but_one(graph: &Graph, node: &Node, output: usize) -> Result<Footprint, Uncovered> {
    let (from, _) = shapes(graph, node, output)?;
    let kept = Args::of(node).int(2).ok_or("has no dimension")?;
    let dims: Vec<usize> = (0..from.len()).filter(|&dim| i64::try_from(dim) != Ok(kept)).collect();
    Ok(Footprint::elementwise(from, &dims))
}

/// That both operands have one shape, which is that of the first.
pub(super) fn same_shapes(graph: &Graph, args: Args<'_>) -> Result<(), Uncovered> {
    let shape = |place: usize| args.tensor(place).map(|operand| &graph.ty(operand).shape);
    if shape(0) == shape(1) { Ok(()) } else { Err("has operands of different shapes".to_owned()) }
}

fn pairs(graph: &Graph, node: &Node, output: usize) -> Result<Footprint, Uncovered> {
    same_shapes(graph, Args::of(node))?;
    over_dims_at(graph, node, output, 2)
}

fn last_of_pairs(graph: &Graph, node: &Node, output: usize) -> Result<Footprint, Uncovered> {
    same_shapes(graph, Args::of(node))?;
    let (from, to) = shapes(graph, node, output)?;
    let last = from.len().checked_sub(1).ok_or("has no dimensions")?;
    Ok(Footprint::over(from, &[last], to))
}

/// The norm of the order that argument 1 names, 2 where it is absent, of the elements in the result's type.
fn norm<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    let order = if c.is_given(1) { c.number(1)? } else { 2.0 };
    of_order(c, order, |x| c.widened(x, c.result))
}

fn of_order<'k>(c: &OpCall<'k>, order: f64, map: impl Fn(Quantity<'k>) -> Emitted<'k>) -> Emitted<'k> {
    let sizes = |x| Ok(magnitude(map(x)?));
    if order == 0.0 {
        return c.fold(ReduceOp::Sum, |x| {
            let x = map(x)?;
            Ok(x.compare(Compare::Ne, 0.0).cast(x.dtype()))
        });
    }
    if order == 1.0 {
        return c.fold(ReduceOp::Sum, sizes);
    }
    if order == f64::INFINITY {
        return c.fold(ReduceOp::Max, sizes);
    }
    if order == f64::NEG_INFINITY {
        return c.fold(ReduceOp::Min, sizes);
    }
    let powers = c.fold(ReduceOp::Sum, |x| {
        let x = map(x)?;
        Ok(if order == 2.0 { x * x } else { magnitude(x).binary(Binary::Pow, order) })
    })?;
    Ok(if order == 2.0 { powers.unary(Unary::Sqrt) } else { powers.binary(Binary::Pow, 1.0 / order) })
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
    if c.result == Dtype::Bool || !c.result.is_float() {
        return Err(format!("has a result of type {}", c.result));
    }
    let eps = c.number(3)?;
    let other = c.widened(c.element(1)?, c.result)?;
    of_order(c, c.number(2)?, |x| {
        let difference = c.stored(c.widened(x, c.result)? - other)?;
        c.stored(difference + eps)
    })
}
