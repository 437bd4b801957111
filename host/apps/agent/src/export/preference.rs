//! Pairs of attempts on one sample, of which one scores higher.

use super::{ExportedAttempt, chat};
use serde_json::{Value, json};

/// The least ratio of two scores that differ beyond noise.
pub(super) const APART: f64 = 1.1;

/// The best attempt beside each that is worse beyond noise.
pub(super) fn pairs(task: &[ExportedAttempt<'_>]) -> Vec<Value> {
    let Some((best, others)) = task.split_first() else { return vec![] };
    let worse = others.iter().filter(|other| best.ended.score >= APART * other.ended.score);
    let pair = |other: &ExportedAttempt<'_>| {
        json!({
            "prompt": chat::prompt(best),
            "tools": chat::tools_of(best),
            "chosen": chat::said(best),
            "rejected": chat::said(other),
            "chosen_score": best.ended.score,
            "rejected_score": other.ended.score,
            "chosen_run": best.run(),
            "rejected_run": other.run(),
            "sample": best.ended.sample,
        })
    };
    worse.map(pair).collect()
}
