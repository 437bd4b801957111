//! How programs are launched where they are timed.

use serde::{Deserialize, Serialize};

/// How kernels are launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Launch {
    /// One after the other.
    #[default]
    Stream,
    /// All at once, as a CUDA graph that was captured before.
    Graph,
}

impl std::fmt::Display for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Launch::Stream => "stream launch",
            Launch::Graph => "launched as CUDA graphs",
        })
    }
}
