//! A hidden size on the device: correctness rounds, and no times.

use super::HiddenSize;
use crate::event::WorkStage;
use crate::stages::{Reference, Trail, VerifiedRewrite};
use passhost_child::ChildError;
use passhost_child::device::{DeviceChildError, DeviceSession};
use passhost_ir::OpTable;
use passhost_protocol::device::{Draws, EvaluationReport, RewriteError, RewriteJob};
use passhost_result::document::{Blame, Failure, HiddenShape, allowed, described, wrong_from};
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
    match end {
        Err(failure) if failure.blame == Blame::Plugin => record.finding = Some(said(failure.message)),
        Err(failure) => record.note = Some(said(failure.message)),
        Ok(verified) => match evaluate(trail, session, seed, &verified) {
            Ok(evaluation) => {
                let passes_at = counts_from(&evaluation.outputs, trail.supervisor.config.policy.rules());
                record.finding = wrong(&evaluation, passes_at, allowed(recorded_passes_at)).map(said);
                (record.outputs, record.passes_at) = (evaluation.outputs, passes_at);
            }
            Err(Trouble::Plugin(what)) => record.finding = Some(said(what)),
            Err(Trouble::Other(what)) => record.note = Some(said(what)),
        },
    }
    record
}

/// What is wrong with a rewrite that ran.
fn wrong(evaluation: &EvaluationReport, passes_at: Option<i8>, allowed: i8) -> Option<String> {
    evaluation.findings.first().map(ToString::to_string).or_else(|| wrong_from(passes_at, allowed))
}

/// Why there is nothing to compare.
#[derive(Debug, PartialEq)]
enum Trouble {
    Plugin(String),
    /// The sample's or the host's: no finding.
    Other(String),
}

fn evaluate(
    trail: &Trail<'_>,
    session: &mut DeviceSession<'_>,
    seed: u64,
    verified: &VerifiedRewrite,
) -> Result<EvaluationReport, Trouble> {
    let config = &trail.supervisor.config;
    let rounds = config.settings.rounds.min(1);
    let settings = Settings { rounds, edge_case_rounds: false, ..config.settings };
    let other = |failure: Failure| Trouble::Other(failure.message);
    let reference = Reference::load(trail, session, Arc::clone(&verified.reference)).map_err(other)?;
    let program = &reference.read.program;
    if reference.loaded.types.iter().zip(&program.values).any(|(found, value)| *found != value.ty) {
        return Err(Trouble::Other("bug of passhost: types were inferred otherwise than the run gave them".into()));
    }
    let settings = reference.settings(settings);
    let limit = reference.limit(config, &settings);
    let in_place = passhost_ir::in_place_nodes(program, OpTable::sample());
    let mut watch = |stage| trail.reached(WorkStage::Device(stage));
    let scaled = Share { count: 1, of: 1 };
    let others = Some(OtherRounds { scaled, ..OtherRounds::default() });
    let draws = Draws { seed, are_shared: false, others };
    let job = RewriteJob { rewrite: verified.graph.clone(), in_place, schedules: vec![], draws, settings };
    let mut evaluated = session.evaluate(&job, limit, &mut watch);
    if let Err(DeviceChildError::Child(ChildError::Died { .. })) = &evaluated {
        // As for a recorded size: one death may be anybody's doing.
        reference.load_in(0, trail, session).map_err(other)?;
        evaluated = session.evaluate(&job, limit, &mut watch);
    }
    match evaluated {
        Ok(evaluation) => ended(evaluation),
        // As for a recorded size: whether eager alone survives says whose doing it was.
        Err(DeviceChildError::Child(error)) => Err(match reference.load_in(0, trail, session) {
            Ok(()) => Trouble::Plugin(format!("{error} while running the rewrite; the reference alone runs")),
            Err(failure) => other(failure),
        }),
        Err(error) => Err(Trouble::Other(error.to_string())),
    }
}

/// What can be compared, if anything. What was found before an error is no less found, whoever is to blame for the error.
fn ended(evaluation: EvaluationReport) -> Result<EvaluationReport, Trouble> {
    match (&evaluation.error, evaluation.findings.first()) {
        (None, _) => Ok(evaluation),
        (Some(_), Some(found)) => Err(Trouble::Plugin(found.to_string())),
        (
            Some(error @ (RewriteError::Fault { .. } | RewriteError::Memory { .. } | RewriteError::Reference(_))),
            None,
        ) => Err(Trouble::Other(error.to_string())),
        (Some(error), None) => Err(Trouble::Plugin(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::NodeId;
    use passhost_protocol::device::ReferenceError;
    use passhost_result::Finding;

    #[test]
    fn what_was_found_at_a_hidden_size_counts_whatever_ended_its_rounds() {
        let (node, op, message) = (NodeId(3), "aten::mm".to_owned(), "no memory is left".to_owned());
        let of_host = RewriteError::Memory { node, op: op.clone(), message: message.clone() };
        let of_plugin = RewriteError::Op { node, op, message };
        for error in [of_host.clone(), of_plugin.clone()] {
            let findings = vec![Finding::GuardZone { count: 2 }];
            let found = "2 guard zones around allocations were overwritten".to_owned();
            let evaluation = EvaluationReport { findings, ..EvaluationReport::failed(error) };
            assert_eq!(ended(evaluation), Err(Trouble::Plugin(found)));
        }
        assert_eq!(ended(EvaluationReport::failed(of_host.clone())), Err(Trouble::Other(of_host.to_string())));
        assert_eq!(ended(EvaluationReport::failed(of_plugin.clone())), Err(Trouble::Plugin(of_plugin.to_string())));
        let of_sample = RewriteError::Reference(ReferenceError::Op {
            node: NodeId(1),
            op: "aten::embedding".to_owned(),
            message: "index out of range in self".to_owned(),
        });
        assert_eq!(ended(EvaluationReport::failed(of_sample.clone())), Err(Trouble::Other(of_sample.to_string())));
        assert_eq!(ended(EvaluationReport::default()), Ok(EvaluationReport::default()));
    }
}
