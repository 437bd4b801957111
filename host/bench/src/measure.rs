//! The timing loop: warm-ups, then pairs of runs in random order on the wall clock.

use passhost_protocol::device::Settings;
use std::time::{Duration, Instant};

/// One of the two programs, ready to run on inputs that stay the same. `run` returns the outputs, which are dropped
/// after the clock has stopped.
pub trait Program {
    /// What a run returns.
    type Outputs;
    /// Why a run failed.
    type Error;

    /// What a run needs beforehand and what is not to be timed, such as restoring inputs that it overwrites.
    fn prepare(&mut self) {}

    /// Runs once and waits until the device has finished.
    fn run(&mut self) -> Result<Self::Outputs, Self::Error>;
}

/// Times of one program alone, nanoseconds. It takes turns with a second copy of itself, each on inputs of its own, so
/// that caches are as warm as beside another program and no warmer.
pub fn alone<P: Program>(program: &mut P, copy: &mut P, settings: &Settings, seed: u64) -> Result<Vec<u64>, P::Error> {
    let settings = Settings { trials: settings.trials.div_ceil(2), budget_ms: settings.budget_ms / 4, ..*settings };
    let Pairs { mut eager, rewritten, .. } = pairs(program, copy, &settings, 0, seed)?;
    eager.extend(rewritten);
    Ok(eager)
}

/// Times of both programs, nanoseconds, and the outputs of some runs of the second.
pub struct Pairs<Outputs> {
    /// The first program.
    pub eager: Vec<u64>,
    /// The second program.
    pub rewritten: Vec<u64>,
    /// Outputs of randomly chosen timed runs of the second program.
    pub kept: Vec<Outputs>,
}

/// Runs both programs in pairs, each pair in random order. Outputs of about `keep` runs of the second are kept.
pub fn pairs<P: Program>(
    eager: &mut P,
    rewritten: &mut P,
    settings: &Settings,
    keep: u32,
    seed: u64,
) -> Result<Pairs<P::Outputs>, P::Error> {
    let budget = Duration::from_millis(settings.budget_ms);
    let first_eager = timed(eager)?.0;
    let first_rewritten = timed(rewritten)?.0;
    let slow = first_rewritten > first_eager.saturating_mul(u64::from(Settings::SLOW_FACTOR));
    let trials = if slow { Settings::SLOW_TRIALS } else { settings.trials };
    if !slow {
        let count = warmups(settings, first_eager.max(first_rewritten), budget);
        warm_up(eager, count)?;
        warm_up(rewritten, count)?;
    }
    let mut random = Random(seed);
    let mut pairs = Pairs { eager: Vec::new(), rewritten: Vec::new(), kept: Vec::new() };
    let started = Instant::now();
    while !enough(pairs.eager.len(), trials, started, 2 * budget) {
        // The choice is made before the clock starts and without the program's knowledge.
        let keep_this = random.below(u64::from(trials)) < u64::from(keep) && pairs.kept.len() < keep as usize;
        let eager_first = random.below(2) == 0;
        if eager_first {
            pairs.eager.push(timed(eager)?.0);
        }
        let (time, outputs) = timed(rewritten)?;
        pairs.rewritten.push(time);
        if keep_this || (keep > 0 && pairs.kept.is_empty() && pairs.rewritten.len() as u32 == trials) {
            pairs.kept.push(outputs);
        } else {
            drop(outputs);
        }
        if !eager_first {
            pairs.eager.push(timed(eager)?.0);
        }
    }
    Ok(pairs)
}

/// As [`pairs`], but `flush` empties the caches before every run. Few trials: they are shown, not scored.
pub fn cold_pairs<P: Program>(
    eager: &mut P,
    rewritten: &mut P,
    settings: &Settings,
    mut flush: impl FnMut(),
) -> Result<(Vec<u64>, Vec<u64>), P::Error> {
    let budget = Duration::from_millis(settings.budget_ms) / 4;
    let started = Instant::now();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    while !enough(first.len(), COLD_TRIALS, started, budget) {
        flush();
        first.push(timed(eager)?.0);
        flush();
        second.push(timed(rewritten)?.0);
    }
    Ok((first, second))
}

