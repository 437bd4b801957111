//! The correctness rounds of a rewrite: on its own inputs, in poisoned and guarded memory, against eager and against a run
//! in double precision.

use super::{Drawn, Reference, bytes_of, elements, input_error};
use crate::blame::of_rewrite;
use crate::compare::{Comparison, UlpErrors, ulp_errors};
use crate::element::Elements;
use crate::inputs::Round;
use crate::trivial::{Typed, trivial_answer};
use passhost_ir::{NodeId, TensorType};
use passhost_protocol::Work;
use passhost_protocol::device::{Evaluation, Finding, OutputReport, RewriteError, Settings, TruthReport};
use passhost_runtime::{Cause, NodeError, Program, Tensor};
use passhost_torch::allocator;

/// A rewrite may be this much less precise than eager, plus [`ULP_SLACK`].
const ULP_FACTOR: f64 = 4.0;
const ULP_SLACK: f64 = 1.0;
/// Slices of the leading dimension that precision is judged over, at most.
const SLICES: usize = 64;
/// Elements of a slice, at least: what one or two are off by is a matter of luck.
const SLICE: usize = 512;

/// The correctness rounds of one rewrite.
pub(super) struct Checks<'a> {
    pub(super) reference: &'a Reference,
    program: &'a Program,
    settings: &'a Settings,
    pub(super) evaluation: &'a mut Evaluation,
    /// Ordinary rounds, which the score counts.
    comparisons: Vec<Comparison>,
    truths: Vec<Option<TruthReport>>,
}

impl<'a> Checks<'a> {
    pub(super) fn new(
        reference: &'a Reference,
        program: &'a Program,
        settings: &'a Settings,
        evaluation: &'a mut Evaluation,
    ) -> Checks<'a> {
        let comparisons: Vec<Comparison> = reference.output_types.iter().cloned().map(Comparison::new).collect();
        let truths = vec![None; comparisons.len()];
        Checks { reference, program, settings, evaluation, comparisons, truths }
    }

    pub(super) fn round(&mut self, round: Round) -> Result<(), RewriteError> {
        let specs = &self.reference.specs;
        let drawn = Drawn::draw(specs, round).map_err(input_error)?;
        let device = self.reference.device.clone();
        let inputs = drawn.tensors(device.target(), specs).map_err(input_error)?;
        device.charge(Work::Draw);
        let eager = bytes_of(&self.reference.program.run(&inputs).map_err(of_rewrite)?);
        device.charge(Work::RunEager);
        let rewritten = self.guarded_run(&drawn, round)?;
        device.charge(Work::RunRewrite);
        let mut suspects = vec![];
        for (position, ty) in self.reference.output_types.iter().enumerate() {
            let (out, expected) = (elements(ty, &rewritten[position]), elements(ty, &eager[position]));
            match round.stressed {
                None => {
                    self.comparisons[position].add(out, expected);
                    self.unwritten(position, ty, &rewritten[position], &eager[position]);
                }
                Some(_) if self.stressed(position, ty, out, expected) => {}
                Some(_) => suspects.push(position),
            }
        }
        if let (Some(input), false) = (round.stressed, suspects.is_empty()) {
            self.suspected(&suspects, input, &drawn, &eager, &rewritten);
        }
        if round.number == 0 && round.stressed.is_none() {
            self.against_truth(&drawn, &eager, &rewritten);
            let outputs = self.reference.output_types.iter().zip(&eager);
            let outputs: Vec<Typed<'_>> =
                outputs.map(|(ty, bytes)| Typed { ty, elements: elements(ty, bytes) }).collect();
            let inputs = specs.iter().zip(&drawn.bytes);
            let inputs: Vec<Typed<'_>> =
                inputs.map(|(spec, bytes)| Typed { ty: &spec.ty, elements: elements(&spec.ty, bytes) }).collect();
            self.evaluation.trivial = trivial_answer(&outputs, &inputs);
        }
        device.charge(Work::Compare);
        Ok(())
    }

    /// The least tolerance at which the ordinary rounds of an output are right.
    pub(super) fn right_from(&self, position: usize) -> Option<i8> {
        self.comparisons[position].right_from()
    }

    /// Runs the rewrite on tensors of its own, in poisoned and guarded memory, and checks what it must not touch.
    pub(super) fn guarded_run(&mut self, drawn: &Drawn, round: Round) -> Result<Vec<Vec<u8>>, RewriteError> {
        let specs = &self.reference.specs;
        let device = &self.reference.device;
        let device_error = |message| RewriteError::Op { node: NodeId(0), op: "a node of the rewrite".into(), message };
        let input_bytes: u64 = drawn.bytes.iter().map(|bytes| bytes.len() as u64).sum();
        let mut guard = device.guard(self.settings.rewrite_bytes.saturating_add(input_bytes));
        let inputs = drawn.tensors(device.target(), specs).map_err(input_error)?;
        let outputs =
            self.program.run_watched(&inputs, &mut guard).and_then(|outputs| self.program.finish().map(|()| outputs));
        let bytes = outputs.map(|outputs| bytes_of(&outputs));
        // The device answers no questions after an error of its own: that error comes first.
        let bytes = bytes.map_err(of_rewrite)?;
        let overwritten = guard.overwritten().map_err(|error| device_error(error.to_string()))?;
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

    /// A stress round: an output that was right must stay about as right when one input grows. False if it does not.
    fn stressed(&mut self, position: usize, ty: &TensorType, out: Elements<'_>, expected: Elements<'_>) -> bool {
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
        self.reference.device.charge(Work::Compare);
        let truth = self.truth(drawn);
        self.reference.device.charge(Work::RunTruth);
        let truth = match truth {
            Ok(truth) => truth,
            Err(error) => {
                let note = format!("no double precision run: {} fails: {}", error.op, error.cause);
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

    /// A run in double precision.
    pub(super) fn truth(&self, drawn: &Drawn) -> Result<Vec<Vec<f64>>, NodeError> {
        let program = self.reference.truth.as_ref().map_err(Clone::clone)?;
        let specs = &self.reference.specs;
        let target = self.reference.device.target();
        let inputs = drawn.tensors(target, specs).map_err(|error| {
            let cause = Cause::Failed(error.to_string());
            NodeError { node: NodeId(0), op: "input".into(), cause }
        })?;
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

    pub(super) fn finish(self) -> Vec<OutputReport> {
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
pub(super) fn either_overflown(out: Elements<'_>, eager: Elements<'_>, truth: &[f64]) -> Vec<bool> {
    let (own, eagers) = (overflown(out, truth), overflown(eager, truth));
    let count = |overflown: &[bool]| overflown.iter().filter(|&&overflown| overflown).count() as f64;
    if count(&own) > ULP_FACTOR * count(&eagers) {
        return eagers;
    }
    own.into_iter().zip(eagers).map(|(own, eagers)| own || eagers).collect()
}

/// The first slice of the leading dimension in which the rewrite is less precise than eager's own error explains: the
/// measure, the ulps of the rewrite and those of eager.
pub(super) fn less_precise_slice(
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
    let slices = leading.min(SLICES).min(truth.len() / SLICE).max(1);
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
