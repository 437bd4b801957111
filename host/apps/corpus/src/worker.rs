//! One of those who work on samples: reads graphs, types them and runs them in a device process of its own, and says
//! how that ended.

use crate::outcome::{Failure, Outcome};
use passhost_child::device::{Device, DeviceChildError, DeviceSetup};
use passhost_child::{ChildError, Memo, TypesClient};
use passhost_ir::{Arg, Graph, Infer, InferError, InputSpec, OpName, OpTable, TensorType, functionalise};
use passhost_protocol::device::{DeviceChoice, ReferenceError, SingleRun, SingleRunError};
use passhost_protocol::reader::ReaderQuestion;
use passhost_protocol::types::TypesAnswer;
use passhost_result::DeviceInfo;
use passhost_sample::{InputMode, Reading, SampleText, SampleVariant, VariantChange, Varied, VaryRefusal};
use passhost_supervisor::{OpenError, ReadError};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where a worker runs programs, and for how long.
#[derive(Debug, Clone)]
pub struct Workplace {
    /// The device, and where the inputs and outputs of what runs on it are written.
    pub device: DeviceSetup,
    /// Wall clock for reading one graph, and for running it.
    pub timeout: Duration,
}

impl Workplace {
    /// For work that runs nothing.
    pub fn for_types(timeout: Duration) -> Workplace {
        Workplace { device: DeviceSetup::new(DeviceChoice::Cpu, Some(1)), timeout }
    }
}

/// One worker with its children, each started when it is first needed.
pub struct Worker {
    place: Workplace,
    types: TypesClient,
    device: Option<Device>,
    reader: Option<passhost_supervisor::Sample>,
    trouble: Option<String>,
}

impl Worker {
    /// One that has not started anything yet.
    pub fn new(place: Workplace, memo: &Arc<Memo>) -> Worker {
        let types = TypesClient::new(Arc::clone(memo), place.device.confinement);
        Worker { place, types, device: None, reader: None, trouble: None }
    }

    /// Why no process of some kind can be had: no fault of a sample. Taken once.
    pub fn take_trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// What the device process said of the device.
    pub fn info(&self) -> Option<&DeviceInfo> {
        self.device.as_ref().map(Device::info)
    }

    /// Gives up all processes, whatever they are doing.
    pub fn start_afresh(&mut self) {
        (self.device, self.reader) = (None, None);
        self.types.stop();
    }

    /// Reads variant `index` in a reader process and types every node.
    pub fn load(&mut self, sample: &SampleText, index: usize, mode: InputMode) -> Result<SampleVariant, Failure> {
        self.ask(sample, |open, infer, limit| open.read(index, mode, infer, limit))
    }

    /// Asks the reader process about a sample, which asks for the types of nodes.
    fn ask<T>(
        &mut self,
        sample: &SampleText,
        ask: impl FnOnce(&mut passhost_supervisor::Sample, &mut dyn Infer, Duration) -> Result<T, ReadError>,
    ) -> Result<T, Failure> {
        let limit = self.place.timeout;
        let mut open =
            match self.reader.take().filter(|open| open.sha256() == sample.sha256()) {
                Some(open) => open,
                None => passhost_supervisor::Sample::open(sample.path(), self.place.device.confinement).map_err(
                    |error| match error {
                        OpenError::Sample(error) => Failure::of(error, false),
                        OpenError::Reader(error) => self.in_trouble(&error),
                    },
                )?,
            };
        if let Some(lost) = open.lost() {
            return Err(Failure::new(Outcome::Crashed, &lost.message));
        }
        if open.sha256() != sample.sha256() {
            return Err(Failure::new(Outcome::Malformed, ReadError::Changed));
        }
        let mut typing = Typing::new(self);
        let read = ask(&mut open, &mut typing, limit);
        let (refused, failure) = (typing.refused, typing.failure);
        self.reader = Some(open);
        match (read, failure) {
            // What is made of a lost types process is beside the point.
            (_, Some(failure)) => Err(failure),
            (Ok(answer), None) => Ok(answer),
            (Err(ReadError::Sample(error)), None) => Err(Failure::of(error, refused)),
            (Err(ReadError::Lost(error @ ChildError::Deadline { .. })), None) => {
                Err(Failure::new(Outcome::TimedOut, error))
            }
            (Err(ReadError::Lost(error)), None) => Err(Failure::new(Outcome::Crashed, error)),
            (Err(ReadError::Reader(error)), None) => Err(self.in_trouble(&error)),
            (Err(error @ ReadError::Changed), None) => Err(Failure::new(Outcome::Malformed, error)),
        }
    }

