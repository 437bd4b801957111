//! How far a plugin came, by what is recorded of a variant.

use crate::Progress;
use crate::document::{Blame, Document, Variant};
use passhost_score::FailureClass;

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
    match variant.passes_at {
        Some(t) if t <= -5 && variant.edge_cases.is_empty() => match speedup {
            Some(speedup) if speedup > 1.0 && variant.class.is_none() => Progress::Faster,
            _ => Progress::RightAtMinus5,
        },
        Some(t) if t <= -2 => Progress::RightAtMinus2,
        _ => Progress::Runs,
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
