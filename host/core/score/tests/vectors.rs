//! The scores of tests/vectors/score-vectors.json are those of the reference implementation.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use passhost_score::{Case, FailureClass, Interpretation, Options, Scores, VariantOutcome, score};
use serde::Deserialize;
use std::collections::BTreeMap;

const AGREEMENT: f64 = 1e-9;

#[derive(Deserialize)]
struct File {
    cases: Vec<ExpectedCase>,
}

/// A case with the scores that the reference implementation gives it.
#[derive(Deserialize)]
struct ExpectedCase {
    #[serde(flatten)]
    case: Case,
    expected: BTreeMap<i8, ExpectedAt>,
    #[serde(rename = "expected_AS")]
    aggregate_score: Option<f64>,
}

/// What it has at one t.
#[derive(Deserialize)]
struct ExpectedAt {
    #[serde(rename = "S")]
    s: f64,
    #[serde(rename = "ES")]
    es: f64,
    lambda: f64,
    alpha: f64,
    eta: f64,
    beta: f64,
    /// It tolerates `reference` failures here from t = 3 on.
    gamma: f64,
    /// From its aggregates, with the same deviation.
    expected_es: f64,
}

/// Every case of the file with its scores.
fn scored_cases() -> Vec<(ExpectedCase, Scores)> {
    let path = std::env::var("CARGO_MANIFEST_DIR").unwrap() + "/../../../tests/vectors/score-vectors.json";
    let text = std::fs::read_to_string(path).unwrap();
    let file: File = serde_json::from_str(&text).unwrap();
    assert_eq!(file.cases.len(), 40);
    let scored = |expected: ExpectedCase| {
        let scores = score(&expected.case.outcomes().unwrap(), &expected.case.options()).unwrap();
        (expected, scores)
    };
    file.cases.into_iter().map(scored).collect()
}

fn check(what: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() <= AGREEMENT, "{what}: expected {expected}, found {found}");
}

#[test]
fn s_and_es_agree_at_every_t_of_every_case() {
    for (index, (case, scores)) in scored_cases().iter().enumerate() {
        let expected = &case.expected;
        let found: Vec<&i8> = scores.s.keys().collect();
        assert_eq!(found, expected.keys().collect::<Vec<&i8>>(), "case {index}: range of t");
        for (t, at) in expected {
            check(&format!("case {index}: S({t})"), scores.s[t], at.s);
            check(&format!("case {index}: ES({t})"), scores.es[t], at.es);
        }
    }
}

#[test]
fn the_aggregate_score_agrees_wherever_it_is_given() {
    let mut given = 0;
    for (index, (case, scores)) in scored_cases().iter().enumerate() {
        if let Some(expected) = case.aggregate_score {
            check(&format!("case {index}: AS"), scores.aggregate_score, expected);
            given += 1;
        }
    }
    assert_eq!(given, 20);
}

#[test]
fn aggregates_agree_but_for_tolerated_reference_failures() {
    for (index, (case, scores)) in scored_cases().iter().enumerate() {
        for (t, at) in &case.expected {
            let form = &scores.macro_form[t];
            let found = &form.aggregates;
            check(&format!("case {index}: lambda at {t}"), found.lambda, at.lambda);
            check(&format!("case {index}: alpha at {t}"), found.alpha, at.alpha);
            check(&format!("case {index}: eta at {t}"), found.eta, at.eta);
            check(&format!("case {index}: beta at {t}"), found.beta, at.beta);
            // The reference implementation counts these failures with the run-time ones, tolerated from t = 3.
            let reference_share = found.pi.get(&FailureClass::Reference).copied().unwrap_or(0.0);
            let excess = if *t >= 3 { case.case.b.powf(reference_share) } else { 1.0 };
            check(&format!("case {index}: gamma at {t}"), found.gamma, at.gamma * excess);
            let es = at.expected_es * excess.powf(1.0 - found.lambda);
            check(&format!("case {index}: macro ES({t})"), form.es, es);
        }
    }
}

#[test]
fn micro_and_macro_form_agree_in_every_case() {
    for (index, (_, scores)) in scored_cases().iter().enumerate() {
        assert!(scores.macro_disagreement <= AGREEMENT, "case {index}: {}", scores.macro_disagreement);
        for (t, form) in &scores.macro_form {
            check(&format!("case {index}: macro S({t})"), form.s, scores.s[t]);
            check(&format!("case {index}: macro ES({t})"), form.es, scores.es[t]);
        }
    }
}

#[test]
fn micro_and_macro_form_agree_for_every_class_and_option() {
    let speedups = [0.3, 0.99, 1.0, 1.7, 25.0];
    let mut outcomes: Vec<VariantOutcome> = FailureClass::ALL.map(VariantOutcome::Failed).to_vec();
    outcomes.extend((-11..=6).zip(speedups.into_iter().cycle()).map(|(from, speedup)| VariantOutcome::Compared {
        speedup,
        passes_at: (from <= 5).then_some(from),
        trivial_passes_at_minus_2: from % 2 == 0,
        wrong_on_edge_cases: from == 3,
        decided: None,
    }));
    for interpretation in [Interpretation::Default, Interpretation::MismatchExtended] {
        for b in [1e-6, 0.001, 0.1, 0.5, 1.0] {
            for p in [0.0, 0.1, 1.0, 7.5] {
                let options = Options { b, p, interpretation };
                // Windows of every length, so that some have no failure and some nothing right.
                for length in 1..=outcomes.len() {
                    for window in outcomes.windows(length) {
                        let scores = score(window, &options).unwrap();
                        let apart = scores.macro_disagreement;
                        assert!(apart <= AGREEMENT, "{apart} apart with {options:?} for {window:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn scores_survive_serialisation() {
    for (_, scores) in scored_cases() {
        let text = serde_json::to_string(&scores).unwrap();
        let back: Scores = serde_json::from_str(&text).unwrap();
        assert_eq!(back.s.keys().collect::<Vec<&i8>>(), scores.s.keys().collect::<Vec<&i8>>());
        check("AS", back.aggregate_score, scores.aggregate_score);
    }
}
