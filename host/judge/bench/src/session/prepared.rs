//! What a round has before a rewrite runs: inputs, and what eager and a run in double precision give on them. It is the same
//! for every rewrite that is checked on the same draws, and kept for the next one where it is small.

use super::drawn::DrawnInputs;
use crate::edge_cases::EdgeCaseDraw;
use crate::held::HeldTensor;
use crate::inputs::Round;
use passhost_runtime::NodeError;
use std::cell::OnceCell;
use std::rc::Rc;

/// Bytes of all rounds that are kept.
const KEPT: u64 = 256 << 20;

/// Which round, and in an unusual one which input is unusual.
pub(super) type RoundKey = (Round, Option<(usize, EdgeCaseDraw)>);

/// A round before a rewrite runs.
pub(super) struct PreparedRound {
    pub drawn: DrawnInputs,
    pub eager: Vec<HeldTensor>,
    /// What runs in double precision gave, by their conversions.
    pub truths: [OnceCell<Result<Vec<HeldTensor>, NodeError>>; 2],
}

/// Rounds of one seed, for other rewrites of the same program.
#[derive(Default)]
pub(super) struct KeptRounds {
    rounds: Vec<(RoundKey, Rc<PreparedRound>)>,
    bytes: u64,
}

impl KeptRounds {
    pub fn find(&self, key: RoundKey) -> Option<Rc<PreparedRound>> {
        self.rounds.iter().find(|(known, _)| *known == key).map(|(_, prepared)| prepared.clone())
    }

    /// Drops what is of another seed: it does not come back.
    pub fn begin(&mut self, seed: u64) {
        if self.rounds.first().is_some_and(|((round, _), _)| round.seed != seed) {
            *self = KeptRounds::default();
        }
    }

    /// How many rounds there are.
    #[cfg(test)]
    pub fn count(&self) -> u32 {
        self.rounds.len() as u32
    }

    /// Keeps a round that lies on the host, where no kernel can write to it, if there is room.
    pub fn keep(&mut self, key: RoundKey, prepared: &Rc<PreparedRound>, bytes: u64) {
        if prepared.is_on_host() && self.bytes.saturating_add(bytes) <= KEPT {
            self.bytes += bytes;
            self.rounds.push((key, prepared.clone()));
        }
    }
}

impl PreparedRound {
    fn is_on_host(&self) -> bool {
        self.drawn.inputs.iter().map(Rc::as_ref).chain(&self.eager).all(|held| held.tensor().is_none())
    }
}
