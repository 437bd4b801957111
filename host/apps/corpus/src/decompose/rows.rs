//! What a reduction or a normalisation goes over: how many rows, and how long they are.

use super::class::plain_name;
use passhost_ir::ops::Class;
use passhost_ir::{Arg, Graph, Node, NodeKind, OpTable, numel};

/// The rows of a reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rows {
    /// How many.
    pub(super) count: u64,
    /// Elements of each.
    pub(super) length: u64,
    /// Shape of what is reduced.
    shape: Vec<i64>,
    /// The dimensions that are reduced, if they are given.
    dims: Option<Vec<usize>>,
}

impl Rows {
    /// Those that a node goes over; `None` where they cannot be told.
    pub(super) fn of(graph: &Graph, node: &Node, class: Class) -> Option<Rows> {
        let NodeKind::Aten { op, args } = &node.kind else { return None };
        let schema = OpTable::sample().get(op)?;
        let argument = |name: &str| schema.position(name).and_then(|position| args.get(position));
        let source = graph.ty(*node.operands().first()?);
        let shape = source.shape.clone();
        let rank = shape.len();
        let elements = source.numel();
        let result = graph.ty(*node.outputs.first()?).numel();
        let wrap =
            |dim: i64| usize::try_from(if dim < 0 { dim + rank as i64 } else { dim }).ok().filter(|&dim| dim < rank);
        let listed = match argument("dim").or_else(|| argument("dims")) {
            Some(Arg::Int(dim)) => Some(vec![*dim]),
            Some(Arg::Ints(dims)) if !dims.is_empty() => Some(dims.clone()),
            _ => None,
        };
        let mut dims: Option<Vec<usize>> = listed.and_then(|dims| dims.into_iter().map(wrap).collect());
        let length = match (class, argument("kernel_size"), argument("normalized_shape"), plain_name(op)) {
            // Windows may overlap.
            (_, Some(Arg::Ints(window)), _, _) => numel(window),
            (_, _, Some(Arg::Ints(normalised)), _) => {
                dims = Some((rank.saturating_sub(normalised.len())..rank).collect());
                numel(normalised)
            }
            (_, _, _, "group_norm" | "native_group_norm") => {
                let groups = argument("num_groups").or_else(|| argument("group"));
                let Some(Arg::Int(groups)) = groups else { return None };
                numel(shape.get(1..)?).checked_div(u64::try_from(*groups).ok()?)?
            }
            (_, _, _, "instance_norm") => numel(shape.get(2..)?),
            // All but one dimension.
            (_, _, _, "_weight_norm") => {
                let kept = dims.take()?;
                dims = Some((0..rank).filter(|dim| !kept.contains(dim)).collect());
                elements.checked_div(kept.iter().map(|&dim| shape[dim].unsigned_abs()).product())?
            }
            (Class::Reduction, ..) => elements.checked_div(result)?,
            _ => dims.as_ref()?.iter().map(|&dim| shape[dim].unsigned_abs()).product(),
        };
        let count = if class == Class::Reduction { result } else { elements.checked_div(length)? };
        if let Some(dims) = &mut dims {
            dims.sort_unstable();
        }
        Some(Rows { count, length, shape, dims })
    }

    /// Points of the space: elements of all rows.
    pub(super) fn points(&self) -> u64 {
        self.count.saturating_mul(self.length)
    }

    /// Whether one kernel can do both: as many rows of the same length and, where both reduce tensors of one shape, along
    /// the same dimensions.
    pub(super) fn fits(&self, other: &Rows) -> bool {
        let same_dims = || match (&self.dims, &other.dims) {
            (Some(a), Some(b)) if self.shape == other.shape => a == b,
            _ => true,
        };
        self.count == other.count && self.length == other.length && same_dims()
    }
}
