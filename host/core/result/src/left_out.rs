//! What the budget had no room for.

use crate::document::{Timing, Variant};
use crate::{OtherRounds, Settings};

/// What was left out of variants that were measured with these settings, in words; `None` where that is nothing.
pub fn left_out<'v>(variants: impl IntoIterator<Item = &'v Variant>, settings: &Settings) -> Option<String> {
    if settings.quick {
        return None;
    }
    let (mut count, mut cut) = (0, [0; 3]);
    for variant in variants {
        count += 1;
        let OtherRounds { scaled, edge_cases, .. } = variant.other_rounds.clone().unwrap_or_default();
        let pairs = variant.timing.as_ref().is_some_and(|timing| has_fewer_pairs(timing, settings));
        for (sum, is_cut) in cut.iter_mut().zip([scaled.is_cut(), edge_cases.is_cut(), pairs]) {
            *sum += u32::from(is_cut);
        }
    }
    let kinds = ["rounds with scaled inputs", "rounds with edge-case inputs", "timed pairs"];
    let said = kinds.iter().zip(cut).filter(|(_, cut)| *cut > 0);
    let said: Vec<String> = said.map(|(kind, cut)| format!("{kind} (in {cut} of {count} variants)")).collect();
    let budget = settings.budget_ms as f64 / 1e3;
    (!said.is_empty()).then(|| format!("a budget of {budget} s has no room for all {}", said.join(", ")))
}

/// A rewrite that is far slower than eager has few pairs whatever the budget is.
fn has_fewer_pairs(timing: &Timing, settings: &Settings) -> bool {
    let mut blocks = timing.processes.iter().flat_map(|process| &process.pairs);
    blocks.any(|block| block.other_ns.len() < settings.pairs() as usize)
        && timing.speedup * f64::from(Settings::SLOW_FACTOR) > 1.0
}
