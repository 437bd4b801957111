//! The verdict on one variant: what was measured, as the document has it and as the score counts it.

use crate::document::{Blame, Failure, Timing, Variant, quartiles_us};
use crate::failure::failure;
use crate::hidden;
use passhost_protocol::device::{Evaluation, TimingReport};
use passhost_score::{FailureClass, Timings, VariantOutcome, variant_right_from};

/// What became of one variant.
pub struct Judged {
    /// Its entry in the document.
    pub variant: Variant,
    /// What the score counts; `None` where the host is to blame, so that nothing may be scored.
    pub outcome: Option<VariantOutcome>,
    /// Times behind the outcome, where it was compared.
    pub timings: Option<Timings>,
}

pub(crate) fn empty(name: &str) -> Variant {
    Variant {
        name: name.to_owned(),
        class: None,
        failure: None,
        rewrite: None,
        usage: None,
        outputs: Vec::new(),
        findings: Vec::new(),
        domain: Vec::new(),
        hidden: None,
        notes: Vec::new(),
        trivial: None,
        right_from: None,
        seed: None,
        timing: None,
    }
}

/// A variant that gave nothing to compare.
pub(crate) fn failed(mut variant: Variant, class: FailureClass, failure: Failure) -> Judged {
    let outcome = (failure.blame != Blame::Host).then_some(VariantOutcome::Failed(class));
    variant.class = Some(class);
    variant.failure = Some(failure);
    Judged { variant, outcome, timings: None }
}

/// The verdict on a variant whose rewrite ran.
pub(crate) fn judge_evaluation(mut variant: Variant, evaluation: Evaluation) -> Judged {
    let timings = evaluation.timing.as_ref().and_then(timings);
    variant.timing = evaluation.timing.and_then(timing);
    variant.findings = evaluation.findings.iter().map(ToString::to_string).collect();
    variant.domain = evaluation.domain;
    variant.notes.extend(evaluation.notes);
    variant.trivial = evaluation.trivial;
    variant.right_from = variant_right_from(evaluation.outputs.iter().map(|output| output.right_from));
    variant.outputs = evaluation.outputs;
    conclude(variant, timings)
}

/// The verdict on a variant whose rewrite ran, from what is written down of it.
pub(crate) fn conclude(mut variant: Variant, timings: Option<Timings>) -> Judged {
    let Conclusion { class, outcome } = conclusion(&variant);
    variant.class = class;
    variant.failure = explanation(&variant, outcome);
    let timings = timings.filter(|_| matches!(outcome, Some(VariantOutcome::Compared { .. })));
    Judged { variant, outcome, timings }
}

/// What a variant comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Conclusion {
    pub class: Option<FailureClass>,
    pub outcome: Option<VariantOutcome>,
}

/// What a variant whose rewrite ran comes to: it follows from outputs, findings and times alone.
pub(crate) fn conclusion(variant: &Variant) -> Conclusion {
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
    let Some(speedup) = variant.timing.as_ref().map(|timing| timing.speedup) else {
        return Conclusion { class: None, outcome: None };
    };
    let overfits = variant.hidden.as_ref().is_some_and(|hidden| hidden.findings().next().is_some());
    let class = match variant.right_from {
        _ if overfits => Some(FailureClass::ShapeOverfit),
        Some(t) if t <= -5 => None,
        _ => Some(FailureClass::Accuracy),
    };
    let outcome = VariantOutcome::Compared {
        speedup,
        right_from: variant.right_from,
        trivial_right_at_minus_2: variant.trivial.is_some(),
        wrong_in_domain: overfits || !variant.domain.is_empty(),
    };
    Conclusion { class, outcome: Some(outcome) }
}

/// Why a variant that ran comes to what it does, where that is a failure.
fn explanation(variant: &Variant, outcome: Option<VariantOutcome>) -> Option<Failure> {
    if outcome.is_none() {
        return Some(failure(Blame::Host, "timing", "no times were measured", "report this"));
    }
    let (message, hint) = match variant.class? {
        FailureClass::PassMiss => (
            "the rewrite has no kernel and calls the same ops, or more: nothing that counts was changed".to_owned(),
            "see the refusals of the pass: `passhost show --after`".to_owned(),
        ),
        FailureClass::Integrity => (
            variant.findings.first()?.clone(),
            "the outputs do not follow from the inputs as the reference's do".to_owned(),
        ),
        FailureClass::NanInf => (
            "an output is NaN or infinite where the reference is finite".to_owned(),
            "see the first wrong element of each output".to_owned(),
        ),
        FailureClass::ShapeOverfit => {
            let shapes = &variant.hidden.as_ref()?.shapes;
            let shape = shapes.iter().find(|shape| shape.finding.is_some())?;
            (shape.finding.clone()?, hidden::reproduction(&variant.name, &shape.sizes))
        }
        _ => return None,
    };
    Some(failure(Blame::Plugin, "correctness", message, &hint))
}

/// The eager series that counts: the one with the smaller median.
fn eager_that_counts(report: &TimingReport) -> &[u64] {
    let median = |samples: &[u64]| quartiles_us(samples).map_or(f64::INFINITY, |quartiles| quartiles[1]);
    let alone = &report.eager_alone_ns;
    if median(alone) < median(&report.eager_ns) { alone } else { &report.eager_ns }
}

pub(crate) fn timings(report: &TimingReport) -> Option<Timings> {
    let seconds = |samples: &[u64]| samples.iter().map(|&ns| ns as f64 * 1e-9).collect::<Vec<_>>();
    (!report.rewritten_ns.is_empty())
        .then(|| Timings { eager: seconds(eager_that_counts(report)), rewritten: seconds(&report.rewritten_ns) })
}

pub(crate) fn timing(report: TimingReport) -> Option<Timing> {
    let eager = quartiles_us(eager_that_counts(&report))?;
    let rewritten = quartiles_us(&report.rewritten_ns)?;
    let (alone, beside) = (quartiles_us(&report.eager_alone_ns)?[1], quartiles_us(&report.eager_ns)?[1]);
    let cold = quartiles_us(&report.eager_cold_ns).zip(quartiles_us(&report.rewritten_cold_ns));
    Some(Timing {
        eager_us: eager[1],
        eager_drift: (alone / beside).max(beside / alone),
        rewritten_us: rewritten[1],
        eager_iqr_us: eager[2] - eager[0],
        rewritten_iqr_us: rewritten[2] - rewritten[0],
        speedup: eager[1] / rewritten[1],
        speedup_cold: cold.map(|(eager, rewritten)| eager[1] / rewritten[1]),
        samples: report,
    })
}
