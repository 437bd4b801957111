//! How far a variant came: an order of failures, which the published score has almost none of. There a crash counts 0.111
//! and a pass that changes nothing 0.100.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How far a plugin came with a graph. Each takes what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// There is a source, and it became no component.
    Written,
    /// There is a component, and the host does not take it.
    Builds,
    /// The pass can be called; it fails, or what it returns is refused.
    Loads,
    /// What it returns is a graph that may run; running it fails, or nothing that counts was changed.
    Verifies,
    /// The rewrite runs to its end.
    Runs,
    /// Its outputs agree with eager's at t = -2, and no layer of the integrity checks says otherwise.
    RightAtMinus2,
    /// At t = -5, on unusual inputs as well.
    RightAtMinus5,
    /// It is faster than eager.
    Faster,
}

impl Progress {
    /// From 0, of a source that does not build, and 1, of what only builds, to 7.
    pub fn number(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Progress::Written => "written",
            Progress::Builds => "builds",
            Progress::Loads => "loads",
            Progress::Verifies => "verifies",
            Progress::Runs => "runs",
            Progress::RightAtMinus2 => "right at t = -2",
            Progress::RightAtMinus5 => "right at t = -5",
            Progress::Faster => "faster",
        })
    }
}
