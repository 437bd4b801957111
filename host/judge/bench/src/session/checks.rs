//! The correctness rounds of a rewrite: on its own inputs, in poisoned and guarded memory, against eager and against a run
//! in double precision.

use super::ReferenceSession;
use super::drawn::{DrawnInputs, input_error};
use super::prepared::PreparedRound;
use crate::blame::of_rewrite;
use crate::compare::OutputComparison;
use crate::decided::{Sides, decide};
use crate::element::HostElements;
use crate::held::HeldTensor;
use crate::inputs::{Round, hash_of};
use crate::judge::WRONG_ABOVE;
use crate::moved::moved_by;
use crate::precision::{LessPrecise, can_judge, is_as_precise, judge};
use crate::trivial::trivial_answer;
use passhost_ir::{Conversions, NodeId, TensorType, parameter_name};
use passhost_protocol::device::{EvaluationReport, RewriteError};
use passhost_result::{Finding, NoteKind, OutputReport, Settings, TruthReport, Work};
use passhost_torch::{Program, allocator};
use rayon::prelude::*;
use std::rc::Rc;

/// The tolerance that an output must keep when an input grows, if it kept it before.
pub(super) const SCALED: i8 = 0;

/// The first of the rounds that confirm that an output is less precise.
const CONFIRMING: u32 = 1 << 20;
/// How many of them have to, and how many may do otherwise before.
const CONFIRMED: u32 = 6;
const UNCONFIRMED: u32 = 2;

/// Elements that one task looks at.
const LOOKED_AT: usize = 1 << 15;

/// The correctness rounds of one rewrite.
pub(super) struct Checks<'a> {
    pub(super) reference: &'a ReferenceSession,
    program: &'a Program,
    settings: &'a Settings,
    pub(super) evaluation: &'a mut EvaluationReport,
    /// Ordinary rounds, which the score counts.
    comparisons: Vec<OutputComparison>,
    /// Who is right where outputs are wrong at t = -5.
    sides: Vec<Sides>,
    truths: Vec<Option<TruthReport>>,
    /// By how much wrong outputs must move to be eager's.
    moved: Vec<Option<Vec<i64>>>,
    /// How outputs are less precise than eager's, in every ordinary round so far.
    less_precise: Vec<Option<LessPrecise>>,
}

