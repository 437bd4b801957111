//! One of those who work on samples: reads graphs, types them and runs them in a device process of its own, and says
//! how that ended.

use super::memo::{Answer, Memo, Question};
use super::outcome::{Failure, Outcome};
use crate::child::ChildError;
use crate::device::{Device, DeviceError};
use passhost_ir::{Arg, Graph, Infer, InferError, InputSpec, OpName, OpTable, TensorType, functionalise};
use passhost_protocol::device::{DeviceChoice, DeviceInfo, Ran, ReferenceError, RunError};
use passhost_sample::{InputMode, Reading, Sample, Variant};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where a worker runs programs and asks for types.
#[derive(Debug, Clone, Copy)]
pub struct Workplace {
    /// The device.
    pub device: DeviceChoice,
    /// Threads for CPU work.
    pub threads: Option<u32>,
    /// Wall clock for reading one graph, and for running it.
    pub timeout: Duration,
}

impl Workplace {
    /// For work that runs nothing: types need one thread of the CPU.
    pub fn for_types(timeout: Duration) -> Workplace {
        Workplace { device: DeviceChoice::Cpu, threads: Some(1), timeout }
    }
}

/// A device process, started when it is first needed, and what is known of types.
pub struct Worker<'a> {
    place: Workplace,
    memo: &'a Memo,
    device: Option<Device>,
    trouble: Option<DeviceError>,
}

impl<'a> Worker<'a> {
    /// One that has not started anything yet.
    pub fn new(place: Workplace, memo: &'a Memo) -> Worker<'a> {
        Worker { place, memo, device: None, trouble: None }
    }

    /// Why no device process can be had: no fault of a sample. Taken once.
    pub fn take_trouble(&mut self) -> Option<DeviceError> {
        self.trouble.take()
    }

    /// What the device process said of the device.
    pub fn info(&self) -> Option<&DeviceInfo> {
        self.device.as_ref().map(Device::info)
    }

    /// Gives up the device process, whatever it is doing.
    pub fn forget_device(&mut self) {
        self.device = None;
    }

    /// Reads variant `index` and types every node.
    pub fn load(&mut self, sample: &Sample, index: usize, mode: InputMode) -> Result<Variant, Failure> {
        self.read(sample, index, |reading, _| reading.variant(mode))
    }

    /// Reads variant `index` and types every node; then does something with it that may ask for more types.
    pub fn read<T>(
        &mut self,
        sample: &Sample,
        index: usize,
        then: impl FnOnce(Reading, &mut dyn Infer) -> T,
    ) -> Result<T, Failure> {
        let deadline = Instant::now() + self.place.timeout;
        let mut typing = Typing { worker: self, deadline, refused: false, failure: None };
        let read = sample.reading(index, &mut typing).map(|reading| then(reading, &mut typing));
        match (read, typing.failure) {
            // What is made of a lost device is beside the point.
            (_, Some(failure)) => Err(failure),
            (Ok(found), None) => Ok(found),
            (Err(error), None) => Err(Failure::of(error, typing.refused)),
        }
    }

    /// The graph that a pass would see.
    pub fn load_functional(&mut self, sample: &Sample, index: usize) -> Result<Graph, Failure> {
        let variant = self.load(sample, index, InputMode::Fresh)?;
        let functional = functionalise(&variant.program, OpTable::sample());
        functional.map(|functional| functional.graph).map_err(|error| Failure::new(Outcome::NotFunctional, error))
    }

    /// Runs a program once.
    pub fn run(
        &mut self,
        program: &Graph,
        inputs: &[InputSpec],
        seed: u64,
        files: Option<PathBuf>,
    ) -> Result<Ran, Failure> {
        let limit = self.place.timeout;
        let answer = self.device().and_then(|device| device.run(program, inputs, seed, files, limit));
        match answer {
            Ok(Ok(ran)) => Ok(ran),
            Ok(Err(RunError::Program(error @ ReferenceError::Memory { .. }))) => {
                Err(Failure::new(Outcome::TooLarge, error))
            }
            Ok(Err(error)) => Err(Failure::new(Outcome::FailedToRun, error)),
            Err(error) => Err(self.lost(error)),
        }
    }

    fn device(&mut self) -> Result<&mut Device, DeviceError> {
        match &mut self.device {
            Some(device) => Ok(device),
            empty => {
                let device = Device::open(self.place.device, self.place.threads, Box::new(|_| {}))?;
                Ok(empty.insert(device))
            }
        }
    }

    /// What it means for a graph that the device gave no answer. A process that died is replaced at the next question.
    fn lost(&mut self, error: DeviceError) -> Failure {
        let outcome = match &error {
            DeviceError::Child(ChildError::Deadline { .. }) => Outcome::TimedOut,
            _ => Outcome::Crashed,
        };
        let failure = Failure::new(outcome, &error);
        if !matches!(
            error,
            DeviceError::Child(ChildError::Deadline { .. } | ChildError::Died { .. } | ChildError::Protocol { .. })
        ) {
            self.trouble = Some(error);
        }
        failure
    }
}

/// Answers the reader's questions about types for one graph.
struct Typing<'w, 'a> {
    worker: &'w mut Worker<'a>,
    deadline: Instant,
    /// Whether the last answer was a refusal.
    refused: bool,
    /// Why there are no more answers.
    failure: Option<Failure>,
}

impl Typing<'_, '_> {
    fn answer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Answer, Failure> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let limit = self.worker.place.timeout.as_millis();
            return Err(Failure::new(Outcome::TimedOut, format!("reading took more than {limit} ms; raise --timeout")));
        }
        let question = Question::new(op, args);
        if let Some(answer) = question.as_ref().and_then(|question| self.worker.memo.get(question)) {
            return Ok(answer);
        }
        let answer = self.worker.device().and_then(|device| device.types(op, args, left));
        let answer = answer.map_err(|error| self.worker.lost(error))?;
        // What an op returns depends on nothing else, unless the answer is that nobody could be asked.
        if let Some(question) = question.filter(|_| !matches!(answer, Err(InferError::Unavailable(_)))) {
            self.worker.memo.put(question, answer.clone());
        }
        Ok(answer)
    }
}

impl Infer for Typing<'_, '_> {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Answer {
        match self.answer(op, args) {
            Ok(answer) => {
                self.refused = answer.is_err();
                answer
            }
            Err(failure) => {
                let reason = failure.what.clone();
                self.failure = Some(failure);
                Err(InferError::Unavailable(reason))
            }
        }
    }
}
