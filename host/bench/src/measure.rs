//! The timing loop: warm-ups, then pairs of runs in random order on the wall clock.

use passhost_protocol::device::Settings;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::time::{Duration, Instant};

/// One of the two programs, ready to run on inputs that stay the same. `run` returns the outputs, which are dropped
/// after the clock has stopped.
pub trait Contender {
    /// What a run returns.
    type Outputs;
    /// Why a run failed.
    type Error;

    /// What a run needs beforehand and what is not to be timed, such as restoring inputs that it overwrites.
    fn prepare(&mut self) {}

    /// Runs once and waits until the device has finished.
    fn run(&mut self) -> Result<Self::Outputs, Self::Error>;
}

/// Times of one program alone, nanoseconds, about as many as [`pairs`] takes. It takes turns with a second copy of itself,
/// each on inputs of its own, so that caches are as warm as beside another program and no warmer.
pub fn alone<P: Contender>(
    program: &mut P,
    copy: &mut P,
    settings: &Settings,
    seed: u64,
) -> Result<Vec<u64>, P::Error> {
    let budget = Duration::from_millis(settings.budget_ms) / 2;
    let slowest = timed(program)?.0.max(timed(copy)?.0);
    let turns = Turns {
        warmups: warmups(settings, slowest, budget),
        wanted: settings.trials.div_ceil(2),
        least: Settings::MIN_TRIALS.min(settings.trials).div_ceil(2),
        budget,
        keep: 0,
    };
    let Pairs { mut eager, rewritten, .. } = turns.take(program, copy, seed)?;
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

/// Runs both programs in pairs, each pair in random order. Outputs of `keep` runs of the second are kept, fewer only if
/// there are fewer runs.
pub fn pairs<P: Contender>(
    eager: &mut P,
    rewritten: &mut P,
    settings: &Settings,
    keep: usize,
    seed: u64,
) -> Result<Pairs<P::Outputs>, P::Error> {
    let budget = Duration::from_millis(settings.budget_ms);
    let first_eager = timed(eager)?.0;
    let first_rewritten = timed(rewritten)?.0;
    let slow = first_rewritten > first_eager.saturating_mul(u64::from(Settings::SLOW_FACTOR));
    let wanted = if slow { Settings::SLOW_TRIALS } else { settings.trials };
    let turns = Turns {
        warmups: if slow { 0 } else { warmups(settings, first_eager.max(first_rewritten), budget) },
        wanted,
        least: Settings::MIN_TRIALS.min(wanted),
        budget: 2 * budget,
        keep,
    };
    turns.take(eager, rewritten, seed)
}

/// How two programs take turns.
struct Turns {
    warmups: u32,
    /// Timed runs of each, at most and, should the budget be spent, at least.
    wanted: u32,
    least: u32,
    budget: Duration,
    keep: usize,
}

impl Turns {
    fn take<P: Contender>(&self, eager: &mut P, rewritten: &mut P, seed: u64) -> Result<Pairs<P::Outputs>, P::Error> {
        warm_up(eager, self.warmups)?;
        warm_up(rewritten, self.warmups)?;
        let mut random = Random::new(seed);
        let mut pairs = Pairs { eager: Vec::new(), rewritten: Vec::new(), kept: Vec::new() };
        let started = Instant::now();
        while !enough(pairs.eager.len(), self.wanted, self.least, started, self.budget) {
            // Choices are made before the clock starts and without the program's knowledge. Each run so far is kept with
            // the same probability, however many will follow.
            let done = pairs.rewritten.len();
            let place = if done < self.keep { done } else { random.below(done as u64 + 1) as usize };
            let eager_first = random.below(2) == 0;
            if eager_first {
                pairs.eager.push(timed(eager)?.0);
            }
            let (time, outputs) = timed(rewritten)?;
            pairs.rewritten.push(time);
            match pairs.kept.get_mut(place) {
                Some(kept) => *kept = outputs,
                None if place < self.keep => pairs.kept.push(outputs),
                None => drop(outputs),
            }
            if !eager_first {
                pairs.eager.push(timed(eager)?.0);
            }
        }
        Ok(pairs)
    }
}

/// As [`pairs`], but `flush` empties the caches before every run. Few trials: they are shown, not scored.
pub fn cold_pairs<P: Contender>(
    eager: &mut P,
    rewritten: &mut P,
    settings: &Settings,
    mut flush: impl FnMut(),
) -> Result<(Vec<u64>, Vec<u64>), P::Error> {
    let budget = Duration::from_millis(settings.budget_ms) / 4;
    let started = Instant::now();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    while !enough(first.len(), COLD_TRIALS, Settings::MIN_TRIALS, started, budget) {
        flush();
        first.push(timed(eager)?.0);
        flush();
        second.push(timed(rewritten)?.0);
    }
    Ok((first, second))
}

const COLD_TRIALS: u32 = 10;

fn timed<P: Contender>(program: &mut P) -> Result<(u64, P::Outputs), P::Error> {
    program.prepare();
    let start = Instant::now();
    let outputs = program.run()?;
    let time = start.elapsed();
    Ok((u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1), outputs))
}

fn warm_up<P: Contender>(program: &mut P, count: u32) -> Result<(), P::Error> {
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

fn enough(done: usize, wanted: u32, least: u32, started: Instant, budget: Duration) -> bool {
    done >= wanted as usize || (done >= least as usize && started.elapsed() >= budget)
}

/// Only orders trials.
struct Random(SplitMix64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(SplitMix64::seed_from_u64(seed))
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound.max(1)
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

    impl Contender for Counter {
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
        assert_eq!(pairs.kept.len(), 3);
        assert!(pairs.kept.iter().all(|&run| run > 1 + settings.warmups), "only timed runs are kept");
    }

    #[test]
    fn outputs_are_kept_of_every_measurement_however_short_and_of_any_run() {
        let short = Settings { budget_ms: 0, ..Settings::default() };
        let mut last_kept = 0;
        for seed in 0..50 {
            let found = pairs(&mut counter(10), &mut counter(10), &short, 3, seed).unwrap();
            assert_eq!((found.rewritten.len(), found.kept.len()), (Settings::MIN_TRIALS as usize, 3));
            let settings = Settings { trials: 40, ..Settings::default() };
            let found = pairs(&mut counter(10), &mut counter(10), &settings, 3, seed).unwrap();
            last_kept = last_kept.max(found.kept.into_iter().max().unwrap_or(0));
        }
        assert_eq!(last_kept, 1 + Settings::default().warmups + 40, "the last run is kept for some seeds");
    }

    #[test]
    fn a_spent_budget_still_leaves_the_least_number_of_trials() {
        let settings = Settings { budget_ms: 0, ..Settings::default() };
        let samples = alone(&mut counter(1000), &mut counter(1000), &settings, 1).unwrap();
        assert_eq!(samples.len(), 2 * Settings::MIN_TRIALS.div_ceil(2) as usize);
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
