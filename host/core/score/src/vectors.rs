//! Score vectors: a file of cases with measured outcomes and, where known, the scores they must give.
//!
//! ```json
//! {"cases": [{"b": 0.1, "p": 0.0, "interpretation": "default",
//!   "graphs": [{"status": "correct", "dtypes": ["float16", "int64"], "passes_from_t": [-7, null],
//!               "exact": [false, true], "speedup": 1.9}],
//!   "expected": {"-10": {"S": 0.1, "ES": 0.1}}, "expected_AS": 1.2}]}
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Scores, score};
use crate::error::ScoreError;
use crate::options::Options;
use crate::outcome::{FailureClass, VariantOutcome, right_if_equal, variant_passes_at};

/// `None` is the one status that leaves the decision to the outputs.
const STATUSES: [(&str, Option<FailureClass>); 6] = [
    ("correct", None),
    ("eager_fail", Some(FailureClass::Reference)),
    ("compile_fail", Some(FailureClass::Compile)),
    ("runtime_fail", Some(FailureClass::Runtime)),
    ("type_mismatch", Some(FailureClass::TypeMismatch)),
    ("shape_mismatch", Some(FailureClass::ShapeMismatch)),
];

/// The names are torch's.
const DTYPES: [(&str, FieldComparison); 13] = [
    ("float16", FieldComparison::WithTolerance),
    ("bfloat16", FieldComparison::WithTolerance),
    ("float32", FieldComparison::WithTolerance),
    ("float64", FieldComparison::WithTolerance),
    ("int8", FieldComparison::Exact),
    ("int16", FieldComparison::Exact),
    ("int32", FieldComparison::Exact),
    ("int64", FieldComparison::Exact),
    ("uint8", FieldComparison::Exact),
    ("uint16", FieldComparison::Exact),
    ("uint32", FieldComparison::Exact),
    ("uint64", FieldComparison::Exact),
    ("bool", FieldComparison::Exact),
];

#[derive(Clone, Copy)]
enum FieldComparison {
    WithTolerance,
    Exact,
}

/// A whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VectorFile {
    /// Its cases, scored one by one.
    pub cases: Vec<Case>,
}

/// One sample to score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// As [`Options::b`]; 0.1 if absent.
    #[serde(default = "published_b")]
    pub b: f64,
    /// As [`Options::p`]; 0 if absent.
    #[serde(default)]
    pub p: f64,
    /// `default` or `mismatch_extended`; `default` if absent.
    #[serde(default = "default_interpretation")]
    pub interpretation: String,
    /// The variants.
    pub graphs: Vec<VectorGraph>,
    /// What the reference implementation found, by t.
    pub expected: Option<BTreeMap<i8, ExpectedAt>>,
    /// AS as the reference implementation has it, for the default interpretation only.
    #[serde(rename = "expected_AS")]
    pub expected_aggregate_score: Option<f64>,
}

/// One variant of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VectorGraph {
    /// `correct` or the failure: `eager_fail`, `compile_fail`, `runtime_fail`, `type_mismatch`, `shape_mismatch`.
    pub status: String,
    /// The dtype of each output, by torch's name.
    #[serde(default)]
    pub dtypes: Vec<String>,
    /// For each output of a floating-point dtype, the least t at which it is right; null for never.
    #[serde(default)]
    pub passes_from_t: Vec<Option<i8>>,
    /// For each output of an exact dtype, whether it is right.
    #[serde(default)]
    pub exact: Vec<bool>,
    /// Median eager time over median rewritten time. Not read for a failure.
    pub speedup: Option<f64>,
}

/// Expected values at one t, each where the file has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExpectedAt {
    /// S(t).
    #[serde(rename = "S")]
    pub s: Option<f64>,
    /// ES(t) as the mean over variants, the authoritative one.
    #[serde(rename = "ES")]
    pub es: Option<f64>,
    /// As [`Aggregates::lambda`](crate::Aggregates::lambda).
    pub lambda: Option<f64>,
    /// As [`Aggregates::alpha`](crate::Aggregates::alpha).
    pub alpha: Option<f64>,
    /// As [`Aggregates::eta`](crate::Aggregates::eta).
    pub eta: Option<f64>,
    /// As [`Aggregates::beta`](crate::Aggregates::beta).
    pub beta: Option<f64>,
    /// As [`Aggregates::gamma`](crate::Aggregates::gamma), save that the reference implementation tolerates `reference`
    /// failures here from t = 3 on.
    pub gamma: Option<f64>,
    /// ES(t) from the reference implementation's aggregates, with the same deviation.
    pub expected_es: Option<f64>,
}

impl VectorFile {
    /// The scores of every case, in the order of the file.
    ///
    /// # Errors
    ///
    /// That of the first case that [`Case::score`] refuses, in [`ScoreError::InCase`].
    pub fn score(&self) -> Result<Vec<Scores>, ScoreError> {
        let cases = self.cases.iter().enumerate();
        cases.map(|(index, case)| case.score().map_err(|problem| problem.in_case(index))).collect()
    }
}

