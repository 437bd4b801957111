//! The device child's state between messages: the loaded reference, and the evaluation of rewrites against it.

mod checks;
mod domain;

use crate::blame::{of_input, of_reference, of_rewrite};
use crate::compare::Comparison;
use crate::device::Device;
use crate::element::Elements;
use crate::inputs::{DrawError, Round, draw};
use crate::integrity;
use crate::measure;
use crate::trivial::{Typed, degenerate};
use checks::Checks;
use passhost_ir::{Graph, InputSpec, NodeId, OpName, TensorType};
use passhost_protocol::device::{
    Evaluation, Finding, Loaded, ReferenceError, RewriteError, Settings, Stage, TimingReport,
};
use passhost_runtime::{Mode, NodeError, Program, Target, Tensor, Watch};
use passhost_torch::allocator;
use std::collections::HashMap;
use std::rc::Rc;

/// Rounds from here on are redraws after a round that told nothing.
const REDRAW: u32 = 1 << 16;
/// The round whose inputs the timed runs use.
const TIMED: u32 = 1 << 17;
/// Timed runs whose outputs are checked.
const CHECKED_RUNS: usize = 3;
/// Measurements until the two agree.
const ATTEMPTS: u32 = 3;

/// A reference program that has run.
pub struct Reference {
    device: Rc<Device>,
    graph: Graph,
    specs: Vec<InputSpec>,
    program: Program,
    truth: Result<Program, NodeError>,
    output_types: Vec<TensorType>,
    /// Times of the program alone, before any rewrite ran.
    alone_ns: Vec<u64>,
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
    /// Compiles and runs the program, and times it alone.
    pub fn load(
        device: &Rc<Device>,
        graph: Graph,
        specs: Vec<InputSpec>,
        seed: u64,
        settings: &Settings,
        mut stage: impl FnMut(Stage),
    ) -> Result<(Reference, Loaded), ReferenceError> {
        stage(Stage::Reference);
        let compile = |mode| Program::compile(&graph, mode, &HashMap::new(), device.context());
        let program = compile(Mode::Found).map_err(of_reference)?;
        let truth = compile(Mode::Double);
        let round = Round { seed, number: 0, stressed: None };
        let drawn = Drawn::draw(&specs, round)?;
        let inputs = drawn.tensors(device.target(), &specs)?;

        let mut types = Types(graph.values.iter().map(|value| value.ty.clone()).collect());
        let peak = allocator::Peak::start(device.target());
        let outputs = program.run_watched(&inputs, &mut types).map_err(of_reference)?;
        program.finish().map_err(of_reference)?;
        let peak_bytes = peak.bytes();
        let output_types: Vec<TensorType> = outputs.iter().map(Tensor::ty).collect();
        let mut reference =
            Reference { device: device.clone(), graph, specs, program, truth, output_types, alone_ns: vec![] };
        reference.refuse_degenerate(&outputs, seed)?;

        stage(Stage::ReferenceTiming);
        let other_inputs = drawn.tensors(device.target(), &reference.specs)?;
        let alone_ns = reference.time_alone([&inputs, &other_inputs], settings, seed).map_err(of_reference)?;
        reference.alone_ns.clone_from(&alone_ns);
        let slowest_ns = alone_ns.iter().copied().max().unwrap_or(0);
        Ok((reference, Loaded { types: types.0, peak_bytes, alone_ns, slowest_ns }))
    }

