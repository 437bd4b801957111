//! How much faster one program is than another, given blocks of pairs of runs in several processes, and how sure that is.
//!
//! Two things move a time that has nothing to do with the program. Within a process blocks differ by what the machine
//! does meanwhile. From process to process, and from day to day, everything of a process moves together: where its memory
//! lies, at which clock the machine runs. More blocks tell nothing about the second, so that an interval needs processes.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::error::ScoreError;

/// How often an interval covers the truth.
pub const COVERAGE: f64 = 0.95;

/// How often at most a verdict on two equal programs is "faster".
pub const FALSE_VERDICTS: f64 = 0.001;

/// Logarithms of the speedup in each block of each process. Blocks of equal position belong together: they were measured
/// at the same point of their process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Repeats(Vec<Vec<f64>>);

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies in it.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The factor, at least 1, between the ends and the middle of an interval of ratios.
    pub fn spread(&self) -> f64 {
        (self.high / self.low).sqrt()
    }
}

/// A speedup with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The geometric mean over processes of the geometric mean over blocks.
    pub speedup: f64,
    /// Covers the truth in [`COVERAGE`] of all measurements.
    pub interval: Interval,
}

/// Whether one program is faster than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is.
    Faster,
    /// It is slower.
    Slower,
    /// The measurement does not tell.
    Undecided,
}

impl Verdict {
    /// Every verdict, in the order of the declaration.
    pub const ALL: [Verdict; 3] = [Verdict::Faster, Verdict::Slower, Verdict::Undecided];
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

impl Repeats {
    /// Speedups in each block of each process.
    ///
    /// # Errors
    ///
    /// [`ScoreError::TooFewProcesses`] for less than two processes with a block, [`ScoreError::Speedup`] for a speedup
    /// that is not positive and finite.
    pub fn new(speedups: &[Vec<f64>]) -> Result<Repeats, ScoreError> {
        if speedups.len() < 2 || speedups.iter().any(Vec::is_empty) {
            let found = speedups.iter().filter(|blocks| !blocks.is_empty()).count();
            return Err(ScoreError::TooFewProcesses(found));
        }
        for &found in speedups.iter().flatten() {
            check_speedup(found)?;
        }
        Ok(Repeats(speedups.iter().map(|blocks| blocks.iter().map(|speedup| speedup.ln()).collect()).collect()))
    }

    /// Puts several variants together: `combine` is given the logarithm of each one's speedup, as it was at one position of
    /// one process, and returns the logarithm of what they have in common. A variant without a block at that position gives
    /// the mean of its process. `None` if they were not measured in the same number of processes, or are none.
    pub fn combined(variants: &[&Repeats], combine: impl Fn(&[f64]) -> f64) -> Option<Repeats> {
        let processes = variants.first()?.0.len();
        if variants.iter().any(|repeats| repeats.0.len() != processes) {
            return None;
        }
        let process = |process: usize| {
            let blocks = variants.iter().map(|repeats| repeats.0[process].len()).max().unwrap_or(0);
            let at = |block: usize| {
                let of = |repeats: &&Repeats| {
                    let blocks = &repeats.0[process];
                    blocks.get(block).copied().unwrap_or_else(|| mean(blocks))
                };
                combine(&variants.iter().map(of).collect::<Vec<_>>())
            };
            (0..blocks).map(at).collect()
        };
        Some(Repeats((0..processes).map(process).collect()))
    }

    /// The same where all speedups of a process are as many times as large as this list of logarithms says, one a process.
    /// `None` for another number of processes.
    pub fn moved(&self, ln_factors: &[f64]) -> Option<Repeats> {
        let moved = |(blocks, by): (&Vec<f64>, &f64)| blocks.iter().map(|ln_speedup| ln_speedup + by).collect();
        (self.0.len() == ln_factors.len()).then(|| Repeats(self.0.iter().zip(ln_factors).map(moved).collect()))
    }

