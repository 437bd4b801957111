//! Ops that only rename elements: which element of which tensor an element of their result is.
//!
//! A kernel reads through a view for free, so lowering never stores one.

use crate::args::Args;
use passhost_ir::{Arg, Graph, Node, NodeKind, ValueId};

/// Where along one dimension of a source an element lies: `offset + step * position`, the position being that along
/// dimension `dim` of the result, or 0 without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coordinate {
    /// The dimension of the result that moves this coordinate.
    pub dim: Option<usize>,
    /// Source elements per element of the result.
    pub step: i64,
    /// Where it starts.
    pub offset: i64,
}

impl Coordinate {
    /// Follows dimension `dim` one to one.
    pub const fn along(dim: usize) -> Coordinate {
        Coordinate { dim: Some(dim), step: 1, offset: 0 }
    }

    /// Stays at `offset`.
    pub const fn fixed(offset: i64) -> Coordinate {
        Coordinate { dim: None, step: 0, offset }
    }

    /// This coordinate where the dimensions of the result lie at `outer` in yet another tensor.
    pub fn within(self, outer: &[Coordinate]) -> Coordinate {
        match self.dim {
            None => self,
            Some(dim) => {
                let outer = outer[dim];
                Coordinate {
                    dim: outer.dim,
                    step: self.step * outer.step,
                    offset: self.offset + self.step * outer.offset,
                }
            }
        }
    }
}

/// A tensor as a view of another: its source, and one coordinate per dimension of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The tensor behind it.
    pub source: ValueId,
    /// Where each element lies in the source.
    pub coordinates: Vec<Coordinate>,
}

/// The coordinates of a tensor of shape `shape` that is broadcast to `result`: aligned on the right, extents of 1
/// stretched. `None` if it does not broadcast.
pub fn broadcast(shape: &[i64], result: &[i64]) -> Option<Vec<Coordinate>> {
    let missing = result.len().checked_sub(shape.len())?;
    let coordinate = |(dim, &extent): (usize, &i64)| match extent {
        1 => Some(Coordinate::fixed(0)),
        _ if extent == result[missing + dim] => Some(Coordinate::along(missing + dim)),
        _ => None,
    };
    shape.iter().enumerate().map(coordinate).collect()
}

/// The operand that `node` returns as it is: same type, same elements, no copy.
pub fn identity(graph: &Graph, node: &Node) -> Option<ValueId> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let args = Args::new(args);
    let source = args.tensor(0)?;
    let [output] = node.outputs[..] else { return None };
    if graph.ty(source) != graph.ty(output) {
        return None;
    }
    let same = match op.name.as_str() {
        "aten::alias" | "aten::detach" | "aten::positive" => true,
        "aten::dropout" | "aten::feature_dropout" | "aten::alpha_dropout" | "aten::feature_alpha_dropout" => {
            args.bool(2) == Some(false)
        }
        // `copy` is the only argument that makes a tensor of the same type; its place depends on the overload.
        "aten::to" => {
            let copy = match op.overload.as_str() {
                "dtype" | "other" => 3,
                "device" => 4,
                "dtype_layout" => 6,
                _ => return None,
            };
            args.bool(copy) == Some(false)
        }
        "aten::type_as" | "aten::contiguous" => true,
        "aten::expand" | "aten::expand_as" | "aten::broadcast_to" | "aten::view" | "aten::reshape" => true,
        _ => false,
    };
    same.then_some(source)
}

