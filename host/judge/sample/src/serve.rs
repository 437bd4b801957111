//! The message loop of the reader child, which reads one sample for the supervisor.

use crate::SampleText;
use passhost_confine::{ConfineError, SandboxProfile, reader};
use passhost_ir::{Arg, Infer, InferError, OpName, TensorType};
use passhost_protocol::reader::{FromReader, OpenedSample, ReaderQuestion, SampleError, ToReader};
use passhost_protocol::types::TypesAnswer;
use passhost_protocol::{FrameError, MAX_FRAME, encode, read_frame, write_frame};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

/// Bytes of the stack. The parser recurses as deep as the reader's own limit on nesting lets it; memory is taken only
/// where it is used.
const STACK: usize = 64 << 20;

/// Why the child stopped serving.
#[derive(Debug, thiserror::Error)]
pub enum ReaderServeError {
    /// The supervisor is gone or sent something malformed.
    #[error("{0}")]
    Frame(#[from] FrameError),
    /// The process still has rights that it must not have.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// The thread that reads cannot be started.
    #[error("the thread that reads cannot be started: {0}")]
    Thread(#[from] std::io::Error),
    /// The supervisor answered what was not asked, or asked before it answered.
    #[error("the supervisor spoke out of turn")]
    UnexpectedMessage,
    /// A request named a variant that the sample does not have.
    #[error("the supervisor asked for variant {0}, which there is not")]
    NoVariant(u32),
    /// The reader failed where it should have refused.
    #[error("the reader failed; please report this sample")]
    Panicked,
}

/// Reads the sample at `path` for the supervisor at the standard streams until it closes the pipe, in a process that
/// is confined already ([`reader::before_anything`]).
///
/// # Errors
///
/// If the pipe breaks, a message is malformed, or the process cannot be confined further.
pub fn serve(path: &Path, profile: SandboxProfile) -> Result<(), ReaderServeError> {
    let (input, output) = (BufReader::new(std::io::stdin()), BufWriter::new(std::io::stdout()));
    let mut link = SupervisorLink { input, output, failed: None };
    on_a_thread(|| {
        link.send(&FromReader::Ready(profile))?;
        match link.receive()? {
            None => Ok(()),
            Some(ToReader::Open) => read(path, &mut link),
            Some(_) => Err(ReaderServeError::UnexpectedMessage),
        }
    })?
}

/// Works on a thread with a stack of its own, the last that this process starts.
pub(crate) fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, ReaderServeError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || {
            reader::before_reading()?;
            Ok(work())
        })?;
        thread.join().unwrap_or(Err(ReaderServeError::Panicked))
    })
}

fn read(path: &Path, link: &mut SupervisorLink<impl Read, impl Write>) -> Result<(), ReaderServeError> {
    let opened = SampleText::open(path);
    link.send(&FromReader::Opened(opened.as_ref().map(describe).map_err(SampleError::clone)))?;
    let Ok(sample) = opened else { return Ok(()) };
    while let Some(request) = link.receive()? {
        let ToReader::Ask { index, question } = request else { return Err(ReaderServeError::UnexpectedMessage) };
        let position = index as usize;
        if position >= sample.variants().len() {
            return Err(ReaderServeError::NoVariant(index));
        }
        let answer = answer(&sample, position, question, link)?;
        if let Some(error) = link.failed.take() {
            return Err(error);
        }
        link.send(&answer)?;
    }
    Ok(())
}

fn answer(
    sample: &SampleText,
    index: usize,
    question: ReaderQuestion,
    infer: &mut dyn Infer,
) -> Result<FromReader, FrameError> {
    Ok(match question {
        ReaderQuestion::Variant(inputs) => FromReader::Variant(sample.load(index, inputs, infer)),
        ReaderQuestion::Reading => FromReader::Whole(encode(&sample.reading(index, infer))?),
        ReaderQuestion::Varied(change) => {
            let reading = sample.reading(index, infer);
            let varied = reading.map(|reading| sample.vary(index, &reading, &change, infer));
            FromReader::Whole(encode(&varied)?)
        }
        ReaderQuestion::Symbols => {
            let sizes = |index| sample.weights(index).and_then(|weights| sample.sizes(index, &weights));
            let symbols = |index| sizes(index).map(|sizes| sizes.symbols).unwrap_or_default().into_iter().collect();
            FromReader::Symbols((0..sample.variants().len()).map(symbols).collect())
        }
        ReaderQuestion::Changed(change, inputs) => {
            let reading = sample.reading(index, infer).map_err(|error| error.to_string());
            let varied =
                reading.and_then(|reading| sample.vary(index, &reading, &change, infer).map_err(|no| no.to_string()));
            FromReader::Changed(varied.map(|varied| varied.reading.variant(inputs)))
        }
    })
}

fn describe(sample: &SampleText) -> OpenedSample {
    OpenedSample {
        name: sample.name().to_owned(),
        sha256: sample.sha256().to_owned(),
        variants: sample.variants().iter().map(|variant| variant.name.clone()).collect(),
    }
}

/// The other end of the pipes, which knows the types of what ops return.
struct SupervisorLink<R, W> {
    input: R,
    output: W,
    /// Why a question could not be asked.
    failed: Option<ReaderServeError>,
}

impl<R: Read, W: Write> SupervisorLink<R, W> {
    fn send(&mut self, message: &FromReader) -> Result<(), FrameError> {
        write_frame(&mut self.output, message)
    }

    /// The next request; none once the supervisor has closed the pipe.
    fn receive(&mut self) -> Result<Option<ToReader>, FrameError> {
        match read_frame(&mut self.input, MAX_FRAME) {
            Err(FrameError::Closed) => Ok(None),
            request => request.map(Some),
        }
    }

    fn ask(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<TypesAnswer, ReaderServeError> {
        self.send(&FromReader::Infer { op: op.clone(), args: args.to_vec() })?;
        match read_frame(&mut self.input, MAX_FRAME)? {
            ToReader::Typed(answer) => Ok(answer),
            ToReader::Open | ToReader::Ask { .. } => Err(ReaderServeError::UnexpectedMessage),
        }
    }
}

impl<R: Read, W: Write> Infer for SupervisorLink<R, W> {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> TypesAnswer {
        if self.failed.is_none() {
            match self.ask(op, args) {
                Ok(answer) => return answer,
                Err(error) => self.failed = Some(error),
            }
        }
        Err(InferError::Unavailable("the supervisor is gone".into()))
    }
}
