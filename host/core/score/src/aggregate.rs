//! S(t), ES(t), AS and AS strict as means over the variants of a sample.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::error::ScoreError;
use crate::macro_form::{MacroForm, disagreement, from_log};
use crate::options::{Interpretation, Options};
use crate::outcome::VariantOutcome;
use crate::repeats::check_speedup;

/// The weight of ES(t) in AS as PassBench publishes it, before normalisation.
///
/// From t = -3 to 3 each weight is 0.8 times the one before; the ends hardly count.
pub const AGGREGATE_WEIGHTS: [(i8, f64); 15] = [
    (-10, 0.001),
    (-9, 0.001),
    (-8, 0.001),
    (-7, 0.001),
    (-6, 0.001),
    (-5, 1.0),
    (-4, 1.0),
    (-3, 1.0),
    (-2, 0.8),
    (-1, 0.64),
    (0, 0.512),
    (1, 0.4096),
    (2, 0.32768),
    (3, 0.262144),
    (4, 0.001),
];

/// The t at which AS strict decides once and for all whether a variant is right.
const STRICT_T: i8 = -2;

/// The scores of one sample. Every number is a speedup: 1 is as fast as eager, more is better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// S(t), for every t of the interpretation.
    pub s: BTreeMap<i8, f64>,
    /// ES(t), for every t of the interpretation.
    pub es: BTreeMap<i8, f64>,
    /// What AS strict takes in place of ES(t), for t in -10..=4.
    pub es_strict: BTreeMap<i8, f64>,
    /// AS: the weighted geometric mean of ES(t) under the default interpretation, whatever the interpretation of `es`.
    pub aggregate_score: f64,
    /// AS strict: the same mean of `es_strict`.
    pub aggregate_score_strict: f64,
    /// S(t) and ES(t) once more from aggregates over the variants, for every t of the interpretation.
    pub macro_form: BTreeMap<i8, MacroForm>,
    /// The largest difference between `s`, `es` and their macro form: absolute up to a score of 1, relative above.
    /// More than 1e-9 is a bug in this crate.
    pub macro_disagreement: f64,
}

/// Scores the variants of one sample.
///
/// # Errors
///
/// [`ScoreError::NoVariants`] for an empty slice; [`ScoreError::FailureScore`] and [`ScoreError::SlowdownPenalty`] for
/// options out of range; [`ScoreError::Speedup`], in [`ScoreError::InVariant`], for a speedup that is not positive and
/// finite.
pub fn score(outcomes: &[VariantOutcome], options: &Options) -> Result<Scores, ScoreError> {
    check(outcomes, options)?;
    let tolerances = options.interpretation.tolerances();
    let s = curve(tolerances.clone(), |t| mean(outcomes, |outcome| ln_s(outcome, t, options)));
    let es =
        curve(tolerances.clone(), |t| mean(outcomes, |outcome| ln_es(outcome, t, options, options.interpretation)));
    let es_strict =
        curve(Interpretation::Default.tolerances(), |t| mean(outcomes, |outcome| ln_es_strict(outcome, t, options)));
    let macro_form: BTreeMap<i8, MacroForm> = tolerances.map(|t| (t, MacroForm::at(t, outcomes, options))).collect();
    let macro_disagreement = macro_form
        .iter()
        .map(|(t, form)| disagreement(s[t], form.s).max(disagreement(es[t], form.es)))
        .fold(0.0, f64::max);
    let (aggregate_score, aggregate_score_strict) = aggregate_scores(outcomes, options);
    Ok(Scores { s, es, es_strict, aggregate_score, aggregate_score_strict, macro_form, macro_disagreement })
}

/// Refuses what [`score`] says it refuses.
pub(crate) fn check(outcomes: &[VariantOutcome], options: &Options) -> Result<(), ScoreError> {
    options.check()?;
    if outcomes.is_empty() {
        return Err(ScoreError::NoVariants);
    }
    for (variant, outcome) in outcomes.iter().enumerate() {
        if let VariantOutcome::Compared { speedup, .. } = outcome {
            check_speedup(*speedup).map_err(|problem| ScoreError::InVariant(variant, Box::new(problem)))?;
        }
    }
    Ok(())
}