impl Case {
    /// The scores of the case.
    ///
    /// # Errors
    ///
    /// Those of [`Case::options`], [`Case::outcomes`] and [`score()`].
    pub fn score(&self) -> Result<Scores, ScoreError> {
        score(&self.outcomes()?, &self.options()?)
    }

    /// The parameters of the case.
    ///
    /// # Errors
    ///
    /// [`ScoreError::UnknownInterpretation`].
    pub fn options(&self) -> Result<Options, ScoreError> {
        Ok(Options { b: self.b, p: self.p, interpretation: self.interpretation.parse()? })
    }

    /// The outcomes of the case's graphs.
    ///
    /// The form says nothing of trivial candidates, so that none counts as right.
    ///
    /// # Errors
    ///
    /// [`ScoreError::UnknownStatus`], [`ScoreError::UnknownDtype`], [`ScoreError::MissingOutput`] or
    /// [`ScoreError::MissingSpeedup`], with the index of the graph.
    pub fn outcomes(&self) -> Result<Vec<VariantOutcome>, ScoreError> {
        self.graphs.iter().enumerate().map(|(index, graph)| graph.outcome(index)).collect()
    }
}

impl VectorGraph {
    fn outcome(&self, graph: usize) -> Result<VariantOutcome, ScoreError> {
        let Some(&(_, failure)) = STATUSES.iter().find(|(name, _)| *name == self.status) else {
            let found = self.status.clone();
            return Err(ScoreError::UnknownStatus { graph, found, expected: names(&STATUSES) });
        };
        let comparisons = self.comparisons(graph)?;
        if let Some(class) = failure {
            // Whatever a failed rewrite wrote before it failed is not compared.
            return Ok(VariantOutcome::Failed(class));
        }
        let mut outputs = Vec::with_capacity(comparisons.len());
        for (output, comparison) in comparisons.into_iter().enumerate() {
            outputs.push(match comparison {
                FieldComparison::WithTolerance => *entry(&self.passes_from_t, "passes_from_t", graph, output)?,
                FieldComparison::Exact => right_if_equal(*entry(&self.exact, "exact", graph, output)?),
            });
        }
        match (variant_passes_at(outputs), self.speedup) {
            (passes_at, Some(speedup)) => Ok(VariantOutcome::Compared {
                speedup,
                passes_at,
                trivial_passes_at_minus_2: false,
                wrong_on_edge_cases: false,
                decided: None,
            }),
            // Never right: the speedup would not be used.
            (None, None) => Ok(VariantOutcome::Failed(FailureClass::Accuracy)),
            (Some(_), None) => Err(ScoreError::MissingSpeedup { graph }),
        }
    }

    fn comparisons(&self, graph: usize) -> Result<Vec<FieldComparison>, ScoreError> {
        let outputs = self.dtypes.iter().enumerate();
        outputs
            .map(|(output, dtype)| match DTYPES.iter().find(|(name, _)| name == dtype) {
                Some(&(_, comparison)) => Ok(comparison),
                None => {
                    let found = dtype.clone();
                    Err(ScoreError::UnknownDtype { graph, output, found, expected: names(&DTYPES) })
                }
            })
            .collect()
    }
}

fn entry<'a, T>(list: &'a [T], name: &'static str, graph: usize, output: usize) -> Result<&'a T, ScoreError> {
    list.get(output).ok_or(ScoreError::MissingOutput { graph, output, list: name })
}

fn names<T>(table: &[(&str, T)]) -> String {
    table.iter().map(|(name, _)| *name).collect::<Vec<&str>>().join(", ")
}

fn published_b() -> f64 {
    Options::default().b
}

