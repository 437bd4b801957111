//! What the lowering makes of a node: a rule that calculates, a map of indices, or a sum.

use super::LowerError;
use super::call::Uncovered;
use super::contraction::{self, Contraction};
use super::group::{Family, Group};
use super::moves::{self, Move};
use super::resample::{self, Resample, Resampled};
use super::rules::{self, Align, Footprint, Rule};
use crate::args::Args;
use crate::index::Index;
use crate::view;
use passhost_ir::{Arg, Graph, Node, NodeKind, OpName, ValueId, numel};

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
    /// Of a node, by the rules of some groups; an error names the op and why there is none.
    pub(super) fn of(graph: &Graph, node: &Node, groups: &[Group]) -> Result<Recipe, LowerError> {
        let NodeKind::Aten { op, args } = &node.kind else {
            return Err(LowerError::NoLowering("a kernel".to_owned()));
        };
        let not_covered = |reason: String| LowerError::NotCovered(op.to_string(), reason);
        let tensors = args.iter().flat_map(Arg::values).chain(&node.outputs);
        let complex = tensors.map(|&id| graph.ty(id).dtype).find(|dtype| dtype.is_complex());
        let found = Recipe::find(graph, node, groups, (op, args))?;
        match complex {
            Some(complex) => Err(not_covered(format!("works on {complex}, which kernels do not calculate in"))),
            None => Ok(found),
        }
    }

    fn find(graph: &Graph, node: &Node, groups: &[Group], (op, args): (&OpName, &[Arg])) -> Result<Recipe, LowerError> {
        let name = rules::meant(&op.name);
        // By the first table that has the op; some calls of it need no lowering.
        let found = groups.iter().find_map(|group| match group.family {
            Family::Rules(tables) => {
                let applies = |rule: &&Rule| rule.covers(name, &op.overload) && (rule.applies)(Args::new(args));
                let rule = tables.iter().copied().flatten().find(applies)?;
                Some(view::identity(graph, node).is_none().then(|| Recipe::of_rule(graph, node, rule)))
            }
            Family::Moves(tables) => {
                let known = tables.iter().copied().flatten().find(|known| known.covers(op))?;
                Some(moves::find(graph, node, known, args).map(|found| found.map(Recipe::Move)))
            }
            Family::Resampling(table) => {
                let known = table.iter().find(|known| known.name == op.name)?;
                let found = resample::find(graph, node, known, (op, args));
                Some(Some(found.map(|found| match found {
                    Resampled::Move(found) => Recipe::Move(found),
                    Resampled::Sums(resample) => Recipe::Resample(resample),
                })))
            }
            Family::Products(tables) => {
                let known = tables.iter().copied().flatten().find(|known| known.covers(op))?;
                Some(Some(contraction::find(graph, node, known).map(Recipe::Contraction)))
            }
        });
        let found = found.flatten().ok_or_else(|| LowerError::NoLowering(op.to_string()))?;
        found.map_err(|reason| LowerError::NotCovered(op.to_string(), reason))
    }

    fn of_rule(graph: &Graph, node: &Node, rule: &'static Rule) -> Result<Recipe, Uncovered> {
        if rule.footprint.is_none() && node.outputs.len() != 1 {
            return Err("has several results".to_owned());
        }
        if let Align::At(reads) = rule.align {
            reads(graph, node)?;
        }
        Ok(Recipe::Rule(rule))
    }

    /// Whether it reduces, normalises or adds up products.
    pub(super) fn is_reduction(&self) -> bool {
        match self {
            Recipe::Rule(rule) => rule.footprint.is_some() || matches!(rule.align, Align::Channels),
            Recipe::Contraction(_) => true,
            Recipe::Move(_) | Recipe::Resample(_) => false,
        }
    }

    /// Whether it calculates, without reducing, tens of instructions per element: repeating that counts.
    pub(super) fn is_repeated_at_a_cost(&self) -> bool {
        match self {
            Recipe::Rule(rule) => rule.costly && rule.footprint.is_none() && matches!(rule.align, Align::Broadcast),
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

/// Whether a node is a matrix product or convolution that a kernel does about as fast as a library: its result depends on
/// few products for each element that is read and written, and one side of the product is short, as in a depthwise
/// convolution or a product with a vector.
///
/// [`region`](super::region) lowers every such op, large ones too.
pub fn is_small_contraction(graph: &Graph, node: &Node) -> bool {
    let recipe = Recipe::of(graph, node, &[Group::PRODUCTS]);
    matches!(recipe, Ok(Recipe::Contraction(contraction)) if contraction.is_small(graph))
}

/// An element that a rule reads for each element of a result.
pub(super) struct RuleReading {
    /// Which operand of the rule it is.
    pub(super) place: usize,
    /// The tensor.
    pub(super) operand: ValueId,
    /// Where it lies in the tensor, over the dimensions of the result.
    pub(super) coordinates: Vec<Index>,
}

/// What a rule reads for each element of a node's `output`-th result. Operands whose shapes do not fit are left out.
pub(super) fn readings(graph: &Graph, rule: &Rule, node: &Node, output: ValueId) -> Vec<RuleReading> {
    let NodeKind::Aten { args, .. } = &node.kind else { return vec![] };
    let result = &graph.ty(output).shape;
    if let Align::At(reads) = rule.align {
        let reads = reads(graph, node).unwrap_or_default().into_iter().enumerate();
        let of_argument = |(place, (argument, coordinates)): (usize, (usize, Vec<Index>))| {
            Some(RuleReading { place, operand: Args::new(args).tensor(argument)?, coordinates })
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
        Some(RuleReading { place, operand, coordinates })
    };
    Args::of(node).single_tensors().filter(|(place, _)| *place < rule.reads).filter_map(broadcast).collect()
}
