//! What a round has before a rewrite runs: inputs, and what eager and a run in double precision give on them. It is the same
//! for every rewrite that is checked on the same draws, and kept for the next one where it is small.

use super::{Drawn, Reference, input_error};
use crate::blame::of_eager;
use crate::domain::{Domain, draw_unusual_held};
use crate::held::Held;
use crate::inputs::Round;
use passhost_ir::{Conversions, NodeId, TensorType, converts, in_double};
use passhost_protocol::device::{ReferenceError, RewriteError};
use passhost_result::Work;
use passhost_runtime::{Cause, Hints, Mode, NodeError, Program, Tensor};
use std::cell::OnceCell;
use std::rc::Rc;

/// Bytes of all rounds that are kept.
const KEPT: u64 = 256 << 20;

/// Which round, and in an unusual one which input is unusual.
type Key = (Round, Option<(usize, Domain)>);

/// A round before a rewrite runs.
pub(super) struct Prepared {
    pub drawn: Drawn,
    pub eager: Vec<Held>,
    truths: [OnceCell<Result<Vec<Held>, NodeError>>; 2],
}

/// Rounds of one seed, for other rewrites of the same program.
#[derive(Default)]
pub(super) struct Kept {
    rounds: Vec<(Key, Rc<Prepared>)>,
    bytes: u64,
}

impl Kept {
    fn find(&self, key: Key) -> Option<Rc<Prepared>> {
        self.rounds.iter().find(|(known, _)| *known == key).map(|(_, prepared)| prepared.clone())
    }

    /// Drops what is of another seed: it does not come back.
    pub fn begin(&mut self, seed: u64) {
        if self.rounds.first().is_some_and(|((round, _), _)| round.seed != seed) {
            *self = Kept::default();
        }
    }

    /// How many rounds there are.
    #[cfg(test)]
    pub fn count(&self) -> u32 {
        self.rounds.len() as u32
    }

    /// Keeps a round that lies on the host, where no kernel can write to it, if there is room.
    fn keep(&mut self, key: Key, prepared: &Rc<Prepared>, bytes: u64) {
        if prepared.is_on_host() && self.bytes.saturating_add(bytes) <= KEPT {
            self.bytes += bytes;
            self.rounds.push((key, prepared.clone()));
        }
    }
}

impl Prepared {
    fn is_on_host(&self) -> bool {
        self.drawn.inputs.iter().map(Rc::as_ref).chain(&self.eager).all(|held| held.tensor().is_none())
    }

    /// What a run in double precision gives.
    pub fn truth(&self, reference: &Reference, conversions: Conversions) -> Result<&[Held], &NodeError> {
        let run = || reference.run_in_double(reference.in_double(conversions)?, &self.drawn);
        self.truths[reference.double(conversions)].get_or_init(run).as_deref()
    }
}

impl Reference {
    /// An ordinary round, or one in which an input has another scale.
    pub(super) fn round(&self, round: Round, is_shared: bool) -> Result<Rc<Prepared>, RewriteError> {
        if let Some(kept) = self.kept.borrow().find((round, None)) {
            return Ok(kept);
        }
        let drawn = self.drawn(round)?;
        self.prepare((round, None), drawn, is_shared)?.map_err(of_eager)
    }

    /// A round in which an input is unusual; `usual` is the same round without. `None` where eager refuses it, which says
    /// nothing of a rewrite.
    pub(super) fn unusual_round(
        &self,
        (round, usual): (Round, &mut Option<Drawn>),
        (input, bounded): (usize, bool),
        domain: Domain,
        is_shared: bool,
    ) -> Result<Option<Rc<Prepared>>, RewriteError> {
        let key = (round, Some((input, domain)));
        if let Some(kept) = self.kept.borrow().find(key) {
            return Ok(Some(kept));
        }
        let usual = match usual {
            Some(usual) => usual,
            none => none.insert(self.drawn(round)?),
        };
        let spec = &self.specs[input];
        let unusual = draw_unusual_held(&self.device, (spec, bounded), input, round, domain, &usual.inputs[input]);
        let unusual = unusual.map_err(|error| super::not_drawn(spec, &error)).map_err(input_error)?;
        let mut drawn = usual.clone();
        drawn.inputs[input] = Rc::new(unusual);
        Ok(self.prepare(key, drawn, is_shared)?.ok())
    }

