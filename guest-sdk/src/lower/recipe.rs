//! What the lowering makes of a node: a rule that calculates, or a map of indices.

use super::LowerError;
use super::moves::{self, Move};
use super::rules::{self, Align, Footprint, Rule};
use super::space::tensors;
use crate::args::Args;
use crate::index::Index;
use crate::view;
use passhost_ir::{Graph, Node, NodeKind, ValueId, numel};

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
        let NodeKind::Aten { op, args } = &node.kind else {
            return Err(LowerError::NoLowering("a kernel".to_owned()));
        };
        let not_covered = |reason: String| LowerError::NotCovered { op: op.to_string(), reason };
        let tensors = node.operands().into_iter().chain(node.outputs.iter().copied());
        let complex = tensors.map(|id| graph.ty(id).dtype).find(|dtype| dtype.is_complex());
        let found = if let Some(found) = moves::find(graph, node) {
            Recipe::Move(found.map_err(not_covered)?)
        } else {
            let rule = if view::identity(graph, node).is_some() { None } else { rules::find(op, args) };
            let rule = rule.ok_or_else(|| LowerError::NoLowering(op.to_string()))?;
            if rule.footprint.is_none() && node.outputs.len() != 1 {
                return Err(not_covered("has several results".to_owned()));
            }
            if let Align::At(reads) = rule.align {
                reads(graph, node).map_err(not_covered)?;
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

/// An element that a rule reads for each element of a result.
pub(super) struct Reading {
    /// Which operand of the rule it is.
    pub(super) place: usize,
    /// The tensor.
    pub(super) operand: ValueId,
    /// Where it lies in the tensor, over the dimensions of the result.
    pub(super) coordinates: Vec<Index>,
}

/// What a rule reads for each element of a node's `output`-th result. Operands whose shapes do not fit are left out.
pub(super) fn readings(graph: &Graph, rule: &Rule, node: &Node, output: ValueId) -> Vec<Reading> {
    let NodeKind::Aten { args, .. } = &node.kind else { return vec![] };
    let result = &graph.ty(output).shape;
    if let Align::At(reads) = rule.align {
        let reads = reads(graph, node).unwrap_or_default().into_iter().enumerate();
        let of_argument = |(place, (argument, coordinates)): (usize, (usize, Vec<Index>))| {
            Some(Reading { place, operand: Args::new(args).tensor(argument)?, coordinates })
        };
        return reads.filter_map(of_argument).collect();
    }
    let broadcast = |(place, operand): (usize, ValueId)| {
        let coordinates = match (rule.align, &graph.ty(operand).shape[..], &result[..]) {
            (Align::Channels, &[extent], &[_, channels, ..]) if place > 0 && extent == channels => {
                vec![Index::axis(1, extent)]
            }
            (Align::Channels, shape, _) if place > 0 && numel(shape) != 1 => return None,
            (_, shape, result) => view::broadcast(shape, result)?,
        };
        Some(Reading { place, operand, coordinates })
    };
    tensors(node).filter(|(place, _)| *place < rule.reads).filter_map(broadcast).collect()
}
