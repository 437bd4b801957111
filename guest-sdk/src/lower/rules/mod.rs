//! The ops that lower to scalar code and reductions, one table per family.
//!
//! A rule says how eager's own kernel calculates one element. It works in the math type of the tensor type
//! ([`math`](super::math::math)); the result is rounded to the tensor type once, at the end of the op. Formulas, their
//! order of evaluation and fused multiply-adds are those of ATen 2.11; where its CPU and CUDA kernels differ, a rule
//! follows the CUDA one and says so.

mod activation;
mod arithmetic;
mod bits;
mod classification;
mod conversion;
mod creation;
mod inverse;
mod length;
mod logarithmic;
mod logic;
mod loss;
mod normalization;
mod pooling;
mod reduction;
mod rounding;
mod scan;
mod spread;
mod transcendental;
mod triangle;

use super::call::{Emitted, OpCall, Uncovered};
use super::only::Only;
pub(super) use reduction::Footprint;

use crate::args::Args;
use crate::index::Index;
use passhost_ir::ops::{FullName, same};
use passhost_ir::{Graph, Node};

/// What a rule emits, and what it costs.
pub(crate) struct Rule {
    /// Namespace and name.
    pub(super) name: &'static str,
    /// The overloads it covers.
    pub(super) overloads: &'static [&'static str],
    /// Whether an element takes tens of instructions, so that computing it once per element of a larger tensor counts.
    pub(crate) costly: bool,
    /// The calls it covers, for an op with several rules.
    pub(crate) applies: fn(Args<'_>) -> bool,
    /// The same in words.
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
    /// Emits the op for one element.
    pub(crate) emit: Emit,
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

/// An element that an op reads for each element of its result: of which argument, and where over the result's dimensions.
pub(crate) type OperandRead = (usize, Vec<Index>);

pub(crate) type ReadsOf = fn(&Graph, &Node) -> Result<Vec<OperandRead>, Uncovered>;
type Emit = for<'k> fn(&OpCall<'k>) -> Emitted<'k>;
type FootprintOf = fn(&Graph, &Node, usize) -> Result<Footprint, Uncovered>;

impl Rule {
    /// Whether it is for an op of this name and this overload.
    pub(crate) fn covers(&self, name: &str, overload: &str) -> bool {
        self.name == name && self.overloads.contains(&overload)
    }

    /// A few instructions.
    const fn cheap(name: &'static str, overloads: &'static [&'static str], emit: Emit) -> Rule {
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
            emit,
        }
    }

    /// For calls that are like this, which the rule looks at.
    const fn only(self, calls: &'static str) -> Rule {
        Rule { only: Only::calls(calls), ..self }
    }

    /// Divisions, exponentials and the like.
    const fn costly(name: &'static str, overloads: &'static [&'static str], emit: Emit) -> Rule {
        Rule { costly: true, ..Rule::cheap(name, overloads, emit) }
    }

    /// A reduction to rows, perhaps with an element-wise part behind it.
    const fn over(footprint: FootprintOf, name: &'static str, overloads: &'static [&'static str], emit: Emit) -> Rule {
        Rule { footprint: Some(footprint), ..Rule::costly(name, overloads, emit) }
    }
}

pub(super) const POINTWISE: &[&[Rule]] = &[
    arithmetic::RULES,
    rounding::RULES,
    transcendental::RULES,
    activation::RULES,
    logic::RULES,
    bits::RULES,
    classification::RULES,
    logarithmic::RULES,
    inverse::RULES,
    conversion::RULES,
    normalization::BY_STATISTICS,
];
pub(super) const CREATION: &[&[Rule]] = &[creation::RULES, triangle::RULES];
pub(super) const SPREAD: &[&[Rule]] = &[spread::RULES];
pub(super) const LOSSES: &[&[Rule]] = &[loss::RULES];
pub(super) const REDUCTIONS: &[&[Rule]] = &[reduction::RULES, length::RULES, scan::RULES];
pub(super) const NORMS: &[&[Rule]] = &[normalization::RULES];
pub(super) const POOLS: &[&[Rule]] = &[pooling::RULES];

/// The name that the rules have for an op.
pub(super) fn meant(name: &str) -> &str {
    same(name).and_then(FullName::as_str).unwrap_or(name)
}
