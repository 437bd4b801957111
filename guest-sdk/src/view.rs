//! Ops that only rename elements: which element of which tensor an element of their result is.
//!
//! A kernel reads through a view for free, so lowering never stores one.

use crate::args::Args;
use crate::index::Index;
use passhost_ir::dims::{permutation, wrap};
use passhost_ir::ops::{Shows, shows};
use passhost_ir::{Arg, Graph, Node, NodeKind, TensorType, ValueId, numel};

/// A tensor as a map into another: its source, and one coordinate per dimension of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The tensor behind it.
    pub source: ValueId,
    /// Where each element lies in the source, over the dimensions of the result as axes.
    pub coordinates: Vec<Index>,
}

impl View {
    /// The place in the source of the element at `place` of the result.
    pub fn at(&self, place: &[Index]) -> Vec<Index> {
        self.coordinates.iter().map(|coordinate| coordinate.within(place)).collect()
    }
}

/// The coordinates of a tensor of shape `shape` that is broadcast to `result`: aligned on the right, extents of 1
/// stretched. `None` if it does not broadcast.
pub fn broadcast(shape: &[i64], result: &[i64]) -> Option<Vec<Index>> {
    let missing = result.len().checked_sub(shape.len())?;
    let coordinate = |(dim, &extent): (usize, &i64)| match extent {
        1 => Some(Index::constant(0)),
        _ if extent == result[missing + dim] => Some(Index::axis(missing + dim, extent)),
        _ => None,
    };
    shape.iter().enumerate().map(coordinate).collect()
}

/// The operand that `node` returns as it is: same type, same elements, no copy.
pub fn identity(graph: &Graph, node: &Node) -> Option<ValueId> {
    let NodeKind::Aten { op, .. } = &node.kind else { return None };
    identical(graph, node, *shows(&op.name)?)
}

fn identical(graph: &Graph, node: &Node, shows: Shows) -> Option<ValueId> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let args = Args::new(args);
    let source = args.tensor(0)?;
    let [output] = node.outputs[..] else { return None };
    if graph.ty(source) != graph.ty(output) {
        return None;
    }
    let same = match shows {
        Shows::Same | Shows::Spread | Shows::Shape | Shows::Reshaped => true,
        Shows::SameInInference => args.bool(2) == Some(false),
        // `copy` is the only argument that makes a tensor of the same type; its place depends on the overload.
        Shows::Converted => match op.overload.as_str() {
            "" => true,
            "dtype" | "other" => args.bool(3) == Some(false),
            "device" => args.bool(4) == Some(false),
            "dtype_layout" => args.bool(6) == Some(false),
            _ => false,
        },
        _ => false,
    };
    same.then_some(source)
}

/// What `value` is a view of, one step back; `None` if the op that defines it computes or copies.
pub fn step(graph: &Graph, node: &Node, value: ValueId) -> Option<View> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let shows = *shows(&op.name)?;
    let typed = Args::new(args);
    if let Some(sources) = typed.tensors(0) {
        return stretched(graph, node, sources, (shows, value));
    }
    let source = typed.tensor(0)?;
    if graph.ty(source).dtype != graph.ty(value).dtype {
        // `aten::view.dtype`: its elements are bits of the source's, not those elements.
        return None;
    }
    let (from, to) = (graph.ty(source), &graph.ty(value).shape);
    let rank = from.rank();
    let axes = Index::axes(to);
    let view = |coordinates| Some(View { source, coordinates });
    if identical(graph, node, shows).is_some() {
        return view(axes);
    }
    match shows {
        Shows::Spread => view(broadcast(&from.shape, to)?),
        Shows::Shape => view(regroup(&from.shape, to)?),
        Shows::Reshaped => view(regroup(&from.shape, to).filter(|_| !copies(from, to))?),
        Shows::Reversed if rank > 2 => None,
        Shows::Reversed | Shows::SwappedLast | Shows::Swapped | Shows::Permuted | Shows::Moved => {
            let mut coordinates = vec![Index::constant(0); rank];
            for (axis, dim) in axes.into_iter().zip(permutation(shows, args, rank)?) {
                coordinates[dim] = axis;
            }
            view(coordinates)
        }
        _ => view(part(graph, node, (shows, value))?),
    }
}

