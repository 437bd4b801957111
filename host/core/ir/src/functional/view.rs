//! What a view shows of the tensor it was made of.

use crate::dims::{permutation, wrap};
use crate::ops::Shows;
use crate::{Arg, Graph, Node, NodeKind, OpRow, TensorType};

/// How a view follows from its tensor.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ViewStep {
    /// Every `step`-th index from `start` to before `end`, as `aten::slice` takes them.
    Slice { dim: i64, start: Option<i64>, end: Option<i64>, step: i64 },
    /// One index of a dimension, which goes.
    Select { dim: i64, index: i64 },
    /// The same dimensions in another order: dimension `i` is dimension `self[i]` of the tensor.
    Permute(Vec<usize>),
    /// The same elements in the same order in another shape.
    Shape,
    /// Elements shown more than once.
    Spread,
    /// Elements picked by address.
    Addressed,
    /// Made by calling the same op again, which is all that is known: diagonals, windows, parts of complex numbers, other bits.
    Other,
}

impl ViewStep {
    /// What output `index` of `node` shows of `from`. `before` says how many indices the outputs before it take where
    /// they follow each other; see [`extent_of_part`].
    pub(super) fn of(program: &Graph, node: &Node, index: usize, from: &TensorType, before: i64) -> ViewStep {
        let Some((shows, args)) = shows(node) else { return ViewStep::Other };
        let rank = from.rank();
        if let Some(dim) = split_dim(shows, args, rank) {
            return match args.get(1) {
                Some(Arg::Ints(bounds)) if shows != Shows::Split => ViewStep::Slice {
                    dim,
                    start: index.checked_sub(1).and_then(|before| bounds.get(before)).copied(),
                    end: bounds.get(index).copied(),
                    step: 1,
                },
                _ => {
                    let extent = extent_of_part(program, node, index).unwrap_or(0);
                    ViewStep::Slice { dim, start: Some(before), end: Some(before.saturating_add(extent)), step: 1 }
                }
            };
        }
        let found = match shows {
            Shows::Slice => int(args, 1).zip(int(args, 4)).map(|(dim, step)| ViewStep::Slice {
                dim,
                start: int(args, 2),
                end: int(args, 3),
                step,
            }),
            Shows::Narrow => narrow(args, from),
            Shows::Select => int(args, 1).zip(int(args, 2)).map(|(dim, index)| ViewStep::Select { dim, index }),
            Shows::Unbind => {
                int(args, 1).zip(i64::try_from(index).ok()).map(|(dim, index)| ViewStep::Select { dim, index })
            }
            Shows::Shape | Shows::Reshaped => Some(ViewStep::Shape),
            Shows::Spread | Shows::SpreadEach => Some(ViewStep::Spread),
            Shows::Addressed => Some(ViewStep::Addressed),
            other => permutation(other, args, rank).map(ViewStep::Permute),
        };
        found.unwrap_or(ViewStep::Other)
    }

    /// Whether writing to the view writes to some elements of the tensor only.
    pub(super) fn is_part(&self) -> bool {
        matches!(self, ViewStep::Slice { .. } | ViewStep::Select { .. })
    }

    /// How many bytes the first element of the view lies behind that of a tensor of type `from`, if that is known.
    pub(super) fn offset(&self, from: &TensorType) -> Option<i64> {
        let size = i64::try_from(from.dtype.size()).ok()?;
        let along = |dim: usize, index: i64| index.checked_mul(from.strides[dim])?.checked_mul(size);
        match self {
            ViewStep::Slice { dim, start, .. } => {
                let dim = wrap(*dim, from.rank())?;
                let extent = from.shape[dim];
                let start = start.unwrap_or(0);
                let start = if start < 0 { start.saturating_add(extent) } else { start };
                along(dim, start.clamp(0, extent))
            }
            ViewStep::Select { dim, index } => {
                let dim = wrap(*dim, from.rank())?;
                along(dim, if *index < 0 { index.saturating_add(from.shape[dim]) } else { *index })
            }
            ViewStep::Permute(_) | ViewStep::Shape | ViewStep::Spread => Some(0),
            ViewStep::Addressed | ViewStep::Other => None,
        }
    }
}

fn shows(node: &Node) -> Option<(Shows, &[Arg])> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    Some((OpRow::of(op)?.shows?, args))
}

fn int(args: &[Arg], position: usize) -> Option<i64> {
    args.get(position)?.as_int()
}

