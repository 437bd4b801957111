//! Ops that copy elements to other places: index maps, like views, but their results are tensors of their own.

use super::call::Uncovered;
use crate::args::Args;
use crate::index::Index;
use crate::view::{self, View};
use passhost_ir::dims::wrap;
use passhost_ir::kernel::Scalar;
use passhost_ir::{Arg, Dtype, Graph, Node, NodeKind, ValueId};

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
        parts: Vec<Part>,
    },
    /// In one tensor, or nowhere: then it is a constant.
    Pad {
        /// The tensor and the coordinates, which may lie outside.
        view: View,
        /// What lies outside.
        value: Scalar,
    },
}

/// One of several tensors behind each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// The tensor, with coordinates over the result.
    pub(super) view: View,
    /// The first position along the dimension that is not this part's any more.
    pub(super) end: i64,
}

const NAMES: [&str; 16] = [
    "aten::cat",
    "aten::concat",
    "aten::concatenate",
    "aten::stack",
    "aten::constant_pad_nd",
    "aten::pad",
    "aten::roll",
    "aten::flip",
    "aten::repeat",
    "aten::tile",
    "aten::repeat_interleave",
    "aten::reshape",
    "aten::reshape_as",
    "aten::flatten",
    "aten::pixel_shuffle",
    "aten::pixel_unshuffle",
];

/// The ops that only move elements, by name, sorted.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    names.sort();
    names
}

/// The index map of a copying op; `None` for other ops, an error where the call is not covered.
pub(super) fn find(graph: &Graph, node: &Node) -> Option<Result<Move, Uncovered>> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let [output] = node.outputs[..] else { return None };
    if !NAMES.contains(&op.name.as_str()) || view::step(graph, node, output).is_some() {
        return None;
    }
    let arguments = || "has arguments that the index map does not cover".to_owned();
    Some(match op.name.as_str() {
        "aten::cat" | "aten::concat" | "aten::concatenate" | "aten::stack" => join(graph, args, output, &op.name),
        "aten::constant_pad_nd" | "aten::pad" => pad(graph, args, output, &op.name),
        name => map(graph, name, op.overload.as_str(), args, output).map(Move::Map).ok_or_else(arguments),
    })
}

fn map(graph: &Graph, name: &str, overload: &str, args: &[Arg], output: ValueId) -> Option<View> {
    let args = Args::new(args);
    let source = args.tensor(0)?;
    let (from, to) = (&graph.ty(source).shape, &graph.ty(output).shape);
    let axes = Index::axes(to);
    let coordinates = match name {
        "aten::roll" => roll(args, from, axes)?,
        "aten::flip" => {
            let mut coordinates = axes;
            for &dim in args.ints(1)? {
                let dim = wrap(dim, from.len())?;
                coordinates[dim] = coordinates[dim].times(-1).shifted(from[dim] - 1);
            }
            coordinates
        }
        "aten::repeat" | "aten::tile" => {
            let missing = to.len() - from.len();
            from.iter().zip(&axes[missing..]).map(|(&extent, axis)| axis.rem(extent.max(1))).collect()
        }
        "aten::repeat_interleave" if overload == "self_int" => {
            let dim = wrap(args.int(2)?, from.len())?;
            let mut coordinates = axes;
            coordinates[dim] = coordinates[dim].div(args.int(1).filter(|&count| count > 0)?);
            coordinates
        }
        "aten::pixel_shuffle" => shuffle(axes, args.int(1)?),
        "aten::pixel_unshuffle" => unshuffle(axes, args.int(1)?),
        _ if view::is_regroup(name) => view::regroup(from, to)?,
        _ => return None,
    };
    Some(View { source, coordinates })
}

/// Shifts along dimensions, or along the flattened tensor where none are given.
fn roll(args: Args<'_>, shape: &[i64], axes: Vec<Index>) -> Option<Vec<Index>> {
    let (shifts, dims) = (args.ints(1)?, args.ints(2)?);
    let rolled = |at: &Index, shift: i64, extent: i64| at.shifted((-shift).rem_euclid(extent)).rem(extent);
    if passhost_ir::numel(shape) == 0 {
        return Some(axes);
    }
    if dims.is_empty() {
        let &[shift] = shifts else { return None };
        let count = shape.iter().product();
        return Some(rolled(&Index::ravel(&axes, shape), shift, count).unravel(shape));
    }
    let mut coordinates = axes;
    for (&dim, &shift) in dims.iter().zip(shifts) {
        let dim = wrap(dim, shape.len())?;
        coordinates[dim] = rolled(&coordinates[dim], shift, shape[dim]);
    }
    Some(coordinates)
}

/// From [.., C * r * r, H, W] to [.., C, H * r, W * r].
fn shuffle(axes: Vec<Index>, r: i64) -> Vec<Index> {
    let mut place = axes;
    if let [.., c, h, w] = &mut place[..] {
        *c = c.times(r * r).plus(&h.rem(r).times(r)).plus(&w.rem(r));
        (*h, *w) = (h.div(r), w.div(r));
    }
    place
}

/// From [.., C, H * r, W * r] to [.., C * r * r, H, W].
fn unshuffle(axes: Vec<Index>, r: i64) -> Vec<Index> {
    let mut place = axes;
    if let [.., c, h, w] = &mut place[..] {
        *h = h.times(r).plus(&c.div(r).rem(r));
        *w = w.times(r).plus(&c.rem(r));
        *c = c.div(r * r);
    }
    place
}

fn join(graph: &Graph, args: &[Arg], output: ValueId, name: &str) -> Result<Move, Uncovered> {
    let unreadable = || "has no list of tensors and a dimension".to_owned();
    let Some(Arg::Values(tensors)) = args.first() else { return Err(unreadable()) };
    let shape = &graph.ty(output).shape;
    let dim = Args::new(args).int(1).and_then(|dim| wrap(dim, shape.len())).ok_or_else(unreadable)?;
    let mut parts = Vec::new();
    let mut end = 0;
    // Empty tensors add nothing, and torch lets them be of another rank.
    for &source in tensors.iter().filter(|&&tensor| graph.ty(tensor).numel() > 0) {
        let mut coordinates = Index::axes(shape);
        if name == "aten::stack" {
            coordinates.remove(dim);
        } else {
            coordinates[dim] = coordinates[dim].shifted(-end);
        }
        end += if name == "aten::stack" { 1 } else { graph.ty(source).shape[dim] };
        parts.push(Part { view: View { source, coordinates }, end });
    }
    if parts.is_empty() { Err("joins empty tensors only".to_owned()) } else { Ok(Move::Join { dim, parts }) }
}

fn pad(graph: &Graph, args: &[Arg], output: ValueId, name: &str) -> Result<Move, Uncovered> {
    let args = Args::new(args);
    let unreadable = || "has no tensor and amounts to pad".to_owned();
    let value = match name {
        "aten::pad" => match args.text(2) {
            Some("constant") => args.number(3).unwrap_or(0.0),
            mode => return Err(format!("has the mode {mode:?}; constant is covered")),
        },
        _ => args.number(2).ok_or_else(unreadable)?,
    };
    let (source, amounts) = args.tensor(0).zip(args.ints(1)).ok_or_else(unreadable)?;
    let ty = graph.ty(output);
    let mut coordinates = Index::axes(&ty.shape);
    // Pairs of before and after, from the last dimension on.
    for (coordinate, amounts) in coordinates.iter_mut().rev().zip(amounts.chunks(2)) {
        *coordinate = coordinate.shifted(-amounts[0]);
    }
    let value = literal(ty.dtype, value);
    Ok(Move::Pad { view: View { source, coordinates }, value })
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