    /// Reads variant `index` in a reader process and types every node; then does something with it that needs more than
    /// the graph, and may ask for more types.
    pub fn read<T>(
        &mut self,
        sample: &SampleText,
        index: usize,
        then: impl FnOnce(Reading, &mut dyn Infer) -> T,
    ) -> Result<T, Failure> {
        let reading = self.ask(sample, |open, infer, limit| {
            let answer = open.read_whole(index, &ReaderQuestion::Reading, infer, limit)?;
            Reading::from_answer(&answer).map_err(ReadError::Sample)
        })?;
        let mut typing = Typing::new(self);
        let found = then(reading, &mut typing);
        typing.failure.map_or(Ok(found), Err)
    }

    /// Reads variant `index` in a reader process and changes it there.
    pub fn vary(
        &mut self,
        sample: &SampleText,
        index: usize,
        change: &VariantChange,
    ) -> Result<Result<Varied, VaryRefusal>, Failure> {
        self.ask(sample, |open, infer, limit| {
            let answer = open.read_whole(index, &ReaderQuestion::Varied(change.clone()), infer, limit)?;
            Varied::from_answer(&answer).map_err(ReadError::Sample)
        })
    }

    /// The graph that a pass would see.
    pub fn load_functional(&mut self, sample: &SampleText, index: usize) -> Result<Graph, Failure> {
        let variant = self.load(sample, index, InputMode::Fresh)?;
        let functional = functionalise(&variant.program, OpTable::sample());
        functional.map(|functional| functional.graph).map_err(|error| Failure::new(Outcome::NotFunctional, error))
    }

    /// Runs a program once.
    pub fn run(&mut self, program: &Graph, inputs: &[InputSpec], seed: u64) -> Result<SingleRun, Failure> {
        let limit = self.place.timeout;
        let answer = self.device().and_then(|device| device.session().run(program, inputs, seed, limit));
        match answer {
            Ok(Ok(ran)) => Ok(ran),
            Ok(Err(SingleRunError::Program(error @ ReferenceError::Memory(_)))) => {
                Err(Failure::new(Outcome::TooLarge, error))
            }
            Ok(Err(error)) => Err(Failure::new(Outcome::FailedToRun, error)),
            Err(error) => Err(self.lost(error)),
        }
    }

    fn device(&mut self) -> Result<&mut Device, DeviceChildError> {
        match &mut self.device {
            Some(device) => Ok(device),
            empty => {
                let device = Device::open(self.place.device.clone())?;
                Ok(empty.insert(device))
            }
        }
    }

    /// What it means for a graph that the device gave no answer. A process that died is replaced at the next question.
    fn lost(&mut self, error: DeviceChildError) -> Failure {
        match error {
            DeviceChildError::Child(error) => self.lost_child(&error),
            error => self.in_trouble(&error),
        }
    }

    fn lost_child(&mut self, error: &ChildError) -> Failure {
        match error {
            ChildError::Deadline { .. } => Failure::new(Outcome::TimedOut, error),
            ChildError::Died { .. } | ChildError::Protocol { .. } | ChildError::Impossible { .. } => {
                Failure::new(Outcome::Crashed, error)
            }
            ChildError::Start { .. } | ChildError::UnexpectedMessage(_) | ChildError::Unconfined { .. } => {
                self.in_trouble(error)
            }
        }
    }

    fn in_trouble(&mut self, error: &impl std::fmt::Display) -> Failure {
        self.trouble = Some(error.to_string());
        Failure::new(Outcome::Crashed, error)
    }
}

/// Answers the reader's questions about types for one graph.
struct Typing<'w> {
    worker: &'w mut Worker,
    deadline: Instant,
    /// Whether the last answer was a refusal.
    refused: bool,
    /// Why there are no more answers.
    failure: Option<Failure>,
}

impl<'w> Typing<'w> {
    fn new(worker: &'w mut Worker) -> Typing<'w> {
        Typing { deadline: Instant::now() + worker.place.timeout, worker, refused: false, failure: None }
    }

    fn answer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<TypesAnswer, Failure> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let limit = self.worker.place.timeout.as_millis();
            return Err(Failure::new(Outcome::TimedOut, format!("reading took more than {limit} ms; raise --timeout")));
        }
        self.worker.types.ask(op, args, left).map_err(|error| self.worker.lost_child(&error))
    }
}

impl Infer for Typing<'_> {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> TypesAnswer {
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
