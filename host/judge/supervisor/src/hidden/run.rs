//! A hidden size on the device: correctness rounds, and no times.

use super::HiddenSize;
use crate::stages::{Measurement, Reference, Trail, VerifiedRewrite, rewrite_failed};
use passhost_child::device::DeviceSession;
use passhost_ir::OpTable;
use passhost_protocol::device::{Draws, EvaluationReport, RewriteJob};
use passhost_result::document::{Blame, Failure, HiddenShape, allowed, described, failure, wrong_from};
use passhost_result::verdict::counts_from;
use passhost_result::{OtherRounds, Settings, Share};
use std::sync::Arc;

/// Runs the rewrite for a hidden size on inputs from `seed`. The recorded size is right at `recorded_passes_at`. Where the
/// policy lets a run in double precision decide, it does so for both.
pub(crate) fn run(
    trail: &Trail<'_>,
    session: &mut DeviceSession<'_>,
    seed: u64,
    recorded_passes_at: i8,
    chosen: HiddenSize,
) -> HiddenShape {
    let HiddenSize { mut record, end } = chosen;
    let said = |what: String| format!("with {}: {what}", described(&record.sizes));
    match end.and_then(|verified| evaluate(trail, session, seed, &verified)) {
        Ok(evaluation) => {
            let passes_at = counts_from(&evaluation.outputs, trail.supervisor.config.policy.rules());
            let found = evaluation.findings.first().map(ToString::to_string);
            record.finding = found.or_else(|| wrong_from(passes_at, allowed(recorded_passes_at))).map(said);
            (record.outputs, record.passes_at) = (evaluation.outputs, passes_at);
        }
        Err(failure) if failure.blame == Blame::Plugin => record.finding = Some(said(failure.message)),
        // The sample's or the host's: no finding.
        Err(failure) => record.note = Some(said(failure.message)),
    }
    record
}

fn evaluate(
    trail: &Trail<'_>,
    session: &mut DeviceSession<'_>,
    seed: u64,
    verified: &VerifiedRewrite,
) -> Result<EvaluationReport, Failure> {
    let config = &trail.supervisor.config;
    let rounds = config.settings.rounds.min(1);
    let reference = Reference::load(trail, session, Arc::clone(&verified.reference))?;
    let program = &reference.read.program;
    if reference.loaded.types.iter().zip(&program.values).any(|(found, value)| *found != value.ty) {
        let message = "bug of passhost: types were inferred otherwise than the run gave them";
        return Err(failure(Blame::Host, "reference", message, "report this"));
    }
    let settings = reference.settings(Settings { rounds, edge_case_rounds: false, ..config.settings });
    let limit = reference.limit(config, &settings);
    let in_place = passhost_ir::in_place_nodes(program, OpTable::sample());
    let scaled = Share { count: 1, of: 1 };
    let draws = Draws::repeated(seed, OtherRounds { scaled, ..OtherRounds::default() });
    let job = RewriteJob { rewrite: verified.graph.clone(), in_place, schedules: vec![], draws, settings };
    let (trail, rewrite) = (&mut trail.aside(), &verified.graph);
    let mut on_device = Measurement { trail, session, reference: &reference, rewrite, pass_miss: false };
    let evaluated = on_device.twice(0, |session, watch| session.evaluate(&job, limit, watch));
    ended(evaluated.map_err(|lost| on_device.stopped(lost).failure)?)
}

/// What can be compared, if anything. What was found before an error is no less found, whoever is to blame for the error.
fn ended(evaluation: EvaluationReport) -> Result<EvaluationReport, Failure> {
    match (&evaluation.error, evaluation.findings.first()) {
        (None, _) => Ok(evaluation),
        (Some(_), Some(found)) => Err(failure(Blame::Plugin, "correctness", found, "")),
        (Some(error), None) => Err(rewrite_failed(error).failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::NodeId;
    use passhost_protocol::device::{ReferenceError, RewriteError};
    use passhost_result::Finding;

    #[test]
    fn what_was_found_at_a_hidden_size_counts_whatever_ended_its_rounds() {
        let (node, op, message) = (NodeId(3), "aten::mm".to_owned(), "no memory is left".to_owned());
        let of_host = RewriteError::Memory { node, op: op.clone(), message: message.clone() };
        let of_plugin = RewriteError::Op { node, op, message };
        let ended = |evaluation| ended(evaluation).map_err(|failure| (failure.blame, failure.message));
        for error in [of_host.clone(), of_plugin.clone()] {
            let findings = vec![Finding::GuardZone { count: 2 }];
            let found = "2 guard zones around allocations were overwritten".to_owned();
            let evaluation = EvaluationReport { findings, ..EvaluationReport::failed(error) };
            assert_eq!(ended(evaluation), Err((Blame::Plugin, found)));
        }
        let of_sample = RewriteError::Reference(ReferenceError::Op {
            node: NodeId(1),
            op: "aten::embedding".to_owned(),
            message: "index out of range in self".to_owned(),
        });
        for (error, blame) in [(of_host, Blame::Host), (of_plugin, Blame::Plugin), (of_sample, Blame::Sample)] {
            assert_eq!(ended(EvaluationReport::failed(error.clone())), Err((blame, error.to_string())));
        }
        assert_eq!(ended(EvaluationReport::default()), Ok(EvaluationReport::default()));
    }
}
