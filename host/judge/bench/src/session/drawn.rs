//! The inputs of one round, drawn where they are held.

use crate::blame::of_input;
use crate::counter::hash;
use crate::device::BenchDevice;
use crate::held::HeldTensor;
use crate::inputs::{DrawError, Round, draw, write_elements};
use crate::judge::float_kind;
use crate::on_device::draws;
use passhost_ir::{InputSpec, NodeId};
use passhost_protocol::device::{ReferenceError, RewriteError};
use passhost_runtime::{Cause, NodeError};
use passhost_torch::{Target, Tensor};
use std::rc::Rc;

/// By how many of the smallest steps of their types inputs are shaken.
const STEPS: f64 = 4.0;

/// The inputs of one round, which nobody writes to: each run gets tensors of its own.
#[derive(Clone)]
pub struct DrawnInputs {
    pub inputs: Vec<Rc<HeldTensor>>,
}

impl DrawnInputs {
    /// Draws them.
    pub fn draw(device: &BenchDevice, specs: &[InputSpec], round: Round) -> Result<DrawnInputs, ReferenceError> {
        let inputs =
            specs.iter().enumerate().map(|(position, spec)| held_input(device, spec, position, round).map(Rc::new));
        Ok(DrawnInputs { inputs: inputs.collect::<Result<_, _>>()? })
    }

    /// Inputs whose floats are a few of the smallest steps of their types away from these.
    pub fn shaken(&self) -> DrawnInputs {
        let inputs = self.inputs.iter().enumerate().map(|(position, input)| match float_kind(input.dtype()) {
            Some(_) => Rc::new(shaken(input, position as u64)),
            None => input.clone(),
        });
        DrawnInputs { inputs: inputs.collect() }
    }

    /// Tensors of their own with these elements.
    pub fn tensors(&self, target: &Target, specs: &[InputSpec]) -> Result<Vec<Tensor>, ReferenceError> {
        let copies = specs.iter().zip(&self.inputs);
        copies.map(|(spec, input)| input.copy(target, &spec.ty).map_err(|error| of_input(&spec.name, error))).collect()
    }
}

fn shaken(input: &HeldTensor, key: u64) -> HeldTensor {
    let (dtype, elements) = (input.dtype(), input.elements());
    let step = STEPS * dtype.ulp(1.0);
    let away = |at: usize| (hash(key, at as u64) as f64 / u64::MAX as f64).mul_add(2.0, -1.0);
    let mut bytes = elements.bytes.to_vec();
    let values = elements.to_f64();
    let moved = values.iter().enumerate().map(|(at, value)| (at, value * away(at).mul_add(step, 1.0)));
    write_elements(dtype, &mut bytes, &mut { moved });
    HeldTensor::host(dtype, bytes)
}

/// Input `position`, drawn where it is held.
pub fn held_input(
    device: &BenchDevice,
    spec: &InputSpec,
    position: usize,
    round: Round,
) -> Result<HeldTensor, ReferenceError> {
    let drawn =
        device.on_device(&spec.ty).map(|kernels| draws::draw(device.context(), kernels, (spec, position), round));
    match drawn {
        Some(Ok(Some(tensor))) => Ok(HeldTensor::of(device, &tensor)),
        // What the device has no room for is drawn on the CPU.
        _ => Ok(HeldTensor::brought(device, &spec.ty, draw_input(spec, position, round)?)),
    }
}

/// The elements of input `position`.
pub fn draw_input(spec: &InputSpec, position: usize, round: Round) -> Result<Vec<u8>, ReferenceError> {
    draw(spec, position, round).map_err(|error| not_drawn(spec, &error))
}

/// Why an input could not be drawn.
pub fn not_drawn(spec: &InputSpec, error: &DrawError) -> ReferenceError {
    ReferenceError::Input { input: spec.name.clone(), message: error.to_string() }
}

/// A tensor of these elements on the device.
pub fn input_tensor(target: &Target, spec: &InputSpec, bytes: &[u8]) -> Result<Tensor, ReferenceError> {
    Tensor::from_bytes(target, &spec.ty, bytes).map_err(|error| of_input(&spec.name, error))
}

/// An input that could not be made or drawn, where a rewrite was to be checked.
pub fn input_error(error: ReferenceError) -> RewriteError {
    match error {
        ReferenceError::Memory(message) => RewriteError::Memory { node: NodeId(0), op: "input".to_owned(), message },
        other => RewriteError::Reference(other),
    }
}

/// An input that could not be made, where programs fail by their nodes.
pub fn no_input(error: ReferenceError) -> NodeError {
    NodeError { node: NodeId(0), op: "input".into(), cause: Cause::Failed(error.to_string()) }
}
