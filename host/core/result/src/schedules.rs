//! In which schedules kernels of a rewrite were measured, and which each has.

use passhost_ir::NodeId;
use serde::{Deserialize, Serialize};

/// A kernel that may have several schedules, all of which give the same bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunedKernel {
    /// Its node in the rewrite.
    pub node: NodeId,
    /// Of the texts that it may be compiled from, in hexadecimal: where these are others, it is measured anew.
    pub sources_sha256: String,
    /// The schedules, the default first.
    pub candidates: Vec<Candidate>,
    /// Position of the one that it has.
    pub chosen: usize,
    /// Whether this was measured by an evaluation before.
    pub is_kept: bool,
}

/// A schedule that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its name.
    pub schedule: String,
    /// Nanoseconds of a launch.
    pub ns: u64,
}

/// Schedules of a kernel, at most.
const MOST: usize = 8;
/// Bytes of a schedule's name, at most.
const LONGEST: usize = 200;
/// By how much a schedule must be faster than the default to be taken in its place: what times vary by.
const NOISE: f64 = 0.03;

impl TunedKernel {
    /// The fastest of some schedules; the first, unless another is faster by more than times vary.
    pub fn fastest(candidates: &[Candidate]) -> usize {
        let ns = |at: usize| candidates.get(at).map_or(u64::MAX, |candidate| candidate.ns);
        let fastest = (0..candidates.len()).min_by_key(|at| ns(*at)).unwrap_or(0);
        if (ns(fastest) as f64) < (1.0 - NOISE) * ns(0) as f64 { fastest } else { 0 }
    }

    /// Whether it is what a device says of a kernel: few schedules with plain names, of which the fastest was chosen.
    pub fn is_sound(&self) -> bool {
        let is_plain = |text: &str| text.len() <= LONGEST && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        (2..=MOST).contains(&self.candidates.len())
            && self.candidates.iter().all(|candidate| is_plain(&candidate.schedule))
            && is_plain(&self.sources_sha256)
            && self.chosen == TunedKernel::fastest(&self.candidates)
    }

    /// The schedule that it has in place of its default; `None` where it has that.
    pub fn other(&self) -> Option<&Candidate> {
        self.candidates.get(self.chosen).filter(|_| self.chosen > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuned(times: &[u64]) -> TunedKernel {
        let candidates: Vec<Candidate> =
            times.iter().enumerate().map(|(at, &ns)| Candidate { schedule: format!("rows rows={at}"), ns }).collect();
        let chosen = TunedKernel::fastest(&candidates);
        TunedKernel { node: NodeId(1), sources_sha256: "00".into(), candidates, chosen, is_kept: false }
    }

    #[test]
    fn the_default_stays_unless_another_is_faster_by_more_than_times_vary() {
        for (times, chosen) in
            [(&[100, 98, 99][..], 0), (&[1000, 971], 0), (&[1000, 969], 1), (&[100, 90, 80, 80], 2), (&[0, 0], 0)]
        {
            let tuned = tuned(times);
            assert_eq!(tuned.chosen, chosen, "{times:?}");
            assert!(tuned.is_sound());
            assert_eq!(tuned.other().is_some(), chosen > 0);
        }
    }

    #[test]
    fn what_no_device_says_is_not_sound() {
        let good = tuned(&[1000, 500]);
        let escape = Candidate { schedule: "\u{1b}[2J".into(), ns: 100 };
        let long = Candidate { schedule: "x".repeat(LONGEST + 1), ns: 100 };
        for wrong in [
            TunedKernel { chosen: 0, ..good.clone() },
            TunedKernel { chosen: 7, ..good.clone() },
            TunedKernel { candidates: vec![], chosen: 0, ..good.clone() },
            TunedKernel { candidates: vec![good.candidates[0].clone(), escape], ..good.clone() },
            TunedKernel { candidates: vec![good.candidates[0].clone(), long], ..good.clone() },
            TunedKernel { sources_sha256: "\n".into(), ..good.clone() },
            tuned(&[9; MOST + 1]),
        ] {
            assert!(!wrong.is_sound(), "{wrong:?}");
        }
        assert!(good.is_sound());
    }
}
