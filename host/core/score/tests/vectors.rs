//! The scores of tests/vectors/score-vectors.json are those of the reference implementation.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use passhost_score::{Case, FailureClass, Interpretation, Options, Scores, VariantOutcome, VectorFile, score};

const AGREEMENT: f64 = 1e-9;

/// Every case of the file with its scores.
fn scored_cases() -> Vec<(Case, Scores)> {
    let path = std::env::var("CARGO_MANIFEST_DIR").unwrap() + "/../../../tests/vectors/score-vectors.json";
    let text = std::fs::read_to_string(path).unwrap();
    let file: VectorFile = serde_json::from_str(&text).unwrap();
    let scores = file.score().unwrap();
    assert_eq!(file.cases.len(), 40);
    file.cases.into_iter().zip(scores).collect()
}

fn check(what: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() <= AGREEMENT, "{what}: expected {expected}, found {found}");
}

#[test]
fn s_and_es_agree_at_every_t_of_every_case() {
    for (index, (case, scores)) in scored_cases().iter().enumerate() {
        let expected = case.expected.as_ref().unwrap();
        let found: Vec<&i8> = scores.s.keys().collect();
        assert_eq!(found, expected.keys().collect::<Vec<&i8>>(), "case {index}: range of t");
        for (t, at) in expected {
            check(&format!("case {index}: S({t})"), scores.s[t], at.s.unwrap());
            check(&format!("case {index}: ES({t})"), scores.es[t], at.es.unwrap());
        }
    }
}

#[test]
fn the_aggregate_score_agrees_wherever_it_is_given() {
    let mut given = 0;
    for (index, (case, scores)) in scored_cases().iter().enumerate() {
        if let Some(expected) = case.expected_aggregate_score {
            check(&format!("case {index}: AS"), scores.aggregate_score, expected);
            given += 1;
        }
    }
    assert_eq!(given, 20);
}

#[test]
fn aggregates_agree_but_for_tolerated_reference_failures() {
    for (index, (case, scores)) in scored_cases().iter().enumerate() {
        for (t, at) in case.expected.as_ref().unwrap() {
            let form = &scores.macro_form[t];
            let found = &form.aggregates;
            check(&format!("case {index}: lambda at {t}"), found.lambda, at.lambda.unwrap());
            check(&format!("case {index}: alpha at {t}"), found.alpha, at.alpha.unwrap());
            check(&format!("case {index}: eta at {t}"), found.eta, at.eta.unwrap());
            check(&format!("case {index}: beta at {t}"), found.beta, at.beta.unwrap());
            // The reference implementation counts these failures with the run-time ones, tolerated from t = 3.
            let reference_share = found.pi.get(&FailureClass::Reference).copied().unwrap_or(0.0);
            let excess = if *t >= 3 { case.b.powf(reference_share) } else { 1.0 };
            check(&format!("case {index}: gamma at {t}"), found.gamma, at.gamma.unwrap() * excess);
            let es = at.expected_es.unwrap() * excess.powf(1.0 - found.lambda);
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
fn scores_of_a_stripped_file_are_the_same() {
    for (index, (case, scores)) in scored_cases().into_iter().enumerate() {
        let mut stripped = serde_json::to_value(&case).unwrap();
        let keys = stripped.as_object_mut().unwrap();
        keys.remove("expected").unwrap();
        keys.remove("expected_AS").unwrap();
        let stripped: Case = serde_json::from_value(stripped).unwrap();
        assert_eq!(stripped.score(), Ok(scores), "case {index}");
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
