//! Timed runs: warm-up until times are steady, then blocks of pairs of runs on the wall clock.

use crate::witness::Observer;
use passhost_result::{Block, Settings};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Pairs whose median tells whether times are steady, compared with the same number of pairs before.
const STEADY_PAIRS: usize = 5;
/// Medians this close are steady.
const STEADY: f64 = 0.02;

/// One of two programs, ready to run on inputs that stay the same. `run` returns the outputs, which are dropped after the
/// clock has stopped.
pub trait Timeable {
    /// What a run returns.
    type Outputs;
    /// Why a run failed.
    type Error;

    /// What a run needs beforehand and what is not to be timed, such as restoring inputs that it overwrites.
    fn prepare(&mut self) {}

    /// Runs once and waits until the device has finished.
    fn run(&mut self) -> Result<Self::Outputs, Self::Error>;
}

/// How many blocks of how many pairs there are: fixed before the first is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockPlan {
    pub blocks: u32,
    pub pairs: u32,
}

impl BlockPlan {
    /// As many pairs as one process does of those asked for, where a pair takes so long. At least one a block, and half
    /// of the blocks where not even that fits.
    pub fn new(settings: &Settings, blocks: u32, pair_ns: u64) -> BlockPlan {
        let budget = settings.for_pairs().as_nanos() * u128::from(blocks) / u128::from(Settings::BLOCKS);
        let affordable = u32::try_from(budget / u128::from(pair_ns.max(1)) / u128::from(blocks)).unwrap_or(u32::MAX);
        match affordable.min(settings.pairs()) {
            0 => BlockPlan { blocks: blocks.div_ceil(2), pairs: 1 },
            1 => BlockPlan { blocks, pairs: 1 },
            // Even, so that each program comes first equally often.
            pairs => BlockPlan { blocks, pairs: pairs & !1 },
        }
    }

    /// For a rewrite that is far slower than eager: every run of it says so.
    pub fn slow() -> BlockPlan {
        BlockPlan { blocks: 1, pairs: 1 }
    }
}

/// Runs both programs in turn as often as asked for, and until their times are steady or a quarter of the budget is spent.
/// Returns the median time of a pair at the end, in nanoseconds.
pub fn warm_up<P: Timeable>(one: &mut P, other: &mut P, settings: &Settings) -> Result<u64, P::Error> {
    let budget = settings.for_pairs() / 4;
    let started = Instant::now();
    let mut pairs: Vec<f64> = vec![];
    loop {
        pairs.push((timed(one)?.0.wall_ns + timed(other)?.0.wall_ns) as f64);
        let last = pairs.len().saturating_sub(STEADY_PAIRS);
        let median = passhost_score::median(&mut pairs[last..].to_vec());
        let warm = pairs.len() >= settings.warmups as usize && is_steady(&pairs);
        if warm || started.elapsed() >= budget {
            return Ok(median as u64);
        }
    }
}

fn is_steady(pairs: &[f64]) -> bool {
    let Some(before) = pairs.len().checked_sub(2 * STEADY_PAIRS) else { return false };
    let median = |part: &[f64]| passhost_score::median(&mut part.to_vec());
    let (first, second) = pairs[before..].split_at(STEADY_PAIRS);
    (median(second) / median(first) - 1.0).abs() < STEADY
}

/// What the runs of a block were, beside what the document has of them.
pub struct TimedBlock {
    pub block: Block,
    /// The calling thread's time on a core, nanoseconds a run.
    pub eager_thread_ns: Vec<u64>,
    pub other_thread_ns: Vec<u64>,
}

/// Times so many pairs, each program first in half of them. `outputs` gets those of each run of the second.
pub fn block<P: Timeable>(
    eager: &mut P,
    other: &mut P,
    pairs: u32,
    random: &mut TrialRandom,
    observer: &mut Observer<'_>,
    mut outputs: impl FnMut(&mut TrialRandom, P::Outputs),
) -> Result<TimedBlock, P::Error> {
    let (mut eager_runs, mut other_runs) = (vec![], vec![]);
    let orders = random.orders(pairs);
    observer.begin();
    for eager_first in orders {
        observer.probe();
        if eager_first {
            eager_runs.push(timed(eager)?.0);
        }
        let (run, of_run) = timed(other)?;
        other_runs.push(run);
        outputs(random, of_run);
        if !eager_first {
            eager_runs.push(timed(eager)?.0);
        }
    }
    observer.probe();
    let witness = observer.end();
    let (eager_ns, eager_thread_ns) = unzip(&eager_runs);
    let (other_ns, other_thread_ns) = unzip(&other_runs);
    Ok(TimedBlock { block: Block { eager_ns, other_ns, witness }, eager_thread_ns, other_thread_ns })
}

