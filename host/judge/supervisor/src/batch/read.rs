//! The reading side of a batch file.

use super::documents::{Assembled, documents};
use super::error::BatchError;
use super::header::Header;
use super::line::BatchLine;
use super::{OLDER_SCHEMA, SCHEMA};
use passhost_protocol::{BoundedLines, LineRead, open_regular};
use passhost_result::document::Document;
use passhost_result::schema_of;
use passhost_result::untrusted::one_line;
use serde::de::IgnoredAny;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Bytes of the longest line that is written or read. That of a variant has some 14 KB, and up to 64 KB more where its graphs
/// are long; the header names all samples.
pub(super) const LINE_LIMIT: usize = 64 << 20;

/// A batch file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// What all have in common.
    pub header: Header,
    /// One for each plugin and each sample of which anything is known, by plugin and then in the order of the samples, with
    /// the variants that are finished.
    pub documents: Vec<Document>,
    /// Whether every variant of each of these documents has ended.
    pub whole: Vec<bool>,
    /// Samples that every plugin has ended on, of those in the header.
    pub finished_samples: usize,
    /// Whether the last line was cut off, so that what it was about is not here.
    pub is_cut: bool,
}

/// Reads a batch file, which another process may be writing. A last line that was cut off is left out.
///
/// # Errors
///
/// If it cannot be read, is no batch file, or has a line that is damaged or too long.
pub fn read(path: &Path) -> Result<Batch, BatchError> {
    let file = open_regular(path).map_err(|error| BatchError::open(path, error))?;
    let BatchFileContents { header, lines, is_cut, .. } = parse(path, BufReader::new(file))?;
    let header = header.ok_or_else(|| BatchError::header(path, "it has no whole line"))?;
    let Assembled { documents, whole, finished_samples } = documents(path, &header, lines)?;
    Ok(Batch { header, documents, whole, finished_samples, is_cut })
}

/// What a file holds.
pub(super) struct BatchFileContents {
    /// Absent where not even that was written whole.
    pub header: Option<Header>,
    /// With their numbers in the file, from 1.
    pub lines: Vec<(usize, BatchLine)>,
    /// Bytes of the whole lines.
    pub whole: u64,
    /// Whether there is something after them.
    pub is_cut: bool,
}

/// Takes the whole lines of a file apart, one at a time. `path` is for messages.
pub(super) fn parse(path: &Path, from: impl BufRead) -> Result<BatchFileContents, BatchError> {
    parse_bounded(path, from, LINE_LIMIT)
}

/// The same with lines of at most `limit` bytes.
pub(super) fn parse_bounded(path: &Path, from: impl BufRead, limit: usize) -> Result<BatchFileContents, BatchError> {
    let mut contents = BatchFileContents { header: None, lines: vec![], whole: 0, is_cut: false };
    let mut lines = BoundedLines::new(from, limit);
    for number in 1.. {
        let line = match lines.read().map_err(|error| BatchError::open(path, error))? {
            None => break,
            Some(LineRead::Unended(_)) => {
                contents.is_cut = true;
                break;
            }
            Some(LineRead::TooLong) => {
                let reason = format!("it has more than the {limit} bytes that a line of a batch may have");
                return Err(BatchError::line(path, number, &reason));
            }
            Some(LineRead::Whole(line)) => line,
        };
        contents.whole += line.len() as u64 + 1;
        if contents.header.is_none() {
            contents.header = Some(parse_header(path, line)?);
            continue;
        }
        let damaged = |error: serde_json::Error| {
            let reason = format!("it is no line of a batch: {}", one_line(&error.to_string(), 200));
            BatchError::line(path, number, &reason)
        };
        match (serde_json::from_slice(line).map_err(damaged)?, &mut contents.header) {
            (BatchLine::Device(device), Some(header)) => header.devices.push(*device),
            (line, _) => contents.lines.push((number, line)),
        }
    }
    Ok(contents)
}

fn parse_header(path: &Path, line: &[u8]) -> Result<Header, BatchError> {
    let wrong = |reason: String| BatchError::header(path, &reason);
    match schema_of(line).as_deref() {
        Some(SCHEMA | OLDER_SCHEMA) => {
            let header: Header =
                serde_json::from_slice(line).map_err(|error| wrong(format!("its first line is damaged: {error}")))?;
            Ok(Header { schema: SCHEMA.into(), ..header })
        }
        Some(other) => Err(wrong(format!("its schema is `{}`, expected `{SCHEMA}`", one_line(other, 60)))),
        None if serde_json::from_slice::<IgnoredAny>(line).is_err() => Err(wrong("its first line is no JSON".into())),
        None => Err(wrong("its first line names no schema".into())),
    }
}
