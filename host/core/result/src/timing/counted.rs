//! Which runs count, and what they say. The times that are shown and the speedup come of the same runs by the same means, so
//! that the one is the quotient of the others.

use super::disturbance::Disturbed;
use super::rules::{NotMeasured, Rules, middle};
use crate::{Block, ProcessTimes};

/// Runs that one median is of: those of a block, or all of a process.
type Runs<'a> = Vec<&'a Block>;

/// Runs of one process that count.
pub(super) struct CountedRuns<'a> {
    control: Vec<Runs<'a>>,
    pairs: Vec<Runs<'a>>,
    /// Whether eager beside itself and beside the rewrite can be held against each other: where noise is in either, it would
    /// be taken for the rewrite's doing.
    is_comparable: bool,
}

/// The runs that count of all processes, and why they are no measurement.
pub(super) struct CountedProcesses<'a> {
    pub processes: Vec<CountedRuns<'a>>,
    pub trouble: Option<NotMeasured>,
}

impl<'a> CountedProcesses<'a> {
    /// Blocks that nothing disturbed. Half of those with the rewrite and one of the others have to be left in each process,
    /// or it is no measurement: then there are medians over all runs of each process. Where noise is accepted, one block with
    /// the rewrite is enough of each.
    pub fn of(
        processes: &'a [ProcessTimes],
        disturbed: &[Disturbed],
        accept_noise: bool,
        rules: Rules,
    ) -> CountedProcesses<'a> {
        let counts = |process: usize, block: usize| !disturbed.iter().any(|found| found.at(process, block));
        let clean: Vec<CountedRuns<'a>> =
            processes.iter().enumerate().map(|(at, times)| CountedRuns::clean(at, times, &counts)).collect();
        let enough = |(clean, times): (&CountedRuns<'_>, &ProcessTimes)| {
            2 * clean.pairs.len() >= times.pairs.len() && !clean.control.is_empty() && !clean.pairs.is_empty()
        };
        if clean.iter().zip(processes).all(enough) {
            return CountedProcesses { processes: clean, trouble: None };
        }
        let trouble = (!accept_noise).then(|| not_measured(processes, disturbed));
        let all = processes.iter().enumerate();
        let processes = if rules.is_first() {
            all.map(|(at, times)| CountedRuns::clean(at, times, &|_, _| true)).collect()
        } else if accept_noise && clean.iter().all(|clean| !clean.pairs.is_empty()) {
            clean.into_iter().zip(processes).map(|(clean, times)| clean.with_control(times)).collect()
        } else {
            processes.iter().map(CountedRuns::pooled).collect()
        };
        CountedProcesses { processes, trouble }
    }
}

fn not_measured(processes: &[ProcessTimes], disturbed: &[Disturbed]) -> NotMeasured {
    let blocks = processes.iter().map(|times| times.control.len() + times.pairs.len()).sum();
    let first = disturbed.first().map_or("no block was timed".to_owned(), |found| found.why.clone());
    NotMeasured::Disturbed { disturbed: disturbed.len(), blocks, first }
}

impl<'a> CountedRuns<'a> {
    fn clean(process: usize, times: &'a ProcessTimes, counts: &dyn Fn(usize, usize) -> bool) -> CountedRuns<'a> {
        let controls = times.control.len();
        let control = times.control.iter().enumerate().filter(|(at, _)| counts(process, *at));
        let pairs = times.pairs.iter().enumerate().filter(|(at, _)| counts(process, controls + at));
        CountedRuns {
            control: control.map(|(_, block)| vec![block]).collect(),
            pairs: pairs.map(|(_, block)| vec![block]).collect(),
            is_comparable: true,
        }
    }

    fn pooled(times: &'a ProcessTimes) -> CountedRuns<'a> {
        let all = |blocks: &'a [Block]| vec![blocks.iter().collect()];
        CountedRuns { control: all(&times.control), pairs: all(&times.pairs), is_comparable: false }
    }

    /// The same with all of eager beside itself, if no block of that is clean.
    fn with_control(self, times: &'a ProcessTimes) -> CountedRuns<'a> {
        if self.control.is_empty() { CountedRuns { pairs: self.pairs, ..CountedRuns::pooled(times) } } else { self }
    }

    /// How many times as long eager took beside the rewrite as beside itself, where that is more than machines change their
    /// speed by: then the rewrite slowed it down.
    pub fn slowed(&self, rules: Rules) -> f64 {
        let (alone, beside) = (middle(&self.eager_alone()), middle(&self.eager_ns()));
        if self.is_comparable && beside > rules.drift * alone { beside / alone } else { 1.0 }
    }

    /// The speedup in each block. A rewrite gains nothing by slowing eager down.
    pub fn speedups(&self, rules: Rules) -> Vec<f64> {
        let slowed = self.slowed(rules);
        self.pairs.iter().map(|runs| ratio(runs) / slowed).collect()
    }

    /// The same of eager beside itself.
    pub fn control(&self) -> Vec<f64> {
        self.control.iter().map(|runs| ratio(runs)).collect()
    }

    /// Logarithms of the times behind the speedup: eager's that counts, and the rewrite's, in nanoseconds.
    pub fn ln_times(&self, rules: Rules) -> [f64; 2] {
        let mean = |of: fn(&Block) -> &[u64]| {
            let ln = |runs: &Runs<'_>| middle(&pooled(runs, of)).ln();
            self.pairs.iter().map(ln).sum::<f64>() / self.pairs.len() as f64
        };
        [mean(eager) - self.slowed(rules).ln(), mean(other)]
    }

    /// All runs of eager beside the rewrite.
    pub fn eager_ns(&self) -> Vec<u64> {
        self.pairs.iter().flat_map(|runs| pooled(runs, eager)).collect()
    }

    /// All runs of the rewrite.
    pub fn rewritten_ns(&self) -> Vec<u64> {
        self.pairs.iter().flat_map(|runs| pooled(runs, other)).collect()
    }

    /// All runs of eager beside itself.
    pub fn eager_alone(&self) -> Vec<u64> {
        self.control.iter().flat_map(|runs| pooled(runs, eager)).collect()
    }

    /// The blocks that count.
    pub fn blocks(&self) -> impl Iterator<Item = &'a Block> {
        self.control.iter().chain(&self.pairs).flatten().copied()
    }
}

fn eager(block: &Block) -> &[u64] {
    &block.eager_ns
}

fn other(block: &Block) -> &[u64] {
    &block.other_ns
}

fn pooled(runs: &Runs<'_>, of: fn(&Block) -> &[u64]) -> Vec<u64> {
    runs.iter().flat_map(|block| of(block).iter().copied()).collect()
}

/// How often the other program would have run in the time of eager.
fn ratio(runs: &Runs<'_>) -> f64 {
    middle(&pooled(runs, eager)) / middle(&pooled(runs, other))
}
