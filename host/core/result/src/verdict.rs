//! What one variant comes to, by what is recorded of it: its class, and what the score counts.

use crate::document::{Blame, Failure, Variant, failure, reproduction};
use crate::timing::Speedups;
use crate::{Finding, OutputReport, Spent};
use passhost_policy::Rules;
use passhost_score::{Decided, FailureClass, VariantOutcome, variant_right_from};

/// What became of one variant.
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
    Variant {
        name: name.to_owned(),
        element_type: None,
        bytes: None,
        class: None,
        failure: None,
        progress: None,
        rewrite: None,
        usage: None,
        outputs: Vec::new(),
        findings: Vec::new(),
        departure: None,
        excerpt: Vec::new(),
        domain: Vec::new(),
        hidden: None,
        notes: Vec::new(),
        trivial: None,
        right_from: None,
        decided: None,
        seed: None,
        other_rounds: None,
        tuned: Vec::new(),
        timing: None,
        spent_us: Spent::default(),
    }
}

/// The least t at which outputs are right by the rules of a policy; `None` if at none.
pub fn counts_from(outputs: &[OutputReport], rules: &Rules) -> Option<i8> {
    let beside_eager = || variant_right_from(outputs.iter().map(|output| output.right_from));
    decided(outputs, rules).map_or_else(beside_eager, |decided| decided.right_from)
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
    let end = variant.failure.take().map(|failure| format!("after what was found, it ended: {}", failure.message));
    variant.notes.extend(end);
    failed(variant, FailureClass::Integrity, failure(Blame::Plugin, "correctness", first, UNLIKE))
}

/// What outputs come to where a run in double precision may decide and was asked of one of them.
pub fn decided(outputs: &[OutputReport], rules: &Rules) -> Option<Decided> {
    let was_asked = outputs.iter().any(|output| output.decided.is_some());
    let each = outputs.iter().map(|output| output.decided.map_or(output.right_from, |decided| decided.right_from));
    (rules.truth_decides && was_asked).then(|| Decided { right_from: variant_right_from(each) })
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

/// What a variant whose rewrite ran comes to: it follows from outputs, findings and times alone.
pub fn conclusion(variant: &Variant) -> Conclusion {
    let failed = |class| Conclusion { class: Some(class), outcome: Some(VariantOutcome::Failed(class)) };
    let non_finite = variant.outputs.iter().any(|output| output.non_finite > 0);
    if variant.rewrite.as_ref().is_some_and(|rewrite| rewrite.pass_miss) {
        return failed(FailureClass::PassMiss);
    }
    if !variant.findings.is_empty() {
        return failed(FailureClass::Integrity);
    }
    if non_finite && variant.right_from.is_none() {
        return failed(FailureClass::NanInf);
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
        right_from: variant.right_from,
        trivial_right_at_minus_2: variant.trivial.is_some(),
        wrong_in_domain: overfits || !variant.domain.is_empty(),
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
        let trouble = variant.timing.as_ref().and_then(|timing| timing.trouble.as_ref());
        return Some(match trouble {
            Some(trouble) => failure(Blame::Host, "timing", format!("not measured: {trouble}"), NOT_MEASURED),
            None => failure(Blame::Host, "timing", "no times were measured", "report this"),
        });
    }
    let (message, hint) = match variant.class? {
        FailureClass::PassMiss => (
            "the rewrite has no kernel and calls the same ops, or more: nothing that counts was changed".to_owned(),
            "`passhost eval --explain` shows what the pass said: its log, and what it left alone and why".to_owned(),
        ),
        FailureClass::Integrity => (variant.findings.first()?.clone(), UNLIKE.to_owned()),
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
/// What to do about a machine that does something else.
const NOT_MEASURED: &str = "stop what else runs on this machine, or try again for a while with --wait 5m";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_counts_whatever_ended_the_evaluation() {
        let found = [Finding::GuardZone { count: 2 }];
        for blame in [Blame::Plugin, Blame::Host] {
            let ended =
                || failed(empty("v"), FailureClass::Runtime, failure(blame, "plan", "no memory is left", "wait"));
            let Judged { variant, outcome, .. } = caught(ended(), &found);
            assert_eq!(outcome, Some(VariantOutcome::Failed(FailureClass::Integrity)));
            assert_eq!(variant.findings, ["2 guard zones around allocations were overwritten"]);
            assert_eq!(variant.notes, ["after what was found, it ended: no memory is left"]);
            assert_eq!(variant.failure.map(|failure| failure.blame), Some(Blame::Plugin));
            // Where nothing was found, it is as it was.
            let Judged { variant, outcome, .. } = caught(ended(), &[]);
            assert_eq!((variant.class, outcome.is_some()), (Some(FailureClass::Runtime), blame == Blame::Plugin));
        }
    }
}
