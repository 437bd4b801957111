//! What a device child is asked about a rewrite, and what it measured.

use passhost_ir::{Graph, NodeId, OpName, TensorType};
use passhost_result::{Finding, OtherRounds, ProcessTimes, Settings, ShownBy, TunedKernel, UnusualRound};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A verified rewrite of the loaded program, and how it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RewriteJob {
    /// The rewrite.
    pub rewrite: Graph,
    /// Nodes whose original is an in-place op, with that op: where the operand dies there the executor reuses its
    /// memory, as the reference does.
    pub in_place: Vec<(NodeId, OpName)>,
    /// Names of the schedules that kernels have in place of their defaults: the same ones in all processes.
    pub schedules: Vec<(NodeId, String)>,
    /// On what.
    pub draws: Draws,
    /// How to measure.
    pub settings: Settings,
}

/// What is done with a rewrite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RewriteTask {
    /// Checks it.
    Evaluate,
    /// Times it.
    Time {
        /// Of each output, the least t at which it was found right.
        passes_at: Vec<Option<i8>>,
        /// Cores that nothing else of this evaluation runs on meanwhile; none if there are none to spare.
        cores: Vec<u32>,
    },
    /// Measures its kernels in the schedules that they may have, but for what is known of them from before.
    Tune(Vec<TunedKernel>),
    /// Looks for the node that makes its outputs wrong, on the inputs that showed it: after an evaluation that found them
    /// so.
    Trace(ShownBy),
}

/// Which inputs a rewrite is checked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draws {
    /// Secret until the rewrite is known.
    pub seed: u64,
    /// The rounds beside the ordinary ones, where an evaluation is repeated; as many as the budget has room for if absent.
    pub others: Option<OtherRounds>,
    /// Those of them that come before others, where the budget decides how many there are.
    pub first: Vec<UnusualRound>,
    /// What is asked of a rewrite that no plugin made: of one of many mutants.
    pub mutant: Option<MutantRounds>,
}

/// Which rounds a mutant is tried in. They are kept for the next mutant on the same draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MutantRounds {
    /// All: each that refuses it is to be known.
    All,
    /// Until one refuses it.
    UntilRefused,
}

impl Draws {
    /// On inputs of this seed, in as many rounds as the budget has room for.
    pub fn of(seed: u64) -> Draws {
        Draws { seed, others: None, first: vec![], mutant: None }
    }

    /// On inputs of this seed, in these rounds beside the ordinary ones.
    pub fn repeated(seed: u64, others: OtherRounds) -> Draws {
        Draws { others: Some(others), ..Draws::of(seed) }
    }
}

/// The loaded program as someone else ran it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExternalRun {
    /// Where its outputs are: in `round_0/NAME_0.bin`, `round_0/NAME_1.bin` and so on, row-major and little-endian. The
    /// child only reads there.
    pub directory: PathBuf,
    /// What the files are named by.
    pub name: String,
    /// The types of the outputs, as whoever ran it says.
    pub outputs: Vec<TensorType>,
    /// Seed of the inputs that were drawn.
    pub seed: u64,
    /// The first round that is compared.
    pub first: u32,
    /// How many are.
    pub rounds: u32,
    /// How to measure, for the comparison's part.
    pub settings: Settings,
}

/// Times of one process, and what its timed runs showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessTiming {
    /// The times.
    pub times: ProcessTimes,
    /// Findings of the integrity layers.
    pub findings: Vec<Finding>,
    /// Of each output, the least t at which the checked and the timed runs are right.
    pub passes_at: Vec<Option<i8>>,
}
