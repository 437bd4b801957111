//! How certain AS is, given what the times of its variants were in each block of each process.

use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate_scores, check, from_log};
use crate::error::ScoreError;
use crate::options::Options;
use crate::outcome::VariantOutcome;
use crate::repeats::{Estimate, Interval, Repeats, Verdict};

/// 95% intervals of the two aggregate scores, and what they say of the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Of AS.
    pub aggregate_score: Interval,
    /// Of AS strict.
    pub aggregate_score_strict: Interval,
    /// The geometric mean of the speedups of the compared variants.
    pub speedup: Estimate,
    /// What that says, for as many submissions as `submissions`.
    pub verdict: Verdict,
    /// How many submissions share the error of the verdict.
    pub submissions: u32,
    /// The factor within which equal measurements on other days lie.
    pub resolution: f64,
}

/// 95% intervals of AS and AS strict, by Student's t over processes (see [`Repeats::estimate`]): the scores are computed
/// once for each block of each process. Rightness stays as it is, the intervals speak of time alone. `repeats` has one entry
/// an outcome; those of failed variants are not read, and a compared variant without keeps its speedup.
///
/// `None` where no variant has any, or they were not measured in the same number of processes.
///
/// # Errors
///
/// What [`score()`](crate::score()) refuses; [`ScoreError::RepeatsCount`] if `repeats` does not match `outcomes`.
pub fn confidence(
    outcomes: &[VariantOutcome],
    repeats: &[Option<Repeats>],
    options: &Options,
    resolution: f64,
    submissions: u32,
) -> Result<Option<Confidence>, ScoreError> {
    check(outcomes, options)?;
    if repeats.len() != outcomes.len() {
        return Err(ScoreError::RepeatsCount { expected: outcomes.len(), found: repeats.len() });
    }
    let measured: Vec<(usize, &Repeats)> = (0..outcomes.len())
        .filter(|&at| matches!(outcomes[at], VariantOutcome::Compared { .. }))
        .filter_map(|at| Some((at, repeats[at].as_ref()?)))
        .collect();
    let all: Vec<&Repeats> = measured.iter().map(|(_, repeats)| *repeats).collect();
    let scores_of = |ln_speedups: &[f64]| {
        let mut outcomes = outcomes.to_vec();
        for ((at, _), &ln) in measured.iter().zip(ln_speedups) {
            if let VariantOutcome::Compared { speedup, .. } = &mut outcomes[*at] {
                *speedup = from_log(ln).max(f64::MIN_POSITIVE);
            }
        }
        aggregate_scores(&outcomes, options)
    };
    let interval = |score: f64, of: fn((f64, f64)) -> f64| {
        let blocks = Repeats::combined(&all, |ln_speedups| of(scores_of(ln_speedups)).ln())?;
        // About the score itself: the score of a mean of speedups is not quite the mean of scores.
        let spread = blocks.estimate(resolution).interval.spread();
        Some(Interval { low: score / spread, high: score * spread })
    };
    let (published, strict) = aggregate_scores(outcomes, options);
    let mean = Repeats::combined(&all, |ln_speedups| ln_speedups.iter().sum::<f64>() / ln_speedups.len() as f64);
    let intervals = interval(published, |scores| scores.0).zip(interval(strict, |scores| scores.1));
    Ok(intervals.zip(mean).map(|((aggregate_score, aggregate_score_strict), mean)| Confidence {
        aggregate_score,
        aggregate_score_strict,
        speedup: mean.estimate(resolution),
        verdict: mean.verdict(resolution, submissions),
        submissions,
        resolution,
    }))
}

/// The outcomes with other times of the same variants, such as the device's own. `None` where a compared variant has none,
/// or none was compared.
pub fn retimed(outcomes: &[VariantOutcome], repeats: &[Option<Repeats>]) -> Option<Vec<VariantOutcome>> {
    let mut retimed = outcomes.to_vec();
    let mut compared = false;
    for (outcome, repeats) in retimed.iter_mut().zip(repeats) {
        if let VariantOutcome::Compared { speedup, .. } = outcome {
            *speedup = repeats.as_ref()?.ln_speedup().exp();
            compared = true;
        }
    }
    compared.then_some(retimed)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::outcome::FailureClass;

    fn compared(speedup: f64) -> VariantOutcome {
        VariantOutcome::Compared {
            speedup,
            right_from: Some(-10),
            trivial_right_at_minus_2: false,
            wrong_in_domain: false,
        }
    }

    fn of(outcomes: &[VariantOutcome], repeats: &[Option<Repeats>]) -> Option<Confidence> {
        confidence(outcomes, repeats, &Options::default(), 1.01, 1).unwrap()
    }

    #[test]
    fn a_right_variant_has_the_interval_of_its_speedup() {
        let repeats = Repeats::new(&[vec![2.0, 2.1], vec![2.2, 2.0], vec![1.9, 2.0]]).unwrap();
        let speedup = repeats.ln_speedup().exp();
        let found = of(&[compared(speedup)], &[Some(repeats.clone())]).unwrap();
        // AS of one variant that is right everywhere is its speedup, whatever the tolerance.
        let expected = repeats.estimate(1.01).interval;
        assert!((found.aggregate_score.low / expected.low - 1.0).abs() < 1e-3, "{found:?} {expected:?}");
        assert!((found.aggregate_score_strict.high / expected.high - 1.0).abs() < 1e-3, "{found:?} {expected:?}");
        assert_eq!((found.verdict, found.speedup), (Verdict::Faster, repeats.estimate(1.01)));
    }

    #[test]
    fn a_failed_variant_narrows_the_interval_and_no_times_give_none() {
        let repeats = Repeats::new(&[vec![2.0], vec![2.5], vec![1.6]]).unwrap();
        let alone = of(&[compared(2.0)], &[Some(repeats.clone())]).unwrap().aggregate_score;
        let outcomes = [compared(2.0), VariantOutcome::Failed(FailureClass::Runtime)];
        let half = of(&outcomes, &[Some(repeats), None]).unwrap().aggregate_score;
        assert!(half.spread() < alone.spread());
        assert_eq!(of(&[VariantOutcome::Failed(FailureClass::Runtime)], &[None]), None);
    }

    #[test]
    fn intervals_of_scores_stay_finite_for_extreme_speedups() {
        let repeats = Repeats::new(&[vec![1e300], vec![1e-300], vec![1.0]]).unwrap();
        let found = of(&[compared(1.0)], &[Some(repeats)]).unwrap();
        assert!(found.aggregate_score.low >= 0.0 && !found.aggregate_score.high.is_nan(), "{found:?}");
    }

    #[test]
    fn repeats_are_given_for_every_outcome() {
        let found = confidence(&[compared(2.0)], &[], &Options::default(), 1.01, 1);
        let message = found.map_err(|error| error.to_string());
        assert_eq!(
            message,
            Err("0 sets of repeats for 1 variants; pass one entry a variant, none for a variant that failed".into())
        );
    }
}