impl<'a> Checks<'a> {
    pub(super) fn new(
        reference: &'a ReferenceSession,
        program: &'a Program,
        settings: &'a Settings,
        evaluation: &'a mut EvaluationReport,
    ) -> Checks<'a> {
        let comparisons: Vec<OutputComparison> =
            reference.output_types.iter().cloned().map(OutputComparison::new).collect();
        let count = comparisons.len();
        let (sides, truths, less_precise) = (vec![Sides::default(); count], vec![None; count], vec![None; count]);
        let moved = vec![None; count];
        Checks { reference, program, settings, evaluation, comparisons, sides, truths, moved, less_precise }
    }

    pub(super) fn round(&mut self, round: Round, prepared: &PreparedRound) -> Result<(), RewriteError> {
        let reference = self.reference;
        let device = &reference.device;
        let rewritten = self.guarded_run(&prepared.drawn, round, &prepared.eager)?;
        device.charge(Work::RunRewrite);
        self.compare(round, prepared, &rewritten);
        Ok(())
    }

    /// Compares what a rewrite made of the inputs of a round with what eager made of them.
    pub(super) fn compare(&mut self, round: Round, prepared: &PreparedRound, rewritten: &[HeldTensor]) {
        let PreparedRound { drawn, eager, .. } = prepared;
        let reference = self.reference;
        let device = &reference.device;
        let mut suspects = vec![];
        for (position, (out, expected)) in rewritten.iter().zip(eager).enumerate() {
            match round.scaled {
                None => {
                    let found = self.comparisons[position].add(device, out, expected);
                    self.take_sides(position, found, prepared, out);
                    if round.number == 0 && found.is_none_or(|found| found > WRONG_ABOVE) {
                        let ty = &reference.output_types[position];
                        self.moved[position] = moved_by(ty, out, expected);
                    }
                    self.unwritten(position, out, expected);
                }
                Some(_) if self.scaled(position, prepared, out) => {}
                Some(_) => suspects.push(position),
            }
        }
        if let (Some(input), false) = (round.scaled, suspects.is_empty()) {
            self.suspected(&suspects, input, prepared, rewritten);
        }
        match (round.number, round.scaled) {
            (_, Some(_)) => {}
            (0, None) => self.against_truth(prepared, rewritten),
            (_, None) => self.again_against_truth(prepared, rewritten),
        }
        if round.number == 0 && round.scaled.is_none() {
            let inputs: Vec<&HeldTensor> = drawn.inputs.iter().map(Rc::as_ref).collect();
            self.evaluation.trivial = trivial_answer(eager, &inputs);
        }
        device.charge(Work::Compare);
    }

    /// Asks a run in double precision who is right, where an output is wrong beside eager's.
    fn take_sides(&mut self, position: usize, found: Option<i8>, prepared: &PreparedRound, out: &HeldTensor) {
        if found.is_some_and(|found| found <= WRONG_ABOVE) {
            return self.sides[position].agreed(found);
        }
        self.reference.device.charge(Work::Compare);
        let truth = self.reference.truth(prepared, Conversions::Kept);
        self.reference.device.charge(Work::RunTruth);
        let eager = &prepared.eager[position];
        let answer = truth.ok().and_then(|truth| decide([out, eager, &truth[position]]));
        self.sides[position].decided(answer);
    }

    /// The least tolerance at which the ordinary rounds of an output are right.
    pub(super) fn passes_at(&self, position: usize) -> Option<i8> {
        self.comparisons[position].passes_at()
    }

    /// Runs the rewrite on tensors of its own, in poisoned and guarded memory, and checks what it must not touch: that, its
    /// inputs, and what `eager` gave.
    pub(super) fn guarded_run(
        &mut self,
        drawn: &DrawnInputs,
        round: Round,
        eager: &[HeldTensor],
    ) -> Result<Vec<HeldTensor>, RewriteError> {
        let specs = &self.reference.specs;
        let device = &self.reference.device;
        // What is on the device meanwhile and not for the rewrite to touch.
        let out_of_reach: Vec<&HeldTensor> = eager.iter().chain(drawn.inputs.iter().map(Rc::as_ref)).collect();
        let key = hash_of(Round { number: 0, scaled: None, ..round }, "what is out of reach", 0);
        HeldTensor::changed(&out_of_reach, device, key, true);
        let device_error = |message| RewriteError::Op { node: NodeId(0), op: "a node of the rewrite".into(), message };
        let input_bytes: u64 = specs.iter().map(|spec| spec.ty.bytes()).sum();
        let mut guard = device.guard(self.settings.rewrite_bytes.saturating_add(input_bytes));
        let inputs = drawn.tensors(device.target(), specs).map_err(input_error)?;
        let outputs =
            self.program.run_watched(&inputs, &mut guard).and_then(|outputs| self.program.finish().map(|()| outputs));
        let held = outputs.map(|outputs| self.reference.held(&outputs));
        // The device answers no questions after an error of its own: that error comes first.
        let held = held.map_err(of_rewrite)?;
        let overwritten = guard.overwritten().map_err(|error| device_error(error.to_string()))?;
        let peak = guard.peak_bytes().map_err(device_error)?;
        drop(guard);
        let overwritten = overwritten + HeldTensor::changed(&out_of_reach, device, key, false);
        self.evaluation.peak_bytes = self.evaluation.peak_bytes.max(peak.saturating_sub(input_bytes));
        if overwritten > 0 {
            self.evaluation.findings.push(Finding::GuardZone { count: overwritten });
        }
        for (position, (spec, before)) in specs.iter().zip(&drawn.inputs).enumerate() {
            let may_change = self.program.mutated_inputs.contains(&position);
            if !may_change && !before.is_in(&inputs[position]) {
                let round = round.number;
                self.evaluation.findings.push(Finding::InputChanged { input: spec.name.clone(), round });
            }
        }
        Ok(held)
    }

    /// Counts elements that still hold the poison of fresh memory, a NaN. Only where eager has another value: a NaN may be
    /// the right answer.
    fn unwritten(&mut self, position: usize, rewritten: &HeldTensor, eager: &HeldTensor) {
        let dtype = self.reference.output_types[position].dtype;
        let has_none = rewritten.tensor().is_some_and(|tensor| tensor.has_nan() == Ok(false));
        if !dtype.is_float() || has_none {
            return;
        }
        let count = left_as_poison(rewritten.elements(), eager.elements());
        if count > 0 {
            self.evaluation.findings.push(Finding::Unwritten { output: position as u32, count });
        }
    }

    /// A stress round: an output that was right must stay about as right when one input grows. False if it does not.
    fn scaled(&mut self, position: usize, prepared: &PreparedRound, out: &HeldTensor) -> bool {
        let device = &self.reference.device;
        if !keeps(self.comparisons[position].passes_at()) {
            return true;
        }
        let mut with_it = self.comparisons[position].clone();
        let found = with_it.add(device, out, &prepared.eager[position]);
        if !keeps(found) {
            return false;
        }
        self.comparisons[position] = with_it;
        self.take_sides(position, found, prepared, out);
        true
    }

    /// Outputs that were right and are not when `input` grows. Where eager is as far from the truth as the rewrite is, the
    /// sample amplifies roundings, and the round says nothing; else the rewrite does something else than the reference.
    fn suspected(&mut self, outputs: &[usize], input: usize, prepared: &PreparedRound, rewritten: &[HeldTensor]) {
        let eager = &prepared.eager;
        let truth = self.reference.truth(prepared, Conversions::Dropped).ok();
        let input = &self.reference.specs[input].name;
        for &position in outputs {
            let ty = &self.reference.output_types[position];
            let truth = truth.map(|truth| &truth[position]);
            if truth.is_some_and(|truth| is_amplified(ty, [&rewritten[position], &eager[position], truth])) {
                let note = format!(
                    "output {position}: with input `{}` at 8 times its scale eager is as far from a double precision run as the rewrite, so that this round does not count",
                    parameter_name(input)
                );
                self.evaluation.notes.push(NoteKind::AmplifiedRounding.note(note));
            } else if let Some(passes_at) = self.comparisons[position].passes_at() {
                let (output, input) = (position as u32, input.clone());
                self.evaluation.findings.push(Finding::Insensitive { output, input, passes_at });
            }
        }
    }

    /// Compares both programs with a run in double precision.
    fn against_truth(&mut self, prepared: &PreparedRound, rewritten: &[HeldTensor]) {
        let eager = &prepared.eager;
        self.reference.device.charge(Work::Compare);
        let truth = self.reference.truth(prepared, Conversions::Dropped);
        self.reference.device.charge(Work::RunTruth);
        let truth = match truth {
            Ok(truth) => truth,
            Err(error) => {
                let note = format!("{} fails in float64: {}", error.op, error.cause);
                self.evaluation.notes.push(NoteKind::NoDoublePrecisionRun.note(note));
                return;
            }
        };
        for (position, ty) in self.reference.output_types.iter().enumerate() {
            if can_judge(ty, &truth[position]) {
                let (worse, report) = judge(ty, [&rewritten[position], &eager[position], &truth[position]]);
                self.less_precise[position] = worse;
                self.truths[position] = Some(report);
            }
        }
    }

    /// Looks once more at outputs that were less precise in all rounds before.
    fn again_against_truth(&mut self, prepared: &PreparedRound, rewritten: &[HeldTensor]) {
        for position in 0..self.less_precise.len() {
            if self.less_precise[position].is_some() && !self.is_less_precise(position, prepared, rewritten) {
                self.less_precise[position] = None;
            }
        }
    }

    fn is_less_precise(&self, position: usize, prepared: &PreparedRound, rewritten: &[HeldTensor]) -> bool {
        let ty = &self.reference.output_types[position];
        self.reference.device.charge(Work::Compare);
        let truth = self.reference.truth(prepared, Conversions::Dropped);
        self.reference.device.charge(Work::RunTruth);
        truth.is_ok_and(|truth| {
            let three = [&rewritten[position], &prepared.eager[position], &truth[position]];
            can_judge(ty, &truth[position]) && judge(ty, three).0.is_some()
        })
    }

    /// Looks at outputs that were less precise in all ordinary rounds in more rounds. Where few values make up an output, or
    /// its elements share few sums, it is a matter of luck which program is nearer to the truth. What is calculated with
    /// fewer digits is less precise on nearly any inputs.
    pub(super) fn confirm(&mut self, seed: u64) -> Result<(), RewriteError> {
        for position in 0..self.less_precise.len() {
            let (mut confirmed, mut number) = (0, 0);
            while self.less_precise[position].is_some() && confirmed < CONFIRMED {
                let round = Round { seed, number: CONFIRMING + number, scaled: None };
                let prepared = self.reference.round(round)?;
                let rewritten = self.guarded_run(&prepared.drawn, round, &prepared.eager)?;
                self.reference.device.charge(Work::RunRewrite);
                number += 1;
                confirmed += u32::from(self.is_less_precise(position, &prepared, &rewritten));
                if number - confirmed > UNCONFIRMED {
                    self.less_precise[position] = None;
                }
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<OutputReport> {
        for (position, less_precise) in self.less_precise.into_iter().enumerate() {
            if let Some((measure, found, allowed)) = less_precise {
                self.evaluation.findings.push(Finding::Precision {
                    output: position as u32,
                    measure: measure.into(),
                    rewritten: format!("{found:.2}"),
                    eager: format!("{allowed:.2}"),
                });
            }
        }
        let reports = self.comparisons.into_iter().map(OutputComparison::into_report).zip(self.truths);
        let known = reports.zip(self.sides).zip(self.moved);
        let whole = known.map(|(((report, truth), sides), moved_by)| OutputReport {
            truth,
            decided: sides.report(),
            moved_by,
            ..report
        });
        whole.collect()
    }
}

/// Whether a value is right enough for a round in which an input grows, by the tolerance that it needs.
pub(super) fn keeps(passes_at: Option<i8>) -> bool {
    passes_at.is_some_and(|t| t <= SCALED)
}

/// Whether eager is as far from the truth as the rewrite is, so that a round in which an input grows says nothing of a value.
pub(super) fn is_amplified(ty: &TensorType, [rewritten, eager, truth]: [&HeldTensor; 3]) -> bool {
    can_judge(ty, truth) && is_as_precise(ty, SCALED, [rewritten, eager, truth])
}

/// How many elements are the poison of fresh memory where eager has something else.
fn left_as_poison(rewritten: HostElements<'_>, eager: HostElements<'_>) -> u64 {
    let size = rewritten.dtype.size() as usize;
    let is_left =
        |(out, expected): &(&[u8], &[u8])| out != expected && out.iter().all(|&byte| byte == allocator::POISON);
    let chunks = rewritten.bytes.par_chunks(size * LOOKED_AT).zip(eager.bytes.par_chunks(size * LOOKED_AT));
    let different = chunks.filter(|(out, expected)| out != expected);
    let left = different.map(|(out, expected)| out.chunks_exact(size).zip(expected.chunks_exact(size)).filter(is_left));
    left.map(|left| left.count() as u64).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::device::BenchDevice;
    use crate::on_device::LEAST;
    use crate::session::tests::alone;
    use passhost_ir::Dtype;
    use passhost_torch::Tensor;

    #[test]
    fn poison_is_found_wherever_it_was_left() {
        let poison = f32::from_le_bytes([allocator::POISON; 4]);
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let mut values = vec![1.0f32; 3 * LOOKED_AT + 5];
        let eager = bytes(&values);
        for at in [0, LOOKED_AT, values.len() - 1] {
            values[at] = poison;
        }
        let left = bytes(&values);
        let of = |bytes| HostElements { dtype: Dtype::F32, bytes };
        assert_eq!(left_as_poison(of(&left), of(&eager)), 3);
        assert_eq!(left_as_poison(of(&left), of(&left)), 0, "eager has the same");
    }

    #[test]
    fn what_is_written_to_on_the_device_while_a_rewrite_runs_is_found() {
        let _alone = alone();
        let device = BenchDevice::cpu_like_a_gpu();
        let mut memory = Tensor::empty(device.target(), &TensorType::contiguous(Dtype::U8, [LEAST as i64])).unwrap();
        memory.fill(7);
        let held = [HeldTensor::of(&device, &memory)];
        let held: Vec<&HeldTensor> = held.iter().collect();
        assert_eq!(HeldTensor::changed(&held, &device, 3, true), 0);
        assert_eq!(HeldTensor::changed(&held, &device, 3, false), 0);
        memory.reinterpret(5, &TensorType::contiguous(Dtype::U8, [1])).unwrap().fill(8);
        assert_eq!(HeldTensor::changed(&held, &device, 3, true), 0, "what it was is known");
        assert_eq!(HeldTensor::changed(&held, &device, 3, false), 1);
        assert_eq!(HeldTensor::changed(&held, &device, 4, true), 0, "under another key it is another");
    }
}
