//! How the outputs of a rewrite compare with those of the reference.

use crate::number;
use passhost_ir::TensorType;
use serde::{Deserialize, Serialize};

/// How one output compared over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputReport {
    /// Its type in the reference.
    pub ty: TensorType,
    /// Least t in -10..=5 at which every element of every round is right; `None` if there is none.
    #[serde(alias = "right_from")]
    pub passes_at: Option<i8>,
    /// Elements compared, over all rounds.
    pub elements: u64,
    /// Elements not bit-equal to eager's, NaNs taken as equal.
    pub different: u64,
    /// Elements wrong at t = -5.
    pub wrong: u64,
    /// Elements NaN or infinite where the reference is not.
    pub non_finite: u64,
    /// Largest absolute error.
    #[serde(deserialize_with = "number::or_infinite")]
    pub max_abs: f64,
    /// Largest error relative to the reference.
    #[serde(deserialize_with = "number::or_infinite")]
    pub max_rel: f64,
    /// Logical index of the first element wrong at t = -5.
    pub first_wrong: Option<Vec<i64>>,
    /// That element in the rewrite.
    pub first_wrong_value: Option<f64>,
    /// That element in the reference.
    pub first_wrong_reference: Option<f64>,
    /// Error in ulps of the output type against the double precision run, where there is one.
    pub truth: Option<TruthReport>,
    /// Of an output that is wrong at t = -5, what a run in double precision says of it, in which conversions that the graph
    /// writes keep their rounding. Older documents do not say.
    #[serde(default)]
    pub decided: Option<Decided>,
    /// Of an output that is wrong at t = -5 and has eager's elements in other places: by how much along each axis its elements
    /// must move to be eager's. Nothing depends on it, and older documents do not say.
    #[serde(default)]
    pub moved_by: Option<Vec<i64>>,
}

impl OutputReport {
    /// What is wrong with it, where its elements are eager's in other places: `expected values are yours moved by (6, 6)`.
    pub fn moved(&self) -> Option<String> {
        let steps: Vec<String> = self.moved_by.as_ref()?.iter().map(ToString::to_string).collect();
        Some(format!("expected values are yours moved by ({})", steps.join(", ")))
    }
}

/// Whether a run in double precision takes the side of an output or of eager's, over all rounds in which they differ beyond
/// t = -5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Least t at which each element agrees with eager's or with that run's; `None` if there is none.
    #[serde(alias = "right_from")]
    pub passes_at: Option<i8>,
    /// Least t at which each element of eager's agrees with that run's; `None` if there is none.
    #[serde(alias = "eager_right_from")]
    pub eager_passes_at: Option<i8>,
}

/// Errors against a run in double precision, in units of the last place of the output's type.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TruthReport {
    /// Root mean square, eager.
    #[serde(deserialize_with = "number::or_infinite")]
    pub eager_rms: f64,
    /// Root mean square, rewrite.
    #[serde(deserialize_with = "number::or_infinite")]
    pub rewritten_rms: f64,
    /// 99.9th percentile, eager.
    #[serde(deserialize_with = "number::or_infinite")]
    pub eager_p999: f64,
    /// 99.9th percentile, rewrite.
    #[serde(deserialize_with = "number::or_infinite")]
    pub rewritten_p999: f64,
    /// Whether eager itself is right at t = -5 against the double precision run.
    #[serde(alias = "eager_right")]
    pub eager_passes: bool,
    /// Elements left out because eager and the double precision run differ by overflow.
    pub excluded: u64,
}
