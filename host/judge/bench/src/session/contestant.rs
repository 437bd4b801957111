//! A program with its inputs, ready to be timed: launched op by op, or captured.

use super::ReferenceSession;
use crate::blame::{not_recorded, of_rewrite, while_captured};
use crate::compare::OutputComparison;
use crate::device::QueuedProgram;
use crate::held::HeldTensor;
use crate::measure::Timeable;
use passhost_protocol::device::{NotCaptured, RewriteError, TimedProgram, TimingError};
use passhost_result::Launch;
use passhost_runtime::{NodeError, Recorded};
use passhost_torch::{Program, Target, Tensor};
use std::rc::Rc;

/// Captured outputs that are right from here on are what the program gives.
const SAME: i8 = -5;

/// A program with its inputs, restored before each run where the program overwrites them.
pub(super) struct Contestant<'a> {
    program: &'a Program,
    inputs: Vec<Tensor>,
    pristine: Vec<Option<Tensor>>,
    captured: Option<CapturedProgram<'a>>,
}

/// A program that is launched as one graph, and its outputs, which lie where they are.
struct CapturedProgram<'a> {
    recorded: Recorded<'a, Target>,
    outputs: Rc<[Tensor]>,
}

/// What a run returned.
pub(super) enum RunOutputs {
    /// Tensors of its own.
    Own(Vec<Tensor>),
    /// Tensors that the next run overwrites.
    Passing(Rc<[Tensor]>),
}

impl RunOutputs {
    /// The outputs in memory that stays as it is.
    pub(super) fn kept(self) -> Vec<Tensor> {
        match self {
            RunOutputs::Own(tensors) => tensors,
            RunOutputs::Passing(tensors) => tensors.iter().map(Tensor::deep_clone).collect(),
        }
    }
}

impl<'a> Contestant<'a> {
    /// One that is launched op by op.
    fn new(program: &'a Program, inputs: &[Tensor]) -> Contestant<'a> {
        let inputs = inputs.to_vec();
        let pristine = inputs
            .iter()
            .enumerate()
            .map(|(position, tensor)| program.mutated_inputs.contains(&position).then(|| tensor.deep_clone()))
            .collect();
        Contestant { program, inputs, pristine, captured: None }
    }

    /// One that is launched as is asked for. A captured one runs here, and gives what it gives op by op.
    pub(super) fn launched(
        reference: &ReferenceSession,
        (which, program): (TimedProgram, &'a Program),
        inputs: &[Tensor],
        launch: Launch,
    ) -> Result<Contestant<'a>, TimingError> {
        let mut contestant = Contestant::new(program, inputs);
        if launch == Launch::Graph {
            contestant.capture(which)?;
            if let Some(output) = contestant.differs(reference).map_err(while_captured)? {
                return Err(NotCaptured::Differs { program: which, output }.into());
            }
        }
        Ok(contestant)
    }

    fn capture(&mut self, which: TimedProgram) -> Result<(), TimingError> {
        // What is overwritten stays where it is from now on, and is nobody else's.
        for (input, pristine) in self.inputs.iter_mut().zip(&self.pristine) {
            if let Some(pristine) = pristine {
                *input = pristine.deep_clone();
            }
        }
        let recorded = self.program.record(&self.inputs).map_err(|error| not_recorded(which, error))?;
        let outputs = recorded.outputs().into();
        self.captured = Some(CapturedProgram { recorded, outputs });
        Ok(())
    }

    /// The first output that is another than op by op, unless two runs op by op do not agree in it either.
    fn differs(&mut self, reference: &ReferenceSession) -> Result<Option<u32>, RewriteError> {
        self.prepare();
        let found = reference.held(&self.run()?.kept());
        let expected = reference.held(&self.run_op_by_op()?);
        let differs = |found: &[HeldTensor], position: usize| {
            let ty = reference.output_types[position].clone();
            let passes_at = OutputComparison::new(ty).add(&reference.device, &found[position], &expected[position]);
            passes_at.is_none_or(|passes_at| passes_at > SAME)
        };
        let mut suspects = (0..expected.len()).filter(|&position| differs(&found, position)).peekable();
        if suspects.peek().is_none() {
            return Ok(None);
        }
        let again = reference.held(&self.run_op_by_op()?);
        Ok(suspects.find(|&position| !differs(&again, position)).map(|position| position as u32))
    }

    fn run_op_by_op(&mut self) -> Result<Vec<Tensor>, RewriteError> {
        self.prepare();
        let outputs = self.program.run_timed(&self.inputs).map_err(of_rewrite)?;
        // An output may be an input, which the next run overwrites.
        Ok(outputs.iter().map(Tensor::deep_clone).collect())
    }

    pub(super) fn overwrites(&self) -> bool {
        self.pristine.iter().any(Option::is_some)
    }
}

impl QueuedProgram for Contestant<'_> {
    fn launches(&self) -> usize {
        let of_call = if self.captured.is_some() { 1 } else { self.program.node_count() };
        of_call + self.pristine.iter().flatten().count()
    }

    fn restore(&mut self) {
        for (input, pristine) in self.inputs.iter_mut().zip(&self.pristine) {
            match pristine {
                // If it fails, so does the next wait or the run.
                Some(pristine) if self.captured.is_some() => drop(input.copy_from(pristine)),
                Some(pristine) => *input = pristine.deep_clone(),
                None => {}
            }
        }
    }

    fn call(&mut self) -> Result<(), NodeError> {
        match &self.captured {
            Some(captured) => captured.recorded.launch(),
            None => self.program.run(&self.inputs).map(drop),
        }
    }
}

impl Timeable for Contestant<'_> {
    type Outputs = RunOutputs;
    type Error = RewriteError;

    fn prepare(&mut self) {
        self.restore();
        // Nothing of before runs into the time. If it fails, the run will say so.
        let _ = self.program.finish();
    }

    fn run(&mut self) -> Result<RunOutputs, RewriteError> {
        match &self.captured {
            Some(captured) => captured
                .recorded
                .launch_timed()
                .map(|()| RunOutputs::Passing(captured.outputs.clone()))
                .map_err(of_rewrite),
            None => self.program.run_timed(&self.inputs).map(RunOutputs::Own).map_err(of_rewrite),
        }
    }
}
