//! What the lowering makes of a node: a rule that calculates, a map of indices, or a sum.

use super::LowerError;
use super::contraction::{self, Contraction};
use super::moves::{self, Move};
use super::resample::{self, Resample, Resampled};
use super::rules::{self, Align, Footprint, Rule};
use crate::index::Index;
use crate::view;
use passhost_ir::{Graph, Node, NodeKind, OpName, numel};

/// Of sliding windows, at most this many elements are taken one by one.
const LISTED_WINDOW: u64 = 16;

/// How an element of a node's result comes about.
pub(super) enum Recipe {
    /// It is calculated from elements, or from rows of elements.
    Rule(&'static Rule),
    /// It is an element of another tensor.
    Move(Move),
    /// It is a weighted sum of elements around a place.
    Resample(Resample),
    /// It is a sum of products.
    Contraction(Contraction),
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
        let found = Recipe::find(graph, node, op)?;
        match complex {
            Some(complex) => Err(not_covered(format!("works on {complex}, which kernels do not calculate in"))),
            None => Ok(found),
        }
    }

    fn find(graph: &Graph, node: &Node, op: &OpName) -> Result<Recipe, LowerError> {
        let not_covered = |reason: String| LowerError::NotCovered { op: op.to_string(), reason };
        if let Some(found) = moves::find(graph, node) {
            return found.map(Recipe::Move).map_err(not_covered);
        }
        if let Some(found) = resample::find(graph, node) {
            return Ok(match found.map_err(not_covered)? {
                Resampled::Move(found) => Recipe::Move(found),
                Resampled::Sums(resample) => Recipe::Resample(resample),
            });
        }
        if let Some(found) = contraction::find(graph, node) {
            return found.map(Recipe::Contraction).map_err(not_covered);
        }
        let rule = if view::identity(graph, node).is_some() { None } else { rules::find(op) };
        let rule = rule.ok_or_else(|| LowerError::NoLowering(op.to_string()))?;
        if rule.footprint.is_none() && node.outputs.len() != 1 {
            return Err(not_covered("has several results".to_owned()));
        }
        Ok(Recipe::Rule(rule))
    }

    /// Whether it calculates, without reducing, tens of instructions per element: repeating that counts.
    pub(super) fn is_repeated_at_a_cost(&self) -> bool {
        match self {
            Recipe::Rule(rule) => rule.costly && rule.footprint.is_none() && rule.align == Align::Broadcast,
            Recipe::Resample(_) => true,
            // A product by itself is no more than a multiplication.
            Recipe::Contraction(contraction) => numel(&contraction.window) > 1,
            Recipe::Move(_) => false,
        }
    }
}

impl Footprint {
    /// Whether the few elements of each window are taken one by one, so that the op needs no reduce axes.
    pub(super) fn is_listed(&self) -> bool {
        self.slides && numel(&self.window) <= LISTED_WINDOW
    }

    /// What of the window reduce axes go over, and what of it is taken one by one at each of their points: the innermost
    /// dimensions of windows that overlap, so that neighbouring rows read what lies side by side.
    pub(super) fn divided_window(&self) -> (&[i64], &[i64]) {
        let fits = |&at: &usize| numel(&self.window[at..]) <= LISTED_WINDOW;
        let rank = self.window.len();
        let first = match self.slides && self.overlaps() {
            true => (1..rank).find(fits).unwrap_or(rank),
            false => rank,
        };
        self.window.split_at(if self.is_listed() { 0 } else { first })
    }

    /// Whether windows next to each other share elements along the innermost dimension of the window.
    fn overlaps(&self) -> bool {
        let Some((last, &size)) = self.window.iter().enumerate().next_back() else { return false };
        self.at.iter().any(|at| {
            let Some(within) = at.step_along(self.rows.len() + last) else { return false };
            let mut steps = (0..self.rows.len()).filter_map(|row| at.step_along(row));
            steps.any(|step| step.abs() < within.abs() * size)
        })
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