    /// Times the program on two sets of inputs in turn.
    fn time_alone(&self, inputs: [&[Tensor]; 2], settings: &Settings, seed: u64) -> Result<Vec<u64>, NodeError> {
        let [mut one, mut other] = inputs.map(|inputs| Timed::new(&self.program, inputs));
        measure::alone(&mut one, &mut other, settings, seed)
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

    /// Checks and times a rewrite.
    pub fn evaluate(
        &self,
        rewrite: &Graph,
        in_place: &HashMap<NodeId, OpName>,
        seed: u64,
        settings: &Settings,
        timed: bool,
        stage: impl FnMut(Stage),
    ) -> Evaluation {
        let mut evaluation = Evaluation {
            error: None,
            outputs: vec![],
            findings: vec![],
            domain: vec![],
            notes: vec![],
            trivial: None,
            timing: None,
            peak_bytes: 0,
        };
        if let Err(error) = self.try_evaluate(rewrite, in_place, seed, settings, timed, stage, &mut evaluation) {
            evaluation.error = Some(error);
            evaluation.outputs.clear();
            evaluation.timing = None;
        }
        evaluation
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one message and its answer")]
    fn try_evaluate(
        &self,
        rewrite: &Graph,
        in_place: &HashMap<NodeId, OpName>,
        seed: u64,
        settings: &Settings,
        timed: bool,
        mut stage: impl FnMut(Stage),
        evaluation: &mut Evaluation,
    ) -> Result<(), RewriteError> {
        stage(Stage::Plan);
        let program = Program::compile(rewrite, Mode::Declared, in_place, self.device.context()).map_err(of_rewrite)?;
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
        }
        let reports = checks.finish();
        evaluation.outputs = reports;
        if timed {
            stage(Stage::Timing);
            self.time(&program, seed, settings, evaluation)?;
        }
        Ok(())
    }

    fn time(
        &self,
        program: &Program,
        seed: u64,
        settings: &Settings,
        evaluation: &mut Evaluation,
    ) -> Result<(), RewriteError> {
        let drawn = Drawn::draw(&self.specs, Round { seed, number: TIMED, stressed: None }).map_err(input_error)?;
        let inputs = || drawn.tensors(self.device.target(), &self.specs).map_err(input_error);
        let expected = bytes_of(&self.program.run(&inputs()?).map_err(of_rewrite)?);
        let (eager_inputs, rewritten_inputs) = (inputs()?, inputs()?);
        let mut eager = Timed::new(&self.program, &eager_inputs);
        let mut rewritten = Timed::new(program, &rewritten_inputs);
        let mut best: Option<(f64, Vec<u64>, measure::Pairs<Vec<Tensor>>)> = None;
        for attempt in 0..ATTEMPTS {
            // A machine that others use changes its speed from second to second. Two measurements of eager in a row that
            // agree were taken at one speed; the first of all was taken before the rewrite ever ran.
            let alone_ns = match attempt {
                0 => self.alone_ns.clone(),
                _ => self.time_alone([&eager_inputs, &rewritten_inputs], settings, seed).map_err(of_rewrite)?,
            };
            let mut pairs =
                measure::pairs(&mut eager, &mut rewritten, settings, CHECKED_RUNS, seed).map_err(of_rewrite)?;
            let untimed = || Ok(bytes_of(&program.run(&inputs()?).map_err(of_rewrite)?));
            self.check_timed_runs(&std::mem::take(&mut pairs.kept), &expected, &untimed, evaluation)?;
            let ratio = median(&alone_ns) / median(&pairs.eager).max(1.0);
            let apart = ratio.max(1.0 / ratio);
            if best.as_ref().is_none_or(|(least, ..)| apart < *least) {
                best = Some((apart, alone_ns, pairs));
            }
            if apart <= self.device.drift() {
                break;
            }
        }
        let Some((_, eager_alone_ns, pairs)) = best else { return Ok(()) };
        let (eager_cold_ns, rewritten_cold_ns) =
            measure::cold_pairs(&mut eager, &mut rewritten, settings, || self.device.flush_caches())
                .map_err(of_rewrite)?;
        let floor_ns = self.device.floor_ns(integrity::must_move(&self.graph, &self.output_types));
        let median_ns = median(&pairs.rewritten) as u64;
        if median_ns < floor_ns {
            evaluation.findings.push(Finding::BelowFloor { median_ns, floor_ns });
        }
        evaluation.timing = Some(TimingReport {
            eager_alone_ns,
            eager_ns: pairs.eager,
            rewritten_ns: pairs.rewritten,
            eager_cold_ns,
            rewritten_cold_ns,
            method: self.device.method().into(),
            floor_ns,
        });
        Ok(())
    }

    /// Compares outputs of timed runs with eager's. One that is worse than the checked rounds were is worse on these inputs,
    /// if a run that nobody times gives the same; else it is another answer.
    fn check_timed_runs(
        &self,
        kept: &[Vec<Tensor>],
        expected: &[Vec<u8>],
        untimed: &dyn Fn() -> Result<Vec<Vec<u8>>, RewriteError>,
        evaluation: &mut Evaluation,
    ) -> Result<(), RewriteError> {
        let mut own: Option<Vec<Vec<u8>>> = None;
        for (position, bytes) in kept.iter().flat_map(|outputs| bytes_of(outputs).into_iter().enumerate()) {
            let ty = &self.output_types[position];
            let right_from =
                |reference: &[u8]| Comparison::new(ty.clone()).add(elements(ty, &bytes), elements(ty, reference));
            let Some(report) = evaluation.outputs.get_mut(position) else { continue };
            let found = right_from(&expected[position]);
            // A run with other inputs may need one step of tolerance more.
            let Some(checked) = report.right_from else { continue };
            if found.is_some_and(|found| found <= checked + 1 || found <= -5) {
                continue;
            }
            if own.is_none() {
                own = Some(untimed()?);
            }
            let is_own = own.as_ref().is_some_and(|own| right_from(&own[position]).is_some_and(|found| found <= -5));
            let finding = Finding::TimedRunDiffers { output: position as u32 };
            if is_own {
                report.right_from = found;
            } else if !evaluation.findings.contains(&finding) {
                evaluation.findings.push(finding);
            }
        }
        Ok(())
    }
}

/// Of at least one time.
fn median(times: &[u64]) -> f64 {
    passhost_score::median(&mut times.iter().map(|&time| time as f64).collect::<Vec<_>>())
}

fn input_error(error: ReferenceError) -> RewriteError {
    RewriteError::Op { node: NodeId(0), op: "input".into(), message: error.to_string() }
}

fn elements<'a>(ty: &TensorType, bytes: &'a [u8]) -> Elements<'a> {
    Elements { dtype: ty.dtype, bytes }
}