    /// The logarithm of the speedup.
    pub fn ln_speedup(&self) -> f64 {
        mean(&self.process_means())
    }

    /// The speedup and its interval, by Student's t over the means of processes. What processes differ by is never taken to
    /// be less than what their blocks explain, and the interval never narrower than by a factor of `resolution` to each
    /// side: what equal measurements on other days differ by.
    pub fn estimate(&self, resolution: f64) -> Estimate {
        self.shared_estimate(resolution, 1)
    }

    /// The same for one of `submissions` of which the best is shown: of all their intervals together as many miss as of
    /// one.
    pub fn shared_estimate(&self, resolution: f64, submissions: u32) -> Estimate {
        let miss = (1.0 - COVERAGE) / f64::from(submissions.max(1));
        let half = self.half_width(1.0 - miss / 2.0).max(resolution.ln());
        let middle = self.ln_speedup();
        Estimate {
            speedup: middle.exp(),
            interval: Interval { low: (middle - half).exp(), high: (middle + half).exp() },
        }
    }

    /// Which program is faster, one of `submissions` that are tried and of which the best is shown: of as many equal
    /// programs at most [`FALSE_VERDICTS`] are called faster altogether, if no process moves all of its times by more than
    /// `resolution`.
    ///
    /// Each process has to say so by itself, by more than the resolution and beyond what its blocks leave open; and the
    /// interval between processes must not contain 1.
    pub fn verdict(&self, resolution: f64, submissions: u32) -> Verdict {
        let error = FALSE_VERDICTS / f64::from(submissions.max(1));
        let (variance, freedom) = self.within_processes();
        // With one block a process, there is nothing but the processes.
        let bound = self.half_width(if freedom == 0 { 1.0 - error } else { 1.0 - (1.0 - COVERAGE) / 2.0 });
        let quantile = if freedom == 0 { 0.0 } else { student(1.0 - error, freedom as f64) };
        let margin = |blocks: &[f64]| resolution.ln() + (variance / blocks.len() as f64).sqrt() * quantile;
        let middle = self.ln_speedup();
        let all = |sign: f64| sign * middle > bound && self.0.iter().all(|blocks| sign * mean(blocks) > margin(blocks));
        if all(1.0) {
            Verdict::Faster
        } else if all(-1.0) {
            Verdict::Slower
        } else {
            Verdict::Undecided
        }
    }

    fn process_means(&self) -> Vec<f64> {
        self.0.iter().map(|blocks| mean(blocks)).collect()
    }

    /// Half the width of the interval in which the mean lies with this one-sided probability.
    fn half_width(&self, probability: f64) -> f64 {
        let means = self.process_means();
        let (within, _) = self.within_processes();
        let explained = mean(&self.0.iter().map(|blocks| within / blocks.len() as f64).collect::<Vec<_>>());
        let between = variance(&means).max(explained);
        student(probability, (means.len() - 1) as f64) * (between / means.len() as f64).sqrt()
    }

    /// The variance of blocks about the mean of their process, and its degrees of freedom.
    fn within_processes(&self) -> (f64, usize) {
        let freedom: usize = self.0.iter().map(|blocks| blocks.len() - 1).sum();
        let squares: f64 = self.0.iter().map(|blocks| variance(blocks) * (blocks.len() - 1) as f64).sum();
        (if freedom == 0 { 0.0 } else { squares / freedom as f64 }, freedom)
    }
}

/// Refuses a speedup of which no logarithm can be taken.
pub(crate) fn check_speedup(speedup: f64) -> Result<(), ScoreError> {
    if speedup.is_finite() && speedup > 0.0 { Ok(()) } else { Err(ScoreError::Speedup(speedup)) }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample variance; 0 of one value.
fn variance(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle) * (value - middle)).sum();
    squares / (values.len() - 1).max(1) as f64
}

/// The quantile of Student's t distribution.
fn student(probability: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(probability))
}

