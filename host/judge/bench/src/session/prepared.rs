//! Rounds before a rewrite runs. They are kept for the next rewrite on the same draws only where the host makes rewrites
//! itself, as it does many mutants: what a plugin made finds no round but its own.

use super::drawn::DrawnInputs;
use super::edge_case::EdgeCase;
use crate::held::HeldTensor;
use crate::inputs::Round;
use passhost_protocol::device::RewriteError;
use passhost_runtime::NodeError;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// A round before a rewrite runs.
pub(super) struct PreparedRound {
    pub drawn: DrawnInputs,
    pub eager: Vec<HeldTensor>,
    /// What runs in double precision gave, by their conversions.
    pub truths: [OnceCell<Result<Vec<HeldTensor>, NodeError>>; 2],
}

impl PreparedRound {
    /// Of its inputs and outputs, and of those in double precision.
    pub fn bytes(&self) -> u64 {
        let of = |held: &HeldTensor| held.count() * held.dtype().size();
        let inputs: u64 = self.drawn.inputs.iter().map(|held| of(held)).sum();
        inputs + self.eager.iter().map(|held| of(held) + 16 * held.count()).sum::<u64>()
    }
}

/// Bytes of the rounds that are kept.
const MOST_BYTES: u64 = 1 << 29;

/// An ordinary or scaled round, or one with unusual inputs.
type RoundKey = (Round, Option<EdgeCase>);

/// A round, or why eager refuses it.
type RanRound = Result<Rc<PreparedRound>, NodeError>;

/// Rounds of one seed.
#[derive(Default)]
pub(super) struct KeptRounds {
    seed: Cell<Option<u64>>,
    bytes: Cell<u64>,
    rounds: RefCell<HashMap<RoundKey, RanRound>>,
}

impl KeptRounds {
    /// Keeps rounds of this seed from now on, or none.
    pub fn keep(&self, seed: Option<u64>) {
        if self.seed.replace(seed) != seed || seed.is_none() {
            self.rounds.borrow_mut().clear();
            self.bytes.set(0);
        }
    }

    /// The round that is kept, or the one that is made.
    pub fn get_or(
        &self,
        key: RoundKey,
        make: impl FnOnce() -> Result<Result<PreparedRound, NodeError>, RewriteError>,
    ) -> Result<RanRound, RewriteError> {
        let is_kept = self.seed.get() == Some(key.0.seed);
        if is_kept && let Some(kept) = self.rounds.borrow().get(&key) {
            return Ok(kept.clone());
        }
        let made = make()?.map(Rc::new);
        let bytes = self.bytes.get() + made.as_ref().map_or(0, |made| made.bytes());
        if is_kept && bytes <= MOST_BYTES {
            self.bytes.set(bytes);
            self.rounds.borrow_mut().insert(key, made.clone());
        }
        Ok(made)
    }
}
