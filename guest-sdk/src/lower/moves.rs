//! Ops that copy elements to other places: index maps, like views, but their results are tensors of their own.

mod gathers;
mod joins;
mod maps;
mod pads;

use super::call::Uncovered;
use super::only::Only;
use crate::args::Args;
use crate::index::Index;
use crate::view::{self, View};
use passhost_ir::kernel::Scalar;
use passhost_ir::{Arg, Dtype, Graph, Node, OpName, TensorType, ValueId};

/// How a copying op finds an element of its result.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Move {
    /// In one tensor, at other coordinates.
    Map(View),
    /// In one of several tensors that follow each other along a dimension of the result. Each has its elements at
    /// `coordinates`, with the dimension counted from where it starts.
    Join {
        /// The dimension of the result.
        dim: usize,
        /// Where each part starts and ends along it.
        parts: Vec<JoinedPart>,
    },
    /// In one tensor, or elsewhere.
    Guarded {
        /// The tensor and the coordinates, which may lie outside.
        view: View,
        /// What must hold besides, over the dimensions of the result.
        guard: IndexGuard,
        /// What the element is where the coordinates lie outside or the guard does not hold.
        otherwise: Otherwise,
    },
}

/// Indices that must lie from 0 to below an extent.
pub(super) type IndexGuard = Vec<(Index, i64)>;

/// See [`Move::Guarded`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Otherwise {
    /// A constant.
    Constant(Scalar),
    /// An element of another tensor.
    Element(View),
}

/// One of several tensors behind each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JoinedPart {
    /// The tensor, with coordinates over the result.
    pub(super) view: View,
    /// The first position along the dimension that is not this part's any more.
    pub(super) end: i64,
}

impl Move {
    /// The tensors that it takes elements from, and where.
    pub(super) fn views(&self) -> Vec<&View> {
        match self {
            Move::Map(view) | Move::Guarded { view, otherwise: Otherwise::Constant(_), .. } => vec![view],
            Move::Guarded { view, otherwise: Otherwise::Element(base), .. } => vec![view, base],
            Move::Join { parts, .. } => parts.iter().map(|part| &part.view).collect(),
        }
    }

    /// The tensors that say which elements it takes.
    pub(super) fn indices(&self) -> Vec<ValueId> {
        self.views().into_iter().flat_map(|view| &view.coordinates).flat_map(Index::tensors_read).collect()
    }
}

/// A call of an op that copies.
struct MoveCall<'a> {
    graph: &'a Graph,
    args: Args<'a>,
    result: &'a TensorType,
}

impl<'a> MoveCall<'a> {
    /// The tensor at a place.
    fn tensor(&self, place: usize) -> Result<ValueId, Uncovered> {
        self.args.tensor(place).ok_or_else(|| format!("has no tensor as argument {place}"))
    }

    /// The first tensor, its shape, and the dimensions of the result as axes.
    fn source(&self) -> Result<(ValueId, &'a [i64], Vec<Index>), Uncovered> {
        let source = self.tensor(0)?;
        Ok((source, &self.graph.ty(source).shape, Index::axes(&self.result.shape)))
    }

    /// A number.
    fn int(&self, place: usize) -> Result<i64, Uncovered> {
        self.args.int(place).ok_or_else(|| format!("has no integer as argument {place}"))
    }

    /// The dimension that an argument names, of a tensor of this rank.
    fn dim(&self, place: usize, rank: usize) -> Result<usize, Uncovered> {
        let dim = self.int(place)?;
        passhost_ir::dims::wrap(dim, rank).ok_or_else(|| format!("names dimension {dim} of {rank}"))
    }

    /// A list of integers.
    fn ints(&self, place: usize) -> Result<&'a [i64], Uncovered> {
        self.args.ints(place).ok_or_else(|| format!("has no list of integers as argument {place}"))
    }
}

/// An op that copies.
pub(super) struct MoveOp {
    pub(super) name: &'static str,
    pub(super) overloads: &'static [&'static str],
    /// What calls must be like.
    pub(super) only: Only,
    find: fn(&MoveCall<'_>) -> Result<Move, Uncovered>,
}

impl MoveOp {
    /// Whether it is this op and this overload.
    pub(super) fn covers(&self, op: &OpName) -> bool {
        self.name == op.name && self.overloads.contains(&op.overload.as_str())
    }

    const fn of(
        name: &'static str,
        overloads: &'static [&'static str],
        find: fn(&MoveCall<'_>) -> Result<Move, Uncovered>,
    ) -> MoveOp {
        MoveOp { name, overloads, only: Only::NOTHING, find }
    }

    const fn new(name: &'static str, find: fn(&MoveCall<'_>) -> Result<Move, Uncovered>) -> MoveOp {
        MoveOp::of(name, &[""], find)
    }
}

pub(super) const MOVES: &[&[MoveOp]] = &[maps::OPS, joins::OPS, pads::OPS];
pub(super) const GATHERS: &[&[MoveOp]] = &[gathers::OPS];

/// The index map of a call of an op; `None` where it is a view, an error where the call is not covered.
pub(super) fn find(graph: &Graph, node: &Node, op: &MoveOp, args: &[Arg]) -> Option<Result<Move, Uncovered>> {
    let [output] = node.outputs[..] else { return None };
    if view::step(graph, node, output).is_some() {
        return None;
    }
    let site = MoveCall { graph, args: Args::new(args), result: graph.ty(output) };
    Some((op.find)(&site))
}

/// A number as an element of a type; integers wrap.
pub(super) fn literal(dtype: Dtype, value: f64) -> Scalar {
    match dtype {
        Dtype::Bool => Scalar::Bool(value != 0.0),
        Dtype::U8 => Scalar::Int(i64::from(value as i64 as u8)),
        Dtype::I8 => Scalar::Int(i64::from(value as i64 as i8)),
        Dtype::I16 => Scalar::Int(i64::from(value as i64 as i16)),
        Dtype::I32 => Scalar::Int(i64::from(value as i64 as i32)),
        Dtype::I64 => Scalar::Int(value as i64),
        _ => Scalar::Float(value),
    }
}
