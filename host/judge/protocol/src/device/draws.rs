//! Which inputs a rewrite is checked on.

use passhost_result::OtherRounds;
use serde::{Deserialize, Serialize};

/// Which inputs a rewrite is checked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draws {
    /// Secret until the rewrite is known.
    pub seed: u64,
    /// Whether other rewrites of the loaded program are checked on the same ones, so that what eager gives on them is kept.
    pub are_shared: bool,
    /// The rounds beside the ordinary ones, where an evaluation is repeated; as many as the budget has room for if absent.
    pub others: Option<OtherRounds>,
}