/// What `value` is a view of, one step back; `None` if the op that defines it computes or copies.
pub fn step(graph: &Graph, node: &Node, value: ValueId) -> Option<View> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let args = Args::new(args);
    let source = args.tensor(0)?;
    let (from, to) = (&graph.ty(source).shape, &graph.ty(value).shape);
    let view = |coordinates| Some(View { source, coordinates });
    if identity(graph, node).is_some() {
        return view((0..from.len()).map(Coordinate::along).collect());
    }
    match op.name.as_str() {
        "aten::expand" | "aten::expand_as" | "aten::broadcast_to" => view(broadcast(from, to)?),
        "aten::unsqueeze" | "aten::squeeze" | "aten::view" | "aten::reshape" | "aten::flatten" | "aten::unflatten"
        | "aten::view_as" | "aten::reshape_as" | "aten::_unsafe_view" => view(regroup(from, to)?),
        "aten::permute" => {
            let dims = args.ints(1)?;
            let mut coordinates = vec![Coordinate::fixed(0); from.len()];
            for (position, &dim) in dims.iter().enumerate() {
                *coordinates.get_mut(wrap(dim, from.len())?)? = Coordinate::along(position);
            }
            view(coordinates)
        }
        "aten::transpose" | "aten::t" | "aten::swapaxes" | "aten::swapdims" => {
            let (first, second) = match op.name.as_str() {
                "aten::t" if from.len() < 2 => (0, 0),
                "aten::t" => (0, 1),
                _ => (wrap(args.int(1)?, from.len())?, wrap(args.int(2)?, from.len())?),
            };
            let mut coordinates: Vec<Coordinate> = (0..from.len()).map(Coordinate::along).collect();
            if first != second {
                coordinates.swap(first, second);
            }
            view(coordinates)
        }
        "aten::slice" | "aten::narrow" => {
            let dim = wrap(args.int(1)?, from.len())?;
            let start = if matches!(args.get(2), Some(Arg::None)) { 0 } else { args.int(2)? };
            let start = if start < 0 { start + from[dim] } else { start }.clamp(0, from[dim]);
            let step = if op.name == "aten::slice" { args.int(4)? } else { 1 };
            let mut coordinates: Vec<Coordinate> = (0..from.len()).map(Coordinate::along).collect();
            coordinates[dim] = Coordinate { dim: Some(dim), step, offset: start };
            view(coordinates)
        }
        "aten::select" | "aten::unbind" => {
            let dim = wrap(args.int(1)?, from.len())?;
            let index = match op.name.as_str() {
                "aten::select" => args.int(2)?,
                _ => i64::try_from(node.outputs.iter().position(|&output| output == value)?).ok()?,
            };
            let fixed = Coordinate::fixed(if index < 0 { index + from[dim] } else { index });
            let coordinate = |source: usize| match source.cmp(&dim) {
                std::cmp::Ordering::Less => Coordinate::along(source),
                std::cmp::Ordering::Equal => fixed,
                std::cmp::Ordering::Greater => Coordinate::along(source - 1),
            };
            view((0..from.len()).map(coordinate).collect())
        }
        "aten::chunk" | "aten::split" | "aten::split_with_sizes" => {
            let dim = wrap(args.int(2)?, from.len())?;
            let parts = node.outputs.iter().take_while(|&&output| output != value);
            let offset = parts.map(|&output| graph.ty(output).shape[dim]).sum();
            let mut coordinates: Vec<Coordinate> = (0..from.len()).map(Coordinate::along).collect();
            coordinates[dim] = Coordinate { dim: Some(dim), step: 1, offset };
            view(coordinates)
        }
        _ => None,
    }
}

/// What `value` is a view of, all the way back to a tensor that was computed, copied or passed in.
pub fn root(graph: &Graph, definitions: &[Option<usize>], value: ValueId) -> View {
    let along = (0..graph.ty(value).rank()).map(Coordinate::along).collect();
    let mut view = View { source: value, coordinates: along };
    while let Some(position) = definitions[view.source.index()] {
        let Some(next) = step(graph, &graph.nodes[position], view.source) else { break };
        let coordinates = next.coordinates.iter().map(|coordinate| coordinate.within(&view.coordinates)).collect();
        view = View { source: next.source, coordinates };
    }
    view
}

/// A reshape that only adds and drops dimensions of extent 1.
fn regroup(from: &[i64], to: &[i64]) -> Option<Vec<Coordinate>> {
    let mut long = to.iter().enumerate().filter(|&(_, &extent)| extent != 1);
    let mut coordinates = Vec::new();
    for &extent in from {
        coordinates.push(match extent {
            1 => Coordinate::fixed(0),
            _ => match long.next() {
                Some((dim, &found)) if found == extent => Coordinate::along(dim),
                _ => return None,
            },
        });
    }
    long.next().is_none().then_some(coordinates)
}

fn wrap(dim: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let dim = if dim < 0 { dim + rank } else { dim };
    (0..rank).contains(&dim).then(|| usize::try_from(dim).ok()).flatten()
}
