//! How the score of one entrant compares with that of another on the same variants.

use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate_scores, check};
use crate::error::ScoreError;
use crate::macro_form::from_log;
use crate::options::Options;
use crate::outcome::VariantOutcome;
use crate::repeats::{Interval, Repeats, Verdict};

/// What an entrant made of some variants.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// One a variant.
    pub outcomes: &'a [VariantOutcome],
    /// One an outcome; those of failed variants are not read, and a compared variant without keeps its speedup.
    pub repeats: &'a [Option<Repeats>],
}

/// A score over another one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The geometric mean over variants of what each scores with one entrant over what it scores with the other: the score
    /// of the one over that of the other.
    pub ratio: f64,
    /// Covers it in 95% of all measurements of these variants. `None` where times were not taken in as many processes.
    pub interval: Option<Interval>,
    /// Whether the one is faster, as scores count, with the error of [`Repeats::verdict`].
    pub verdict: Verdict,
}

impl Ratio {
    /// Whether the interval leaves no doubt that the two differ.
    pub fn excludes_one(&self) -> bool {
        self.interval.is_some_and(|interval| !interval.contains(1.0))
    }
}

/// AS and AS strict of one entrant over those of another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratios {
    /// Of AS.
    pub aggregate_score: Ratio,
    /// Of AS strict.
    pub aggregate_score_strict: Ratio,
}

/// AS and AS strict of `other` over those of `first`, both of the same variants in the same order. The ratios are computed
/// once for each block of each process, as intervals of scores are. Both sides were measured, so that equal ones differ by
/// more than one measurement does: by `resolution` to the power of the square root of two. `comparisons` verdicts share
/// the error of one.
///
/// # Errors
///
/// What [`score()`](crate::score()) refuses; [`ScoreError::RepeatsCount`] if the lists are not equally long.
pub fn ratios(
    first: Side<'_>,
    other: Side<'_>,
    options: &Options,
    resolution: f64,
    comparisons: u32,
) -> Result<Ratios, ScoreError> {
    for side in [first, other] {
        check(side.outcomes, options)?;
        let (expected, found) = (first.outcomes.len(), side.outcomes.len().min(side.repeats.len()));
        if found != expected || side.outcomes.len() != expected {
            return Err(ScoreError::RepeatsCount { expected, found });
        }
    }
    let resolution = resolution.powf(std::f64::consts::SQRT_2);
    let ratio = |of: fn((f64, f64)) -> f64| ratio(first, other, options, of, resolution, comparisons);
    Ok(Ratios { aggregate_score: ratio(|scores| scores.0), aggregate_score_strict: ratio(|scores| scores.1) })
}

fn ratio(
    first: Side<'_>,
    other: Side<'_>,
    options: &Options,
    of: fn((f64, f64)) -> f64,
    resolution: f64,
    comparisons: u32,
) -> Ratio {
    let (first_timed, other_timed) = (first.timed(), other.timed());
    let ln_score = |outcomes: &[VariantOutcome]| of(aggregate_scores(outcomes, options)).ln();
    let ln_ratio = ln_score(other.outcomes) - ln_score(first.outcomes);
    let all: Vec<&Repeats> = first_timed.iter().chain(&other_timed).map(|(_, repeats)| *repeats).collect();
    if all.is_empty() {
        // Nothing was timed: what the two differ by is no matter of measurement.
        let (ratio, verdict) = (from_log(ln_ratio), verdict_of_exact(ln_ratio));
        return Ratio { ratio, interval: Some(Interval { low: ratio, high: ratio }), verdict };
    }
    let blocks = Repeats::combined(&all, |ln_speedups| {
        let (of_first, of_other) = ln_speedups.split_at(first_timed.len());
        ln_score(&other.with(&other_timed, of_other)) - ln_score(&first.with(&first_timed, of_first))
    });
    let interval = blocks.as_ref().map(|blocks| {
        let ln_spread = blocks.estimate(resolution).interval.spread().ln();
        Interval { low: from_log(ln_ratio - ln_spread), high: from_log(ln_ratio + ln_spread) }
    });
    let verdict = blocks.map_or(Verdict::Undecided, |blocks| blocks.verdict(resolution, comparisons));
    Ratio { ratio: from_log(ln_ratio), interval, verdict }
}

fn verdict_of_exact(ln_ratio: f64) -> Verdict {
    if ln_ratio > 0.0 {
        Verdict::Faster
    } else if ln_ratio < 0.0 {
        Verdict::Slower
    } else {
        Verdict::Undecided
    }
}

impl<'a> Side<'a> {
    /// Positions of compared variants with the times behind them.
    pub(crate) fn timed(&self) -> Vec<(usize, &'a Repeats)> {
        let repeats = self.outcomes.iter().zip(self.repeats).enumerate();
        let timed = repeats.filter(|(_, (outcome, _))| matches!(outcome, VariantOutcome::Compared { .. }));
        timed.filter_map(|(at, (_, repeats))| Some((at, repeats.as_ref()?))).collect()
    }

