//! The verdict on a variant whose rewrite was checked and, where that says something, timed.

use passhost_policy::Rules;
use passhost_protocol::device::Evaluation;
use passhost_result::document::{Failure, Variant};
use passhost_result::timing::Measured;
use passhost_result::verdict::{Judged, conclude, decided};
use passhost_score::variant_right_from;

/// Whether a rewrite that was checked is worth timing: what is wrong without times needs none.
pub(crate) fn is_timed(evaluation: &Evaluation, pass_miss: bool, time_pass_miss: bool) -> bool {
    let right_from = variant_right_from(evaluation.outputs.iter().map(|output| output.right_from));
    let never_right_nor_finite = right_from.is_none() && evaluation.outputs.iter().any(|output| output.non_finite > 0);
    evaluation.findings.is_empty() && !never_right_nor_finite && (!pass_miss || time_pass_miss)
}

/// The verdict on a variant whose rewrite ran.
pub(crate) fn judge_evaluation(
    mut variant: Variant,
    evaluation: Evaluation,
    measured: Option<Measured>,
    rules: &Rules,
) -> Judged {
    let (timing, speedups) = measured.map(|Measured { timing, speedups }| (timing, speedups)).unzip();
    variant.timing = timing;
    variant.findings = evaluation.findings.iter().map(ToString::to_string).collect();
    variant.domain = evaluation.domain;
    variant.notes.extend(evaluation.notes);
    variant.trivial = evaluation.trivial;
    variant.other_rounds = Some(evaluation.others);
    variant.right_from = variant_right_from(evaluation.outputs.iter().map(|output| output.right_from));
    variant.decided = decided(&evaluation.outputs, rules);
    variant.outputs = evaluation.outputs;
    conclude(variant, speedups)
}

/// The verdict on a variant whose rewrite ran and whose times could not be taken. What is wrong without times still is.
pub(crate) fn not_timed(variant: Variant, evaluation: Evaluation, failure: Failure, rules: &Rules) -> Judged {
    let mut judged = judge_evaluation(variant, evaluation, None, rules);
    if judged.outcome.is_none() {
        judged.variant.failure = Some(failure);
    }
    judged
}
