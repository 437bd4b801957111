//! A sample as one text file: its files behind their paths, each text once.
//!
//! ```text
//! passhost task 1
//! file graph_list.txt
//! lines 2
//! graphs/a
//! graphs/b
//! file graphs/a/model.py
//! file graphs/b/model.py
//! lines 40
//! (40 lines, which both files hold)
//! file graphs/a/graph_hash.txt
//! lines 1 unended
//! (a line that no line feed ends in the file itself)
//! end
//! ```

use crate::text::{FILE_BYTES, SAMPLE_BYTES, open_text};
use passhost_protocol::open_regular;
use passhost_protocol::reader::{SampleError, SourceLocation};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

/// What the first line of every version begins with.
const MAGIC: &str = "passhost task ";
/// The version that is read and written.
const VERSION: &str = "1";
/// Files of one sample. The largest task of PassNet has 396 graphs of six files.
const FILES: usize = 50_000;
/// Bytes of a path within a sample.
const PATH_BYTES: usize = 1024;

/// The files of a packed sample.
#[derive(Debug)]
pub struct Packed {
    text: String,
    /// Where the text of each file is.
    files: BTreeMap<String, Range<usize>>,
}

/// Whether a file begins as a packed sample does, of whatever version.
pub fn is_packed(path: &Path) -> bool {
    let mut start = vec![];
    let read = open_regular(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    read.is_ok() && start == MAGIC.as_bytes()
}

impl Packed {
    /// Reads a packed sample.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is malformed, or larger than a sample may be.
    pub fn open(path: &Path) -> Result<Packed, SampleError> {
        Packed::parse(open_text(path, SAMPLE_BYTES)?, &path.display().to_string())
    }

    /// The text of a packed sample with these files, by their paths. `file` is for messages.
    ///
    /// # Errors
    ///
    /// If no packed sample can hold them.
    pub fn pack(files: &BTreeMap<String, String>, file: &str) -> Result<String, SampleError> {
        // One with a line feed would be read as further lines.
        if let Some(path) = files.keys().find(|path| !is_path(path)) {
            let reason = format!("{} is no name that a packed sample can hold", shown(path));
            return Err(SampleError::Read { file: file.to_owned(), reason });
        }
        let mut by_text: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        files.iter().for_each(|(path, text)| by_text.entry(text).or_default().push(path));
        let mut texts: Vec<(Vec<&str>, &str)> = by_text.into_iter().map(|(text, paths)| (paths, text)).collect();
        texts.sort();
        let mut packed = format!("{MAGIC}{VERSION}\n");
        for (paths, text) in texts {
            paths.iter().for_each(|path| packed.push_str(&format!("file {path}\n")));
            let unended = !text.is_empty() && !text.ends_with('\n');
            let lines = text.matches('\n').count() + usize::from(unended);
            let [unended, end] = if unended { [" unended", "\n"] } else { [""; 2] };
            packed.push_str(&format!("lines {lines}{unended}\n{text}{end}"));
        }
        packed.push_str("end\n");
        // Whoever reads it knows the other limits.
        Packed::parse(packed, file).map(|packed| packed.text)
    }

    fn parse(text: String, file: &str) -> Result<Packed, SampleError> {
        let files = PackedLines { text: &text, file, at: 0, line: 0 }.files()?;
        Ok(Packed { text, files })
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|range| &self.text[range.clone()])
    }

    /// The paths of all files with their texts, sorted.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, range)| (path.as_str(), &self.text[range.clone()]))
    }
}

/// The lines of a packed sample as they are read. Nothing is allocated by a number that stands in it.
struct PackedLines<'t> {
    text: &'t str,
    /// For messages.
    file: &'t str,
    /// Where the next line begins.
    at: usize,
    /// The number of the last line.
    line: usize,
}

