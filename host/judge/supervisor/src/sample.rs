//! A sample as an evaluation has it: a description of what is in it, and a reader child that reads its variants.

use passhost_child::reader::Reader;
use passhost_child::{ChildError, Confinement};
use passhost_ir::Infer;
use passhost_protocol::reader::{FromReader, OpenedSample, ReaderQuestion, SampleError, SampleVariant, VariantChange};
use passhost_result::document::{Blame, Failure, failure};
use passhost_result::untrusted::one_line;
use passhost_result::{InputMode, NoteKind, SandboxProfile, Symbols, is_named};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to do about a sample that kills its reader.
const HINT: &str = "leave this sample out, and report it";

/// A sample. Its reader runs from when it is opened until it is [`Sample::close`]d, and again when it is read.
pub struct Sample {
    path: PathBuf,
    opened: OpenedSample,
    reader: Option<Reader>,
    confinement: Confinement,
    /// Of the first reader. The kernel is the same for all.
    profile: Option<SandboxProfile>,
    lost: Option<Failure>,
    /// The variants that are evaluated, where not all are.
    chosen: Option<Vec<usize>>,
    /// Lists that named it, without their endings: result documents say so.
    pub groups: Vec<String>,
}

/// Why there is no sample.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is none at that path, or its files cannot be read.
    #[error("{0}")]
    Sample(SampleError),
    /// No reader can be had. The host's trouble.
    #[error("{0}")]
    Reader(ChildError),
}

/// Why a variant was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not in the supported subset, or its parts do not fit each other.
    #[error("{0}")]
    Sample(SampleError),
    /// Reading it killed its reader, twice, or took too long. The sample's doing.
    #[error("{0}")]
    Lost(ChildError),
    /// No reader can be had. The host's trouble.
    #[error("{0}")]
    Reader(ChildError),
    /// The files are others than those that were opened.
    #[error("the files of the sample changed after it was opened")]
    Changed,
}

impl Sample {
    /// Opens the sample at `path` in a reader of its own, confined as it must be. Where that dies
    /// twice there is a sample without variants, whose document says what happened.
    ///
    /// # Errors
    ///
    /// If there is no such sample, or no reader.
    pub fn open(path: &Path, confinement: Confinement) -> Result<Sample, OpenError> {
        let mut opened = Reader::open(path, confinement);
        if matches!(opened, Err(ChildError::Died { .. })) {
            opened = Reader::open(path, confinement);
        }
        match opened {
            Ok(Ok((reader, opened))) => {
                let (path, profile) = (path.into(), Some(reader.profile()));
                let (reader, lost, chosen, groups) = (Some(reader), None, None, vec![]);
                Ok(Sample { path, opened, reader, confinement, profile, lost, chosen, groups })
            }
            Ok(Err(error)) => Err(OpenError::Sample(error)),
            Err(error) if error.is_hosts() => Err(OpenError::Reader(error)),
            Err(error) => {
                let lost = failure(Blame::Sample, "sample", format!("{error} while opening the sample"), HINT);
                Ok(Sample::without_variants(path, confinement, lost))
            }
        }
    }

    /// As [`Sample::open`], but where there is no sample, one of many, there is one without variants, whose document says
    /// so. `place` says where it is named, `list.txt:3`.
    ///
    /// # Errors
    ///
    /// If no reader can be had.
    pub fn open_or_lost(path: &Path, place: Option<&str>, confinement: Confinement) -> Result<Sample, ChildError> {
        match Sample::open(path, confinement) {
            Ok(sample) => Ok(sample),
            Err(OpenError::Reader(error)) => Err(error),
            Err(OpenError::Sample(error)) => {
                let correct = place
                    .map_or("give the path of a sample".into(), |place| format!("correct {}", one_line(place, 200)));
                let lost = failure(Blame::Sample, "sample", error, &format!("{correct}, or leave this sample out"));
                Ok(Sample::without_variants(path, confinement, lost))
            }
        }
    }

    fn without_variants(path: &Path, confinement: Confinement, lost: Failure) -> Sample {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let opened = OpenedSample { name, sha256: String::new(), variants: vec![] };
        let lost = Some(lost);
        Sample {
            path: path.into(),
            opened,
            reader: None,
            confinement,
            profile: None,
            lost,
            chosen: None,
            groups: vec![],
        }
    }

    /// The last part of its path.
    pub fn name(&self) -> &str {
        &self.opened.name
    }

    /// Of the names and contents of all model and weight files, in hexadecimal; empty where nothing could be read.
    pub fn sha256(&self) -> &str {
        &self.opened.sha256
    }

    /// Paths of its graphs within it, in its order.
    pub fn variants(&self) -> &[String] {
        &self.opened.variants
    }

    /// Lets only those variants be evaluated that have one of these names, or one of these texts in their names. None of
    /// them is in a sample that could not be opened, whose document says why.
    ///
    /// # Errors
    ///
    /// If a text is in no name: the text.
    pub fn choose(&mut self, texts: &[String]) -> Result<(), String> {
        let mut chosen = vec![];
        for text in texts.iter().filter(|_| self.lost.is_none()) {
            let named = |is_meant: &dyn Fn(&String) -> bool| -> Vec<usize> {
                let variants = self.opened.variants.iter().enumerate();
                variants.filter(|(_, name)| is_meant(name)).map(|(index, _)| index).collect()
            };
            let whole = named(&|name| name == text);
            let found = if whole.is_empty() { named(&|name| is_named(name, text)) } else { whole };
            if found.is_empty() {
                return Err(text.clone());
            }
            chosen.extend(found);
        }
        chosen.sort_unstable();
        chosen.dedup();
        self.chosen = (!texts.is_empty()).then_some(chosen);
        Ok(())
    }

