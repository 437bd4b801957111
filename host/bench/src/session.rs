//! The device child's state between messages: the loaded reference, and the evaluation of rewrites against it.

mod checks;
mod domain;
mod timing;

use crate::blame::{memory_of, of_input, of_reference, of_rewrite};
use crate::device::Device;
use crate::element::Elements;
use crate::inputs::{DrawError, Round, draw};
use crate::trivial::{Typed, degenerate};
use checks::Checks;
use passhost_ir::{Graph, InputSpec, NodeId, OpName, TensorType};
use passhost_protocol::Work;
use passhost_protocol::device::{Evaluation, Loaded, ReferenceError, RewriteError, Settings, Stage};
use passhost_runtime::{Mode, NodeError, Program, Target, Tensor, Watch};
use passhost_torch::allocator;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

/// Rounds from here on are redraws after a round that told nothing.
const REDRAW: u32 = 1 << 16;

/// A reference program that has run.
pub struct Reference {
    device: Rc<Device>,
    graph: Graph,
    specs: Vec<InputSpec>,
    program: Program,
    truth: Result<Program, NodeError>,
    output_types: Vec<TensorType>,
}

/// The inputs of one round, as bytes: both programs get tensors of their own.
struct Drawn {
    bytes: Vec<Vec<u8>>,
}

impl Drawn {
    fn draw(specs: &[InputSpec], round: Round) -> Result<Drawn, ReferenceError> {
        let bytes = specs.iter().enumerate().map(|(position, spec)| draw_input(spec, position, round));
        Ok(Drawn { bytes: bytes.collect::<Result<_, _>>()? })
    }

    fn tensors(&self, target: &Target, specs: &[InputSpec]) -> Result<Vec<Tensor>, ReferenceError> {
        specs.iter().zip(&self.bytes).map(|(spec, bytes)| input_tensor(target, spec, bytes)).collect()
    }
}

/// The elements of input `position`.
pub fn draw_input(spec: &InputSpec, position: usize, round: Round) -> Result<Vec<u8>, ReferenceError> {
    draw(spec, position, round).map_err(|error| not_drawn(spec, &error))
}

fn not_drawn(spec: &InputSpec, error: &DrawError) -> ReferenceError {
    ReferenceError::Input { input: spec.name.clone(), message: error.to_string() }
}

/// A tensor of these elements on the device.
pub fn input_tensor(target: &Target, spec: &InputSpec, bytes: &[u8]) -> Result<Tensor, ReferenceError> {
    Tensor::from_bytes(target, &spec.ty, bytes).map_err(|error| of_input(&spec.name, error))
}

/// Learns the types of values.
struct Types(Vec<TensorType>);

impl Watch for Types {
    const TEMPORARIES: bool = false;

    fn value(&mut self, number: usize, tensor: &Tensor) {
        self.0[number] = tensor.ty();
    }
}

impl Reference {
    /// Compiles and runs the program.
    pub fn load(
        device: &Rc<Device>,
        graph: Graph,
        specs: Vec<InputSpec>,
        seed: u64,
        mut stage: impl FnMut(Stage),
    ) -> Result<(Reference, Loaded), ReferenceError> {
        stage(Stage::Reference);
        let compile = |mode| Program::compile(&graph, mode, &HashMap::new(), device.context());
        let program = compile(Mode::Found).map_err(of_reference)?;
        let truth = compile(Mode::Double);
        device.charge(Work::Compile);
        let round = Round { seed, number: 0, stressed: None };
        let drawn = Drawn::draw(&specs, round)?;
        let inputs = drawn.tensors(device.target(), &specs)?;
        device.charge(Work::Draw);

        let mut types = Types(graph.values.iter().map(|value| value.ty.clone()).collect());
        let peak = allocator::Peak::start(device.target());
        let started = Instant::now();
        let outputs = program.run_watched(&inputs, &mut types).map_err(of_reference)?;
        program.finish().map_err(of_reference)?;
        let first_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let peak_bytes = peak.bytes();
        device.charge(Work::RunEager);
        let output_types: Vec<TensorType> = outputs.iter().map(Tensor::ty).collect();
        let mut graph = graph;
        for (value, found) in graph.values.iter_mut().zip(&types.0) {
            value.ty = found.clone();
        }
        let reference = Reference { device: device.clone(), graph, specs, program, truth, output_types };
        reference.refuse_degenerate(&outputs, seed)?;
        reference.device.charge(Work::Compare);
        Ok((reference, Loaded { types: types.0, peak_bytes, first_ns }))
    }

