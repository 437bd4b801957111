//! The ops that lower to scalar code and reductions, one table per family.
//!
//! A rule says how eager's own kernel calculates one element. It works in the math type of the tensor type
//! ([`math`](super::math::math)); the result is rounded to the tensor type once, at the end of the op. Formulas, their
//! order of evaluation and fused multiply-adds are those of ATen 2.11; where its CPU and CUDA kernels differ, a rule
//! follows the CUDA one and says so.

mod activation;
mod arithmetic;
mod conversion;
mod creation;
mod logic;
mod normalization;
mod pooling;
mod reduction;
mod rounding;
mod transcendental;

use super::call::{Call, Emitted, Uncovered};
pub(super) use reduction::Footprint;

use passhost_ir::{Graph, Node, OpName};

/// What a rule emits, and what it costs.
pub(crate) struct Rule {
    /// Namespace and name.
    name: &'static str,
    /// The overloads it covers.
    overloads: &'static [&'static str],
    /// Whether an element takes tens of instructions, so that computing it once per element of a larger tensor counts.
    pub(crate) costly: bool,
    /// How many leading arguments the element depends on; tensors behind them lend only their type.
    pub(crate) reads: usize,
    /// Which element of each operand an element of the result reads.
    pub(crate) align: Align,
    /// For an op that reduces: which elements, to which rows.
    pub(crate) footprint: Option<FootprintOf>,
    /// Emits the op for one element.
    pub(crate) emit: Emit,
}

/// Which element of an operand belongs to an element of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Dimensions are aligned on the right and stretched.
    Broadcast,
    /// The first operand has the result's shape, all others follow its dimension 1.
    Channels,
}

type Emit = for<'k> fn(&Call<'k>) -> Emitted<'k>;
type FootprintOf = fn(&Graph, &Node, usize) -> Result<Footprint, Uncovered>;

impl Rule {
    /// A few instructions.
    const fn cheap(name: &'static str, overloads: &'static [&'static str], emit: Emit) -> Rule {
        let (reads, align, footprint) = (usize::MAX, Align::Broadcast, None);
        Rule { name, overloads, costly: false, reads, align, footprint, emit }
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

const FAMILIES: [&[Rule]; 10] = [
    arithmetic::RULES,
    rounding::RULES,
    transcendental::RULES,
    activation::RULES,
    logic::RULES,
    conversion::RULES,
    creation::RULES,
    normalization::RULES,
    pooling::RULES,
    reduction::RULES,
];

/// The rule for an op.
pub(crate) fn find(op: &OpName) -> Option<&'static Rule> {
    FAMILIES.into_iter().flatten().find(|rule| rule.name == op.name && rule.overloads.contains(&op.overload.as_str()))
}

/// The pointwise ops that lower, as `aten::add.Tensor`, sorted.
pub fn pointwise_names() -> Vec<String> {
    names(|rule| rule.footprint.is_none())
}

/// The ops that reduce or normalise and lower, as `aten::mean.dim`, sorted.
pub fn reduction_names() -> Vec<String> {
    names(|rule| rule.footprint.is_some())
}

fn names(is_meant: fn(&Rule) -> bool) -> Vec<String> {
    let overloads =
        |rule: &'static Rule| rule.overloads.iter().map(|&overload| OpName::new(rule.name, overload).to_string());
    let rules = FAMILIES.into_iter().flatten().filter(|rule| is_meant(rule));
    let mut names: Vec<String> = rules.flat_map(overloads).collect();
    names.sort();
    names
}
