//! How far a variant came: an order of failures, which the published score has almost none of. There a crash counts 0.111
//! and a pass that changes nothing 0.100.

use crate::document::{Blame, Document, Variant};
use passhost_score::FailureClass;
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
    /// Of a variant, by what is recorded of it. `None` where that says nothing of the plugin.
    pub fn of(variant: &Variant) -> Option<Progress> {
        if !variant.outputs.is_empty() {
            return Some(of_outputs(variant));
        }
        let failure = variant.failure.as_ref().filter(|failure| failure.blame == Blame::Plugin)?;
        Some(match failure.stage.as_str() {
            "source" | "build" => Progress::Written,
            "load" => Progress::Builds,
            "rewrite" | "verify" | "policy" => Progress::Loads,
            _ => Progress::Verifies,
        })
    }

    /// Of a whole document: that of the variant that came least far.
    pub fn of_document(document: &Document) -> Option<Progress> {
        document.variants.iter().filter_map(Progress::of).min()
    }

    /// From 0, of a source that does not build, and 1, of what only builds, to 7.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// Of a variant whose rewrite ran.
fn of_outputs(variant: &Variant) -> Progress {
    match variant.class {
        Some(FailureClass::PassMiss) => return Progress::Verifies,
        // In the sizes that were recorded, a rewrite that is for these alone is as right as any.
        Some(FailureClass::Accuracy | FailureClass::ShapeOverfit) | None => {}
        Some(_) => return Progress::Runs,
    }
    let speedup = variant.timing.as_ref().filter(|timing| timing.trouble.is_none()).map(|timing| timing.speedup);
    match variant.right_from {
        Some(t) if t <= -5 && variant.domain.is_empty() => match speedup {
            Some(speedup) if speedup > 1.0 && variant.class.is_none() => Progress::Faster,
            _ => Progress::RightAtMinus5,
        },
        Some(t) if t <= -2 => Progress::RightAtMinus2,
        _ => Progress::Runs,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Failure;
    use crate::verdict::empty;

    #[test]
    fn failures_are_ordered_by_how_far_the_plugin_came() {
        let at = |blame, stage: &str| {
            let failure = Failure { blame, stage: stage.into(), message: String::new(), hint: String::new() };
            Progress::of(&Variant { failure: Some(failure), ..empty("x") })
        };
        assert_eq!(at(Blame::Plugin, "source"), Some(Progress::Written));
        assert_eq!(at(Blame::Plugin, "build"), Some(Progress::Written));
        assert_eq!(at(Blame::Plugin, "load"), Some(Progress::Builds));
        assert_eq!(at(Blame::Plugin, "verify"), Some(Progress::Loads));
        assert_eq!(at(Blame::Plugin, "plan"), Some(Progress::Verifies));
        assert_eq!(at(Blame::Sample, "reference"), None);
        assert!(Progress::Faster > Progress::Runs && Progress::Faster.number() == 7);
    }
}
