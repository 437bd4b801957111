//! How a variant is measured, and on what.

use crate::Launch;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a variant is measured. All of it is recorded with the result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Runs of each program in each process before the first trial, at least; more follow until times are steady.
    pub warmups: u32,
    /// Timed runs of each program, over all processes.
    pub trials: u32,
    /// Wall clock of a variant on the device, in milliseconds. Where that is too little, there are fewer rounds with one
    /// input at another scale or with an unusual one, never below one of each, and fewer timed runs, never below one a
    /// block.
    pub budget_ms: u64,
    /// Rounds with fresh inputs.
    pub rounds: u32,
    /// Bytes that a rewrite's intermediates may take; set from the reference's peak.
    pub rewrite_bytes: u64,
    /// Times a rewrite even if it is a pass miss: shows what the harness itself costs.
    pub time_pass_miss: bool,
    /// Scores what was measured while the machine did something else: for tests and debugging, never for a ranking.
    pub accept_noise: bool,
    /// Whether there are rounds with unusual inputs. Older documents do not say: there were.
    #[serde(default = "yes")]
    #[serde(alias = "domain_rounds")]
    pub edge_case_rounds: bool,
    /// How both programs are launched where they are timed; they are checked one launch after the other. Older documents do
    /// not say: they are timed so as well.
    #[serde(default)]
    pub launch: Launch,
    /// Whether kernels are measured in the schedules that they may have, and have the fastest. Older documents do not say:
    /// they have their defaults.
    #[serde(default)]
    pub tune: bool,
    /// Whether the smallest variant of each element type stands for all, is checked in the ordinary rounds alone, and timed
    /// whatever else the machine does: for trying things out, never for a ranking. Older documents do not say: it was not so.
    #[serde(default)]
    pub quick: bool,
}

fn yes() -> bool {
    true
}

/// Of a time, as many as a number holds.
pub fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Settings {
    /// Processes that times are taken in.
    pub const PROCESSES: u32 = 3;
    /// Blocks of pairs of eager and the rewrite in each process.
    pub const BLOCKS: u32 = 4;
    /// Blocks of pairs of eager with itself in each process: the first and the last.
    pub const CONTROL_BLOCKS: u32 = 2;
    /// A rewrite whose first run takes more than this many times eager's has one pair in each process.
    pub const SLOW_FACTOR: u32 = 20;
    /// Rounds that an input has for itself: one at another scale, and unusual ones.
    pub const ROUNDS_PER_INPUT: u32 = 8;
    /// Wall clock of a variant on the device where things are tried out, in milliseconds.
    const QUICK_BUDGET_MS: u64 = 1000;
    /// Of the budget, what there is for rounds: they cost little on small tensors, and are never cut there.
    const LEAST_FOR_ROUNDS: Duration = Duration::from_millis(500);

    /// The same for trying things out: [`Settings::quick`].
    #[must_use]
    pub fn quickly(self) -> Settings {
        let budget_ms = self.budget_ms.min(Settings::QUICK_BUDGET_MS);
        let (warmups, trials) = (self.warmups.min(2), self.trials.min(24));
        Settings {
            quick: true,
            accept_noise: true,
            edge_case_rounds: false,
            rounds: 1,
            budget_ms,
            warmups,
            trials,
            ..self
        }
    }

    /// Pairs of each block, where the budget has room for them.
    pub fn pairs(&self) -> u32 {
        self.trials.div_ceil(Settings::PROCESSES * Settings::BLOCKS).next_multiple_of(2)
    }

    /// Wall clock for rounds: a third of the budget, or half a second if that is more.
    pub fn for_rounds(&self) -> Duration {
        (Duration::from_millis(self.budget_ms) / 3).max(Settings::LEAST_FOR_ROUNDS)
    }

    /// Wall clock for the timed pairs of one process: three tenths of the budget, over all processes. Warming up, eager
    /// against itself, the device alone and cold caches have shares of this, less than twice as much in all.
    pub fn for_pairs(&self) -> Duration {
        Duration::from_millis(self.budget_ms) * 3 / 10 / Settings::PROCESSES
    }
}

/// Rounds beside the ordinary ones. Which of them there are is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OtherRounds {
    /// With one input at another scale.
    #[serde(alias = "stressed")]
    pub scaled: Share,
    /// With one input that is unusual.
    #[serde(alias = "unusual")]
    pub edge_cases: Share,
    /// Those that were tried before others, because they refuse mutants of the graph that ordinary rounds let pass.
    #[serde(default)]
    pub first: Vec<UnusualRound>,
}

/// A round in which inputs are unusual, as findings name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnusualRound {
    /// The names of the inputs.
    pub input: String,
    /// In which way they are unusual.
    pub draw: String,
}

impl UnusualRound {
    /// What [`UnusualRound::draw`] says of an input at another scale.
    pub const SCALED: &str = "is at 8 times its scale";

    /// The round in which this input is at another scale.
    pub fn scaled(input: &str) -> UnusualRound {
        UnusualRound { input: input.to_owned(), draw: UnusualRound::SCALED.to_owned() }
    }
}

/// How many of something there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Share {
    /// So many.
    pub count: u32,
    /// Of so many that there could be.
    pub of: u32,
}

impl OtherRounds {
    /// All that there are.
    pub const ALL: OtherRounds = {
        let all = Share { count: u32::MAX, of: u32::MAX };
        OtherRounds { scaled: all, edge_cases: all, first: Vec::new() }
    };
}

impl Share {
    /// Whether some are missing.
    pub fn is_cut(self) -> bool {
        self.count < self.of
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            warmups: 25,
            trials: 100,
            budget_ms: 10_000,
            rounds: 3,
            rewrite_bytes: 1 << 30,
            time_pass_miss: false,
            accept_noise: false,
            edge_case_rounds: true,
            launch: Launch::Stream,
            tune: false,
            quick: false,
        }
    }
}
