//! The client of the reader child, which reads one sample and can do nothing else.

use crate::child::{Child, ChildError, Confinement};
use passhost_ir::{Infer, OpTable, verify_graph};
use passhost_protocol::Walls;
use passhost_protocol::reader::{
    Change, FromReader, InputMode, Opened, Question, SampleError, Symbols, ToReader, Variant,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Wall clock for reading the files of a sample.
const OPEN: Duration = Duration::from_secs(60);

/// Why the reader gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReaderError {
    /// The process is gone.
    #[error("{0}")]
    Child(#[from] ChildError),
    /// The child answered something else than what it was asked.
    #[error("the reader process answered out of turn; this is a bug of passhost")]
    OutOfTurn,
}

/// A child with an open sample.
pub struct Reader {
    child: Child<FromReader>,
    path: PathBuf,
    walls: Walls,
}

impl Reader {
    /// Starts a child that opens the sample at `path`, behind the walls that must stand.
    ///
    /// # Errors
    ///
    /// The outer one if the child is lost, the inner one if there is no such sample or one of its files cannot be read.
    pub fn open(path: &Path, confinement: Confinement) -> Result<Result<(Reader, Opened), SampleError>, ReaderError> {
        let mut child: Child<FromReader> = Child::start("reader", "passhost-reader", Some(path.as_os_str()), &[])?;
        let deadline = Instant::now() + OPEN;
        let FromReader::Ready(walls) = child.receive(deadline)? else { return Err(ReaderError::OutOfTurn) };
        child.hold_to(confinement, walls)?;
        child.send(&ToReader::Open)?;
        match child.receive(deadline)? {
            FromReader::Opened(opened) => Ok(opened.map(|opened| (Reader { child, path: path.into(), walls }, opened))),
            _ => Err(ReaderError::OutOfTurn),
        }
    }

    /// What keeps the child in.
    pub fn walls(&self) -> Walls {
        self.walls
    }

    /// The process, for those who want to watch it.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Reads a variant. `infer` answers the questions about types; the time that it takes does not count.
    ///
    /// # Errors
    ///
    /// The outer one if the child is lost, the inner one if the variant is not in the supported subset or its parts do
    /// not fit each other.
    pub fn read(
        &mut self,
        index: usize,
        inputs: InputMode,
        infer: &mut dyn Infer,
        limit: Duration,
    ) -> Result<Result<Variant, SampleError>, ReaderError> {
        match self.ask(index, Question::Variant(inputs), infer, limit)? {
            FromReader::Variant(read) => Ok(read.and_then(|variant| self.verified(variant))),
            _ => Err(ReaderError::OutOfTurn),
        }
    }

    /// The symbols of every variant of the sample.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn symbols(&mut self, infer: &mut dyn Infer, limit: Duration) -> Result<Vec<Symbols>, ReaderError> {
        match self.ask(0, Question::Symbols, infer, limit)? {
            FromReader::Symbols(symbols) => Ok(symbols),
            _ => Err(ReaderError::OutOfTurn),
        }
    }

    /// Reads a variant after a change.
    ///
    /// # Errors
    ///
    /// The outer one if the child is lost, the inner one, in words, if there is no such variant.
    pub fn read_changed(
        &mut self,
        index: usize,
        change: Change,
        inputs: InputMode,
        infer: &mut dyn Infer,
        limit: Duration,
    ) -> Result<Result<Variant, String>, ReaderError> {
        match self.ask(index, Question::Changed(change, inputs), infer, limit)? {
            FromReader::Changed(read) => {
                Ok(read.and_then(|variant| self.verified(variant).map_err(|error| error.to_string())))
            }
            _ => Err(ReaderError::OutOfTurn),
        }
    }

    /// Answers a question that is not for an evaluation, in the encoding of the crate that reads.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn read_whole(
        &mut self,
        index: usize,
        question: Question,
        infer: &mut dyn Infer,
        limit: Duration,
    ) -> Result<Vec<u8>, ReaderError> {
        match self.ask(index, question, infer, limit)? {
            FromReader::Whole(bytes) => Ok(bytes),
            _ => Err(ReaderError::OutOfTurn),
        }
    }

    fn ask(
        &mut self,
        index: usize,
        question: Question,
        infer: &mut dyn Infer,
        limit: Duration,
    ) -> Result<FromReader, ReaderError> {
        let index = u32::try_from(index).map_err(|_| ReaderError::OutOfTurn)?;
        self.child.send(&ToReader::Ask { index, question })?;
        let mut deadline = Instant::now() + limit;
        loop {
            match self.child.receive(deadline)? {
                FromReader::Infer { op, args } => {
                    let asked = Instant::now();
                    let answer = infer.infer(&op, &args);
                    deadline += asked.elapsed();
                    self.child.send(&ToReader::Typed(answer))?;
                }
                answer => return Ok(answer),
            }
        }
    }

    /// A graph that comes from a child is held against the rules of graphs by who uses it.
    fn verified(&self, variant: Variant) -> Result<Variant, SampleError> {
        let wrong = |reason: String| SampleError::Program { file: self.path.display().to_string(), reason };
        verify_graph(&variant.program, OpTable::sample()).map_err(|error| wrong(error.to_string()))?;
        let (found, expected) = (variant.inputs.len(), variant.program.inputs.len());
        if found != expected {
            return Err(wrong(format!("{found} inputs are described, the program has {expected}")));
        }
        Ok(variant)
    }
}