/// Times of both programs where `flush` empties the caches before every run. Few: they are shown, not scored.
pub fn cold_pairs<P: Timeable>(
    eager: &mut P,
    rewritten: &mut P,
    settings: &Settings,
    mut flush: impl FnMut(),
) -> Result<(Vec<u64>, Vec<u64>), P::Error> {
    let budget = settings.for_pairs() / 8;
    let started = Instant::now();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    while first.len() < COLD_TRIALS && (first.is_empty() || started.elapsed() < budget) {
        flush();
        first.push(timed(eager)?.0.wall_ns);
        flush();
        second.push(timed(rewritten)?.0.wall_ns);
    }
    Ok((first, second))
}

const COLD_TRIALS: usize = 4;

#[derive(Debug, Clone, Copy)]
struct RunTimes {
    wall_ns: u64,
    thread_ns: u64,
}

fn unzip(runs: &[RunTimes]) -> (Vec<u64>, Vec<u64>) {
    runs.iter().map(|run| (run.wall_ns, run.thread_ns)).unzip()
}

fn timed<P: Timeable>(program: &mut P) -> Result<(RunTimes, P::Outputs), P::Error> {
    program.prepare();
    let thread = thread_ns();
    let start = Instant::now();
    let outputs = program.run()?;
    let wall_ns = nanoseconds(start.elapsed());
    Ok((RunTimes { wall_ns, thread_ns: thread_ns().saturating_sub(thread).max(1) }, outputs))
}

/// Nanoseconds of one run.
pub fn time_once<P: Timeable>(program: &mut P) -> Result<(u64, P::Outputs), P::Error> {
    timed(program).map(|(run, outputs)| (run.wall_ns, outputs))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).max(1)
}

/// The calling thread's time on a core so far.
fn thread_ns() -> u64 {
    nanoseconds(time_on_cores(ClockId::ThreadCPUTime))
}

/// The time of all threads of this process on cores so far.
pub fn process_time() -> Duration {
    time_on_cores(ClockId::ProcessCPUTime)
}

