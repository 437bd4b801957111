//! Result types of ops whose meta kernel PyTorch has in Python only, or whose meta kernel answers otherwise than the CPU.
//!
//! A rule says what the CPU kernel returns. Where a part of that is what another op does, it asks for what the meta kernel of
//! that one says: the host has libtorch answer, and tests of passes, which have none, functions of the SDK's. The tests of
//! `host/run/torch` run every rule beside the CPU.

mod attention;
mod columns;
mod constructors;
mod convolution;
mod fourier;
mod indexing;
mod layout;
mod lists;
mod losses;
mod moves;
mod norms;
mod operands;
mod pointwise;
mod pooling;
mod products;
mod recurrent;
mod reductions;
mod resampling;
mod scans;
mod selection;

use crate::{Arg, OpName, Schema, TensorType};
pub use layout::iterated;
use operands::Operands;
pub use operands::{Meta, ResultTypes};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Rules, each with the ops that it is for, without `aten::`. A rule gives the types that an op returns, or what is wrong with
/// its operands.
type Rules = &'static [(TypeRule, &'static str)];
type TypeRule = fn(&Operands<'_>) -> ResultTypes;

static RULES: LazyLock<HashMap<OpName, TypeRule>> = LazyLock::new(|| {
    let families = [
        attention::RULES,
        columns::RULES,
        constructors::RULES,
        convolution::RULES,
        fourier::RULES,
        indexing::RULES,
        lists::RULES,
        losses::RULES,
        moves::RULES,
        norms::RULES,
        pointwise::RULES,
        pooling::RULES,
        products::RULES,
        recurrent::RULES,
        reductions::RULES,
        resampling::RULES,
        scans::RULES,
        selection::RULES,
    ];
    let ops = families.into_iter().flatten().flat_map(|&(rule, ops)| ops.split_whitespace().map(move |op| (op, rule)));
    ops.map(|(op, rule)| (OpName::parse(&format!("aten::{op}")), rule)).collect()
});

/// The types that the op returns, or `None` if its meta kernel is to be asked. `Err` says what is wrong with the
/// operands. `meta` answers for meta kernels of which a rule needs to know.
pub fn result_types(schema: &Schema, args: &[Arg<TensorType>], meta: &Meta<'_>) -> Option<ResultTypes> {
    let rule = RULES.get(&schema.op)?;
    Some(rule(&Operands::new(schema, args, meta)))
}