fn bytes_of(tensors: &[Tensor]) -> Vec<Vec<u8>> {
    tensors.iter().map(Tensor::to_bytes).collect()
}

/// A program with its inputs, restored before each run where the program overwrites them.
struct Timed<'a> {
    program: &'a Program,
    inputs: Vec<Tensor>,
    pristine: Vec<Option<Tensor>>,
}

impl<'a> Timed<'a> {
    fn new(program: &'a Program, inputs: &[Tensor]) -> Timed<'a> {
        let inputs: Vec<Tensor> = inputs.iter().map(Tensor::shallow_clone).collect();
        let pristine = inputs
            .iter()
            .enumerate()
            .map(|(position, tensor)| program.mutated_inputs.contains(&position).then(|| tensor.deep_clone()))
            .collect();
        Timed { program, inputs, pristine }
    }
}

impl measure::Contender for Timed<'_> {
    type Outputs = Vec<Tensor>;
    type Error = NodeError;

    fn prepare(&mut self) {
        for (input, pristine) in self.inputs.iter_mut().zip(&self.pristine) {
            if let Some(pristine) = pristine {
                *input = pristine.deep_clone();
            }
        }
        // Nothing of before runs into the time. If it fails, the run will say so.
        let _ = self.program.finish();
    }

    fn run(&mut self) -> Result<Vec<Tensor>, NodeError> {
        self.program.run_timed(&self.inputs)
    }
}

#[cfg(test)]
mod tests;
