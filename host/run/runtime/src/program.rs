//! A graph made ready to run many times: ops looked up, kernels prepared, memory planned.

use crate::alias::mutated_inputs;
use crate::arena::{Arena, ArenaPlan};
use crate::context::{Active, Context};
use crate::engine::Engine;
use crate::error::{Cause, ContextError, NodeError};
use crate::instruction::{Instruction, InstructionKind, RunFrame};
use crate::kernel::{KernelTimes, TuningRun};
use crate::watch::Watch;
use passhost_ir::{Graph, NodeId, ValueId};
use passhost_kernels::cuda::Candidates;
use std::cell::RefCell;
use std::sync::Arc;

/// A runnable graph. It can go to another thread, but serves one at a time: its runs share one arena.
pub struct Program<E: Engine> {
    context: Arc<Context<E>>,
    machine: RefCell<Machine<E>>,
    /// The last node, which an error is called by that showed too late to say whose it is.
    pub(crate) last: NodeId,
    /// Inputs that a run overwrites, by position: whoever runs this restores them.
    pub mutated_inputs: Vec<usize>,
}

/// What a run changes.
struct Machine<E: Engine> {
    instructions: Vec<Instruction<E::Call>>,
    plan: ArenaPlan,
    /// Made by the first run.
    arena: Option<Arena<E::Tensor>>,
    /// The tensors that exist, by value. Those of temporaries and of constants stay between runs.
    slots: Vec<Option<E::Tensor>>,
    /// Whether the constants are there.
    has_constants: bool,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// For each output, whether its value is returned once more after it.
    again: Vec<bool>,
}

impl<E: Engine> Program<E> {
    pub(crate) fn new(
        context: &Arc<Context<E>>,
        graph: &Graph,
        instructions: Vec<Instruction<E::Call>>,
        plan: ArenaPlan,
    ) -> Program<E> {
        let last = instructions.last().map_or(NodeId(0), |instruction| instruction.node);
        let slots = graph.values.iter().map(|_| None).collect();
        let slots_of = |values: &[ValueId]| values.iter().map(|value| value.index()).collect::<Vec<usize>>();
        let (inputs, outputs) = (slots_of(&graph.inputs), slots_of(&graph.outputs));
        let again = outputs.iter().enumerate().map(|(at, slot)| outputs[at + 1..].contains(slot)).collect();
        let machine = Machine { instructions, plan, arena: None, slots, has_constants: false, inputs, outputs, again };
        let mutated_inputs = mutated_inputs(graph);
        Program { context: context.clone(), machine: RefCell::new(machine), last, mutated_inputs }
    }

    /// Where it runs.
    pub fn context(&self) -> &Arc<Context<E>> {
        &self.context
    }

    /// Bytes of the arena that holds its temporaries.
    pub fn arena_bytes(&self) -> u64 {
        self.machine.try_borrow().map_or(0, |machine| machine.plan.bytes)
    }

    /// Runs once. One tensor per input; returns one per output. On a GPU they are written when the stream gets there.
    pub fn run(&self, inputs: &[E::Tensor]) -> Result<Vec<E::Tensor>, NodeError> {
        self.run_watched(inputs, &mut ())
    }

    /// As [`Program::run`], while someone looks on.
    pub fn run_watched<W: Watch<E>>(&self, inputs: &[E::Tensor], watch: &mut W) -> Result<Vec<E::Tensor>, NodeError> {
        self.go(inputs, true, watch, None)
    }

    /// As [`Program::run`] for timed runs: takes for granted the types that a run before found right, and waits for the
    /// device.
    pub fn run_timed(&self, inputs: &[E::Tensor]) -> Result<Vec<E::Tensor>, NodeError> {
        let outputs = self.go(inputs, false, &mut (), None)?;
        self.finish()?;
        Ok(outputs)
    }

    /// Waits for the device. An error that shows here is that of a node before.
    pub fn finish(&self) -> Result<(), NodeError> {
        self.context.synchronize().map_err(|error| self.faulted(&error))
    }

    /// An error of the device that showed after all nodes were launched.
    pub(crate) fn faulted(&self, error: &ContextError) -> NodeError {
        NodeError { node: self.last, op: "or a node before".into(), cause: Cause::Fault(error.to_string()) }
    }

    fn go<W: Watch<E>>(
        &self,
        inputs: &[E::Tensor],
        check: bool,
        watch: &mut W,
        tuning: Option<&mut TuningRun<'_>>,
    ) -> Result<Vec<E::Tensor>, NodeError> {
        let Ok(mut machine) = self.machine.try_borrow_mut() else {
            return Err(of_the_program("it is running already, and calls itself".into()));
        };
        let ran = self.context.within(|active| machine.run(active, inputs, check, watch, tuning));
        let outputs = ran.unwrap_or_else(|error| Err(of_the_program(error.to_string())));
        machine.forget(outputs.is_err());
        outputs
    }

