//! Which schedules the kernels of a rewrite are to have: measured before it is checked, and never while anything is timed.

use super::ReferenceSession;
use super::drawn::input_error;
use crate::blame::of_rewrite;
use crate::inputs::Round;
use passhost_ir::NodeId;
use passhost_protocol::device::{RewriteError, RewriteJob};
use passhost_result::{Candidate, TunedKernel, Work};
use passhost_runtime::Candidates;
use sha2::{Digest, Sha256};

/// The round whose inputs kernels are measured on: no other round has it.
const TUNED: u32 = 1 << 19;

impl ReferenceSession {
    /// Measures the kernels of a rewrite that may have several schedules, on the tensors of a run. What is `known` of one
    /// from before holds, where it may still be compiled from the same texts.
    pub fn tune(&self, job: &RewriteJob, known: &[TunedKernel]) -> Result<Vec<TunedKernel>, RewriteError> {
        let program = self.compiled(job)?;
        self.device.charge(Work::Compile);
        let drawn = self.drawn(Round { seed: job.draws.seed, number: TUNED, scaled: None })?;
        let inputs = drawn.tensors(self.device.target(), &self.specs).map_err(input_error)?;
        self.device.charge(Work::Draw);
        let (mut tuned, mut measured) = (vec![], vec![]);
        let mut wanted = |node: NodeId, candidates: &Candidates| {
            let found = unmeasured(node, candidates);
            let is_it = |known: &&TunedKernel| (known.node, &known.sources_sha256) == (node, &found.sources_sha256);
            match known.iter().find(is_it) {
                Some(known) => tuned.push(TunedKernel { is_kept: true, ..known.clone() }),
                None => measured.push(found),
            }
            !tuned.iter().any(|kept: &TunedKernel| kept.node == node)
        };
        let times = program.tune(&inputs, &mut wanted).map_err(of_rewrite)?;
        for (mut kernel, found) in measured.into_iter().zip(times) {
            for (candidate, ns) in kernel.candidates.iter_mut().zip(found.times) {
                candidate.ns = ns;
            }
            kernel.chosen = TunedKernel::fastest(&kernel.candidates);
            tuned.push(kernel);
        }
        tuned.sort_by_key(|kernel| kernel.node);
        self.device.charge(Work::Tune);
        Ok(tuned)
    }
}

/// A kernel of which nothing is known but the texts that it may be compiled from.
fn unmeasured(node: NodeId, candidates: &Candidates) -> TunedKernel {
    let mut hash = Sha256::new();
    for source in candidates.sources() {
        hash.update((source.text.len() as u64).to_le_bytes());
        hash.update(&source.text);
    }
    let sources_sha256 = base16ct::lower::encode_string(&hash.finalize());
    let schedules = candidates.sources().iter().map(|source| source.schedule.clone());
    let candidates = schedules.map(|schedule| Candidate { schedule, ns: 0 }).collect();
    TunedKernel { node, sources_sha256, candidates, chosen: 0, is_kept: false }
}
