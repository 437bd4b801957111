//! Lists of paths: the samples of a set, the graphs of a task.

use passhost_protocol::reader::SampleError;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Entries of one list: the largest published one has some ten thousand.
const ENTRIES: usize = 200_000;
/// Bytes of a list.
pub const LIST_BYTES: u64 = 32 << 20;

/// A path that a list names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry {
    /// As written, but for `.` and a slash at its end.
    pub path: PathBuf,
    /// The line of the file, from 1.
    pub line: u64,
}

/// The entries of a list in its order, each once. `file` is for messages.
pub fn entries(text: &str, file: &str) -> Result<Vec<PathBuf>, SampleError> {
    let mut seen = HashSet::new();
    let paths = all_entries(text, file)?.into_iter().map(|entry| entry.path);
    Ok(paths.filter(|path| seen.insert(path.clone())).collect())
}

/// The entries of a list in its order: one path a line with `#` comments, and a name and a tab in front of it if there
/// is one, or the column `sample_path` of a CSV file with a header. `file` is for messages.
pub fn all_entries(text: &str, file: &str) -> Result<Vec<ListEntry>, SampleError> {
    // Editors on Windows put a byte order mark in front.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let entries = match path_column(text) {
        Some(column) => column_entries(text, column, file)?,
        None => {
            let lines = text.lines().map(|line| without_name(without_comment(line))).zip(1..);
            lines.filter(|(entry, _)| !entry.is_empty()).map(|(entry, line)| ListEntry::new(entry, line)).collect()
        }
    };
    if !(1..=ENTRIES).contains(&entries.len()) {
        return Err(SampleError::Count { file: file.to_owned(), found: entries.len(), limit: ENTRIES });
    }
    Ok(entries)
}

impl ListEntry {
    fn new(entry: &str, line: u64) -> ListEntry {
        ListEntry { path: plain(Path::new(entry)), line }
    }
}

/// Whether an entry reads back from a list as it was written.
pub fn is_entry(entry: &str) -> bool {
    !entry.contains(['\n', '\r']) && !entry.is_empty() && without_comment(entry) == entry
}

/// A path without `.` in it and without a slash at its end, so that two spellings of one path are equal.
pub fn plain(path: &Path) -> PathBuf {
    let plain: PathBuf = path.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect();
    if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain }
}

/// A comment begins at the start of a line or after white space: `C#/x` is a path.
fn without_comment(line: &str) -> &str {
    let starts =
        line.char_indices().find(|&(at, c)| c == '#' && line[..at].chars().last().is_none_or(char::is_whitespace));
    starts.map_or(line, |(at, _)| &line[..at]).trim()
}

/// Published lists of graphs have a name and a tab before each path.
fn without_name(line: &str) -> &str {
    line.rsplit_once('\t').map_or(line, |(_, path)| path.trim_start())
}

/// The position of the column `sample_path`, if the first line that is no comment is a header with it.
fn path_column(text: &str) -> Option<usize> {
    let head = text.lines().find(|line| !without_comment(line).is_empty())?;
    head.split(',').position(|title| title.trim().trim_matches('"') == "sample_path")
}

fn column_entries(text: &str, column: usize, file: &str) -> Result<Vec<ListEntry>, SampleError> {
    let mut reader =
        csv::ReaderBuilder::new().comment(Some(b'#')).flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut entries = vec![];
    for record in reader.records() {
        let record =
            record.map_err(|error| SampleError::Read { file: file.to_owned(), reason: format!("no CSV: {error}") })?;
        let line = record.position().map_or(0, csv::Position::line);
        entries.extend(record.get(column).filter(|entry| !entry.is_empty()).map(|entry| ListEntry::new(entry, line)));
    }
    Ok(entries)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_one_path_a_line_or_a_column_of_a_table() {
        let cases: [(&str, &[&str]); 10] = [
            ("a/b\n# note\n\nc # why\n", &["a/b", "c"]),
            ("a\r\nb\r\n", &["a", "b"]),
            ("\u{feff}a\n", &["a"]),
            ("a\n./a\na/\nb\n", &["a", "b"]),
            ("C#/x\n", &["C#/x"]),
            ("a, b\n", &["a, b"]),
            ("# uid, path\nu1\ta/b\nu2\tc # why\n", &["a/b", "c"]),
            ("id,sample_path\n1,a\n2,b\n", &["a", "b"]),
            ("# made by hand\r\nsample_path,ops\r\n\"x, y\",3\r\n b ,4\r\n", &["x, y", "b"]),
            ("\"sample_path\"\n\"say \"\"hi\"\"\"\n", &["say \"hi\""]),
        ];
        for (text, expected) in cases {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(entries(text, "list").unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn entries_know_their_lines() {
        for (text, expected) in [("a\n# note\na\n\nb\n", vec![1, 3, 5]), ("id,sample_path\n1,a\n2,\n3,b\n", vec![2, 4])]
        {
            let lines: Vec<u64> = all_entries(text, "list").unwrap().iter().map(|entry| entry.line).collect();
            assert_eq!(lines, expected, "{text:?}");
        }
    }

    #[test]
    fn a_list_without_entries_is_refused() {
        for text in ["", "\n\n", "# nothing\n", "sample_path\n", "id,sample_path\n1\n"] {
            let error = entries(text, "list.txt").unwrap_err();
            assert!(matches!(error, SampleError::Count { found: 0, .. }), "{text:?}: {error}");
        }
    }

    #[test]
    fn an_entry_that_would_read_back_otherwise_is_known() {
        for good in ["a", "a b/c", "C#/x", "../a"] {
            assert!(is_entry(good), "{good}");
        }
        for bad in ["", " a", "a ", "#a", "a #b", "a\nb"] {
            assert!(!is_entry(bad), "{bad:?}");
        }
    }
}
