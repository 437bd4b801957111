//! A line for each sample: graphs, nodes, inputs, element types.

use crate::memory::input_bytes;
use crate::outcome::Failure;
use crate::worker::Worker;
use passhost_sample::{InputMode, SampleText};
use serde::Serialize;
use std::collections::BTreeSet;

/// What is listed of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Nodes of the program as the sample has it.
    pub nodes: u64,
    /// Inputs, weights included.
    pub inputs: u64,
    /// Bytes of all inputs.
    pub input_bytes: u64,
    /// Element types of the inputs.
    pub dtypes: BTreeSet<&'static str>,
}

/// Looks at variant `index` of a sample.
///
/// # Errors
///
/// If it cannot be read.
pub fn list(worker: &mut Worker, sample: &SampleText, index: usize) -> Result<Listed, Failure> {
    let variant = worker.load(sample, index, InputMode::Fresh)?;
    Ok(Listed {
        nodes: variant.program.nodes.len() as u64,
        inputs: variant.inputs.len() as u64,
        input_bytes: input_bytes(&variant.inputs),
        dtypes: variant.inputs.iter().map(|input| input.ty.dtype.name()).collect(),
    })
}
