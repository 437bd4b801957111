//! The verdict on a variant whose rewrite ran.

use super::Trail;
use passhost_policy::Rules;
use passhost_protocol::device::EvaluationReport;
use passhost_result::document::{Failure, Variant};
use passhost_result::timing;
use passhost_result::verdict::{Judged, conclude, counts_from, decided, unfit_for_times};
use passhost_score::{FailureClass, variant_passes_at};

/// What came of running a rewrite beside its reference.
pub(crate) struct MeasuredVariant {
    pub evaluation: EvaluationReport,
    /// `None` where the times give no speedup, or say nothing.
    pub times: Option<timing::Measured>,
    /// Why none could be taken.
    pub untimed: Option<Failure>,
}

impl MeasuredVariant {
    /// Whether its outputs are wrong, and from which t on a rewrite is right that has times which count.
    pub fn outcome(&self, pass_miss: bool, rules: &Rules) -> (bool, Option<i8>) {
        let outputs = &self.evaluation.outputs;
        let is_timed = self.times.as_ref().is_some_and(|times| times.timing.trouble.is_none());
        let passes_at = counts_from(outputs, rules).filter(|_| is_timed);
        match unfit(&self.evaluation, pass_miss) {
            Some(class) => (class != FailureClass::PassMiss, None),
            None => (is_timed && passes_at.is_none_or(|t| t > -5), passes_at),
        }
    }

    /// The verdict.
    pub fn judged(self, trail: Trail<'_>) -> Judged {
        let rules = trail.supervisor.config.policy.rules();
        let mut judged = judged(trail.entry, self.evaluation, self.times, rules);
        // What is wrong without times still is.
        if judged.outcome.is_none() && self.untimed.is_some() {
            judged.variant.failure = self.untimed;
        }
        judged
    }
}

/// Why a rewrite is not compared, whatever its times are.
pub(crate) fn unfit(evaluation: &EvaluationReport, pass_miss: bool) -> Option<FailureClass> {
    let EvaluationReport { outputs, findings, .. } = evaluation;
    let passes_at = variant_passes_at(outputs.iter().map(|output| output.passes_at));
    unfit_for_times(pass_miss, !findings.is_empty(), outputs, passes_at)
}

/// The verdict on what ran, where `variant` says all but what came of that.
pub(crate) fn judged(
    variant: Variant,
    evaluation: EvaluationReport,
    times: Option<timing::Measured>,
    rules: &Rules,
) -> Judged {
    let (timing, speedups) = times.map(|timing::Measured { timing, speedups }| (timing, speedups)).unzip();
    let EvaluationReport { outputs, findings, edge_cases, notes, trivial, others, .. } = evaluation;
    let variant = Variant {
        timing,
        findings: findings.iter().map(ToString::to_string).collect(),
        edge_cases,
        notes: [variant.notes, notes].concat(),
        trivial,
        other_rounds: Some(others),
        passes_at: variant_passes_at(outputs.iter().map(|output| output.passes_at)),
        decided: decided(&outputs, rules),
        outputs,
        ..variant
    };
    conclude(variant, speedups)
}
