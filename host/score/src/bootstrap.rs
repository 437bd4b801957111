//! How certain AS is, given the noise of the timing samples.

use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate_scores, check};
use crate::error::ScoreError;
use crate::options::Options;
use crate::outcome::VariantOutcome;
use crate::timing::{Timings, median};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The quantiles between which 95% of the resampled scores lie.
const QUANTILES: (f64, f64) = (0.025, 0.975);

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bootstrap {
    /// Number of resampled scores. 1000 is usual for an interval.
    pub resamples: usize,
    /// The same seed and input give the same intervals.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Bootstrap {
        Bootstrap { resamples: 1000, seed: 0 }
    }
}

/// A closed interval of scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// 95% intervals of the two aggregate scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Of AS.
    pub aggregate_score: Interval,
    /// Of AS strict.
    pub aggregate_score_strict: Interval,
}

/// 95% intervals of AS and AS strict over the timing samples: a percentile bootstrap (Efron 1979).
///
/// For each resample, the eager and the rewritten times of every compared variant are drawn anew from its own, with
/// replacement and as many as there were; the medians of what was drawn give the speedup. Rightness stays as it is:
/// the interval speaks of noise in time only. `timings` has one entry an outcome; those of failed variants are not
/// read, and a compared variant without timings keeps its speedup.
///
/// # Errors
///
/// What [`score()`](crate::score()) refuses; [`ScoreError::TimingsCount`] if `timings` does not match `outcomes`;
/// [`ScoreError::NoTimings`] and [`ScoreError::TimingSample`], in [`ScoreError::InVariant`], for samples without a
/// median or a meaning; [`ScoreError::NoResamples`].
pub fn confidence(
    outcomes: &[VariantOutcome],
    timings: &[Option<Timings>],
    options: &Options,
    bootstrap: &Bootstrap,
) -> Result<Confidence, ScoreError> {
    check(outcomes, options)?;
    if timings.len() != outcomes.len() {
        return Err(ScoreError::TimingsCount { expected: outcomes.len(), found: timings.len() });
    }
    if bootstrap.resamples == 0 {
        return Err(ScoreError::NoResamples);
    }
    for (variant, (outcome, timings)) in outcomes.iter().zip(timings).enumerate() {
        if let (VariantOutcome::Compared { .. }, Some(timings)) = (outcome, timings) {
            timings.speedup().map_err(|problem| problem.in_variant(variant))?;
        }
    }

    let mut random = Random(SplitMix64::seed_from_u64(bootstrap.seed));
    let mut resampled = outcomes.to_vec();
    let (mut published, mut strict): (Vec<f64>, Vec<f64>) = (0..bootstrap.resamples)
        .map(|_| {
            for (outcome, timings) in resampled.iter_mut().zip(timings) {
                if let (VariantOutcome::Compared { speedup, .. }, Some(timings)) = (outcome, timings) {
                    let quotient = random.median_of(&timings.eager) / random.median_of(&timings.rewritten);
                    // Samples that differ by 300 orders of magnitude may draw a quotient that none of the checks saw.
                    *speedup = quotient.clamp(f64::MIN_POSITIVE, f64::MAX);
                }
            }
            aggregate_scores(&resampled, options)
        })
        .unzip();
    Ok(Confidence { aggregate_score: interval(&mut published), aggregate_score_strict: interval(&mut strict) })
}

fn interval(scores: &mut [f64]) -> Interval {
    scores.sort_by(f64::total_cmp);
    Interval { low: quantile(scores, QUANTILES.0), high: quantile(scores, QUANTILES.1) }
}

/// The quantile of sorted scores, linear between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let (below, above) = (position.floor(), position.ceil());
    let part = position - below;
    sorted[below as usize] * (1.0 - part) + sorted[above as usize] * part
}

/// SplitMix64 (Steele, Lea and Flood 2014), which never changes under us, so that intervals stay the same.
struct Random(SplitMix64);

impl Random {
    /// An index below `length`. The bias of the multiplication is below length / 2^64.
    fn index(&mut self, length: usize) -> usize {
        ((u128::from(self.0.next_u64()) * length as u128) >> 64) as usize
    }