/// AS and AS strict of checked outcomes.
///
/// AS = 10^(sum_t w_t log10 ES(t)) with the weights normalised to 1; the base of the logarithm cancels.
pub(crate) fn aggregate_scores(outcomes: &[VariantOutcome], options: &Options) -> (f64, f64) {
    let published = weighted(|t| mean(outcomes, |outcome| ln_es(outcome, t, options, Interpretation::Default)));
    let strict = weighted(|t| mean(outcomes, |outcome| ln_es_strict(outcome, t, options)));
    (from_log(published), from_log(strict))
}

/// ES(t) of checked outcomes.
pub(crate) fn es(outcomes: &[VariantOutcome], t: i8, options: &Options) -> f64 {
    from_log(mean(outcomes, |outcome| ln_es(outcome, t, options, options.interpretation)))
}

fn ln_s(outcome: &VariantOutcome, t: i8, options: &Options) -> f64 {
    match outcome.at(t) {
        Ok(speedup) => ln_rectify(speedup, options.p),
        Err(_) => options.b.ln(),
    }
}

fn ln_es(outcome: &VariantOutcome, t: i8, options: &Options, interpretation: Interpretation) -> f64 {
    // From t = 1 on, the state at t = 1 is frozen: being right at t = 3 only does not help.
    match outcome.at(t.min(1)) {
        Ok(speedup) => ln_rectify(speedup, options.p),
        Err(class) if class.is_tolerated(t, interpretation) => 0.0,
        Err(_) => options.b.ln(),
    }
}

fn ln_es_strict(outcome: &VariantOutcome, t: i8, options: &Options) -> f64 {
    if let VariantOutcome::Compared { wrong_on_edge_cases: true, .. } = outcome {
        return options.b.ln();
    }
    let outcome = &outcome.decided();
    if t < 0 {
        return ln_s(outcome, t, options);
    }
    // f32 at t = 0 has rtol = atol = 1: nearly everything is right there, so that STRICT_T decides instead.
    let log = ln_s(outcome, STRICT_T, options);
    match outcome {
        VariantOutcome::Compared { trivial_passes_at_minus_2: true, .. } => log.min(0.0),
        VariantOutcome::Compared { .. } | VariantOutcome::Failed(_) => log,
    }
}

/// The logarithm of the rectified speedup: of s itself, of s^(p+1) if it is a slowdown.
fn ln_rectify(speedup: f64, p: f64) -> f64 {
    if speedup >= 1.0 { speedup.ln() } else { speedup.ln() * (p + 1.0) }
}

fn mean(outcomes: &[VariantOutcome], log: impl Fn(&VariantOutcome) -> f64) -> f64 {
    outcomes.iter().map(log).sum::<f64>() / outcomes.len() as f64
}

fn weighted(log: impl Fn(i8) -> f64) -> f64 {
    let total: f64 = AGGREGATE_WEIGHTS.iter().map(|(_, weight)| weight).sum();
    AGGREGATE_WEIGHTS.iter().map(|(t, weight)| weight * log(*t)).sum::<f64>() / total
}