fn time_on_cores(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Only orders trials and chooses which outputs are checked.
pub struct TrialRandom(SplitMix64);

impl TrialRandom {
    pub fn new(seed: u64) -> TrialRandom {
        TrialRandom(SplitMix64::seed_from_u64(seed))
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound.max(1)
    }

    /// For each pair whether eager comes first: in half of them, and one more or less where their number is odd.
    fn orders(&mut self, pairs: u32) -> Vec<bool> {
        let mut orders: Vec<bool> = (0..pairs / 2 * 2).map(|pair| pair % 2 == 0).collect();
        if pairs % 2 == 1 {
            orders.push(self.below(2) == 0);
        }
        for last in (1..orders.len()).rev() {
            orders.swap(last, self.below(last as u64 + 1) as usize);
        }
        orders
    }
}

/// Outputs of some runs, each run kept with the same probability however many follow.
pub struct KeptOutputs<Outputs> {
    most: usize,
    seen: u64,
    pub outputs: Vec<Outputs>,
}

impl<Outputs> KeptOutputs<Outputs> {
    pub fn new(most: usize) -> KeptOutputs<Outputs> {
        KeptOutputs { most, seen: 0, outputs: vec![] }
    }

    /// The next run. What it gave is asked for only if it is kept.
    pub fn offer(&mut self, random: &mut TrialRandom, outputs: impl FnOnce() -> Outputs) {
        self.seen += 1;
        if self.outputs.len() < self.most {
            self.outputs.push(outputs());
        } else if let Some(kept) = self.outputs.get_mut(random.below(self.seen) as usize) {
            *kept = outputs();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::device::BenchDevice;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Writes down when it ran.
    struct Counter {
        name: char,
        runs: Rc<RefCell<String>>,
        fail_at: Option<usize>,
    }

    impl Timeable for Counter {
        type Outputs = usize;
        type Error = String;

        fn run(&mut self) -> Result<usize, String> {
            let mut runs = self.runs.borrow_mut();
            runs.push(self.name);
            if self.fail_at == Some(runs.len()) { Err(format!("run {}", runs.len())) } else { Ok(runs.len()) }
        }
    }

    fn two(fail_at: Option<usize>) -> (Counter, Counter, Rc<RefCell<String>>) {
        let runs = Rc::new(RefCell::new(String::new()));
        let counter = |name| Counter { name, runs: runs.clone(), fail_at };
        (counter('e'), counter('o'), runs)
    }

    #[test]
    fn pairs_are_in_an_order_that_favours_neither() {
        let device = BenchDevice::cpu();
        let (mut eager, mut other, runs) = two(None);
        let mut random = TrialRandom::new(3);
        let mut kept = KeptOutputs::new(2);
        let mut observer = Observer::new(&device);
        let timed = block(&mut eager, &mut other, 8, &mut random, &mut observer, |random, outputs| {
            kept.offer(random, || outputs);
        });
        let timed = timed.unwrap();
        let Block { eager_ns, other_ns, witness } = timed.block;
        assert_eq!((eager_ns.len(), other_ns.len(), witness.probes), (8, 8, 9));
        assert_eq!((timed.eager_thread_ns.len(), timed.other_thread_ns.len()), (8, 8));
        let runs = runs.borrow();
        let firsts: Vec<&str> = (0..8).map(|pair| &runs[2 * pair..2 * pair + 2]).collect();
        assert_eq!(firsts.iter().filter(|pair| **pair == "eo").count(), 4, "{runs}");
        assert_eq!(firsts.iter().filter(|pair| **pair == "oe").count(), 4, "{runs}");
        assert_eq!(kept.outputs.len(), 2);
        assert!(kept.outputs.iter().all(|&at| runs.as_bytes()[at - 1] == b'o'), "only runs of the second are kept");
    }

    #[test]
    fn any_run_may_be_kept() {
        let mut first_or_last = [0; 2];
        for seed in 0..200 {
            let (mut kept, mut random) = (KeptOutputs::new(1), TrialRandom::new(seed));
            (0..10).for_each(|run| kept.offer(&mut random, || run));
            first_or_last[0] += usize::from(kept.outputs == [0]);
            first_or_last[1] += usize::from(kept.outputs == [9]);
        }
        assert!(first_or_last.iter().all(|&count| (5..50).contains(&count)), "{first_or_last:?}");
    }

    #[test]
    fn a_plan_fits_the_budget_and_is_fixed() {
        let settings = Settings { trials: 100, budget_ms: 10_000, ..Settings::default() };
        for (pair_ns, expected) in [
            (1_000, BlockPlan { blocks: 4, pairs: 10 }),
            // A process has a second.
            (40_000_000, BlockPlan { blocks: 4, pairs: 6 }),
            (200_000_000, BlockPlan { blocks: 4, pairs: 1 }),
            (2_000_000_000, BlockPlan { blocks: 2, pairs: 1 }),
        ] {
            assert_eq!(BlockPlan::new(&settings, 4, pair_ns), expected, "{pair_ns}");
        }
        assert_eq!(BlockPlan::new(&settings, 2, 40_000_000), BlockPlan { blocks: 2, pairs: 6 });
    }

    #[test]
    fn a_warm_up_ends_with_the_budget_and_not_before_it_is_steady() {
        let settings = Settings { warmups: 3, budget_ms: 0, ..Settings::default() };
        let (mut eager, mut other, runs) = two(None);
        warm_up(&mut eager, &mut other, &settings).unwrap();
        assert_eq!(*runs.borrow(), "eo");
        let steady = [9.0, 7.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0];
        assert!(is_steady(&steady) && !is_steady(&steady[..9]) && !is_steady(&[9.0, 8.0, 7.0, 6.0, 5.0]));
        assert!(!is_steady(&[9.0, 9.0, 9.0, 9.0, 9.0, 5.0, 5.0, 5.0, 5.0, 5.0]));
    }

    #[test]
    fn a_failing_run_ends_the_measurement_with_its_error() {
        let device = BenchDevice::cpu();
        let (mut eager, mut other, _) = two(Some(5));
        let mut observer = Observer::new(&device);
        let found = block(&mut eager, &mut other, 4, &mut TrialRandom::new(1), &mut observer, |_, _| {});
        assert_eq!(found.err(), Some("run 5".to_owned()));
    }
}
