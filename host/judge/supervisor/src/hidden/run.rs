//! A hidden size on the device: correctness rounds, and no times.

use super::Chosen;
use crate::check::{Refused, Verified};
use crate::event::{VariantPlace, WorkStage};
use crate::measure::{Reference, evaluation_limit, rewrite_settings};
use crate::reference::load_reference;
use crate::supervisor::Supervisor;
use passhost_child::ChildError;
use passhost_child::device::{Device, DeviceError, RewriteRequest};
use passhost_ir::OpTable;
use passhost_protocol::device::{Draws, Evaluation, RewriteError};
use passhost_protocol::reader;
use passhost_result::document::{Blame, HiddenShape, allowed, described, wrong_from};
use passhost_result::verdict::counts_from;
use passhost_result::{OtherRounds, Settings, Share};
use std::time::Instant;

/// Runs the rewrite for a hidden size on inputs from `seed`. The recorded size is right at `recorded_right_from`. Where the
/// policy lets a run in double precision decide, it does so for both.
pub(crate) fn run(
    supervisor: &Supervisor,
    device: &mut Device,
    place: &VariantPlace,
    seed: u64,
    recorded_right_from: i8,
    chosen: Chosen,
) -> HiddenShape {
    let Chosen { mut record, read, end } = chosen;
    let said = |what: String| format!("with {}: {what}", described(&record.sizes));
    match end {
        Err(Refused { failure, .. }) if failure.blame == Blame::Plugin => record.finding = Some(said(failure.message)),
        Err(Refused { failure, .. }) => record.note = Some(said(failure.message)),
        Ok(verified) => match evaluate(supervisor, device, place, seed, read, &verified) {
            Ok(evaluation) => {
                let right_from = counts_from(&evaluation.outputs, supervisor.config.policy.rules());
                record.finding = wrong(&evaluation, right_from, allowed(recorded_right_from)).map(said);
                (record.outputs, record.right_from) = (evaluation.outputs, right_from);
            }
            Err(Trouble::Plugin(what)) => record.finding = Some(said(what)),
            Err(Trouble::Other(what)) => record.note = Some(said(what)),
        },
    }
    record
}

/// What is wrong with a rewrite that ran.
fn wrong(evaluation: &Evaluation, right_from: Option<i8>, allowed: i8) -> Option<String> {
    evaluation.findings.first().map(ToString::to_string).or_else(|| wrong_from(right_from, allowed))
}

/// Why there is nothing to compare.
#[derive(Debug, PartialEq)]
enum Trouble {
    Plugin(String),
    /// The sample's or the host's: no finding.
    Other(String),
}

fn evaluate(
    supervisor: &Supervisor,
    device: &mut Device,
    place: &VariantPlace,
    seed: u64,
    read: reader::Variant,
    verified: &Verified,
) -> Result<Evaluation, Trouble> {
    let config = &supervisor.config;
    let rounds = config.settings.rounds.min(1);
    let settings = Settings { rounds, domain_rounds: false, ..config.settings };
    let started = Instant::now();
    let load = |device: &mut Device| load_reference(supervisor, device, 0, &read, place);
    let loaded = load(device).map_err(|failure| Trouble::Other(failure.message))?;
    if loaded.types.iter().zip(&read.program.values).any(|(found, value)| *found != value.ty) {
        return Err(Trouble::Other("bug of passhost: types were inferred otherwise than the run gave them".into()));
    }
    let reference = Reference { read: read.clone(), loaded, loading: started.elapsed() };
    let settings = rewrite_settings(settings, &reference.loaded);
    let limit = config.timeout.unwrap_or_else(|| evaluation_limit(&reference, &settings));
    let in_place = passhost_ir::in_place_nodes(&reference.read.program, OpTable::sample());
    let mut watch = |stage| supervisor.reached(place, WorkStage::Device(stage));
    let stressed = Share { count: 1, of: 1 };
    let others = Some(OtherRounds { stressed, ..OtherRounds::default() });
    let draws = Draws { seed, are_shared: false, others };
    let request = RewriteRequest { rewrite: &verified.graph, in_place: &in_place, schedules: &[], draws, settings };
    let mut evaluated = device.evaluate(request, limit, &mut watch);
    if let Err(DeviceError::Child(ChildError::Died { .. })) = &evaluated {
        // As for a recorded size: one death may be anybody's doing.
        load(device).map_err(|failure| Trouble::Other(failure.message))?;
        evaluated = device.evaluate(request, limit, &mut watch);
    }
    match evaluated {
        Ok(evaluation) => ended(evaluation),
        // As for a recorded size: whether eager alone survives says whose doing it was.
        Err(DeviceError::Child(error)) => Err(match load(device) {
            Ok(_) => Trouble::Plugin(format!("{error} while running the rewrite; the reference alone runs")),
            Err(failure) => Trouble::Other(failure.message),
        }),
        Err(error) => Err(Trouble::Other(error.to_string())),
    }
}

/// What can be compared, if anything. What was found before an error is no less found, whoever is to blame for the error.
fn ended(evaluation: Evaluation) -> Result<Evaluation, Trouble> {
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
            let evaluation = Evaluation { findings, ..Evaluation::failed(error) };
            assert_eq!(ended(evaluation), Err(Trouble::Plugin(found)));
        }
        assert_eq!(ended(Evaluation::failed(of_host.clone())), Err(Trouble::Other(of_host.to_string())));
        assert_eq!(ended(Evaluation::failed(of_plugin.clone())), Err(Trouble::Plugin(of_plugin.to_string())));
        let of_sample = RewriteError::Reference(ReferenceError::Op {
            node: NodeId(1),
            op: "aten::embedding".to_owned(),
            message: "index out of range in self".to_owned(),
        });
        assert_eq!(ended(Evaluation::failed(of_sample.clone())), Err(Trouble::Other(of_sample.to_string())));
        assert_eq!(ended(Evaluation::default()), Ok(Evaluation::default()));
    }
}