    /// The variants that are evaluated, by their places among all.
    pub fn chosen(&self) -> Vec<usize> {
        self.chosen.clone().unwrap_or_else(|| (0..self.opened.variants.len()).collect())
    }

    /// The names of these.
    pub(crate) fn chosen_names(&self) -> impl Iterator<Item = &String> {
        self.chosen().into_iter().map(|index| &self.opened.variants[index])
    }

    /// How many variants are not evaluated because others were named.
    pub(crate) fn left_out(&self) -> u32 {
        self.chosen.as_ref().map_or(0, |chosen| (self.opened.variants.len() - chosen.len()) as u32)
    }

    /// Why there is nothing to read, if opening it killed its reader.
    pub fn lost(&self) -> Option<&Failure> {
        self.lost.as_ref()
    }

    /// What keeps its readers in, where one has said so.
    pub fn profile(&self) -> Option<SandboxProfile> {
        self.profile
    }

    /// Ends the reader.
    pub fn close(&mut self) {
        self.reader = None;
    }

    /// Reads variant `index`. A reader that dies is replaced once, which a note says.
    ///
    /// # Errors
    ///
    /// If the variant cannot be used, kills its reader, or no reader can be had.
    pub fn read(
        &mut self,
        index: usize,
        inputs: InputMode,
        infer: &mut dyn Infer,
        limit: Duration,
    ) -> Result<SampleVariant, ReadError> {
        let (read, note) = self.ask(index, &ReaderQuestion::Variant(inputs), infer, limit, |answer| match answer {
            FromReader::Variant(read) => Some(read),
            _ => None,
        })?;
        let mut variant = read.map_err(ReadError::Sample)?;
        variant.notes.extend(note);
        Ok(variant)
    }

    /// The symbols of every variant, each with the extent that it stands for. Of a variant that names none, the extents of
    /// its arguments by names such as `E512`; none of one whose files are not understood.
    ///
    /// # Errors
    ///
    /// If no reader can be had.
    pub fn symbols(&mut self, infer: &mut dyn Infer, limit: Duration) -> Result<Vec<Symbols>, ReadError> {
        let (symbols, _) = self.ask(0, &ReaderQuestion::Symbols, infer, limit, |answer| match answer {
            FromReader::Symbols(symbols) => Some(symbols),
            _ => None,
        })?;
        Ok(symbols)
    }

    /// Reads variant `index` after a change. The inner error says in words why there is no such variant.
    ///
    /// # Errors
    ///
    /// If that kills its reader, or no reader can be had.
    pub fn read_changed(
        &mut self,
        index: usize,
        change: &VariantChange,
        inputs: InputMode,
        infer: &mut dyn Infer,
        limit: Duration,
    ) -> Result<Result<SampleVariant, String>, ReadError> {
        let question = ReaderQuestion::Changed(change.clone(), inputs);
        let (read, _) = self.ask(index, &question, infer, limit, |answer| match answer {
            FromReader::Changed(read) => Some(read),
            _ => None,
        })?;
        Ok(read)
    }

    /// Answers a question about variant `index` that is not for an evaluation, in the encoding of the crate that reads. A
    /// reader that dies is replaced once.
    ///
    /// # Errors
    ///
    /// If the variant kills its reader, or no reader can be had. What else is wrong with it is in the answer.
    pub fn read_whole(
        &mut self,
        index: usize,
        question: &ReaderQuestion,
        infer: &mut dyn Infer,
        limit: Duration,
    ) -> Result<Vec<u8>, ReadError> {
        let (bytes, _) = self.ask(index, question, infer, limit, |answer| match answer {
            FromReader::Whole(bytes) => Some(bytes),
            _ => None,
        })?;
        Ok(bytes)
    }

    /// What the reader answers that is among what it may answer, or a fresh one where that died: then with a note that
    /// says so.
    fn ask<T>(
        &mut self,
        index: usize,
        question: &ReaderQuestion,
        infer: &mut dyn Infer,
        limit: Duration,
        expected: impl Fn(FromReader) -> Option<T>,
    ) -> Result<(T, Option<String>), ReadError> {
        let mut once = || {
            let mut reader = self.take_reader()?;
            let answer = reader.ask(index, question.clone(), infer, limit)?;
            let answer = expected(answer).ok_or(ChildError::UnexpectedMessage("reader"))?;
            self.reader = Some(reader);
            Ok(answer)
        };
        match once() {
            Err(ReadError::Lost(error @ ChildError::Died { .. })) => {
                let note = NoteKind::RestartedProcess.note(format!("{error}; a fresh reader read the sample"));
                Ok((once()?, Some(note)))
            }
            answer => answer.map(|answer| (answer, None)),
        }
    }

    fn take_reader(&mut self) -> Result<Reader, ReadError> {
        if let Some(reader) = self.reader.take() {
            return Ok(reader);
        }
        match Reader::open(&self.path, self.confinement)? {
            Ok((reader, opened)) if opened == self.opened => Ok(reader),
            Ok(_) => Err(ReadError::Changed),
            Err(error) => Err(ReadError::Sample(error)),
        }
    }
}

impl From<ChildError> for ReadError {
    fn from(error: ChildError) -> ReadError {
        if error.is_hosts() { ReadError::Reader(error) } else { ReadError::Lost(error) }
    }
}
