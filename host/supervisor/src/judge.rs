//! The verdict on one variant: what was measured, as the document has it and as the score counts it.

use crate::document::{Blame, Failure, Timing, Variant, quartiles_us};
use crate::failure::failure;
use passhost_ir::verify::RewriteSummary;
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

pub(crate) fn judge_evaluation(mut variant: Variant, evaluation: Evaluation, summary: &RewriteSummary) -> Judged {
    let right_from = variant_right_from(evaluation.outputs.iter().map(|output| output.right_from));
    let timings = evaluation.timing.as_ref().and_then(timings);
    variant.timing = evaluation.timing.and_then(timing);
    variant.findings = evaluation.findings.iter().map(ToString::to_string).collect();
    variant.domain = evaluation.domain;
    variant.notes.extend(evaluation.notes);
    variant.trivial = evaluation.trivial;
    variant.right_from = right_from;
    let non_finite = evaluation.outputs.iter().any(|output| output.non_finite > 0);
    variant.outputs = evaluation.outputs;

    let mut fail = |class, message: String, hint: &str| {
        variant.class = Some(class);
        variant.failure = Some(failure(Blame::Plugin, "correctness", message, hint));
        VariantOutcome::Failed(class)
    };
    let outcome = if summary.pass_miss {
        let message = "the rewrite has no kernel and calls the same ops, or more: nothing that counts was changed";
        fail(FailureClass::PassMiss, message.into(), "see the refusals of the pass: `passhost show --after`")
    } else if let Some(finding) = variant.findings.first().cloned() {
        fail(FailureClass::Integrity, finding, "the outputs do not follow from the inputs as the reference's do")
    } else if non_finite && right_from.is_none() {
        let message = "an output is NaN or infinite where the reference is finite";
        fail(FailureClass::NanInf, message.into(), "see the first wrong element of each output")
    } else {
        match variant.timing.as_ref().map(|timing| timing.speedup) {
            Some(speedup) => {
                if right_from.is_none_or(|t| t > -5) {
                    variant.class = Some(FailureClass::Accuracy);
                }
                let trivial_right_at_minus_2 = variant.trivial.is_some();
                let wrong_in_domain = !variant.domain.is_empty();
                VariantOutcome::Compared { speedup, right_from, trivial_right_at_minus_2, wrong_in_domain }
            }
            None => {
                let failure = failure(Blame::Host, "timing", "no times were measured", "report this");
                variant.failure = Some(failure);
                return Judged { variant, outcome: None, timings: None };
            }
        }
    };
    let timings = timings.filter(|_| matches!(outcome, VariantOutcome::Compared { .. }));
    Judged { variant, outcome: Some(outcome), timings }
}

/// The eager series that counts: the one with the smaller median.
fn eager_that_counts(report: &TimingReport) -> &[u64] {
    let median = |samples: &[u64]| quartiles_us(samples).map_or(f64::INFINITY, |quartiles| quartiles[1]);
    let alone = &report.eager_alone_ns;
    if median(alone) < median(&report.eager_ns) { alone } else { &report.eager_ns }
}

fn timings(report: &TimingReport) -> Option<Timings> {
    let seconds = |samples: &[u64]| samples.iter().map(|&ns| ns as f64 * 1e-9).collect::<Vec<_>>();
    (!report.rewritten_ns.is_empty())
        .then(|| Timings { eager: seconds(eager_that_counts(report)), rewritten: seconds(&report.rewritten_ns) })
}

fn timing(report: TimingReport) -> Option<Timing> {
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
