//! What a device child is asked about a program and a rewrite of it.

use passhost_ir::{Graph, InputSpec, NodeId, OpName};
use passhost_protocol::device::{Draws, Loaded, ToDevice};
use passhost_result::{Settings, ShownBy, TunedKernel};

/// A program to load in a device child.
#[derive(Debug, Clone, Copy)]
pub struct LoadRequest<'a> {
    /// The program.
    pub program: &'a Graph,
    /// One per program input.
    pub inputs: &'a [InputSpec],
    /// Seeds the inputs of the run that loading makes.
    pub seed: u64,
}

impl LoadRequest<'_> {
    pub(super) fn message(&self) -> ToDevice {
        let (program, inputs) = self.owned();
        ToDevice::Load { program, inputs, seed: self.seed }
    }

    pub(super) fn owned(&self) -> Program {
        (self.program.clone(), self.inputs.to_vec())
    }
}

/// A program with its inputs.
pub(super) type Program = (Graph, Vec<InputSpec>);

/// Whether what a run showed of a program can be: a type for each of its values that a tensor can have.
pub(super) fn fits(program: &Graph, loaded: &Loaded) -> bool {
    loaded.types.len() == program.values.len() && loaded.types.iter().all(|ty| ty.check().is_ok())
}

/// A rewrite to check or time.
#[derive(Debug, Clone, Copy)]
pub struct RewriteRequest<'a> {
    /// The rewrite.
    pub rewrite: &'a Graph,
    /// Nodes that work in place of an operand that dies there, and the op that they come from.
    pub in_place: &'a [(NodeId, OpName)],
    /// Names of the schedules that kernels have in place of their defaults.
    pub schedules: &'a [(NodeId, String)],
    /// Its inputs.
    pub draws: Draws,
    /// How to measure.
    pub settings: Settings,
}

impl RewriteRequest<'_> {
    pub(super) fn to_tune(self, known: Vec<TunedKernel>) -> ToDevice {
        let RewriteRequest { rewrite, in_place, draws: Draws { seed, .. }, .. } = self;
        ToDevice::Tune { rewrite: rewrite.clone(), in_place: in_place.to_vec(), seed, known }
    }

    pub(super) fn to_evaluate(self) -> ToDevice {
        let RewriteRequest { rewrite, in_place, schedules, draws, settings } = self;
        let (rewrite, in_place, schedules) = (rewrite.clone(), in_place.to_vec(), schedules.to_vec());
        ToDevice::Evaluate { rewrite, in_place, schedules, draws, settings }
    }

    pub(super) fn to_trace(self, shown_by: ShownBy) -> ToDevice {
        let RewriteRequest { rewrite, in_place: _, schedules, draws: Draws { seed, .. }, settings } = self;
        let (rewrite, schedules) = (rewrite.clone(), schedules.to_vec());
        ToDevice::Trace { rewrite, schedules, seed, settings, shown_by }
    }

    pub(super) fn to_time(self, right_from: Vec<Option<i8>>, cores: Vec<u32>) -> ToDevice {
        let RewriteRequest { rewrite, in_place, schedules, draws: Draws { seed, .. }, settings } = self;
        let (rewrite, in_place, schedules) = (rewrite.clone(), in_place.to_vec(), schedules.to_vec());
        ToDevice::Time { rewrite, in_place, schedules, seed, settings, right_from, cores }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewrite_is_checked_and_timed_in_the_same_schedules() {
        let schedules = [(NodeId(3), "rows threads=32 rows=4 lanes=4 turns=1".to_owned())];
        let draws = Draws { seed: 7, are_shared: false, others: None };
        let (rewrite, settings) = (Graph::default(), Settings::default());
        let request = RewriteRequest { rewrite: &rewrite, in_place: &[], schedules: &schedules, draws, settings };
        let of = |message: ToDevice| match message {
            ToDevice::Evaluate { schedules, .. } | ToDevice::Time { schedules, .. } => schedules,
            _ => vec![],
        };
        assert_eq!(of(request.to_evaluate()), schedules);
        assert_eq!(of(request.to_time(vec![], vec![])), schedules);
    }
}
