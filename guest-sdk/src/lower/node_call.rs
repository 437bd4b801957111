//! A call of an op in a graph, as it is looked at before anything of it is emitted.

use super::call::Uncovered;
use crate::args::Args;
use crate::index::Index;
use passhost_ir::dims::wrap;
use passhost_ir::{Graph, Node, TensorType, ValueId};

/// A call of an op, and the result of it that is meant.
#[derive(Clone, Copy)]
pub(crate) struct NodeCall<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) node: &'a Node,
    pub(crate) args: Args<'a>,
    /// The number of the result.
    pub(crate) output: usize,
}

impl<'a> NodeCall<'a> {
    pub(crate) fn of(graph: &'a Graph, node: &'a Node, output: usize) -> NodeCall<'a> {
        NodeCall { graph, node, args: Args::of(node), output }
    }

    /// The type of the result.
    pub(crate) fn result(&self) -> Result<&'a TensorType, Uncovered> {
        Ok(self.graph.ty(*self.node.outputs.get(self.output).ok_or("has no such result")?))
    }

    /// The shape of a tensor.
    pub(crate) fn shape(&self, tensor: ValueId) -> &'a [i64] {
        &self.graph.ty(tensor).shape
    }

    /// The tensor at a place.
    pub(crate) fn tensor(&self, place: usize) -> Result<ValueId, Uncovered> {
        self.args.tensor(place).ok_or_else(|| format!("has no tensor as argument {place}"))
    }

    /// The shapes of the first operand and of the result.
    pub(crate) fn shapes(&self) -> Result<(&'a [i64], &'a [i64]), Uncovered> {
        Ok((self.shape(self.tensor(0)?), &self.result()?.shape))
    }

    /// The first tensor, its shape, and the dimensions of the result as axes.
    pub(crate) fn source(&self) -> Result<(ValueId, &'a [i64], Vec<Index>), Uncovered> {
        let (from, to) = self.shapes()?;
        Ok((self.tensor(0)?, from, Index::axes(to)))
    }

    /// A number.
    pub(crate) fn int(&self, place: usize) -> Result<i64, Uncovered> {
        self.args.int(place).ok_or_else(|| format!("has no integer as argument {place}"))
    }

    /// The dimension that an argument names, of a tensor of this rank.
    pub(crate) fn dim(&self, place: usize, rank: usize) -> Result<usize, Uncovered> {
        let dim = self.int(place)?;
        wrap(dim, rank).ok_or_else(|| format!("names dimension {dim} of {rank}"))
    }

    /// A list of integers.
    pub(crate) fn ints(&self, place: usize) -> Result<&'a [i64], Uncovered> {
        self.args.ints(place).ok_or_else(|| format!("has no list of integers as argument {place}"))
    }

    /// A list of `count` integers; a single one stands for all.
    pub(crate) fn each(&self, place: usize, count: usize) -> Result<Vec<i64>, Uncovered> {
        self.args.ints_each(place, count).ok_or_else(|| format!("has no {count} numbers as argument {place}"))
    }
}