fn curve(tolerances: RangeInclusive<i8>, log: impl Fn(i8) -> f64) -> BTreeMap<i8, f64> {
    tolerances.map(|t| (t, from_log(log(t)))).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod tests {
    use super::*;
    use crate::outcome::{Decided, FailureClass};

    fn right(speedup: f64, passes_at: i8) -> VariantOutcome {
        VariantOutcome::Compared {
            speedup,
            passes_at: Some(passes_at),
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: None,
        }
    }

    fn decided(speedup: f64, passes_at: Option<i8>) -> VariantOutcome {
        VariantOutcome::Compared {
            speedup,
            passes_at: Some(2),
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: Some(Decided { passes_at }),
        }
    }

    fn wrong_on_edge_cases(speedup: f64) -> VariantOutcome {
        VariantOutcome::Compared {
            speedup,
            passes_at: Some(-10),
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: true,
            decided: None,
        }
    }

    fn trivially_right(speedup: f64, passes_at: i8) -> VariantOutcome {
        VariantOutcome::Compared {
            speedup,
            passes_at: Some(passes_at),
            trivial_passes_at_minus_2: true,
            wrong_on_edge_cases: false,
            decided: None,
        }
    }

    fn assert_near(found: f64, expected: f64, what: &str) {
        assert!((found - expected).abs() < 1e-12 * expected.max(1.0), "{what}: expected {expected}, found {found}");
    }

    /// The share of AS that the t that `selected` selects weigh.
    fn share(selected: impl Fn(i8) -> bool) -> f64 {
        let sum = |keep: &dyn Fn(i8) -> bool| -> f64 {
            AGGREGATE_WEIGHTS.iter().filter(|(t, _)| keep(*t)).map(|(_, weight)| weight).sum()
        };
        sum(&selected) / sum(&|_| true)
    }

    #[test]
    fn slowdowns_alone_are_penalised() {
        for (speedup, p, expected) in
            [(4.0, 0.0, 4.0), (4.0, 1.0, 4.0), (1.0, 1.0, 1.0), (0.5, 0.0, 0.5), (0.5, 1.0, 0.25), (0.25, 0.5, 0.125)]
        {
            assert_near(ln_rectify(speedup, p).exp(), expected, &format!("s = {speedup}, p = {p}"));
        }
    }

    #[test]
    fn the_weights_cover_the_default_range_and_decay_by_a_fifth() {
        let ts: Vec<i8> = AGGREGATE_WEIGHTS.iter().map(|(t, _)| *t).collect();
        assert_eq!(ts, Interpretation::Default.tolerances().collect::<Vec<i8>>());
        for pair in AGGREGATE_WEIGHTS.windows(2).filter(|pair| (-3..3).contains(&pair[0].0)) {
            assert_near(pair[1].1 / pair[0].1, 0.8, &format!("weight at {} over the one before", pair[1].0));
        }
    }

    #[test]
    fn scores_worked_by_hand() {
        // Right from -4 at 4x, and a run-time failure: S = sqrt(4 * 0.1) where right, ES tolerates the other at 3.
        let outcomes = [right(4.0, -4), VariantOutcome::Failed(FailureClass::Runtime)];
        let scores = score(&outcomes, &Options::default()).unwrap();
        for (t, s, es) in
            [(-10, 0.1, 0.1), (-5, 0.1, 0.1), (-4, 0.4_f64.sqrt(), 0.4_f64.sqrt()), (2, 0.4_f64.sqrt(), 0.4_f64.sqrt())]
        {
            assert_near(scores.s[&t], s, &format!("S({t})"));
            assert_near(scores.es[&t], es, &format!("ES({t})"));
        }
        assert_near(scores.s[&3], 0.4_f64.sqrt(), "S(3)");
        assert_near(scores.es[&3], 2.0, "ES(3)");
    }

    #[test]
    fn from_t_1_on_es_looks_at_t_1() {
        let scores = score(&[right(8.0, 3)], &Options::default()).unwrap();
        for (t, s, es) in [(0, 0.1, 0.1), (1, 0.1, 1.0), (2, 0.1, 1.0), (3, 8.0, 1.0), (4, 8.0, 1.0)] {
            assert_near(scores.s[&t], s, &format!("S({t})"));
            assert_near(scores.es[&t], es, &format!("ES({t})"));
        }
    }

    #[test]
    fn a_lone_failure_has_the_published_aggregate_score() {
        for (class, expected) in [
            // Tolerated from 1, from 3, never. The first two are the 0.147 and 0.111 of the published weights.
            (FailureClass::Accuracy, 0.1_f64.powf(share(|t| t < 1))),
            (FailureClass::TypeMismatch, 0.1_f64.powf(share(|t| t < 3))),
            (FailureClass::ShapeMismatch, 0.1_f64.powf(share(|t| t < 3))),
            (FailureClass::NanInf, 0.1_f64.powf(share(|t| t < 3))),
            (FailureClass::Runtime, 0.1_f64.powf(share(|t| t < 3))),
            (FailureClass::Compile, 0.1_f64.powf(share(|t| t < 3))),
            (FailureClass::Reference, 0.1),
            (FailureClass::PassMiss, 0.1),
            (FailureClass::Integrity, 0.1),
        ] {
            let scores = score(&[VariantOutcome::Failed(class)], &Options::default()).unwrap();
            assert_near(scores.aggregate_score, expected, &class.to_string());
            assert_near(scores.aggregate_score_strict, 0.1, &format!("{class}, strict"));
        }
        let wrong = score(&[VariantOutcome::Failed(FailureClass::Accuracy)], &Options::default()).unwrap();
        assert!((wrong.aggregate_score - 0.147).abs() < 5e-4, "{}", wrong.aggregate_score);
        let trapped = score(&[VariantOutcome::Failed(FailureClass::Compile)], &Options::default()).unwrap();
        assert!((trapped.aggregate_score - 0.111).abs() < 5e-4, "{}", trapped.aggregate_score);
    }

    #[test]
    fn pass_miss_and_integrity_score_b_at_every_t() {
        for class in [FailureClass::PassMiss, FailureClass::Integrity, FailureClass::Reference] {
            for interpretation in [Interpretation::Default, Interpretation::MismatchExtended] {
                let options = Options { interpretation, ..Options::default() };
                let scores = score(&[VariantOutcome::Failed(class)], &options).unwrap();
                for t in interpretation.tolerances() {
                    assert_near(scores.s[&t], 0.1, &format!("S({t}) of {class}"));
                    assert_near(scores.es[&t], 0.1, &format!("ES({t}) of {class}"));
                }
            }
        }
    }

    #[test]
    fn never_right_scores_like_an_accuracy_failure() {
        let never = VariantOutcome::Compared {
            speedup: 9.0,
            passes_at: None,
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: None,
        };
        let failed = VariantOutcome::Failed(FailureClass::Accuracy);
        assert_eq!(score(&[never], &Options::default()), score(&[failed], &Options::default()));
    }

    #[test]
    fn the_aggregate_score_is_the_default_interpretations() {
        let outcomes = [
            right(1.5, -5),
            VariantOutcome::Failed(FailureClass::TypeMismatch),
            VariantOutcome::Failed(FailureClass::Compile),
        ];
        let default = score(&outcomes, &Options::default()).unwrap();
        let extended = Options { interpretation: Interpretation::MismatchExtended, ..Options::default() };
        let extended = score(&outcomes, &extended).unwrap();
        assert_eq!(extended.es.last_key_value().map(|(t, _)| *t), Some(5));
        assert!(extended.es[&2] > default.es[&2]);
        assert_eq!(extended.aggregate_score, default.aggregate_score);
        assert_eq!(extended.aggregate_score_strict, default.aggregate_score_strict);
    }

    #[test]
    fn the_strict_score_worked_by_hand() {
        let b = 0.1_f64;
        for (name, outcome, expected) in [
            ("right everywhere", right(3.0, -10), 3.0),
            ("right, but not on unusual inputs", wrong_on_edge_cases(3.0), b),
            ("right from -5", right(3.0, -5), 3.0_f64.powf(share(|t| t >= -5)) * b.powf(share(|t| t < -5))),
            ("right from -2", right(3.0, -2), 3.0_f64.powf(share(|t| t >= -2)) * b.powf(share(|t| t < -2))),
            // Right at -1 but not at -2: t >= 0 gives nothing.
            ("right from -1", right(3.0, -1), 3.0_f64.powf(share(|t| t == -1)) * b.powf(share(|t| t != -1))),
            ("right from 0", right(3.0, 0), b),
            ("wrong beside eager, right by the run in double precision", decided(3.0, Some(-10)), 3.0),
            ("wrong by both", decided(3.0, None), b),
            ("right from 1", right(3.0, 1), b),
            ("slow and right", right(0.5, -10), 0.5),
            ("fast, but zeros would do", trivially_right(3.0, -10), 3.0_f64.powf(share(|t| t < 0))),
            ("slow, and zeros would do", trivially_right(0.5, -10), 0.5),
            (
                "zeros would do, yet not right at -2",
                trivially_right(3.0, -1),
                3.0_f64.powf(share(|t| t == -1)) * b.powf(share(|t| t != -1)),
            ),
            ("failed", VariantOutcome::Failed(FailureClass::Runtime), b),
        ] {
            let scores = score(&[outcome], &Options::default()).unwrap();
            assert_near(scores.aggregate_score_strict, expected, name);
        }
    }

    #[test]
    fn the_strict_score_is_the_geometric_mean_over_variants() {
        let outcomes = [right(4.0, -10), trivially_right(4.0, -10), VariantOutcome::Failed(FailureClass::Integrity)];
        let scores = score(&outcomes, &Options { p: 1.0, ..Options::default() }).unwrap();
        assert_near(scores.es_strict[&-1], (4.0 * 4.0 * 0.1_f64).cbrt(), "t = -1");
        assert_near(scores.es_strict[&0], (4.0 * 1.0 * 0.1_f64).cbrt(), "t = 0");
        assert_eq!(scores.es_strict.len(), 15);
    }

    #[test]
    fn input_without_a_score_is_refused() {
        let fine = right(2.0, -5);
        let options = Options::default();
        for (outcomes, options, message) in [
            (vec![], options, "no variants to score; a score needs the outcome of at least one"),
            (vec![fine, right(0.0, -5)], options, "variant 1: speedup 0 is not a positive finite number"),
            (vec![right(-2.0, -5)], options, "variant 0: speedup -2 is not a positive finite number"),
            (vec![right(f64::NAN, -5)], options, "variant 0: speedup NaN is not a positive finite number"),
            (
                vec![fine, fine, right(f64::INFINITY, -5)],
                options,
                "variant 2: speedup inf is not a positive finite number",
            ),
            (
                vec![fine],
                Options { b: 0.0, ..options },
                "b = 0 is out of range; the score of a failure lies in (0, 1], 0.1 as published",
            ),
            (
                vec![fine],
                Options { p: -1.0, ..options },
                "p = -1 is out of range; the slowdown penalty lies in 0..=100, 0 as published",
            ),
        ] {
            let found = score(&outcomes, &options).map_err(|error| error.to_string());
            assert_eq!(found, Err(message.to_owned()));
        }
    }

    #[test]
    fn extreme_speedups_and_penalties_give_finite_scores() {
        let speedups = [f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e-9, 1.0, 1e9];
        for first in speedups {
            for second in speedups {
                for (b, p) in [(0.1, 0.0), (1.0, 100.0), (5e-324, 100.0)] {
                    let outcomes =
                        [right(first, -10), right(second, -3), VariantOutcome::Failed(FailureClass::Runtime)];
                    for outcomes in [&outcomes[..1], &outcomes[..2], &outcomes[..]] {
                        let scores = score(outcomes, &Options { b, p, ..Options::default() }).unwrap();
                        let points = scores.s.values().chain(scores.es.values()).chain(scores.es_strict.values());
                        let forms = scores.macro_form.values().flat_map(|form| [&form.s, &form.es]);
                        let means = [&scores.aggregate_score, &scores.aggregate_score_strict];
                        for found in points.chain(forms).chain(means) {
                            assert!(
                                found.is_finite() && *found >= 0.0,
                                "{found} of {outcomes:?} with b = {b}, p = {p}"
                            );
                        }
                    }
                }
            }
        }
    }
}
