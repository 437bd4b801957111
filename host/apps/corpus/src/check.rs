//! A check of samples: each graph is read, typed and made functional, and run if that is asked for.

use crate::findings::{Checked, RunReport};
use crate::journal::Finished;
use crate::memory::{input_bytes, run_bytes};
use crate::outcome::{Failure, GraphReport, Outcome};
use crate::quantities::bytes;
use crate::survey::Task;
use crate::worker::Worker;
use passhost_ir::{OpTable, functionalise, unscorable};
use passhost_sample::{InputMode, SampleText, SampleVariant};

/// Reads, types and functionalises each graph, and runs it if that is asked for.
pub struct Check {
    /// How graphs are run, if they are.
    pub run: Option<Run>,
    /// What an earlier check finished.
    pub finished: Finished<Checked>,
}

/// How graphs are run.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// How inputs are drawn.
    pub inputs: InputMode,
    /// Seed of the inputs.
    pub seed: u64,
    /// Bytes that one run may take, as estimated from its types.
    pub memory: u64,
}

impl Task for Check {
    type Found = Checked;

    fn look(&self, worker: &mut Worker, sample: &SampleText, index: usize) -> GraphReport<Checked> {
        let name = &sample.variants()[index].name;
        let inputs = self.run.as_ref().map_or(InputMode::Fresh, |run| run.inputs);
        let variant = match worker.load(sample, index, inputs) {
            Ok(variant) => variant,
            Err(failure) => return GraphReport::new(name, Err(failure)),
        };
        let mut found = Checked {
            nodes: variant.program.nodes.len() as u64,
            inputs: variant.inputs.len() as u64,
            input_bytes: input_bytes(&variant.inputs),
            run_bytes: run_bytes(&variant.program, &variant.inputs),
            run: None,
        };
        match self.examine(worker, &variant, &mut found) {
            Ok(()) => GraphReport::new(name, Ok(found)),
            Err(failure) => GraphReport { found: Some(found), ..GraphReport::new(name, Err(failure)) },
        }
    }

    fn known(&self, sample: &SampleText) -> Option<Vec<GraphReport<Checked>>> {
        self.finished.get(sample.sha256()).cloned()
    }
}

impl Check {
    /// What comes after reading and typing.
    fn examine(&self, worker: &mut Worker, variant: &SampleVariant, found: &mut Checked) -> Result<(), Failure> {
        functionalise(&variant.program, OpTable::sample())
            .map_err(|error| Failure::new(Outcome::NotFunctional, error))?;
        if let Some(run) = &self.run {
            Check::run(run, worker, variant, found)?;
        }
        match unscorable(&variant.program, &variant.inputs, OpTable::sample()) {
            Some(why) => Err(Failure::new(Outcome::Unscorable, why)),
            None => Ok(()),
        }
    }

    fn run(run: &Run, worker: &mut Worker, variant: &SampleVariant, found: &mut Checked) -> Result<(), Failure> {
        if found.run_bytes > run.memory {
            let (needed, allowed) = (bytes(found.run_bytes), bytes(run.memory));
            return Err(Failure::new(Outcome::TooLarge, format!("it takes {needed}, and --memory is {allowed}")));
        }
        let ran = worker.run(&variant.program, &variant.inputs, run.seed)?;
        found.run = Some(RunReport::of(&ran));
        match ran.differences.first() {
            Some(difference) => Err(Failure::new(Outcome::TypesDiffer, difference)),
            None => Ok(()),
        }
    }
}
