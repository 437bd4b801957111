//! How certain AS is, given what the times of its variants were in each block of each process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate_scores, check, es};
use crate::error::ScoreError;
use crate::options::Options;
use crate::outcome::VariantOutcome;
use crate::ratio::Side;
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
    /// The factor within which equal measurements lie, of the same device and a host that is as these runs found it.
    pub resolution: f64,
}

/// 95% intervals of AS and AS strict, by Student's t over processes (see [`Repeats::estimate`]): the scores are computed
/// once for each block of each process. Rightness stays as it is, the intervals speak of time alone. `repeats` has one entry
/// an outcome; those of failed variants are not read, and a compared variant without keeps its speedup.
///
/// So many submissions share the error of the intervals, which together miss as often as that of one, and so many that of the
/// verdict. `None` where no variant has any times, or they were not measured in the same number of processes.
///
/// # Errors
///
/// What [`score()`](crate::score()) refuses; [`ScoreError::RepeatsCount`] if `repeats` does not match `outcomes`.
pub fn confidence(
    outcomes: &[VariantOutcome],
    repeats: &[Option<Repeats>],
    options: &Options,
    resolution: f64,
    [sharing, submissions]: [u32; 2],
) -> Result<Option<Confidence>, ScoreError> {
    let side = checked(outcomes, repeats, options)?;
    let timed = side.timed();
    let all: Vec<&Repeats> = timed.iter().map(|(_, repeats)| *repeats).collect();
    let interval = |of: fn((f64, f64)) -> f64| {
        interval(side, resolution, sharing, |outcomes| of(aggregate_scores(outcomes, options)))
    };
    let mean = Repeats::combined(&all, |ln_speedups| ln_speedups.iter().sum::<f64>() / ln_speedups.len() as f64);
    let intervals = interval(|scores| scores.0).zip(interval(|scores| scores.1));
    Ok(intervals.zip(mean).map(|((aggregate_score, aggregate_score_strict), mean)| Confidence {
        aggregate_score,
        aggregate_score_strict,
        speedup: mean.shared_estimate(resolution, sharing),
        verdict: mean.verdict(resolution, submissions),
        submissions,
        resolution,
    }))
}

/// 95% intervals of ES(t), for every t of the interpretation, by the same means as those of AS.
///
/// `None` where [`confidence()`] is.
///
/// # Errors
///
/// Those of [`confidence()`].
pub fn es_intervals(
    outcomes: &[VariantOutcome],
    repeats: &[Option<Repeats>],
    options: &Options,
    resolution: f64,
    submissions: u32,
) -> Result<Option<BTreeMap<i8, Interval>>, ScoreError> {
    let side = checked(outcomes, repeats, options)?;
    let at = |t: i8| Some((t, interval(side, resolution, submissions, |outcomes| es(outcomes, t, options))?));
    Ok(options.interpretation.tolerances().map(at).collect())
}

fn checked<'a>(
    outcomes: &'a [VariantOutcome],
    repeats: &'a [Option<Repeats>],
    options: &Options,
) -> Result<Side<'a>, ScoreError> {
    check(outcomes, options)?;
    if repeats.len() != outcomes.len() {
        return Err(ScoreError::RepeatsCount { expected: outcomes.len(), found: repeats.len() });
    }
    Ok(Side { outcomes, repeats })
}

/// About the score itself: the score of a mean of speedups is not quite the mean of scores.
fn interval(
    side: Side<'_>,
    resolution: f64,
    submissions: u32,
    score: impl Fn(&[VariantOutcome]) -> f64,
) -> Option<Interval> {
    let timed = side.timed();
    let all: Vec<&Repeats> = timed.iter().map(|(_, repeats)| *repeats).collect();
    let blocks = Repeats::combined(&all, |ln_speedups| score(&side.with(&timed, ln_speedups)).ln())?;
    let spread = blocks.shared_estimate(resolution, submissions).interval.spread();
    let score = score(side.outcomes);
    Some(Interval { low: score / spread, high: score * spread })
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
            passes_at: Some(-10),
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: None,
        }
    }

    fn of(outcomes: &[VariantOutcome], repeats: &[Option<Repeats>]) -> Option<Confidence> {
        confidence(outcomes, repeats, &Options::default(), 1.01, [1; 2]).unwrap()
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
    fn submissions_that_share_an_error_have_wider_intervals() {
        let repeats = Repeats::new(&[vec![2.0, 2.1], vec![2.2, 2.0], vec![1.9, 2.0]]).unwrap();
        let (outcomes, repeats) = ([compared(2.0)], [Some(repeats)]);
        let of = |submissions| confidence(&outcomes, &repeats, &Options::default(), 1.001, [submissions; 2]);
        let [one, ten] = [1, 10].map(|submissions| of(submissions).unwrap().unwrap());
        assert_eq!(Ok(Some(one)), confidence(&outcomes, &repeats, &Options::default(), 1.001, [1; 2]));
        // Student's t with two degrees of freedom: 14.089 at 99.75%, 4.303 at 97.5%.
        let wider = ten.aggregate_score.spread().ln() / one.aggregate_score.spread().ln();
        assert!((wider - 14.089 / 4.303).abs() < 0.01, "{wider}");
        assert!(ten.speedup.interval.spread() > one.speedup.interval.spread());
    }

    #[test]
    fn es_has_the_interval_of_the_speedup_where_all_is_right_and_none_where_nothing_is() {
        let repeats = Repeats::new(&[vec![2.0, 2.1], vec![2.2, 2.0], vec![1.9, 2.0]]).unwrap();
        let late = VariantOutcome::Compared {
            speedup: repeats.ln_speedup().exp(),
            passes_at: Some(-5),
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: None,
        };
        let expected = repeats.estimate(1.01).interval;
        let found = es_intervals(&[late], &[Some(repeats)], &Options::default(), 1.01, 1).unwrap().unwrap();
        assert!((found[&0].low / expected.low - 1.0).abs() < 1e-9 && found.len() == 15, "{found:?}");
        // Below t = -5 it scores b, however long it takes: what is left is the resolution.
        assert!((found[&-6].spread() - 1.01).abs() < 1e-9, "{found:?}");
        let failed = VariantOutcome::Failed(FailureClass::Runtime);
        assert_eq!(es_intervals(&[failed], &[None], &Options::default(), 1.01, 1), Ok(None));
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
        let found = confidence(&[compared(2.0)], &[], &Options::default(), 1.01, [1; 2]);
        let message = found.map_err(|error| error.to_string());
        assert_eq!(
            message,
            Err("0 sets of repeats for 1 variants; pass one entry a variant, none for a variant that failed".into())
        );
    }
}