/// The median of at least one sample; of an even number, the mean of the middle two. Reorders the samples.
///
/// # Panics
///
/// If there is none.
pub fn median(samples: &mut [f64]) -> f64 {
    let middle = samples.len() / 2;
    let even = samples.len().is_multiple_of(2);
    let (below, &mut upper, _) = samples.select_nth_unstable_by(middle, f64::total_cmp);
    if even { f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper) } else { upper }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
pub(crate) mod tests {
    use super::*;
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        for (mut samples, expected) in [
            (vec![3.0], 3.0),
            (vec![4.0, 1.0], 2.5),
            (vec![9.0, 1.0, 2.0], 2.0),
            (vec![8.0, 1.0, 2.0, 100.0], 5.0),
            (vec![2.0, 2.0, 2.0, 1.0, 1.0], 2.0),
        ] {
            assert_eq!(median(&mut samples), expected, "{samples:?}");
        }
    }

    #[test]
    fn quantiles_of_t_are_those_of_the_tables() {
        for (probability, freedom, expected) in
            [(0.975, 2.0, 4.302_653), (0.999, 2.0, 22.327_125), (0.999, 9.0, 4.296_806), (0.95, 1.0, 6.313_752)]
        {
            assert!((student(probability, freedom) - expected).abs() < 1e-5, "{probability} {freedom}");
        }
    }

    #[test]
    fn the_estimate_is_the_mean_over_processes_and_the_interval_that_of_their_means() {
        let repeats = Repeats::new(&[vec![2.0, 2.0], vec![4.0, 4.0], vec![8.0, 8.0]]).unwrap();
        let estimate = repeats.estimate(1.01);
        assert!((estimate.speedup - 4.0).abs() < 1e-12);
        // The means are ln 2 apart, so that their deviation is ln 2.
        let half = student(0.975, 2.0) * 2f64.ln() / 3f64.sqrt();
        assert!((estimate.interval.high.ln() - 4f64.ln() - half).abs() < 1e-9, "{estimate:?}");
        // A process with more blocks counts no more than the others.
        let uneven = Repeats::new(&[vec![2.0; 9], vec![4.0], vec![8.0]]).unwrap();
        assert!((uneven.estimate(1.01).speedup - 4.0).abs() < 1e-12);
    }

    #[test]
    fn an_interval_is_no_narrower_than_blocks_and_the_resolution_allow() {
        let same = Repeats::new(&[vec![2.0; 4], vec![2.0; 4], vec![2.0; 4]]).unwrap();
        let interval = same.estimate(1.02).interval;
        assert!((interval.low - 2.0 / 1.02).abs() < 1e-9 && (interval.high - 2.0 * 1.02).abs() < 1e-9);
        // Means agree by chance, blocks do not: their deviation of a block is 2/sqrt(3) ln 1.2, of three means of four blocks.
        let blocks = vec![1.2, 1.0 / 1.2, 1.2, 1.0 / 1.2];
        let noisy = Repeats::new(&[blocks.clone(), blocks.clone(), blocks]).unwrap();
        let half = student(0.975, 2.0) * (4.0f64 / 3.0).sqrt() * 1.2f64.ln() / 12f64.sqrt();
        assert!((noisy.estimate(1.02).interval.high.ln() - half).abs() < 1e-9);
    }

    #[test]
    fn a_verdict_needs_every_process_and_more_than_the_resolution() {
        let three = |speedups: [f64; 3]| {
            let blocks = |speedup: f64| vec![speedup * 1.001, speedup / 1.001, speedup * 1.001, speedup / 1.001];
            Repeats::new(&speedups.map(blocks)).unwrap().verdict(1.02, 1)
        };
        assert_eq!(three([1.2, 1.21, 1.19]), Verdict::Faster);
        assert_eq!(three([0.8, 0.81, 0.79]), Verdict::Slower);
        assert_eq!(three([1.015, 1.016, 1.015]), Verdict::Undecided, "within the resolution");
        assert_eq!(three([1.2, 1.2, 1.01]), Verdict::Undecided, "one process says no");
        assert_eq!(three([2.0, 1.03, 1.03]), Verdict::Undecided, "the processes do not agree");
        let single = |speedups: [f64; 3]| Repeats::new(&speedups.map(|s| vec![s])).unwrap().verdict(1.02, 1);
        assert_eq!(single([0.01, 0.011, 0.012]), Verdict::Slower);
        assert_eq!(single([1.1, 1.15, 1.1]), Verdict::Undecided, "three numbers say little");
    }

    #[test]
    fn more_submissions_need_more_evidence() {
        let blocks = |speedup: f64| vec![speedup * 1.01, speedup / 1.01, speedup * 1.01, speedup / 1.01];
        let repeats = Repeats::new(&[1.05, 1.051, 1.049].map(blocks)).unwrap();
        assert_eq!(repeats.verdict(1.02, 1), Verdict::Faster);
        assert_eq!(repeats.verdict(1.02, 1000), Verdict::Undecided);
    }

    /// About normal: the sum of twelve uniform numbers, less six.
    fn normal(random: &mut SplitMix64) -> f64 {
        (0..12).map(|_| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
    }

    /// Measurements of a program against itself: processes move by 1%, blocks by 2%.
    pub(crate) fn against_itself(random: &mut SplitMix64) -> Repeats {
        let mut process = || {
            let moved = 0.01 * normal(random);
            (0..4).map(|_| (moved + 0.02 * normal(random)).exp()).collect()
        };
        Repeats::new(&[process(), process(), process()]).unwrap()
    }

    #[test]
    fn intervals_cover_and_verdicts_keep_their_error() {
        let mut random = SplitMix64::seed_from_u64(1);
        let all: Vec<Repeats> = (0..4000).map(|_| against_itself(&mut random)).collect();
        let covered = all.iter().filter(|repeats| repeats.estimate(1.0).interval.contains(1.0)).count();
        assert!(covered as f64 / all.len() as f64 > 0.94, "{covered} of {}", all.len());
        let faster = all.iter().filter(|repeats| repeats.verdict(1.02, 1) == Verdict::Faster).count();
        assert!(faster <= 4, "{faster} of {}", all.len());
    }

    #[test]
    fn variants_are_combined_block_by_block() {
        let one = Repeats::new(&[vec![2.0, 4.0], vec![2.0, 2.0]]).unwrap();
        let other = Repeats::new(&[vec![8.0], vec![8.0, 2.0]]).unwrap();
        let combined = Repeats::combined(&[&one, &other], |both| both.iter().sum::<f64>() / 2.0).unwrap();
        let expected = Repeats::new(&[vec![4.0, 32f64.sqrt()], vec![4.0, 2.0]]).unwrap();
        for (found, expected) in combined.0.iter().flatten().zip(expected.0.iter().flatten()) {
            assert!((found - expected).abs() < 1e-12, "{combined:?}");
        }
        let fewer = Repeats::new(&[vec![1.0], vec![1.0], vec![1.0]]).unwrap();
        assert_eq!(Repeats::combined(&[&one, &fewer], mean), None);
        assert_eq!(Repeats::combined(&[], mean), None);
    }

    #[test]
    fn what_gives_no_speedup_is_named() {
        for (speedups, message) in [
            (vec![vec![1.0]], "blocks of 1 process; between processes needs at least two, each with a block"),
            (vec![vec![1.0], vec![]], "blocks of 1 process; between processes needs at least two, each with a block"),
            (vec![vec![1.0], vec![0.0]], "speedup 0 is not a positive finite number"),
            (vec![vec![1.0], vec![f64::NAN]], "speedup NaN is not a positive finite number"),
        ] {
            assert_eq!(Repeats::new(&speedups).map_err(|error| error.to_string()), Err(message.to_owned()));
        }
    }
}