fn narrow(args: &[Arg], from: &TensorType) -> Option<ViewStep> {
    let (dim, start, length) = (int(args, 1)?, int(args, 2)?, int(args, 3)?);
    let extent = from.shape[wrap(dim, from.rank())?];
    let start = if start < 0 { start.checked_add(extent)? } else { start };
    Some(ViewStep::Slice { dim, start: Some(start), end: Some(start.checked_add(length)?), step: 1 })
}

/// How many indices output `index` takes of the dimension along which a node splits its operand, if it does.
pub(super) fn extent_of_part(program: &Graph, node: &Node, index: usize) -> Option<i64> {
    let (shows, args) = shows(node)?;
    let ty = program.ty(*node.outputs.get(index)?);
    Some(ty.shape[wrap(split_dim(shows, args, ty.rank())?, ty.rank())?])
}

/// The dimension along which an op splits a tensor of this rank, if it does.
fn split_dim(shows: Shows, args: &[Arg], rank: usize) -> Option<i64> {
    match shows {
        Shows::Split | Shows::SplitAt => int(args, 2),
        Shows::SplitColumns => Some(if rank == 1 { 0 } else { 1 }),
        Shows::SplitRows => Some(0),
        Shows::SplitDepth => Some(2),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn slice(dim: i64, start: i64, end: i64, step: i64) -> ViewStep {
        ViewStep::Slice { dim, start: Some(start), end: Some(end), step }
    }

    #[test]
    fn steps_follow_from_op_arguments_and_types() {
        // The tensor is f32[4,6] or c64[4,6]; offsets count bytes.
        for (results, call, index, expected, offset) in [
            ("%a: f32[4,2]{6,2}", "aten::slice.Tensor(%x, 1, -5, 5, 2)", 0, slice(1, -5, 5, 2), Some(4)),
            ("%a: f32[4,2]{6,1}", "aten::narrow(%x, 1, -3, 2)", 0, slice(1, 3, 5, 1), Some(12)),
            ("%a: f32[6]", "aten::select.int(%x, 0, -1)", 0, ViewStep::Select { dim: 0, index: -1 }, Some(72)),
            ("%a: f32[4,4]{6,1}, %b: f32[4,2]{6,1}", "aten::split.Tensor(%x, 4, -1)", 1, slice(-1, 4, 6, 1), Some(16)),
            ("%a: f32[2,6], %b: f32[2,6]", "aten::chunk(%x, 2)", 1, slice(0, 2, 4, 1), Some(48)),
            (
                "%a: f32[4,1]{6,1}, %b: f32[4,5]{6,1}",
                "aten::tensor_split.indices(%x, [1], 1)",
                1,
                ViewStep::Slice { dim: 1, start: Some(1), end: None, step: 1 },
                Some(4),
            ),
            (
                "%a: f32[6], %b: f32[6], %c: f32[6], %d: f32[6]",
                "aten::unbind.int(%x)",
                2,
                ViewStep::Select { dim: 0, index: 2 },
                Some(48),
            ),
            ("%a: f32[3]{7}", "aten::diagonal(%x, -1)", 0, ViewStep::Other, None),
            ("%a: f32[6,4]{1,6}", "aten::t(%x)", 0, ViewStep::Permute(vec![1, 0]), Some(0)),
            ("%a: f32[6,4]{1,6}", "aten::movedim.int(%x, -1, 0)", 0, ViewStep::Permute(vec![1, 0]), Some(0)),
            ("%a: f32[4,6]", "aten::permute(%x, [0, 0])", 0, ViewStep::Other, None),
            ("%a: f32[24]", "aten::view(%x, [24])", 0, ViewStep::Shape, Some(0)),
            ("%a: f32[2,4,6]{0,6,1}", "aten::expand(%x, [2, 4, 6])", 0, ViewStep::Spread, Some(0)),
            ("%a: f32[2]", "aten::as_strided(%x, [2], [1], 3)", 0, ViewStep::Addressed, None),
            ("%a: f32[4,6,2]", "aten::view_as_real(%z)", 0, ViewStep::Other, None),
        ] {
            let text = format!("graph(%x: f32[4,6], %z: c64[4,6]) {{\n  {results} = {call}\n  return ()\n}}\n");
            let graph = Graph::parse(&text).unwrap();
            let node = &graph.nodes[0];
            let from = graph.ty(node.operands()[0]);
            let before = (0..index).filter_map(|part| extent_of_part(&graph, node, part)).sum();
            let step = ViewStep::of(&graph, node, index, from, before);
            assert_eq!(step, expected, "{call}");
            assert_eq!(step.offset(from), offset, "{call}");
        }
    }
}