    /// The outcomes as they were at one position of one process.
    pub(crate) fn with(&self, timed: &[(usize, &Repeats)], ln_speedups: &[f64]) -> Vec<VariantOutcome> {
        let mut outcomes = self.outcomes.to_vec();
        for ((at, _), &ln) in timed.iter().zip(ln_speedups) {
            if let VariantOutcome::Compared { speedup, .. } = &mut outcomes[*at] {
                *speedup = from_log(ln).max(f64::MIN_POSITIVE);
            }
        }
        outcomes
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::outcome::FailureClass;
    use crate::repeats::tests::against_itself;
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::SeedableRng as _;

    fn right(speedup: f64) -> VariantOutcome {
        VariantOutcome::Compared {
            speedup,
            passes_at: Some(-10),
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: None,
        }
    }

    /// Three processes that differ by half a percent.
    fn around(speedup: f64) -> Option<Repeats> {
        let process = |factor: f64| vec![speedup * factor, speedup * factor * 1.001];
        Repeats::new(&[process(0.995), process(1.0), process(1.005)]).ok()
    }

    fn of(first: &[VariantOutcome], other: &[VariantOutcome]) -> Ratios {
        let repeats = |outcomes: &[VariantOutcome]| -> Vec<Option<Repeats>> {
            let repeats = |outcome: &VariantOutcome| outcome.at(-5).ok().and_then(around);
            outcomes.iter().map(repeats).collect()
        };
        let (first_repeats, other_repeats) = (repeats(first), repeats(other));
        let (first, other) =
            (Side { outcomes: first, repeats: &first_repeats }, Side { outcomes: other, repeats: &other_repeats });
        ratios(first, other, &Options::default(), 1.04, 1).unwrap()
    }

    #[test]
    fn the_ratio_of_right_variants_is_the_geometric_mean_of_their_speedups() {
        let found = of(&[right(1.0), right(2.0)], &[right(2.0), right(4.0)]).aggregate_score;
        assert!((found.ratio - 2.0).abs() < 1e-12, "{found:?}");
        let interval = found.interval.unwrap();
        assert!(interval.contains(2.0) && interval.spread() < 1.1, "{found:?}");
        assert_eq!((found.verdict, found.excludes_one()), (Verdict::Faster, true));
        let back = of(&[right(2.0), right(4.0)], &[right(1.0), right(2.0)]).aggregate_score;
        assert_eq!(back.verdict, Verdict::Slower);
    }

    #[test]
    fn what_is_within_two_measurements_of_each_other_is_undecided() {
        let found = of(&[right(2.0)], &[right(2.09)]).aggregate_score;
        assert_eq!((found.verdict, found.excludes_one()), (Verdict::Undecided, false), "{found:?}");
    }

    #[test]
    fn equal_entrants_are_within_the_interval_and_undecided() {
        let mut random = SplitMix64::seed_from_u64(1);
        let mut measurement = || {
            let repeats = against_itself(&mut random);
            (right(repeats.ln_speedup().exp()), Some(repeats))
        };
        let count = 2000;
        let (mut covered, mut better) = (0, 0);
        for _ in 0..count {
            let ((first, first_repeats), (other, other_repeats)) = (measurement(), measurement());
            let first = Side { outcomes: &[first], repeats: &[first_repeats] };
            let other = Side { outcomes: &[other], repeats: &[other_repeats] };
            let found = |resolution| {
                let ratios = ratios(first, other, &Options::default(), resolution, 1);
                ratios.unwrap().aggregate_score
            };
            covered += usize::from(!found(1.0).excludes_one());
            better += usize::from(found(1.02).verdict == Verdict::Faster);
        }
        assert!(covered as f64 / f64::from(count) > 0.94, "{covered} of {count}");
        assert!(better <= 2, "{better} of {count}");
    }

    #[test]
    fn who_fails_where_the_other_is_right_is_worse() {
        let failed = VariantOutcome::Failed(FailureClass::Integrity);
        let found = of(&[right(2.0), right(2.0)], &[right(2.0), failed]);
        assert!((found.aggregate_score.ratio - (0.1_f64 / 2.0).sqrt()).abs() < 1e-12, "{found:?}");
        assert_eq!(found.aggregate_score_strict.verdict, Verdict::Slower);
        // Two that fail alike, and two that fail otherwise, were not timed: there is nothing to measure again.
        let same = of(&[failed], &[failed]).aggregate_score;
        assert_eq!((same.ratio, same.verdict), (1.0, Verdict::Undecided));
        let tolerated = of(&[failed], &[VariantOutcome::Failed(FailureClass::Accuracy)]).aggregate_score;
        assert_eq!(tolerated.verdict, Verdict::Faster);
    }

    #[test]
    fn other_numbers_of_processes_give_no_interval_and_other_numbers_of_variants_an_error() {
        let (one, two) = ([right(2.0)], [right(3.0)]);
        let (three, fewer) = ([around(2.0)], [Repeats::new(&[vec![3.0], vec![3.0]]).ok()]);
        let first = Side { outcomes: &one, repeats: &three };
        let found = ratios(first, Side { outcomes: &two, repeats: &fewer }, &Options::default(), 1.04, 1).unwrap();
        assert_eq!((found.aggregate_score.interval, found.aggregate_score.verdict), (None, Verdict::Undecided));
        let longer = [right(3.0), right(3.0)];
        let found = ratios(first, Side { outcomes: &longer, repeats: &fewer }, &Options::default(), 1.04, 1);
        assert!(matches!(found, Err(ScoreError::RepeatsCount { expected: 1, .. })), "{found:?}");
    }
}
