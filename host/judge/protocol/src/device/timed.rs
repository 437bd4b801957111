//! What one process measured of a rewrite.

use passhost_result::{Finding, ProcessTimes};
use serde::{Deserialize, Serialize};

/// Times of one process, and what its timed runs showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// The times.
    pub times: ProcessTimes,
    /// Findings of the integrity layers.
    pub findings: Vec<Finding>,
    /// Of each output, the least t at which the checked and the timed runs are right.
    pub right_from: Vec<Option<i8>>,
}
