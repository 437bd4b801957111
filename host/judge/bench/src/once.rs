//! A single run of a reference program: what it gives, for whoever wants to compare it with another run.

use crate::blame::of_reference;
use crate::device::BenchDevice;
use crate::held::HeldTensor;
use crate::inputs::Round;
use crate::session::{LearnedTypes, draw_input, input_tensor};
use crate::trivial::degenerate;
use passhost_ir::alias::same_layout;
use passhost_ir::{Graph, InputSpec, TensorType, Value};
use passhost_protocol::device::{RanOutput, SingleRun, SingleRunError, TypeDifference};
use passhost_runtime::{Hints, Mode, NodeError};
use passhost_torch::{Program, Tensor, allocator};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Instant;

/// Values of another type than inferred that are reported: one wrong type makes many.
const DIFFERENCES: usize = 8;

/// Draws the inputs of round 0, runs the program and describes its outputs; writes both to `files` if that is given.
///
/// At most one tensor is held twice, so that memory for the inputs and the intermediates is enough.
pub fn run(
    device: &BenchDevice,
    graph: &Graph,
    specs: &[InputSpec],
    seed: u64,
    files: Option<&Path>,
) -> Result<SingleRun, SingleRunError> {
    let failed = |error: NodeError| SingleRunError::Program(of_reference(error));
    let program = Program::compile(graph, Mode::Found, &Hints::default(), device.context()).map_err(failed)?;
    let keep = |name: &str, bytes: &[u8]| files.map_or(Ok(()), |directory| write(&directory.join(name), bytes));
    let round = Round { seed, number: 0, scaled: None };
    let mut inputs: Vec<Tensor> = Vec::with_capacity(specs.len());
    for (position, spec) in specs.iter().enumerate() {
        let bytes = draw_input(spec, position, round)?;
        keep(&format!("input_{position}.bin"), &bytes)?;
        inputs.push(input_tensor(device.target(), spec, &bytes)?);
    }

    let mut types = LearnedTypes::of(graph);
    let peak = allocator::Peak::start(device.target());
    let start = Instant::now();
    let outputs = program.run_watched(&inputs, &mut types).map_err(failed)?;
    program.finish().map_err(failed)?;
    let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    let peak_bytes = peak.bytes();
    let outputs = outputs.iter().enumerate().map(|(position, tensor)| {
        let bytes = tensor.to_bytes();
        keep(&format!("output_{position}.bin"), &bytes)?;
        Ok(describe(tensor, bytes))
    });
    let outputs = outputs.collect::<Result<_, SingleRunError>>()?;
    let differs = graph.values.iter().zip(types.0).filter(|(value, found)| !same_layout(&value.ty, found));
    let difference = |(value, found): (&Value, TensorType)| {
        let (value, inferred) = (value.name.clone(), value.ty.clone());
        TypeDifference { value, inferred, found }
    };
    let differences = differs.map(difference).take(DIFFERENCES).collect();
    Ok(SingleRun { outputs, differences, peak_bytes, micros })
}

fn describe(tensor: &Tensor, bytes: Vec<u8>) -> RanOutput {
    let ty = tensor.ty();
    let sha256 = base16ct::lower::encode_string(&Sha256::digest(&bytes));
    let remark = degenerate(&HeldTensor::host(ty.dtype, bytes)).map(str::to_owned);
    RanOutput { ty, sha256, remark }
}

/// Writes a file, or says which could not be.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), SingleRunError> {
    std::fs::write(path, bytes)
        .map_err(|error| SingleRunError::Write { file: path.display().to_string(), message: error.to_string() })
}
