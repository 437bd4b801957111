//! The ops that lower to scalar code, one table per family.
//!
//! A rule says how eager's own kernel calculates one element. It works in the math type of the tensor type
//! ([`math`](super::promote::math)); the result is rounded to the tensor type once, at the end of the op. Formulas, their
//! order of evaluation and fused multiply-adds are those of ATen 2.11; where its CPU and CUDA kernels differ, a rule
//! follows the CUDA one and says so.

mod activation;
mod arithmetic;
mod conversion;
mod logic;
mod rounding;
mod transcendental;

use super::call::{Call, Uncovered};
use passhost_ir::OpName;
use passhost_ir::kernel::Reg;

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
    /// Emits the op for one element.
    pub(crate) emit: fn(&mut Call<'_>) -> Result<Reg, Uncovered>,
}

impl Rule {
    /// A few instructions.
    const fn cheap(
        name: &'static str,
        overloads: &'static [&'static str],
        emit: fn(&mut Call<'_>) -> Result<Reg, Uncovered>,
    ) -> Rule {
        Rule { name, overloads, costly: false, reads: usize::MAX, emit }
    }

    /// Divisions, exponentials and the like.
    const fn costly(
        name: &'static str,
        overloads: &'static [&'static str],
        emit: fn(&mut Call<'_>) -> Result<Reg, Uncovered>,
    ) -> Rule {
        Rule { name, overloads, costly: true, reads: usize::MAX, emit }
    }
}

const FAMILIES: [&[Rule]; 6] =
    [arithmetic::RULES, rounding::RULES, transcendental::RULES, activation::RULES, logic::RULES, conversion::RULES];

/// The rule for an op.
pub(crate) fn find(op: &OpName) -> Option<&'static Rule> {
    FAMILIES.into_iter().flatten().find(|rule| rule.name == op.name && rule.overloads.contains(&op.overload.as_str()))
}

/// The ops that lower, as `aten::add.Tensor`, sorted.
pub fn names() -> Vec<String> {
    let overloads =
        |rule: &'static Rule| rule.overloads.iter().map(|&overload| OpName::new(rule.name, overload).to_string());
    let mut names: Vec<String> = FAMILIES.into_iter().flatten().flat_map(overloads).collect();
    names.sort();
    names
}
