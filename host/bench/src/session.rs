//! The device child's state between messages: the loaded reference, and the evaluation of rewrites against it.

use crate::compare::{Comparison, UlpErrors, ulp_errors};
use crate::device::Device;
use crate::element::Elements;
use crate::inputs::{Round, draw};
use crate::integrity;
use crate::measure;
use crate::program::{Mode, Program, StepError, out_of_memory};
use crate::trivial::{Typed, degenerate, trivial_answer};
use passhost_ir::{Graph, InputSpec, NodeId, OpName, TensorType};
use passhost_protocol::device::{
    Evaluation, Finding, Loaded, OutputReport, ReferenceError, RewriteError, Settings, Stage, TimingReport, TruthReport,
};
use passhost_torch::{Tensor, allocator};
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
/// A rewrite may be this much less precise than eager, plus [`ULP_SLACK`].
const ULP_FACTOR: f64 = 4.0;
const ULP_SLACK: f64 = 1.0;
/// Slices of the leading dimension that precision is judged over, at most.
const SLICES: usize = 64;

/// A reference program that has run.
pub struct Reference {
    device: Rc<Device>,
    graph: Graph,
    specs: Vec<InputSpec>,
    program: Program,
    truth: Result<Program, StepError>,
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

    fn tensors(&self, specs: &[InputSpec]) -> Result<Vec<Tensor>, ReferenceError> {
        specs.iter().zip(&self.bytes).map(|(spec, bytes)| input_tensor(spec, bytes)).collect()
    }
}

/// The elements of input `position`.
pub fn draw_input(spec: &InputSpec, position: usize, round: Round) -> Result<Vec<u8>, ReferenceError> {
    draw(spec, position, round)
        .map_err(|error| ReferenceError::Input { input: spec.name.clone(), message: error.to_string() })
}

