//! What one variant comes to, by what is recorded of it: its class, and what the score counts.

use crate::document::{Blame, Failure, Variant, failure, reproduction};
use crate::timing::Speedups;
use crate::{Finding, NoteKind, OutputReport};
use passhost_policy::Rules;
use passhost_score::{Decided, FailureClass, VariantOutcome, variant_passes_at};

/// What became of one variant.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Its entry in the document.
    pub variant: Variant,
    /// What the score counts; `None` where the host is to blame, so that nothing may be scored.
    pub outcome: Option<VariantOutcome>,
    /// Speedups behind the outcome, where it was compared.
    pub speedups: Option<Speedups>,
}

/// A variant of which nothing is known but its name.
pub fn empty(name: &str) -> Variant {
    Variant { name: name.to_owned(), ..Variant::default() }
}

/// The least t at which outputs are right by the rules of a policy; `None` if at none.
pub fn counts_from(outputs: &[OutputReport], rules: &Rules) -> Option<i8> {
    let beside_eager = || variant_passes_at(outputs.iter().map(|output| output.passes_at));
    decided(outputs, rules).map_or_else(beside_eager, |decided| decided.passes_at)
}

/// A variant that gave nothing to compare.
pub fn failed(mut variant: Variant, class: FailureClass, failure: Failure) -> Judged {
    let outcome = (failure.blame != Blame::Host).then_some(VariantOutcome::Failed(class));
    variant.class = Some(class);
    variant.failure = Some(failure);
    Judged { variant, outcome, speedups: None }
}

/// The verdict on a rewrite that came to an end of another kind after something had been found in it: an offence is no less
/// one for what followed it, whoever is to blame for that.
pub fn caught(judged: Judged, findings: &[Finding]) -> Judged {
    let Some(first) = findings.first() else { return judged };
    let mut variant = judged.variant;
    variant.findings = findings.iter().map(ToString::to_string).collect();
    let end =
        variant.failure.take().map(|failure| format!("after the finding the rewrite failed: {}", failure.message));
    variant.notes.extend(end.map(|end| NoteKind::EndedEarly.note(end)));
    failed(variant, FailureClass::Integrity, failure(Blame::Plugin, "correctness", first, UNLIKE))
}

/// What outputs come to where a run in double precision may decide and was asked of one of them.
pub fn decided(outputs: &[OutputReport], rules: &Rules) -> Option<Decided> {
    let was_asked = outputs.iter().any(|output| output.decided.is_some());
    let each = outputs.iter().map(|output| output.decided.map_or(output.passes_at, |decided| decided.passes_at));
    (rules.truth_decides && was_asked).then(|| Decided { passes_at: variant_passes_at(each) })
}

/// The verdict on a variant whose rewrite ran, from what is written down of it.
pub fn conclude(mut variant: Variant, speedups: Option<Speedups>) -> Judged {
    let Conclusion { class, outcome } = conclusion(&variant);
    variant.class = class;
    variant.failure = explanation(&variant, outcome);
    let speedups = speedups.filter(|_| matches!(outcome, Some(VariantOutcome::Compared { .. })));
    Judged { variant, outcome, speedups }
}

/// What a variant comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conclusion {
    /// Why it is not right; `None` if it is at t = -5.
    pub class: Option<FailureClass>,
    /// What the score counts; `None` where the host is to blame.
    pub outcome: Option<VariantOutcome>,
}

/// Why a rewrite that ran is not compared, whatever its times are.
pub fn unfit_for_times(
    pass_miss: bool,
    is_caught: bool,
    outputs: &[OutputReport],
    passes_at: Option<i8>,
) -> Option<FailureClass> {
    let non_finite = outputs.iter().any(|output| output.non_finite > 0);
    match (pass_miss, is_caught) {
        (true, _) => Some(FailureClass::PassMiss),
        (false, true) => Some(FailureClass::Integrity),
        (false, false) => (non_finite && passes_at.is_none()).then_some(FailureClass::NanInf),
    }
}

/// What a variant whose rewrite ran comes to: it follows from outputs, findings and times alone.
pub fn conclusion(variant: &Variant) -> Conclusion {
    let pass_miss = variant.rewrite.as_ref().is_some_and(|rewrite| rewrite.pass_miss);
    let is_caught = !variant.findings.is_empty();
    if let Some(class) = unfit_for_times(pass_miss, is_caught, &variant.outputs, variant.passes_at) {
        return Conclusion { class: Some(class), outcome: Some(VariantOutcome::Failed(class)) };
    }
    let relied_on = variant.timing.as_ref().filter(|timing| timing.trouble.is_none());
    let Some(speedup) = relied_on.map(|timing| timing.speedup) else {
        return Conclusion { class: None, outcome: None };
    };
    let overfits = variant.hidden.as_ref().is_some_and(|hidden| hidden.findings().next().is_some());
    let class = match variant.counts_from() {
        _ if overfits => Some(FailureClass::ShapeOverfit),
        Some(t) if t <= -5 => None,
        _ => Some(FailureClass::Accuracy),
    };
    let outcome = VariantOutcome::Compared {
        speedup,
        passes_at: variant.passes_at,
        trivial_passes_at_minus_2: variant.trivial.is_some(),
        wrong_on_edge_cases: overfits || !variant.edge_cases.is_empty(),
        decided: variant.decided,
    };
    Conclusion { class, outcome: Some(outcome) }
}