const COLD_TRIALS: u32 = 10;

fn timed<P: Program>(program: &mut P) -> Result<(u64, P::Outputs), P::Error> {
    program.prepare();
    let start = Instant::now();
    let outputs = program.run()?;
    let time = start.elapsed();
    Ok((u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1), outputs))
}

fn warm_up<P: Program>(program: &mut P, count: u32) -> Result<(), P::Error> {
    for _ in 0..count {
        program.prepare();
        program.run()?;
    }
    Ok(())
}

/// As many warm-ups as asked for, unless they alone would take a quarter of the budget.
fn warmups(settings: &Settings, run_ns: u64, budget: Duration) -> u32 {
    let affordable = budget.as_nanos() / 4 / u128::from(run_ns.max(1));
    settings.warmups.min(u32::try_from(affordable).unwrap_or(u32::MAX)).max(1)
}

fn enough(done: usize, wanted: u32, started: Instant, budget: Duration) -> bool {
    let least = Settings::MIN_TRIALS.min(wanted) as usize;
    done >= wanted as usize || (done >= least && started.elapsed() >= budget)
}

/// SplitMix64; only orders trials.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % bound.max(1)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    struct Counter {
        runs: u32,
        fail_at: Option<u32>,
        spin: u32,
    }

    impl Program for Counter {
        type Outputs = u32;
        type Error = String;

        fn run(&mut self) -> Result<u32, String> {
            self.runs += 1;
            if self.fail_at == Some(self.runs) {
                return Err(format!("run {}", self.runs));
            }
            let mut x = 1u64;
            for i in 0..self.spin {
                x = std::hint::black_box(x.wrapping_mul(31).wrapping_add(u64::from(i)));
            }
            Ok(self.runs)
        }
    }

    fn counter(spin: u32) -> Counter {
        Counter { runs: 0, fail_at: None, spin }
    }

    #[test]
    fn a_fast_pair_gets_every_warm_up_and_every_trial() {
        let (mut eager, mut rewritten) = (counter(10), counter(10));
        let settings = Settings { trials: 40, ..Settings::default() };
        let pairs = pairs(&mut eager, &mut rewritten, &settings, 3, 1).unwrap();
        assert_eq!((pairs.eager.len(), pairs.rewritten.len()), (40, 40));
        assert_eq!(eager.runs, 1 + settings.warmups + 40);
        assert!((1..=3).contains(&pairs.kept.len()));
        assert!(pairs.kept.iter().all(|&run| run > 1 + settings.warmups), "only timed runs are kept");
    }

    #[test]
    fn a_spent_budget_still_leaves_the_least_number_of_trials() {
        let settings = Settings { budget_ms: 0, ..Settings::default() };
        let samples = alone(&mut counter(1000), &mut counter(1000), &settings, 1).unwrap();
        assert_eq!(samples.len(), 2 * Settings::MIN_TRIALS as usize);
    }

    #[test]
    fn a_rewrite_far_slower_than_eager_gets_three_trials() {
        let (mut eager, mut rewritten) = (counter(1), counter(3_000_000));
        let pairs = pairs(&mut eager, &mut rewritten, &Settings::default(), 1, 1).unwrap();
        assert_eq!(pairs.rewritten.len(), Settings::SLOW_TRIALS as usize);
    }

    #[test]
    fn a_failing_run_ends_the_measurement_with_its_error() {
        let mut failing = Counter { runs: 0, fail_at: Some(5), spin: 1 };
        let found = alone(&mut failing, &mut counter(1), &Settings::default(), 1);
        assert_eq!(found, Err("run 5".to_owned()));
    }
}