    /// An output that is constant or not finite gets one more chance with other inputs.
    fn refuse_degenerate(&self, outputs: &[Tensor], seed: u64) -> Result<(), ReferenceError> {
        if self.first_degenerate(outputs).is_none() {
            return Ok(());
        }
        let drawn = Drawn::draw(&self.specs, Round { seed, number: REDRAW, stressed: None })?;
        let outputs = self.program.run(&drawn.tensors(self.device.target(), &self.specs)?).map_err(of_reference)?;
        match self.first_degenerate(&outputs) {
            None => Ok(()),
            Some((output, what)) => Err(ReferenceError::Degenerate { output: output as u32, what: what.into() }),
        }
    }

    fn first_degenerate(&self, outputs: &[Tensor]) -> Option<(usize, &'static str)> {
        outputs.iter().enumerate().find_map(|(position, tensor)| {
            let bytes = tensor.to_bytes();
            let ty = &self.output_types[position];
            degenerate(Typed { ty, elements: Elements { dtype: ty.dtype, bytes: &bytes } }).map(|what| (position, what))
        })
    }

    /// Checks a rewrite.
    pub fn evaluate(
        &self,
        rewrite: &Graph,
        in_place: &HashMap<NodeId, OpName>,
        seed: u64,
        settings: &Settings,
        stage: impl FnMut(Stage),
    ) -> Evaluation {
        let mut evaluation = Evaluation::default();
        if let Err(error) = self.try_evaluate(rewrite, in_place, seed, settings, stage, &mut evaluation) {
            evaluation.error = Some(memory_of(error, || self.device.can_give(settings.rewrite_bytes)));
            evaluation.outputs.clear();
        }
        evaluation
    }

    fn try_evaluate(
        &self,
        rewrite: &Graph,
        in_place: &HashMap<NodeId, OpName>,
        seed: u64,
        settings: &Settings,
        mut stage: impl FnMut(Stage),
        evaluation: &mut Evaluation,
    ) -> Result<(), RewriteError> {
        stage(Stage::Plan);
        let program = Program::compile(rewrite, Mode::Declared, in_place, self.device.context()).map_err(of_rewrite)?;
        self.device.charge(Work::Compile);
        stage(Stage::Correctness);
        let mut checks = Checks::new(self, &program, settings, evaluation);
        for number in 0..settings.rounds {
            checks.round(Round { seed, number, stressed: None })?;
        }
        for input in 0..self.specs.len() {
            if self.specs[input].is_fixed() {
                checks.evaluation.notes.push(format!("input `{}` is the same in every round", self.specs[input].name));
            } else {
                checks.round(Round { seed, number: settings.rounds, stressed: Some(input) })?;
            }
        }
        if settings.domain_rounds {
            checks.domain_rounds(seed)?;
            self.device.charge(Work::UnusualRounds);
        }
        let reports = checks.finish();
        evaluation.outputs = reports;
        Ok(())
    }
}

fn input_error(error: ReferenceError) -> RewriteError {
    let (node, op) = (NodeId(0), "input".to_owned());
    match error {
        ReferenceError::Memory { message } => RewriteError::Memory { node, op, message },
        other => RewriteError::Op { node, op, message: other.to_string() },
    }
}

fn elements<'a>(ty: &TensorType, bytes: &'a [u8]) -> Elements<'a> {
    Elements { dtype: ty.dtype, bytes }
}

fn bytes_of(tensors: &[Tensor]) -> Vec<Vec<u8>> {
    tensors.iter().map(Tensor::to_bytes).collect()
}

#[cfg(test)]
mod tests;