impl<'t> PackedLines<'t> {
    fn files(mut self) -> Result<BTreeMap<String, Range<usize>>, SampleError> {
        let first = self.next("the first line")?;
        if first.strip_prefix(MAGIC) != Some(VERSION) {
            return Err(self.expected(&format!("`{MAGIC}{VERSION}`, which this version of passhost reads"), first));
        }
        let mut files = BTreeMap::new();
        let mut room = SAMPLE_BYTES;
        loop {
            let mut paths = vec![];
            let head = loop {
                let line = self.next("`end`")?;
                let Some(path) = line.strip_prefix("file ") else { break line };
                self.check(path, &files)?;
                if files.insert(path.to_owned(), 0..0).is_some() {
                    return Err(self.wrong(&format!("a second file {}", shown(path))));
                }
                if files.len() > FILES {
                    return Err(self.wrong(&format!("more than the {FILES} files that are read")));
                }
                paths.push(path);
            };
            if paths.is_empty() && head == "end" {
                break;
            }
            let Some(path) = paths.first() else { return Err(self.expected("`file PATH` or `end`", head)) };
            let text = self.text(path, head)?;
            for path in paths {
                let bytes = text.len() as u64;
                room = room.checked_sub(bytes).ok_or_else(|| self.too_large(self.file.to_owned(), SAMPLE_BYTES))?;
                files.insert(path.to_owned(), text.clone());
            }
        }
        if self.at < self.text.len() {
            self.line += 1;
            return Err(self.wrong("something behind `end`"));
        }
        Ok(files)
    }

    /// The lines that `head` announces as the text of the file at `path`.
    fn text(&mut self, path: &str, head: &str) -> Result<Range<usize>, SampleError> {
        let count = head.strip_prefix("lines ").map(|count| (count.strip_suffix(" unended"), count));
        let (unended, count) = match count {
            Some((Some(count), _)) => (true, count.parse::<usize>()),
            Some((None, count)) => (false, count.parse()),
            None => return Err(self.expected("`file PATH`, or `lines N` with the text of the files above", head)),
        };
        let Ok(count) = count else { return Err(self.expected("`lines N` or `lines N unended`", head)) };
        let (start, mut last) = (self.at, "");
        for number in 1..=count {
            last = self.next(&format!("line {number} of the {count} of {}", shown(path)))?;
        }
        if unended && last.is_empty() {
            return Err(self.expected("a last line that is not empty, as no line feed ends it", last));
        }
        let text = start..self.at - usize::from(unended);
        if text.len() as u64 > FILE_BYTES {
            return Err(self.too_large(format!("{}/{path}", self.file), FILE_BYTES));
        }
        Ok(text)
    }

    /// The next line, without the line feed that must end it.
    fn next(&mut self, what: &str) -> Result<&'t str, SampleError> {
        self.line += 1;
        let rest = &self.text[self.at..];
        let end = rest.find('\n').ok_or_else(|| self.wrong(&format!("the file ends where {what} is expected")))?;
        self.at += end + 1;
        Ok(&rest[..end])
    }

    /// Refuses a path that is no file's below a directory, and one below or above a file that is known.
    fn check(&self, path: &str, files: &BTreeMap<String, Range<usize>>) -> Result<(), SampleError> {
        if !is_path(path) {
            let plain = format!("a path within the sample, of at most {PATH_BYTES} bytes and without `..`");
            return Err(self.expected(&plain, path));
        }
        let below = format!("{path}/");
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        let is_above = files.range(below.clone()..).next().is_some_and(|(other, _)| other.starts_with(&below));
        if is_above || above.any(|above| files.contains_key(above)) {
            return Err(self.wrong(&format!("{} beside a file that is a directory of it or lies in it", shown(path))));
        }
        Ok(())
    }

    fn expected(&self, what: &str, found: &str) -> SampleError {
        self.wrong(&format!("expected {what}, found {}", shown(found)))
    }

    fn wrong(&self, what: &str) -> SampleError {
        let place = SourceLocation { file: self.file.to_owned(), line: self.line, column: 1 };
        let remedy = "if it was edited, count the lines of the text above anew; if not, copy the packed sample again";
        SampleError::Syntax { place, message: format!("{what}; {remedy}") }
    }

    fn too_large(&self, file: String, limit: u64) -> SampleError {
        SampleError::TooLarge { file, limit }
    }
}

/// Whether a path is that of a file within a sample.
fn is_path(path: &str) -> bool {
    let is_plain = path.split('/').all(|part| !["", ".", ".."].contains(&part));
    is_plain && !path.contains(char::is_control) && path.len() <= PATH_BYTES
}

/// The beginning of a text, for a message.
fn shown(text: &str) -> String {
    format!("{:?}", text.chars().take(80).collect::<String>())
}

#[cfg(test)]
mod tests;
