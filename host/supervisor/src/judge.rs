//! The verdict on one variant: what was measured, as the document has it and as the score counts it.

use crate::document::{Blame, Failure, Variant};
use crate::failure::failure;
use crate::timing::{Measured, NotMeasured};
use passhost_ir::verify::RewriteSummary;
use passhost_protocol::device::Evaluation;
use passhost_score::{FailureClass, Repeats, VariantOutcome, variant_right_from};

/// What became of one variant.
pub struct Judged {
    /// Its entry in the document.
    pub variant: Variant,
    /// What the score counts; `None` where the host is to blame, so that nothing may be scored.
    pub outcome: Option<VariantOutcome>,
    /// Speedups behind the outcome, where it was compared.
    pub repeats: Option<Repeats>,
    /// The same over the device's time, where that is known.
    pub device_repeats: Option<Repeats>,
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
    Judged { variant, outcome, repeats: None, device_repeats: None }
}

/// What came of timing.
pub(crate) enum Times {
    /// Nothing was timed: what is wrong shows without, or nothing was changed.
    None,
    /// Times that can be relied on.
    Measured(Box<Measured>),
    /// The machine did something else.
    Not(NotMeasured, Option<Box<Measured>>),
}

/// Whether a rewrite that was checked is worth timing.
pub(crate) fn is_timed(evaluation: &Evaluation, summary: &RewriteSummary, time_pass_miss: bool) -> bool {
    let wrong = !evaluation.findings.is_empty() || is_never_right_nor_finite(evaluation);
    !wrong && (!summary.pass_miss || time_pass_miss)
}

fn is_never_right_nor_finite(evaluation: &Evaluation) -> bool {
    let right_from = variant_right_from(evaluation.outputs.iter().map(|output| output.right_from));
    right_from.is_none() && evaluation.outputs.iter().any(|output| output.non_finite > 0)
}

pub(crate) fn judge_evaluation(
    mut variant: Variant,
    evaluation: Evaluation,
    summary: &RewriteSummary,
    times: Times,
) -> Judged {
    let never_right_nor_finite = is_never_right_nor_finite(&evaluation);
    let right_from = variant_right_from(evaluation.outputs.iter().map(|output| output.right_from));
    variant.findings = evaluation.findings.iter().map(ToString::to_string).collect();
    variant.domain = evaluation.domain;
    variant.notes.extend(evaluation.notes);
    variant.trivial = evaluation.trivial;
    variant.right_from = right_from;
    variant.outputs = evaluation.outputs;

    let fail = |mut variant: Variant, class, message: String, hint: &str| {
        variant.class = Some(class);
        variant.failure = Some(failure(Blame::Plugin, "correctness", message, hint));
        Judged { variant, outcome: Some(VariantOutcome::Failed(class)), repeats: None, device_repeats: None }
    };
    let (measured, trouble) = match times {
        Times::None => (None, None),
        Times::Measured(measured) => (Some(measured), None),
        Times::Not(trouble, measured) => (measured, Some(trouble)),
    };
    let (timing, repeats, device_repeats) = match measured {
        Some(measured) => (Some(measured.timing), Some(measured.repeats), measured.device_repeats),
        None => (None, None, None),
    };
    let speedup = timing.as_ref().map(|timing| timing.speedup);
    variant.timing = timing;
    if summary.pass_miss {
        let message = "the rewrite has no kernel and calls the same ops, or more: nothing that counts was changed";
        let hint = "see the refusals of the pass: `passhost show --after`";
        return fail(variant, FailureClass::PassMiss, message.into(), hint);
    }
    if let Some(finding) = variant.findings.first().cloned() {
        let hint = "the outputs do not follow from the inputs as the reference's do";
        return fail(variant, FailureClass::Integrity, finding, hint);
    }
    if never_right_nor_finite {
        let message = "an output is NaN or infinite where the reference is finite";
        return fail(variant, FailureClass::NanInf, message.into(), "see the first wrong element of each output");
    }
    if let Some(trouble) = trouble {
        let message = format!("not measured: {trouble}");
        variant.failure = Some(failure(Blame::Host, "timing", message, NOT_MEASURED));
        return Judged { variant, outcome: None, repeats: None, device_repeats: None };
    }
    let Some(speedup) = speedup else {
        variant.failure = Some(failure(Blame::Host, "timing", "no times were measured", "report this"));
        return Judged { variant, outcome: None, repeats: None, device_repeats: None };
    };
    if right_from.is_none_or(|t| t > -5) {
        variant.class = Some(FailureClass::Accuracy);
    }
    let trivial_right_at_minus_2 = variant.trivial.is_some();
    let wrong_in_domain = !variant.domain.is_empty();
    let outcome = VariantOutcome::Compared { speedup, right_from, trivial_right_at_minus_2, wrong_in_domain };
    Judged { variant, outcome: Some(outcome), repeats, device_repeats }
}

/// What to do about a machine that does something else.
const NOT_MEASURED: &str = "stop what else runs on this machine, or try again for a while with --wait 5m";