/// The coordinates in the first tensor of a node of the elements of `value`, which some of them make up.
fn part(graph: &Graph, node: &Node, (shows, value): (Shows, ValueId)) -> Option<Vec<Index>> {
    let NodeKind::Aten { args, .. } = &node.kind else { return None };
    let args = Args::new(args);
    let source = args.tensor(0)?;
    let (from, to) = (graph.ty(source), &graph.ty(value).shape);
    let rank = from.rank();
    let mut coordinates = Index::axes(to);
    match shows {
        Shows::Slice | Shows::Narrow => {
            let dim = wrap(args.int(1)?, rank)?;
            let extent = from.shape[dim];
            let start =
                slice_start(if matches!(args.get(2), Some(Arg::None)) { None } else { Some(args.int(2)?) }, extent);
            let step = if shows == Shows::Slice { args.int(4)? } else { 1 };
            coordinates[dim] = coordinates[dim].times(step).shifted(start);
        }
        Shows::Select | Shows::Unbind => {
            let dim = wrap(args.int(1)?, rank)?;
            let index = match shows {
                Shows::Select => args.int(2)?,
                _ => i64::try_from(node.outputs.iter().position(|&output| output == value)?).ok()?,
            };
            coordinates.insert(dim, Index::constant(if index < 0 { index + from.shape[dim] } else { index }));
        }
        Shows::Split | Shows::SplitAt | Shows::SplitColumns | Shows::SplitRows | Shows::SplitDepth => {
            let dim = match shows {
                Shows::SplitColumns => rank.min(2).checked_sub(1)?,
                Shows::SplitRows => 0,
                Shows::SplitDepth => 2,
                _ => wrap(args.int(2)?, rank)?,
            };
            let parts = node.outputs.iter().take_while(|&&output| output != value);
            let offset = parts.map(|&output| graph.ty(output).shape[dim]).sum();
            coordinates[dim] = coordinates[dim].shifted(offset);
        }
        Shows::Diagonal => {
            let (first, second) = (wrap(args.int(2)?, rank)?, wrap(args.int(3)?, rank)?);
            let offset = args.int(1)?;
            let (kept, along) = coordinates.split_at(rank.checked_sub(2)?);
            let mut kept = kept.iter().cloned();
            let coordinate = |dim: usize| match dim {
                _ if dim == first => along.first().map(|at| at.shifted((-offset).max(0))),
                _ if dim == second => along.first().map(|at| at.shifted(offset.max(0))),
                _ => kept.next(),
            };
            coordinates = (0..rank).map(coordinate).collect::<Option<_>>()?;
        }
        // Strides count in memory, which is known of a dense tensor that nothing else is part of.
        Shows::Addressed if graph.inputs.contains(&source) && from.is_contiguous() && from.numel() > 0 => {
            let steps = coordinates.iter().zip(args.ints(2)?).map(|(axis, &stride)| axis.times(stride));
            let start = Index::constant(args.int(3).unwrap_or(0));
            let place = steps.fold(start, |place, step| place.plus(&step));
            let count = i64::try_from(from.numel()).ok()?;
            coordinates = place.lies_within(count).then(|| place.unravel(&from.shape))?;
        }
        // Windows along a dimension; the position in the window is a new last dimension.
        Shows::Windows => {
            let dim = wrap(args.int(1)?, rank)?;
            let within = coordinates.pop()?;
            coordinates[dim] = coordinates[dim].times(args.int(3)?).plus(&within);
        }
        _ => return None,
    }
    Some(coordinates)
}

/// One of several tensors stretched to a shape that they share.
fn stretched(graph: &Graph, node: &Node, sources: &[ValueId], (shows, value): (Shows, ValueId)) -> Option<View> {
    let NodeKind::Aten { args, .. } = &node.kind else { return None };
    let number = node.outputs.iter().position(|&output| output == value)?;
    let (&source, to) = (sources.get(number)?, &graph.ty(value).shape);
    let from = &graph.ty(source).shape;
    let coordinates = match shows {
        Shows::SpreadEach => broadcast(from, to)?,
        Shows::Mesh => {
            let is_swapped = Args::new(args).text(1) == Some("xy") && sources.len() > 1 && number < 2;
            let dim = if is_swapped { 1 - number } else { number };
            let axis = Index::axis(dim, *to.get(dim)?);
            from.iter().map(|_| axis.clone()).collect()
        }
        _ => return None,
    };
    Some(View { source, coordinates })
}

/// Where a slice of a dimension starts.
pub(crate) fn slice_start(start: Option<i64>, extent: i64) -> i64 {
    let start = start.unwrap_or(0);
    if start < 0 { start + extent } else { start }.clamp(0, extent)
}

/// What `value` is a view of, all the way back to a tensor that was computed, copied or passed in.
pub fn root(graph: &Graph, definitions: &[Option<usize>], value: ValueId) -> View {
    let mut view = View { source: value, coordinates: Index::axes(&graph.ty(value).shape) };
    while let Some(position) = definitions[view.source.index()] {
        let Some(next) = step(graph, &graph.nodes[position], view.source) else { break };
        view = View { source: next.source, coordinates: next.at(&view.coordinates) };
    }
    view
}

/// Whether an op gives the elements of its operand in the same row-major order.
pub(crate) fn is_regroup(op: &str) -> bool {
    matches!(shows(op), Some(Shows::Shape | Shows::Reshaped))
}

/// The coordinates in a tensor of shape `from` of its elements in the shape `to`, row by row.
pub(crate) fn regroup(from: &[i64], to: &[i64]) -> Option<Vec<Index>> {
    if numel(from) != numel(to) {
        return None;
    }
    if numel(from) == 0 {
        // Nothing is ever read: any coordinates do.
        return Some(vec![Index::constant(0); from.len()]);
    }
    Some(Index::ravel(&Index::axes(to), to).unravel(from))
}

/// Whether an op that regroups `from` to the shape `to` makes a copy: where dimensions are merged that do not follow each
/// other in memory.
fn copies(from: &TensorType, to: &[i64]) -> bool {
    if from.is_contiguous() {
        return false;
    }
    let long = |shape: &[i64]| -> Vec<usize> { (0..shape.len()).filter(|&dim| shape[dim] != 1).collect() };
    let (mut sources, mut results) = (long(&from.shape).into_iter().peekable(), long(to).into_iter().peekable());
    // Groups of dimensions with equally many elements stand for each other; within one, the sources must be mergeable.
    while let (Some(source), Some(result)) = (sources.next(), results.next()) {
        let (mut last, mut source_count, mut result_count) = (source, from.shape[source], to[result]);
        while source_count != result_count {
            if source_count < result_count {
                let Some(next) = sources.next() else { return true };
                if from.strides[last] != from.strides[next] * from.shape[next] {
                    return true;
                }
                (last, source_count) = (next, source_count * from.shape[next]);
            } else {
                let Some(next) = results.next() else { return true };
                result_count *= to[next];
            }
        }
    }
    false
}