fn default_interpretation() -> String {
    "default".to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod tests {
    use super::*;

    fn outcome(graph: &str) -> VariantOutcome {
        let graph: VectorGraph = serde_json::from_str(graph).unwrap();
        graph.outcome(0).unwrap()
    }

    fn compared(passes_at: Option<i8>) -> VariantOutcome {
        VariantOutcome::Compared {
            speedup: 2.0,
            passes_at,
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: None,
        }
    }

    #[test]
    fn outputs_are_read_by_their_dtype() {
        for (graph, expected) in [
            (
                r#"{"status": "correct", "dtypes": ["float16", "bfloat16", "float32", "float64"],
                    "passes_from_t": [-7, -10, 0, -3], "exact": [false, true, false, false], "speedup": 2}"#,
                compared(Some(0)),
            ),
            (
                r#"{"status": "correct", "dtypes": ["float32"],
                    "passes_from_t": [null], "exact": [true], "speedup": 2.0}"#,
                compared(None),
            ),
            (
                r#"{"status": "correct", "dtypes": ["float32"], "passes_from_t": [-5], "speedup": 2.0}"#,
                compared(Some(-5)),
            ),
            (
                r#"{"status": "correct", "dtypes": ["bool", "int8", "int16", "int32", "int64"],
                    "passes_from_t": [3, null, 2, 1, 4], "exact": [true, true, true, true, true], "speedup": 2.0}"#,
                compared(Some(-10)),
            ),
            (
                r#"{"status": "correct", "dtypes": ["uint8", "uint16", "uint32", "uint64"],
                    "exact": [true, true, true, true], "speedup": 2.0}"#,
                compared(Some(-10)),
            ),
            (
                r#"{"status": "correct", "dtypes": ["int64", "float32"], "passes_from_t": [-10, -10],
                    "exact": [false, true], "speedup": 2.0}"#,
                compared(None),
            ),
            (
                r#"{"status": "correct", "dtypes": [], "passes_from_t": [], "exact": [], "speedup": 2.0}"#,
                compared(None),
            ),
            (
                r#"{"status": "correct", "dtypes": ["float32"], "passes_from_t": [null], "speedup": null}"#,
                VariantOutcome::Failed(FailureClass::Accuracy),
            ),
        ] {
            assert_eq!(outcome(graph), expected, "{graph}");
        }
    }

    #[test]
    fn a_failure_needs_nothing_but_its_status() {
        for (status, class) in [
            ("eager_fail", FailureClass::Reference),
            ("compile_fail", FailureClass::Compile),
            ("runtime_fail", FailureClass::Runtime),
            ("type_mismatch", FailureClass::TypeMismatch),
            ("shape_mismatch", FailureClass::ShapeMismatch),
        ] {
            let failed = VariantOutcome::Failed(class);
            assert_eq!(outcome(&format!(r#"{{"status": "{status}"}}"#)), failed);
            let with_outputs = format!(
                r#"{{"status": "{status}", "dtypes": ["float16"],
                    "passes_from_t": [-10], "exact": [true], "speedup": 0}}"#
            );
            assert_eq!(outcome(&with_outputs), failed);
        }
    }

    #[test]
    fn a_case_needs_nothing_but_its_graphs() {
        let case: Case = serde_json::from_str(r#"{"graphs": [{"status": "compile_fail"}]}"#).unwrap();
        assert_eq!(case.options(), Ok(Options::default()));
        assert_eq!((case.expected, case.expected_aggregate_score), (None, None));
    }

    #[test]
    fn what_a_file_gets_wrong_is_named() {
        let fine = r#"{"status": "correct", "dtypes": ["bool"], "exact": [true], "speedup": 1.5}"#;
        for (case, message) in [
            (
                format!(r#"{{"graphs": [{fine}, {{"status": "crashed"}}]}}"#),
                "cases[1]: graphs[1]: status \"crashed\" is unknown; expected one of correct, eager_fail, \
                 compile_fail, runtime_fail, type_mismatch, shape_mismatch",
            ),
            (
                format!(
                    r#"{{"graphs": [{fine}, {fine},
                        {{"status": "runtime_fail", "dtypes": ["bool", "complex64"]}}]}}"#
                ),
                "cases[1]: graphs[2]: dtype \"complex64\" of output 1 is unknown; expected one of float16, bfloat16, \
                 float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool",
            ),
            (
                r#"{"graphs": [{"status": "correct", "dtypes": ["bool", "float16"],
                    "passes_from_t": [null], "exact": [true, true], "speedup": 1}]}"#
                    .to_owned(),
                "cases[1]: graphs[0]: `passes_from_t` has no entry for output 1; \
                 expected one entry for each of `dtypes`",
            ),
            (
                r#"{"graphs": [{"status": "correct", "dtypes": ["int32"], "passes_from_t": [-10], "speedup": 1}]}"#
                    .to_owned(),
                "cases[1]: graphs[0]: `exact` has no entry for output 0; expected one entry for each of `dtypes`",
            ),
            (
                r#"{"graphs": [{"status": "correct", "dtypes": ["int32"], "exact": [true]}]}"#.to_owned(),
                "cases[1]: graphs[0]: `speedup` is missing; a correct graph needs one",
            ),
            (
                r#"{"graphs": [{"status": "correct", "dtypes": ["int32"], "exact": [true], "speedup": 0.0}]}"#
                    .to_owned(),
                "cases[1]: variant 0: speedup 0 is not a positive finite number",
            ),
            (
                format!(r#"{{"interpretation": "lenient", "graphs": [{fine}]}}"#),
                "cases[1]: interpretation \"lenient\" is unknown; expected \"default\" or \"mismatch_extended\"",
            ),
            (
                format!(r#"{{"b": 2.0, "graphs": [{fine}]}}"#),
                "cases[1]: b = 2 is out of range; the score of a failure lies in (0, 1], 0.1 as published",
            ),
            (
                r#"{"graphs": []}"#.to_owned(),
                "cases[1]: no variants to score; a score needs the outcome of at least one",
            ),
        ] {
            let file = format!(r#"{{"cases": [{{"graphs": [{fine}]}}, {case}]}}"#);
            let file: VectorFile = serde_json::from_str(&file).unwrap();
            assert_eq!(file.score().map_err(|error| error.to_string()), Err(message.to_owned()), "{case}");
        }
    }
}
