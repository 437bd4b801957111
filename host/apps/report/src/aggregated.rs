//! The file that the published project keeps of a score.

use crate::part::PartScores;
use serde::{Deserialize, Serialize};

/// `aggregated_score.json`, with the two fields that `aggregate_es_scores` of PassNet writes, of AS in its default form:
/// b = 0.1, p = 0, its own weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Aggregated {
    /// The number that whoever asked gave the sample.
    pub id: i64,
    /// AS over all graphs.
    pub score: f64,
}

/// The file for some graphs. `None` where nothing is scored.
pub fn aggregated(part: &PartScores, id: i64) -> Option<Aggregated> {
    part.wall.as_ref().map(|wall| Aggregated { id, score: wall.aggregate_score })
}
