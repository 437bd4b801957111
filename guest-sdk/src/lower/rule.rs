//! How ops lower: one [`Rule`] for each, in tables, and what a rule makes of a call.

use super::call::{Emitted, OpCall, Uncovered};
use super::contraction::Contraction;
use super::footprint::Footprint;
use super::moves::Move;
use super::node_call::NodeCall;
use super::only::Only;
use super::resample::Resample;
use crate::args::Args;
use crate::index::Index;
use passhost_ir::numel;
use passhost_ir::ops::{FullName, same};

/// How an op lowers, and what that costs.
pub(crate) struct Rule {
    /// Namespace and name.
    pub(super) name: &'static str,
    /// The overloads it covers.
    pub(super) overloads: &'static [&'static str],
    /// Whether an element takes tens of instructions, so that computing it once per element of a larger tensor counts.
    pub(crate) costly: bool,
    /// The calls it covers, for an op with several rules.
    pub(crate) applies: fn(Args<'_>) -> bool,
    /// What calls must be like, in words.
    pub(super) only: Only,
    /// How many leading arguments the element depends on; tensors behind them lend only their type.
    pub(crate) reads: usize,
    /// Which element of each operand an element of the result reads.
    pub(crate) align: Align,
    /// For an op that reduces: which elements, to which rows.
    pub(crate) footprint: Option<FootprintOf>,
    /// How many leading tensors it reduces together, element by element.
    pub(crate) folds: usize,
    /// It gives what is reduced so far at each element, so that the result is read where its row is gone through.
    pub(crate) scans: bool,
    /// How an element comes about.
    pub(crate) how: How,
}

/// How an element of a result comes about.
#[derive(Clone, Copy)]
pub(crate) enum How {
    /// The rule emits it.
    Emits(Emit),
    /// The call says which element of another tensor it is, or of which it is a weighted sum.
    Found(fn(&NodeCall<'_>) -> Found),
    /// The call says which products it adds up.
    Multiplies(fn(&NodeCall<'_>) -> Result<Contraction, Uncovered>),
}

/// Which element of an operand belongs to an element of the result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Align {
    /// Dimensions are aligned on the right and stretched.
    Broadcast,
    /// The first operand has the result's shape, all others follow its dimension 1.
    Channels,
    /// Each of these reads is an operand of the rule.
    At(ReadsOf),
}

/// What a rule reads for each element of its result: of which arguments, and where over the result's dimensions.
pub(crate) type OperandReads = Result<Vec<(usize, Vec<Index>)>, Uncovered>;

/// What a rule finds of a call.
pub(crate) type Found = Result<Recipe, Uncovered>;

pub(crate) type ReadsOf = fn(&NodeCall<'_>) -> OperandReads;
pub(super) type Emit = for<'k> fn(&OpCall<'k>) -> Emitted<'k>;
type FootprintOf = fn(&NodeCall<'_>) -> Result<Footprint, Uncovered>;

/// How an element of a node's result comes about.
pub(crate) enum Recipe {
    /// It is calculated from elements, or from rows of elements.
    Rule(&'static Rule, Emit),
    /// It is an element of another tensor.
    Move(Move),
    /// It is a weighted sum of elements around a place.
    Resample(Resample),
    /// It is a sum of products.
    Contraction(Contraction),
}

impl Rule {
    /// Whether it is for an op of this name and this overload.
    pub(crate) fn covers(&self, name: &str, overload: &str) -> bool {
        self.name == name && self.overloads.contains(&overload)
    }

    const fn new(name: &'static str, overloads: &'static [&'static str], how: How) -> Rule {
        Rule {
            name,
            overloads,
            costly: false,
            applies: |_| true,
            only: Only::NOTHING,
            reads: usize::MAX,
            align: Align::Broadcast,
            footprint: None,
            folds: 1,
            scans: false,
            how,
        }
    }

    /// A few instructions.
    pub(super) const fn cheap(name: &'static str, overloads: &'static [&'static str], emit: Emit) -> Rule {
        Rule::new(name, overloads, How::Emits(emit))
    }

    /// Divisions, exponentials and the like.
    pub(super) const fn costly(name: &'static str, overloads: &'static [&'static str], emit: Emit) -> Rule {
        Rule { costly: true, ..Rule::cheap(name, overloads, emit) }
    }

    /// A reduction to rows, perhaps with an element-wise part behind it.
    pub(super) const fn over(
        footprint: FootprintOf,
        name: &'static str,
        overloads: &'static [&'static str],
        emit: Emit,
    ) -> Rule {
        Rule { footprint: Some(footprint), ..Rule::costly(name, overloads, emit) }
    }

    /// Elements of other tensors.
    pub(super) const fn found(
        name: &'static str,
        overloads: &'static [&'static str],
        find: fn(&NodeCall<'_>) -> Found,
    ) -> Rule {
        Rule::new(name, overloads, How::Found(find))
    }

    /// Sums of products.
    pub(super) const fn products(
        name: &'static str,
        overloads: &'static [&'static str],
        find: fn(&NodeCall<'_>) -> Result<Contraction, Uncovered>,
    ) -> Rule {
        Rule::new(name, overloads, How::Multiplies(find))
    }

    /// For calls that are like this, which the rule looks at.
    pub(super) const fn only(self, calls: &'static str) -> Rule {
        Rule { only: Only::calls(calls), ..self }
    }
}

impl Recipe {
    /// Whether it reduces, normalises or adds up products.
    pub(super) fn is_reduction(&self) -> bool {
        match self {
            Recipe::Rule(rule, _) => rule.footprint.is_some() || matches!(rule.align, Align::Channels),
            Recipe::Contraction(_) => true,
            Recipe::Move(_) | Recipe::Resample(_) => false,
        }
    }

    /// Whether it calculates, without reducing, tens of instructions per element: repeating that counts.
    pub(super) fn is_repeated_at_a_cost(&self) -> bool {
        match self {
            Recipe::Rule(rule, _) => rule.costly && rule.footprint.is_none() && matches!(rule.align, Align::Broadcast),
            Recipe::Resample(_) => true,
            // A product by itself is no more than a multiplication.
            Recipe::Contraction(contraction) => numel(&contraction.window) > 1,
            Recipe::Move(_) => false,
        }
    }
}

/// The name that the rules have for an op.
pub(super) fn meant(name: &str) -> &str {
    same(name).and_then(FullName::as_str).unwrap_or(name)
}
