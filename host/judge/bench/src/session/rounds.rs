//! What a round has before a rewrite runs: inputs, and what eager and a program in double precision give on them.

use super::ReferenceSession;
use super::drawn::{DrawnInputs, input_error, no_input, not_drawn};
use super::edge_case::EdgeCase;
use super::prepared::PreparedRound;
use crate::blame::of_eager;
use crate::bounded::{indexed_rows, literals};
use crate::edge_cases::{EdgeCaseDraw, UnusualInput, draw_edge_case_held};
use crate::held::HeldTensor;
use crate::inputs::{Round, hash_of};
use passhost_ir::{Conversions, converts, in_double};
use passhost_protocol::device::RewriteError;
use passhost_result::Work;
use passhost_runtime::{Hints, Mode, NodeError};
use passhost_torch::{Program, Tensor};
use std::rc::Rc;

impl ReferenceSession {
    /// What a run in double precision gives for a round.
    pub(super) fn truth<'p>(
        &self,
        prepared: &'p PreparedRound,
        conversions: Conversions,
    ) -> Result<&'p [HeldTensor], &'p NodeError> {
        let run = || self.run_in_double(self.in_double(conversions)?, &prepared.drawn);
        prepared.truths[self.double(conversions)].get_or_init(run).as_deref()
    }

    /// The same for inputs that are a few roundings away.
    pub(super) fn shaken_truth(&self, prepared: &PreparedRound, conversions: Conversions) -> Option<Vec<HeldTensor>> {
        self.run_in_double(self.in_double(conversions).ok()?, &prepared.drawn.shaken()).ok()
    }

    /// An ordinary round, or one in which an input has another scale.
    pub(super) fn round(&self, round: Round) -> Result<Rc<PreparedRound>, RewriteError> {
        self.kept_rounds.get_or((round, None), || self.prepare(self.drawn(round)?, false))?.map_err(of_eager)
    }

    /// A round in which inputs are unusual; `usual` is the same round without. `None` where eager refuses it, which says
    /// nothing of a rewrite.
    pub(super) fn edge_case_round(
        &self,
        (round, usual): (Round, &mut Option<DrawnInputs>),
        case: &EdgeCase,
    ) -> Result<Option<Rc<PreparedRound>>, RewriteError> {
        let prepare = || self.prepare_edge_case((round, usual), case);
        Ok(self.kept_rounds.get_or((round, Some(case.clone())), prepare)?.ok())
    }

    fn prepare_edge_case(
        &self,
        (round, usual): (Round, &mut Option<DrawnInputs>),
        case: &EdgeCase,
    ) -> Result<Result<PreparedRound, NodeError>, RewriteError> {
        let usual = match usual {
            Some(usual) => usual,
            none => none.insert(self.drawn(round)?),
        };
        let literals = literals(&self.graph);
        let rows = if case.draw == EdgeCaseDraw::Rows { indexed_rows(&self.graph) } else { vec![] };
        let key = hash_of(round, &case.name(&self.specs), case.draw as u64);
        let mut drawn = usual.clone();
        for &(at, bounded) in &case.inputs {
            if case.draw == EdgeCaseDraw::EqualInputs {
                drawn.inputs[at] = Rc::clone(&usual.inputs[case.inputs[0].0]);
                continue;
            }
            let spec = &self.specs[at];
            let rows = rows.get(at).copied().flatten();
            let input = UnusualInput { spec, bounded, rows, literals: &literals, key };
            let edge_case = draw_edge_case_held(&self.device, input, at, round, case.draw, &usual.inputs[at]);
            let edge_case = edge_case.map_err(|error| not_drawn(spec, &error)).map_err(input_error)?;
            drawn.inputs[at] = Rc::new(edge_case);
        }
        self.prepare(drawn, true)
    }

    /// Runs eager. The inner error is eager's.
    fn prepare(
        &self,
        drawn: DrawnInputs,
        is_edge_case: bool,
    ) -> Result<Result<PreparedRound, NodeError>, RewriteError> {
        let inputs = drawn.tensors(self.device.target(), &self.specs).map_err(input_error)?;
        self.device.charge(if is_edge_case { Work::EdgeCaseRounds } else { Work::Draw });
        let ran = self.program.run(&inputs).and_then(|outputs| self.program.finish().map(|()| outputs));
        let eager = match ran {
            Ok(outputs) => self.held(&outputs),
            Err(error) => return Ok(Err(error)),
        };
        drop(inputs);
        self.device.charge(if is_edge_case { Work::EdgeCaseRounds } else { Work::RunEager });
        Ok(Ok(PreparedRound { drawn, eager, truths: Default::default() }))
    }

    /// Which of the programs in double precision: one that converts nothing is the same either way.
    fn double(&self, conversions: Conversions) -> usize {
        usize::from(conversions == Conversions::Kept && converts(&self.graph))
    }

    pub(super) fn in_double(&self, conversions: Conversions) -> Result<&Program, NodeError> {
        let compile = || {
            let graph = in_double(&self.graph, conversions);
            Program::compile(&graph, Mode::Found, &Hints::default(), self.device.context())
        };
        self.doubles[self.double(conversions)].get_or_init(compile).as_ref().map_err(Clone::clone)
    }

    /// Runs a program that is in double precision.
    pub(super) fn run_in_double(&self, program: &Program, drawn: &DrawnInputs) -> Result<Vec<HeldTensor>, NodeError> {
        let inputs = drawn.tensors(self.device.target(), &self.specs).map_err(no_input)?;
        let inputs: Vec<Tensor> = inputs.iter().map(Tensor::upcast).collect();
        let outputs = program.run(&inputs)?;
        program.finish()?;
        Ok(self.held(&outputs))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::device::BenchDevice;
    use crate::session::tests::{alone, job};
    use passhost_ir::{Draw, Graph, InputSpec};
    use passhost_protocol::device::{Draws, ReferenceError};
    use passhost_result::Settings;

    #[test]
    fn inputs_that_eager_itself_fails_on_are_no_doing_of_a_rewrite() {
        let _alone = alone();
        let text = "graph(%i: i64[4], %t: f32[16,8]) {
      %y: f32[4,8] = aten::index_select(%t, 0, %i)
      %z: f32[4,8] = aten::relu(%y)
      return (%z)
    }
    ";
        let graph = Graph::parse(text).unwrap();
        // Two of eighteen numbers are no rows of the table.
        let draws = [Draw::Uniform { low: 0, high: 17 }, Draw::Normal { mean: 0.0, std: 1.0 }];
        let spec = |(&id, draw): (&_, _)| {
            let (name, ty) = (graph.value(id).name.clone(), graph.ty(id).clone());
            InputSpec { name, ty, draw, min: None, max: None }
        };
        let specs: Vec<InputSpec> = graph.inputs.iter().zip(draws).map(spec).collect();
        let device = Rc::new(BenchDevice::cpu());
        let load = |seed| ReferenceSession::load(&device, graph.clone(), specs.clone(), seed, |_| {}).ok();
        let (reference, _) = (0..100).find_map(load).unwrap();
        let of_seed = |seed| {
            let draws = Draws::of(seed);
            reference.evaluate(&job(&graph.to_string(), draws, Settings::default()), |_| {}).error
        };
        let errors: Vec<RewriteError> = (0..10).filter_map(of_seed).collect();
        assert!(!errors.is_empty());
        for error in errors {
            assert!(matches!(&error, RewriteError::Reference(ReferenceError::Op { .. })), "{error}");
        }
    }
}
