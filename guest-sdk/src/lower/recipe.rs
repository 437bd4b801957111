//! What the lowering makes of a node: a rule that calculates, or a map of indices.

use super::LowerError;
use super::moves::{self, Move};
use super::rules::{self, Align, Footprint, Rule};
use crate::index::Index;
use crate::view;
use passhost_ir::{Graph, Node, NodeKind};

/// Sliding windows of at most this many elements are taken element by element, without reduce axes.
const LISTED_WINDOW: u64 = 16;

/// How an element of a node's result comes about.
pub(super) enum Recipe {
    /// It is calculated from elements, or from rows of elements.
    Rule(&'static Rule),
    /// It is an element of another tensor.
    Move(Move),
}

impl Recipe {
    /// Of a node; an error names the op and why there is none.
    pub(super) fn of(graph: &Graph, node: &Node) -> Result<Recipe, LowerError> {
        let NodeKind::Aten { op, .. } = &node.kind else {
            return Err(LowerError::NoLowering("a kernel".to_owned()));
        };
        let not_covered = |reason: String| LowerError::NotCovered { op: op.to_string(), reason };
        let tensors = node.operands().into_iter().chain(node.outputs.iter().copied());
        let complex = tensors.map(|id| graph.ty(id).dtype).find(|dtype| dtype.is_complex());
        let found = if let Some(found) = moves::find(graph, node) {
            Recipe::Move(found.map_err(not_covered)?)
        } else {
            let rule = if view::identity(graph, node).is_some() { None } else { rules::find(op) };
            let rule = rule.ok_or_else(|| LowerError::NoLowering(op.to_string()))?;
            if rule.footprint.is_none() && node.outputs.len() != 1 {
                return Err(not_covered("has several results".to_owned()));
            }
            Recipe::Rule(rule)
        };
        match complex {
            Some(complex) => Err(not_covered(format!("works on {complex}, which kernels do not calculate in"))),
            None => Ok(found),
        }
    }

    /// Whether it calculates, without reducing, tens of instructions per element: repeating that counts.
    pub(super) fn is_repeated_at_a_cost(&self) -> bool {
        matches!(self, Recipe::Rule(Rule { costly: true, footprint: None, align: Align::Broadcast, .. }))
    }
}

impl Footprint {
    /// Whether the few elements of each window are taken one by one, so that the op needs no reduce axes.
    pub(super) fn is_listed(&self) -> bool {
        self.slides && passhost_ir::numel(&self.window) <= LISTED_WINDOW
    }
}

/// The coordinates of an operand of a rule over its result's dimensions; `None` if the shapes do not fit.
pub(super) fn operand_coordinates(rule: &Rule, place: usize, shape: &[i64], result: &[i64]) -> Option<Vec<Index>> {
    match rule.align {
        Align::Channels if place > 0 => match (shape, result) {
            (&[extent], &[_, channels, ..]) if extent == channels => Some(vec![Index::axis(1, extent)]),
            _ => None,
        },
        Align::Channels | Align::Broadcast => view::broadcast(shape, result),
    }
}