    /// How many nodes it has.
    pub fn node_count(&self) -> usize {
        self.machine.try_borrow().map_or(0, |machine| machine.instructions.iter().map(|step| step.nodes).sum())
    }

    /// How many launches its kernels are.
    pub fn launch_count(&self) -> usize {
        let is_launch = |step: &&Instruction<E::Call>| matches!(step.operation, InstructionKind::Kernel { .. });
        self.machine.try_borrow().map_or(0, |machine| machine.instructions.iter().filter(is_launch).count())
    }

    /// The tensors that stay between runs: temporaries and constants.
    pub(crate) fn lasting_tensors(&self) -> Vec<E::Tensor> {
        self.machine.try_borrow().map_or_else(|_| vec![], |machine| machine.slots.iter().flatten().cloned().collect())
    }

    /// Runs once, and measures each kernel in the schedules that it may have, where there are several and `wanted` says so.
    /// What the run gives is dropped. Kernels that are one launch with others, or calculated by the first run alone, have
    /// one schedule; so have all on the CPU.
    pub fn tune(
        &self,
        inputs: &[E::Tensor],
        wanted: &mut dyn FnMut(NodeId, &Candidates) -> bool,
    ) -> Result<Vec<KernelTimes>, NodeError> {
        let mut tuning = TuningRun { wanted, measured: vec![] };
        self.go(inputs, true, &mut (), Some(&mut tuning))?;
        self.finish()?;
        Ok(tuning.measured)
    }
}

/// An error that is no node's.
fn of_the_program(message: String) -> NodeError {
    NodeError { node: NodeId(0), op: "the program".into(), cause: Cause::Failed(message) }
}

impl<E: Engine> Machine<E> {
    fn run<W: Watch<E>>(
        &mut self,
        active: &Active<'_, E>,
        inputs: &[E::Tensor],
        check: bool,
        watch: &mut W,
        tuning: Option<&mut TuningRun<'_>>,
    ) -> Result<Vec<E::Tensor>, NodeError> {
        self.place_temporaries(active).map_err(|error| of_the_program(error.to_string()))?;
        if inputs.len() != self.inputs.len() {
            return Err(of_the_program(format!("{} inputs, expected {}", inputs.len(), self.inputs.len())));
        }
        for (&slot, tensor) in self.inputs.iter().zip(inputs) {
            if !active.launching.holds(tensor) {
                return Err(of_the_program("an input lies in the memory of another device".into()));
            }
            watch.value(slot, tensor);
            self.slots[slot] = Some(tensor.clone());
        }
        let (ranges, arena) = (&self.plan.ranges[..], self.arena.as_ref());
        let mut frame = RunFrame { active, tuning: None, watch, ranges, arena, slots: &mut self.slots };
        if !self.has_constants {
            frame.run_all(self.instructions.iter_mut().filter(|instruction| instruction.is_constant), true)?;
            self.has_constants = true;
        }
        frame.tuning = tuning;
        frame.run_all(self.instructions.iter_mut().filter(|instruction| !instruction.is_constant), check)?;
        let missing = || of_the_program("an output was never computed; this is a bug of passhost".into());
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for (&slot, &again) in self.outputs.iter().zip(&self.again) {
            // A value that is not returned again is given away.
            let tensor = if again { self.slots[slot].clone() } else { self.slots[slot].take() };
            outputs.push(tensor.ok_or_else(missing)?);
        }
        Ok(outputs)
    }

    /// Allocates the arena, the first time, and puts a tensor for each temporary into its slot.
    fn place_temporaries(&mut self, active: &Active<'_, E>) -> Result<(), Cause> {
        let Some(first) = self.plan.ranges.first() else { return Ok(()) };
        if self.slots[first.value.index()].is_some() {
            return Ok(());
        }
        let arena = match self.arena.take() {
            Some(arena) => arena,
            None => Arena::new(active, &self.plan)?,
        };
        // The first comes last: where it is, all are.
        for range in self.plan.ranges.iter().rev() {
            self.slots[range.value.index()] = Some(arena.tensor(range)?);
        }
        self.arena = Some(arena);
        Ok(())
    }

    /// Frees what a run left behind.
    fn forget(&mut self, everything: bool) {
        if everything {
            self.slots.fill_with(|| None);
            self.has_constants = false;
        }
        for &slot in self.inputs.iter().chain(&self.outputs) {
            self.slots[slot] = None;
        }
    }
}
