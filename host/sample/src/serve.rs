//! The message loop of the reader child, which reads one sample for the supervisor.

use crate::Sample;
use passhost_ir::{Arg, Infer, InferError, OpName, TensorType};
use passhost_protocol::reader::{FromReader, Opened, Question, SampleError, ToReader};
use passhost_protocol::types::Answer;
use passhost_protocol::{FrameError, MAX_FRAME, encode, read_frame, write_frame};
use rustix::process::{Resource, Rlimit, Signal};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

/// Bytes of address space. The files of a sample have a gigabyte at most, and what is made of one graph is a few dozen
/// times its text.
const MEMORY: u64 = 8 << 30;
/// Seconds of CPU time over all variants of a sample: whole models take a tenth of one.
const CPU_SECONDS: u64 = 3600;
/// Bytes of the stack. The parser recurses as deep as the reader's own limit on nesting lets it; memory is taken only
/// where it is used.
const STACK: usize = 64 << 20;

/// Why the child stopped serving.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The supervisor is gone or sent something malformed.
    #[error("{0}")]
    Frame(#[from] FrameError),
    /// The process could not be set up.
    #[error("cannot set up the reader process: {0}")]
    Setup(#[from] std::io::Error),
    /// The supervisor answered what was not asked, or asked before it answered.
    #[error("the supervisor spoke out of turn")]
    OutOfTurn,
    /// A request named a variant that the sample does not have.
    #[error("the supervisor asked for variant {0}, which there is not")]
    NoVariant(u32),
    /// The reader failed where it should have refused.
    #[error("the reader failed; please report this sample")]
    Panicked,
}

/// Reads the sample at `path` for the supervisor at the standard streams until it closes the pipe.
///
/// # Errors
///
/// If the pipe breaks, or a message is malformed.
pub fn serve(path: &Path) -> Result<(), ServeError> {
    // The supervisor's death ends this process whatever it is doing.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(std::io::Error::from)?;
    for (resource, most) in [(Resource::Core, 0), (Resource::As, MEMORY), (Resource::Cpu, CPU_SECONDS)] {
        limit(resource, most)?;
    }
    let (input, output) = (BufReader::new(std::io::stdin()), BufWriter::new(std::io::stdout()));
    let mut link = Supervisor { input, output, failed: None };
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || read(path, &mut link))?;
        reader.join().unwrap_or(Err(ServeError::Panicked))
    })
}

/// Lowers a limit of this process; one that is lower already stays.
fn limit(resource: Resource, most: u64) -> Result<(), ServeError> {
    let hard = rustix::process::getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
    let limits = Rlimit { current: Some(hard), maximum: Some(hard) };
    Ok(rustix::process::setrlimit(resource, limits).map_err(std::io::Error::from)?)
}

fn read(path: &Path, link: &mut Supervisor<impl Read, impl Write>) -> Result<(), ServeError> {
    let opened = Sample::open(path);
    link.send(&FromReader::Opened(opened.as_ref().map(describe).map_err(SampleError::clone)))?;
    let Ok(sample) = opened else { return Ok(()) };
    loop {
        let request = match read_frame(&mut link.input, MAX_FRAME) {
            Err(FrameError::Closed) => return Ok(()),
            request => request?,
        };
        let ToReader::Ask { index, question } = request else { return Err(ServeError::OutOfTurn) };
        let position = index as usize;
        if position >= sample.variants().len() {
            return Err(ServeError::NoVariant(index));
        }
        let answer = answer(&sample, position, question, link)?;
        if let Some(error) = link.failed.take() {
            return Err(error);
        }
        link.send(&answer)?;
    }
}

fn answer(sample: &Sample, index: usize, question: Question, infer: &mut dyn Infer) -> Result<FromReader, FrameError> {
    Ok(match question {
        Question::Variant(inputs) => FromReader::Variant(sample.load(index, inputs, infer)),
        Question::Reading => FromReader::Whole(encode(&sample.reading(index, infer))?),
        Question::Varied(change) => {
            let reading = sample.reading(index, infer);
            let varied = reading.map(|reading| sample.vary(index, &reading, &change, infer));
            FromReader::Whole(encode(&varied)?)
        }
    })
}

fn describe(sample: &Sample) -> Opened {
    Opened {
        name: sample.name().to_owned(),
        sha256: sample.sha256().to_owned(),
        variants: sample.variants().iter().map(|variant| variant.name.clone()).collect(),
    }
}

/// The other end of the pipes, which knows the types of what ops return.
struct Supervisor<R, W> {
    input: R,
    output: W,
    /// Why a question could not be asked.
    failed: Option<ServeError>,
}

impl<R: Read, W: Write> Supervisor<R, W> {
    fn send(&mut self, message: &FromReader) -> Result<(), FrameError> {
        write_frame(&mut self.output, message)
    }

    fn ask(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Answer, ServeError> {
        self.send(&FromReader::Infer { op: op.clone(), args: args.to_vec() })?;
        match read_frame(&mut self.input, MAX_FRAME)? {
            ToReader::Typed(answer) => Ok(answer),
            ToReader::Ask { .. } => Err(ServeError::OutOfTurn),
        }
    }
}

impl<R: Read, W: Write> Infer for Supervisor<R, W> {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Answer {
        if self.failed.is_none() {
            match self.ask(op, args) {
                Ok(answer) => return answer,
                Err(error) => self.failed = Some(error),
            }
        }
        Err(InferError::Unavailable("the supervisor is gone".into()))
    }
}