/// What a variant comes to by what is recorded of it, whether it ran or says itself why it did not.
pub fn recorded_conclusion(variant: &Variant) -> Conclusion {
    if !variant.outputs.is_empty() {
        return conclusion(variant);
    }
    let blame = variant.failure.as_ref().map(|failure| failure.blame);
    let class = variant.class.filter(|_| blame != Some(Blame::Host));
    Conclusion { class: variant.class, outcome: class.map(VariantOutcome::Failed) }
}

/// Why a variant that ran comes to what it does, where that is a failure.
fn explanation(variant: &Variant, outcome: Option<VariantOutcome>) -> Option<Failure> {
    if outcome.is_none() {
        let timing = variant.timing.as_ref();
        return Some(match timing.and_then(|timing| Some((timing.trouble.as_ref()?, timing.attempts))) {
            Some((trouble, attempts)) => {
                failure(Blame::Host, "timing", format!("not measured: {trouble}"), &on_a_busy_machine(attempts))
            }
            None => failure(Blame::Host, "timing", "no times were measured", "report this"),
        });
    }
    let (message, hint) = match variant.class? {
        FailureClass::PassMiss => (
            "the rewrite has no kernel and calls the same ops, or more: nothing that counts was changed".to_owned(),
            "`passhost eval --explain` shows what the pass said: its log, and what it left alone and why".to_owned(),
        ),
        FailureClass::Integrity => {
            let mut outputs = variant.outputs.iter().enumerate();
            let moved = outputs.find_map(|(at, output)| Some(format!("output {at}: {}; ", output.moved()?)));
            (moved.unwrap_or_default() + variant.findings.first()?, UNLIKE.to_owned())
        }
        FailureClass::NanInf => (
            "an output is NaN or infinite where the reference is finite".to_owned(),
            "see the first wrong element of each output".to_owned(),
        ),
        FailureClass::ShapeOverfit => {
            let shapes = &variant.hidden.as_ref()?.shapes;
            let shape = shapes.iter().find(|shape| shape.finding.is_some())?;
            (shape.finding.clone()?, reproduction(&variant.name, &shape.sizes))
        }
        _ => return None,
    };
    Some(failure(Blame::Plugin, "correctness", message, &hint))
}

/// What findings of the integrity layers say together.
const UNLIKE: &str = "the outputs do not follow from the inputs as the reference's do";

/// What to do about a machine that does something else. Only who waits tries more than twice.
fn on_a_busy_machine(attempts: u32) -> String {
    let again = match attempts {
        ..=2 => "try again for a while with --wait 5m".to_owned(),
        _ => format!("give --wait a longer time than these {attempts} attempts took"),
    };
    format!("stop what else runs on this machine, {again}, or accept noise with --quick, for trying things out")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waited_is_told_to_wait_for_longer() {
        assert!(on_a_busy_machine(2).contains("with --wait 5m"));
        let waited = on_a_busy_machine(7);
        assert!(waited.contains("a longer time than these 7 attempts took") && !waited.contains("5m"), "{waited}");
    }

    #[test]
    fn what_was_found_counts_whatever_ended_the_evaluation() {
        let found = [Finding::GuardZone { count: 2 }];
        for blame in [Blame::Plugin, Blame::Host] {
            let ended =
                || failed(empty("v"), FailureClass::Runtime, failure(blame, "plan", "no memory is left", "wait"));
            let Judged { variant, outcome, .. } = caught(ended(), &found);
            assert_eq!(outcome, Some(VariantOutcome::Failed(FailureClass::Integrity)));
            assert_eq!(variant.findings, ["2 guard zones around allocations were overwritten"]);
            assert_eq!(variant.notes, ["after the finding the rewrite failed: no memory is left (ended early)"]);
            assert_eq!(variant.failure.map(|failure| failure.blame), Some(Blame::Plugin));
            // Where nothing was found, it is as it was.
            let Judged { variant, outcome, .. } = caught(ended(), &[]);
            assert_eq!((variant.class, outcome.is_some()), (Some(FailureClass::Runtime), blame == Blame::Plugin));
        }
    }
}