    /// The median of as many samples as given, drawn with replacement.
    fn median_of(&mut self, samples: &[f64]) -> f64 {
        let mut drawn: Vec<f64> = samples.iter().map(|_| samples[self.index(samples.len())]).collect();
        median(&mut drawn)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod tests {
    use super::*;
    use crate::aggregate::score;
    use crate::outcome::FailureClass;

    /// Times around `centre`, spread by `spread` of it, in an order that is not sorted.
    fn times(centre: f64, spread: f64) -> Vec<f64> {
        (0..101).map(|trial| centre * (1.0 + spread * (f64::from((trial * 37) % 101) / 50.0 - 1.0))).collect()
    }

    fn compared(timings: &Timings) -> VariantOutcome {
        VariantOutcome::Compared {
            speedup: timings.speedup().unwrap(),
            right_from: Some(-10),
            trivial_right_at_minus_2: false,
            wrong_in_domain: false,
        }
    }

    fn noisy_sample(spread: f64) -> (Vec<VariantOutcome>, Vec<Option<Timings>>) {
        let fast = Timings { eager: times(3.0, spread), rewritten: times(1.0, spread) };
        let slow = Timings { eager: times(2.0, spread), rewritten: times(2.5, spread) };
        let outcomes = vec![compared(&fast), VariantOutcome::Failed(FailureClass::Runtime), compared(&slow)];
        (outcomes, vec![Some(fast), None, Some(slow)])
    }

    #[test]
    fn splitmix64_gives_its_published_sequence() {
        let mut random = SplitMix64::seed_from_u64(1_234_567);
        let found: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn the_interval_brackets_the_score() {
        for seed in 0..20 {
            let (outcomes, timings) = noisy_sample(0.2);
            let options = Options::default();
            let scores = score(&outcomes, &options).unwrap();
            let found = confidence(&outcomes, &timings, &options, &Bootstrap { resamples: 400, seed }).unwrap();
            for (interval, point) in [
                (found.aggregate_score, scores.aggregate_score),
                (found.aggregate_score_strict, scores.aggregate_score_strict),
            ] {
                assert!(interval.low < point && point < interval.high, "seed {seed}: {point} outside {interval:?}");
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let (outcomes, timings) = noisy_sample(0.1);
        let with_seed =
            |seed| confidence(&outcomes, &timings, &Options::default(), &Bootstrap { resamples: 200, seed }).unwrap();
        assert_eq!(with_seed(7), with_seed(7));
        assert_ne!(with_seed(7), with_seed(8));
    }

    #[test]
    fn more_noise_gives_a_wider_interval() {
        let width = |spread| {
            let (outcomes, timings) = noisy_sample(spread);
            let found = confidence(&outcomes, &timings, &Options::default(), &Bootstrap::default()).unwrap();
            found.aggregate_score.high - found.aggregate_score.low
        };
        assert!(width(0.3) > 2.0 * width(0.03));
    }

    #[test]
    fn without_noise_the_interval_is_the_score() {
        let steady = Timings { eager: vec![2.0; 9], rewritten: vec![1.0; 9] };
        let outcomes = [compared(&steady)];
        let scores = score(&outcomes, &Options::default()).unwrap();
        let found = confidence(&outcomes, &[Some(steady)], &Options::default(), &Bootstrap::default()).unwrap();
        for end in [found.aggregate_score.low, found.aggregate_score.high] {
            assert!((end - scores.aggregate_score).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn what_is_not_timed_does_not_vary() {
        let (mut outcomes, _) = noisy_sample(0.5);
        let garbage = Timings { eager: vec![f64::NAN], rewritten: vec![] };
        let timings = [None, Some(garbage), None];
        let scores = score(&outcomes, &Options::default()).unwrap();
        let found = confidence(&outcomes, &timings, &Options::default(), &Bootstrap::default()).unwrap();
        assert!((found.aggregate_score.low - scores.aggregate_score).abs() < 1e-12, "{found:?}");
        assert!((found.aggregate_score.high - scores.aggregate_score).abs() < 1e-12, "{found:?}");

        outcomes.truncate(0);
        let empty = confidence(&outcomes, &[], &Options::default(), &Bootstrap::default());
        assert_eq!(empty, Err(ScoreError::NoVariants));
    }

    #[test]
    fn samples_that_are_orders_of_magnitude_apart_give_finite_ends() {
        let timings = Timings { eager: vec![1e-300, 1.0, 1e300], rewritten: vec![1e-300, 1.0, 1e300] };
        let found = confidence(&[compared(&timings)], &[Some(timings)], &Options::default(), &Bootstrap::default());
        let found = found.unwrap().aggregate_score;
        assert!(found.low >= 0.0 && found.low <= 1.0 && found.high >= 1.0 && found.high.is_finite(), "{found:?}");
    }

    #[test]
    fn input_without_an_interval_is_refused() {
        let (outcomes, timings) = noisy_sample(0.1);
        let with = |change: &dyn Fn(&mut Vec<Option<Timings>>)| {
            let mut timings = timings.clone();
            change(&mut timings);
            timings
        };
        let usual = Bootstrap::default();
        for (timings, bootstrap, message) in [
            (
                with(&|timings| timings.truncate(2)),
                usual,
                "2 sets of timings for 3 variants; pass one entry a variant, none for a variant that failed",
            ),
            (
                timings.clone(),
                Bootstrap { resamples: 0, seed: 1 },
                "0 bootstrap resamples give no interval; ask for 1000 or so",
            ),
            (
                with(&|timings| timings[2] = Some(Timings::default())),
                usual,
                "variant 2: no timing samples of the eager program; a median needs at least one",
            ),
            (
                with(&|timings| timings[0] = Some(Timings { eager: vec![1.0], rewritten: vec![1.0, -1.0] })),
                usual,
                "variant 0: timing sample 1 of the rewritten program is -1, not a positive finite time",
            ),
        ] {
            let found = confidence(&outcomes, &timings, &Options::default(), &bootstrap);
            assert_eq!(found.map_err(|error| error.to_string()), Err(message.to_owned()));
        }
    }
}