/// A tensor of these elements on the device.
pub fn input_tensor(spec: &InputSpec, bytes: &[u8]) -> Result<Tensor, ReferenceError> {
    Tensor::from_bytes(&spec.ty, bytes).map_err(|error| match out_of_memory(&error.to_string()) {
        Some(message) => ReferenceError::Memory { message },
        None => ReferenceError::Input { input: spec.name.clone(), message: error.to_string() },
    })
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
        let program = Program::compile(&graph, Mode::Reference, &HashMap::new(), device)?;
        let truth = Program::compile(&graph, Mode::Truth, &HashMap::new(), device);
        let round = Round { seed, number: 0, excited: None };
        let drawn = Drawn::draw(&specs, round)?;
        let inputs = drawn.tensors(&specs)?;

        let mut types: Vec<TensorType> = graph.values.iter().map(|value| value.ty.clone()).collect();
        let peak = allocator::Peak::start();
        let outputs = program.run_observed(&inputs, |slot, tensor| types[slot] = tensor.ty())?;
        program.finish()?;
        let peak_bytes = peak.bytes();
        let output_types: Vec<TensorType> = outputs.iter().map(Tensor::ty).collect();
        let mut reference =
            Reference { device: device.clone(), graph, specs, program, truth, output_types, alone_ns: vec![] };
        reference.refuse_degenerate(&outputs, seed)?;

        stage(Stage::ReferenceTiming);
        let alone_ns = reference.time_alone([&inputs, &drawn.tensors(&reference.specs)?], settings, seed)?;
        reference.alone_ns.clone_from(&alone_ns);
        let slowest_ns = alone_ns.iter().copied().max().unwrap_or(0);
        Ok((reference, Loaded { types, peak_bytes, alone_ns, slowest_ns }))
    }

    /// Times the program on two sets of inputs in turn.
    fn time_alone(&self, inputs: [&[Tensor]; 2], settings: &Settings, seed: u64) -> Result<Vec<u64>, StepError> {
        let [mut one, mut other] = inputs.map(|inputs| Timed::new(&self.program, inputs));
        measure::alone(&mut one, &mut other, settings, seed)
    }

    /// An output that is constant or not finite gets one more chance with other inputs.
    fn refuse_degenerate(&self, outputs: &[Tensor], seed: u64) -> Result<(), ReferenceError> {
        if self.first_degenerate(outputs).is_none() {
            return Ok(());
        }
        let drawn = Drawn::draw(&self.specs, Round { seed, number: REDRAW, excited: None })?;
        let outputs = self.program.run(&drawn.tensors(&self.specs)?)?;
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
        let program = Program::compile(rewrite, Mode::Rewrite, in_place, &self.device)?;
        stage(Stage::Correctness);
        let mut checks = Checks::new(self, &program, settings, evaluation);
        for number in 0..settings.rounds {
            checks.round(Round { seed, number, excited: None })?;
        }
        for input in 0..self.specs.len() {
            if self.specs[input].is_fixed() {
                checks.evaluation.notes.push(format!("input `{}` is the same in every round", self.specs[input].name));
            } else {
                checks.round(Round { seed, number: settings.rounds, excited: Some(input) })?;
            }
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
        let drawn = Drawn::draw(&self.specs, Round { seed, number: TIMED, excited: None }).map_err(input_error)?;
        let inputs = || drawn.tensors(&self.specs).map_err(input_error);
        let expected = bytes_of(&self.program.run(&inputs()?)?);
        let (eager_inputs, rewritten_inputs) = (inputs()?, inputs()?);
        let mut eager = Timed::new(&self.program, &eager_inputs);
        let mut rewritten = Timed::new(program, &rewritten_inputs);
        let mut best: Option<(f64, Vec<u64>, measure::Pairs<Vec<Tensor>>)> = None;
        for attempt in 0..ATTEMPTS {
            // A machine that others use changes its speed from second to second. Two measurements of eager in a row that
            // agree were taken at one speed; the first of all was taken before the rewrite ever ran.
            let alone_ns = match attempt {
                0 => self.alone_ns.clone(),
                _ => self.time_alone([&eager_inputs, &rewritten_inputs], settings, seed)?,
            };
            let mut pairs = measure::pairs(&mut eager, &mut rewritten, settings, CHECKED_RUNS, seed)?;
            let untimed = || Ok(bytes_of(&program.run(&inputs()?)?));
            self.check_timed_runs(&std::mem::take(&mut pairs.kept), &expected, &untimed, evaluation)?;
            let ratio = median(&alone_ns) as f64 / median(&pairs.eager).max(1) as f64;
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
            measure::cold_pairs(&mut eager, &mut rewritten, settings, || self.device.flush_caches())?;
        let floor_ns = self.device.floor_ns(integrity::must_move(&self.graph, &self.output_types));
        let median_ns = median(&pairs.rewritten);
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

fn median(samples: &[u64]) -> u64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
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

/// The correctness rounds of one rewrite.
struct Checks<'a> {
    reference: &'a Reference,
    program: &'a Program,
    settings: &'a Settings,
    evaluation: &'a mut Evaluation,
    /// Ordinary rounds, which the score counts.
    comparisons: Vec<Comparison>,
    truths: Vec<Option<TruthReport>>,
}

impl<'a> Checks<'a> {
    fn new(
        reference: &'a Reference,
        program: &'a Program,
        settings: &'a Settings,
        evaluation: &'a mut Evaluation,
    ) -> Checks<'a> {
        let comparisons: Vec<Comparison> = reference.output_types.iter().cloned().map(Comparison::new).collect();
        let truths = vec![None; comparisons.len()];
        Checks { reference, program, settings, evaluation, comparisons, truths }
    }

    fn round(&mut self, round: Round) -> Result<(), RewriteError> {
        let specs = &self.reference.specs;
        let drawn = Drawn::draw(specs, round).map_err(input_error)?;
        let eager = bytes_of(&self.reference.program.run(&drawn.tensors(specs).map_err(input_error)?)?);
        let rewritten = self.guarded_run(&drawn, round)?;
        let mut suspects = vec![];
        for (position, ty) in self.reference.output_types.iter().enumerate() {
            let (out, expected) = (elements(ty, &rewritten[position]), elements(ty, &eager[position]));
            match round.excited {
                None => {
                    self.comparisons[position].add(out, expected);
                    self.unwritten(position, ty, &rewritten[position], &eager[position]);
                }
                Some(_) if self.excited(position, ty, out, expected) => {}
                Some(_) => suspects.push(position),
            }
        }
        if let (Some(input), false) = (round.excited, suspects.is_empty()) {
            self.suspected(&suspects, input, &drawn, &eager, &rewritten);
        }
        if round.number == 0 && round.excited.is_none() {
            self.against_truth(&drawn, &eager, &rewritten);
            let outputs = self.reference.output_types.iter().zip(&eager);
            let outputs: Vec<Typed<'_>> =
                outputs.map(|(ty, bytes)| Typed { ty, elements: elements(ty, bytes) }).collect();
            let inputs = specs.iter().zip(&drawn.bytes);
            let inputs: Vec<Typed<'_>> =
                inputs.map(|(spec, bytes)| Typed { ty: &spec.ty, elements: elements(&spec.ty, bytes) }).collect();
            self.evaluation.trivial = trivial_answer(&outputs, &inputs);
        }
        Ok(())
    }

    /// Runs the rewrite on tensors of its own, in poisoned and guarded memory, and checks what it must not touch.
    fn guarded_run(&mut self, drawn: &Drawn, round: Round) -> Result<Vec<Vec<u8>>, RewriteError> {
        let specs = &self.reference.specs;
        let device_error = |message| RewriteError::Op { node: NodeId(0), op: "a node of the rewrite".into(), message };
        let input_bytes: u64 = drawn.bytes.iter().map(|bytes| bytes.len() as u64).sum();
        let guard = self.reference.device.guard(self.settings.rewrite_bytes.saturating_add(input_bytes));
        let inputs = drawn.tensors(specs).map_err(input_error)?;
        let outputs = self.program.run(&inputs).and_then(|outputs| self.program.finish().map(|()| outputs));
        let bytes = outputs.map(|outputs| bytes_of(&outputs));
        // The device answers no questions after an error of its own: that error comes first.
        let bytes = bytes?;
        let overwritten = guard.overwritten().map_err(device_error)?;
        let peak = guard.peak_bytes().map_err(device_error)?;
        drop(guard);
        self.evaluation.peak_bytes = self.evaluation.peak_bytes.max(peak.saturating_sub(input_bytes));
        if overwritten > 0 {
            self.evaluation.findings.push(Finding::GuardZone { count: overwritten });
        }
        for (position, (spec, before)) in specs.iter().zip(&drawn.bytes).enumerate() {
            let may_change = self.program.mutated_inputs.contains(&position);
            if !may_change && inputs[position].to_bytes() != *before {
                let round = round.number;
                self.evaluation.findings.push(Finding::InputChanged { input: spec.name.clone(), round });
            }
        }
        Ok(bytes)
    }

    /// Counts elements that still hold the poison of fresh memory. Only where eager has another value: a NaN may be
    /// the right answer.
    fn unwritten(&mut self, position: usize, ty: &TensorType, rewritten: &[u8], eager: &[u8]) {
        if !ty.dtype.is_float() {
            return;
        }
        let size = ty.dtype.size() as usize;
        let count = rewritten
            .chunks_exact(size)
            .zip(eager.chunks_exact(size))
            .filter(|(out, expected)| out != expected && out.iter().all(|&byte| byte == allocator::POISON))
            .count();
        if count > 0 {
            self.evaluation.findings.push(Finding::Unwritten { output: position as u32, count: count as u64 });
        }
    }

    /// An excitation round: an output that was right must stay about as right when one input grows. False if it does not.
    fn excited(&mut self, position: usize, ty: &TensorType, out: Elements<'_>, expected: Elements<'_>) -> bool {
        let was_right = self.comparisons[position].right_from().is_some_and(|t| t <= 0);
        let found = Comparison::new(ty.clone()).add(out, expected);
        if was_right && found.is_none_or(|found| found > 0) {
            return false;
        }
        if was_right {
            self.comparisons[position].add(out, expected);
        }
        true
    }

    /// Outputs that were right and are not when `input` grows. Where eager is as far from the truth as the rewrite is, the
    /// sample amplifies roundings, and the round says nothing; else the rewrite does something else than the reference.
    fn suspected(&mut self, outputs: &[usize], input: usize, drawn: &Drawn, eager: &[Vec<u8>], rewritten: &[Vec<u8>]) {
        let truth = self.truth(drawn).ok();
        let input = &self.reference.specs[input].name;
        for &position in outputs {
            let ty = &self.reference.output_types[position];
            let truth = truth.as_ref().map(|truth| &truth[position][..]).filter(|truth| can_judge(ty, truth));
            let is_as_precise = truth.is_some_and(|truth| {
                let (out, expected) = (elements(ty, &rewritten[position]), elements(ty, &eager[position]));
                let skip = either_overflown(out, expected, truth);
                less_precise_slice(ty, out, expected, truth, &skip).is_none()
            });
            if is_as_precise {
                self.evaluation.notes.push(format!(
                    "output {position}: with input `{input}` at 8 times its scale eager is as far from a double precision run as the rewrite, so that this round does not count"
                ));
            } else if let Some(right_from) = self.comparisons[position].right_from() {
                let (output, input) = (position as u32, input.clone());
                self.evaluation.findings.push(Finding::Insensitive { output, input, right_from });
            }
        }
    }

    /// Compares both programs with a run in double precision.
    fn against_truth(&mut self, drawn: &Drawn, eager: &[Vec<u8>], rewritten: &[Vec<u8>]) {
        let truth = match self.truth(drawn) {
            Ok(truth) => truth,
            Err(error) => {
                let note = format!("no double precision run: {} fails: {}", error.op, error.message);
                self.evaluation.notes.push(note);
                return;
            }
        };
        for (position, ty) in self.reference.output_types.iter().enumerate() {
            if !can_judge(ty, &truth[position]) {
                continue;
            }
            let (out, expected) = (elements(ty, &rewritten[position]), elements(ty, &eager[position]));
            let report = self.judge_precision(position, ty, out, expected, &truth[position]);
            self.truths[position] = Some(report);
        }
    }

    fn truth(&self, drawn: &Drawn) -> Result<Vec<Vec<f64>>, StepError> {
        let program = self.reference.truth.as_ref().map_err(Clone::clone)?;
        let specs = &self.reference.specs;
        let failed = |message: String| StepError { node: NodeId(0), op: "input".into(), message, types: None };
        let inputs = drawn.tensors(specs).map_err(|error| failed(error.to_string()))?;
        let inputs: Vec<Tensor> = inputs.iter().map(Tensor::upcast).collect();
        let outputs = program.run(&inputs)?;
        Ok(outputs
            .iter()
            .map(|tensor| {
                let bytes = tensor.to_bytes();
                elements(&tensor.ty(), &bytes).to_f64()
            })
            .collect())
    }

    fn judge_precision(
        &mut self,
        position: usize,
        ty: &TensorType,
        out: Elements<'_>,
        expected: Elements<'_>,
        truth: &[f64],
    ) -> TruthReport {
        let skip = overflown(expected, truth);
        if let Some((measure, found, allowed)) = less_precise_slice(ty, out, expected, truth, &skip) {
            self.evaluation.findings.push(Finding::Precision {
                output: position as u32,
                measure: measure.into(),
                rewritten: format!("{found:.2}"),
                eager: format!("{allowed:.2}"),
            });
        }
        let (eager, rewritten) = (ulp_errors(expected, truth, &skip), ulp_errors(out, truth, &skip));
        TruthReport {
            eager_rms: eager.rms,
            rewritten_rms: rewritten.rms,
            eager_p999: eager.p999,
            rewritten_p999: rewritten.p999,
            eager_right: right_against_truth(ty, expected, truth, &skip),
            excluded: eager.excluded,
        }
    }

    fn finish(self) -> Vec<OutputReport> {
        let reports = self.comparisons.into_iter().map(Comparison::into_report).zip(self.truths);
        reports.map(|(report, truth)| OutputReport { truth, ..report }).collect()
    }
}

/// Whether the elements of a double precision run say how precise an output is.
fn can_judge(ty: &TensorType, truth: &[f64]) -> bool {
    ty.dtype.is_float() && truth.len() as u64 == ty.numel()
}

/// The elements that overflow in a program and not in truth, or the other way round.
fn overflown(program: Elements<'_>, truth: &[f64]) -> Vec<bool> {
    program.to_f64().iter().zip(truth).map(|(value, exact)| value.is_finite() != exact.is_finite()).collect()
}

/// Those of eager, and those of the rewrite if they are not many times more: where values reach the end of their type's
/// range, which of them go over it depends on roundings.
fn either_overflown(out: Elements<'_>, eager: Elements<'_>, truth: &[f64]) -> Vec<bool> {
    let (own, eagers) = (overflown(out, truth), overflown(eager, truth));
    let count = |overflown: &[bool]| overflown.iter().filter(|&&overflown| overflown).count() as f64;
    if count(&own) > ULP_FACTOR * count(&eagers) {
        return eagers;
    }
    own.into_iter().zip(eagers).map(|(own, eagers)| own || eagers).collect()
}

/// The first slice of the leading dimension in which the rewrite is less precise than eager's own error explains: the
/// measure, the ulps of the rewrite and those of eager.
fn less_precise_slice(
    ty: &TensorType,
    out: Elements<'_>,
    eager: Elements<'_>,
    truth: &[f64],
    skip: &[bool],
) -> Option<(&'static str, f64, f64)> {
    let errors = |elements: Elements<'_>, range: std::ops::Range<usize>| -> UlpErrors {
        ulp_errors(elements.slice(range.clone()), &truth[range.clone()], &skip[range])
    };
    let leading = ty.shape.first().map_or(1, |&extent| extent.max(1).unsigned_abs() as usize);
    let slices = leading.min(SLICES);
    let row = truth.len() / leading;
    (0..slices).find_map(|slice| {
        let range = slice * leading / slices * row..(slice + 1) * leading / slices * row;
        let (eager, rewritten) = (errors(eager, range.clone()), errors(out, range));
        let measures = [("rms", rewritten.rms, eager.rms), ("99.9th percentile", rewritten.p999, eager.p999)];
        measures.into_iter().find(|(_, found, eager)| *found > ULP_FACTOR * eager + ULP_SLACK)
    })
}

/// Whether eager is right at t = -5 when the double precision run is taken as the reference.
fn right_against_truth(ty: &TensorType, eager: Elements<'_>, truth: &[f64], skip: &[bool]) -> bool {
    let Some(kind) = crate::compare::float_kind(ty.dtype) else { return true };
    let tolerance = passhost_score::tolerance(kind, -5.0);
    let values = eager.to_f64();
    values
        .iter()
        .zip(truth)
        .zip(skip)
        .all(|((&value, &exact), &skip)| skip || passhost_score::is_close(value, exact, tolerance))
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

impl measure::Program for Timed<'_> {
    type Outputs = Vec<Tensor>;
    type Error = StepError;

    fn prepare(&mut self) {
        for (input, pristine) in self.inputs.iter_mut().zip(&self.pristine) {
            if let Some(pristine) = pristine {
                *input = pristine.deep_clone();
            }
        }
        // Nothing of before runs into the time. If it fails, the run will say so.
        let _ = self.program.finish();
    }

    fn run(&mut self) -> Result<Vec<Tensor>, StepError> {
        self.program.run_timed(&self.inputs)
    }
}

#[cfg(test)]
mod tests;
