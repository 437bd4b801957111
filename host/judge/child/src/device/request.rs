//! What a device child is asked to load.

use passhost_ir::{Graph, InputSpec};
use passhost_protocol::device::{LoadReport, ToDevice};

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

    pub(super) fn owned(&self) -> LoadedProgram {
        (self.program.clone(), self.inputs.to_vec())
    }
}

/// A program with its inputs.
pub(super) type LoadedProgram = (Graph, Vec<InputSpec>);

/// Whether what a run showed of a program can be: a type for each of its values that a tensor can have.
pub(super) fn fits(program: &Graph, loaded: &LoadReport) -> bool {
    loaded.types.len() == program.values.len() && loaded.types.iter().all(|ty| ty.check().is_ok())
}