    /// Runs eager. The inner error is eager's.
    fn prepare(
        &self,
        key: Key,
        drawn: Drawn,
        is_shared: bool,
    ) -> Result<Result<Rc<Prepared>, NodeError>, RewriteError> {
        let inputs = drawn.tensors(self.device.target(), &self.specs).map_err(input_error)?;
        let is_unusual = key.1.is_some();
        self.device.charge(if is_unusual { Work::UnusualRounds } else { Work::Draw });
        let ran = self.program.run(&inputs).and_then(|outputs| self.program.finish().map(|()| outputs));
        let eager = match ran {
            Ok(outputs) => self.held(&outputs),
            Err(error) => return Ok(Err(error)),
        };
        drop(inputs);
        self.device.charge(if is_unusual { Work::UnusualRounds } else { Work::RunEager });
        let prepared = Rc::new(Prepared { drawn, eager, truths: Default::default() });
        if is_shared {
            self.kept.borrow_mut().keep(key, &prepared, self.round_bytes());
        }
        Ok(Ok(prepared))
    }

    /// Bytes of a round, its run in double precision included.
    fn round_bytes(&self) -> u64 {
        let inputs: u64 = self.specs.iter().map(|spec| spec.ty.bytes()).sum();
        let outputs = |bytes: fn(&TensorType) -> u64| self.output_types.iter().map(bytes).sum::<u64>();
        inputs.saturating_add(outputs(TensorType::bytes)).saturating_add(outputs(|ty| 8 * ty.numel()))
    }

    /// Which of the programs in double precision: one that converts nothing is the same either way.
    fn double(&self, conversions: Conversions) -> usize {
        usize::from(conversions == Conversions::Kept && converts(&self.graph))
    }

    fn in_double(&self, conversions: Conversions) -> Result<&Program, NodeError> {
        let compile = || {
            let graph = in_double(&self.graph, conversions);
            Program::compile(&graph, Mode::Found, &Hints::default(), self.device.context())
        };
        self.doubles[self.double(conversions)].get_or_init(compile).as_ref().map_err(Clone::clone)
    }

    /// Runs a program that is in double precision.
    pub(super) fn run_in_double(&self, program: &Program, drawn: &Drawn) -> Result<Vec<Held>, NodeError> {
        let inputs = drawn.tensors(self.device.target(), &self.specs).map_err(no_input)?;
        let inputs: Vec<Tensor> = inputs.iter().map(Tensor::upcast).collect();
        let outputs = program.run(&inputs)?;
        program.finish()?;
        Ok(self.held(&outputs))
    }
}

/// An input that could not be made, where programs fail by their nodes.
pub(super) fn no_input(error: ReferenceError) -> NodeError {
    NodeError { node: NodeId(0), op: "input".into(), cause: Cause::Failed(error.to_string()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::session::tests::alone;
    use passhost_ir::{Draw, Graph, InputSpec};
    use passhost_protocol::device::Draws;
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
        let device = Rc::new(Device::cpu());
        let load = |seed| Reference::load(&device, graph.clone(), specs.clone(), seed, |_| {}).ok();
        let (reference, _) = (0..100).find_map(load).unwrap();
        let of_seed = |seed| {
            let draws = Draws { seed, are_shared: false, others: None };
            reference.evaluate(&graph, &Hints::default(), &draws, &Settings::default(), |_| {}).error
        };
        let errors: Vec<RewriteError> = (0..10).filter_map(of_seed).collect();
        assert!(!errors.is_empty());
        for error in errors {
            assert!(matches!(&error, RewriteError::Reference(ReferenceError::Op { .. })), "{error}");
        }
    }
}
