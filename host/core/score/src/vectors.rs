//! Score vectors: a file of cases with measured outcomes, and the scores that they must give, which tests read.
//!
//! ```json
//! {"cases": [{"b": 0.1, "p": 0.0, "interpretation": "default",
//!   "graphs": [{"status": "correct", "dtypes": ["float16", "int64"], "passes_from_t": [-7, null],
//!               "exact": [false, true], "speedup": 1.9}],
//!   "expected": {"-10": {"S": 0.1, "ES": 0.1}}, "expected_AS": 1.2}]}
//! ```

use serde::Deserialize;

use crate::error::ScoreError;
use crate::options::{Interpretation, Options};
use crate::outcome::{FailureClass, VariantOutcome, variant_passes_at};
use crate::tolerance::SMALLEST_T;

/// Names of torch's dtypes whose elements are compared with a tolerance.
const FLOATS: [&str; 4] = ["float16", "bfloat16", "float32", "float64"];
/// Those whose elements are compared exactly.
const EXACT: [&str; 9] = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"];

/// A whole file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct VectorFile {
    /// Its cases, scored one by one.
    pub cases: Vec<Case>,
}

/// One sample to score.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Case {
    /// As [`Options::b`]; 0.1 if absent.
    #[serde(default = "published_b")]
    pub b: f64,
    /// As [`Options::p`]; 0 if absent.
    #[serde(default)]
    pub p: f64,
    /// `default` or `mismatch_extended`; `default` if absent.
    #[serde(default)]
    pub interpretation: Interpretation,
    /// The variants.
    pub graphs: Vec<VectorGraph>,
}

/// How a variant of a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorStatus {
    /// The rewrite ran, and its outputs may be compared.
    Correct,
    /// Eager failed.
    EagerFail,
    /// The rewrite could not be made.
    CompileFail,
    /// The rewrite failed while it ran.
    RuntimeFail,
    /// An output has another dtype.
    TypeMismatch,
    /// An output has another shape.
    ShapeMismatch,
}

/// One variant of a case.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct VectorGraph {
    /// `correct`, so that the outputs decide, or the failure.
    pub status: VectorStatus,
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

impl Case {
    /// The parameters of the case.
    pub fn options(&self) -> Options {
        Options { b: self.b, p: self.p, interpretation: self.interpretation }
    }

    /// The outcomes of the case's graphs.
    ///
    /// The form says nothing of trivial candidates, so that none counts as right.
    ///
    /// # Errors
    ///
    /// [`ScoreError::VectorGraph`], where a dtype is unknown, or an output or a speedup missing.
    pub fn outcomes(&self) -> Result<Vec<VariantOutcome>, ScoreError> {
        let graphs = self.graphs.iter().enumerate();
        graphs.map(|(at, graph)| graph.outcome().map_err(|problem| ScoreError::VectorGraph(at, problem))).collect()
    }
}

impl VectorGraph {
    fn outcome(&self) -> Result<VariantOutcome, String> {
        let failure = match self.status {
            VectorStatus::Correct => None,
            VectorStatus::EagerFail => Some(FailureClass::Reference),
            VectorStatus::CompileFail => Some(FailureClass::Compile),
            VectorStatus::RuntimeFail => Some(FailureClass::Runtime),
            VectorStatus::TypeMismatch => Some(FailureClass::TypeMismatch),
            VectorStatus::ShapeMismatch => Some(FailureClass::ShapeMismatch),
        };
        if let Some(class) = failure {
            // Whatever a failed rewrite wrote before it failed is not compared.
            return Ok(VariantOutcome::Failed(class));
        }
        let outputs = self.dtypes.iter().enumerate().map(|(output, dtype)| self.passes_at(output, dtype));
        match (variant_passes_at(outputs.collect::<Result<Vec<_>, _>>()?), self.speedup) {
            (passes_at, Some(speedup)) => Ok(VariantOutcome::Compared {
                speedup,
                passes_at,
                trivial_passes_at_minus_2: false,
                wrong_on_edge_cases: false,
                decided: None,
            }),
            // Never right: the speedup would not be used.
            (None, None) => Ok(VariantOutcome::Failed(FailureClass::Accuracy)),
            (Some(_), None) => Err("`speedup` is missing; a correct graph needs one".to_owned()),
        }
    }

    fn passes_at(&self, output: usize, dtype: &str) -> Result<Option<i8>, String> {
        let (list, found) = if FLOATS.contains(&dtype) {
            ("passes_from_t", self.passes_from_t.get(output).copied())
        } else if EXACT.contains(&dtype) {
            ("exact", self.exact.get(output).map(|is_equal| is_equal.then_some(SMALLEST_T)))
        } else {
            let known = [&FLOATS[..], &EXACT].concat().join(", ");
            return Err(format!("dtype {dtype:?} of output {output} is unknown; expected one of {known}"));
        };
        let missing = || format!("`{list}` has no entry for output {output}; expected one entry for each of `dtypes`");
        found.ok_or_else(missing)
    }
}

fn published_b() -> f64 {
    Options::default().b
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod tests {
    use super::*;

    fn outcome(graph: &str) -> VariantOutcome {
        let graph: VectorGraph = serde_json::from_str(graph).unwrap();
        graph.outcome().unwrap()
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
        assert_eq!(case.options(), Options::default());
    }

    #[test]
    fn what_a_file_gets_wrong_is_named() {
        let fine = r#"{"status": "correct", "dtypes": ["bool"], "exact": [true], "speedup": 1.5}"#;
        for (graph, message) in [
            (
                r#"{"status": "correct", "dtypes": ["bool", "complex64"], "exact": [true]}"#,
                "graphs[1]: dtype \"complex64\" of output 1 is unknown; expected one of float16, bfloat16, float32, \
                 float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool",
            ),
            (
                r#"{"status": "correct", "dtypes": ["bool", "float16"],
                    "passes_from_t": [null], "exact": [true, true], "speedup": 1}"#,
                "graphs[1]: `passes_from_t` has no entry for output 1; expected one entry for each of `dtypes`",
            ),
            (
                r#"{"status": "correct", "dtypes": ["int32"], "passes_from_t": [-10], "speedup": 1}"#,
                "graphs[1]: `exact` has no entry for output 0; expected one entry for each of `dtypes`",
            ),
            (
                r#"{"status": "correct", "dtypes": ["int32"], "exact": [true]}"#,
                "graphs[1]: `speedup` is missing; a correct graph needs one",
            ),
        ] {
            let case: Case = serde_json::from_str(&format!(r#"{{"graphs": [{fine}, {graph}]}}"#)).unwrap();
            assert_eq!(case.outcomes().unwrap_err().to_string(), message, "{graph}");
        }
        for (case, message) in [
            (
                r#"{"graphs": [{"status": "crashed"}]}"#.to_owned(),
                "unknown variant `crashed`, expected one of `correct`",
            ),
            (format!(r#"{{"interpretation": "lenient", "graphs": [{fine}]}}"#), "unknown variant `lenient`"),
        ] {
            let error = serde_json::from_str::<Case>(&case).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
