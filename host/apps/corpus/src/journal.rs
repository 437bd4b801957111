//! What a check has finished, kept in a file line by line: an interrupted check goes on where it stopped.

use crate::CorpusError;
use crate::outcome::{GraphReport, SampleReport};
use passhost_child::LockedFile;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::HashMap;
use std::fs::{OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

/// Bytes of one line that are read: a task with thousands of graphs has a few hundred thousand.
const LINE_BYTES: u64 = 64 << 20;

/// What earlier runs finished, by the hash of the sample's files.
pub type Finished<T> = HashMap<String, Vec<GraphReport<T>>>;

/// The file, open for adding to it.
pub struct Journal<Settings> {
    file: LockedFile,
    settings: Settings,
}

/// One line.
#[derive(Serialize, Deserialize)]
struct Line<Settings, Report> {
    /// What was asked for; a line counts only where that is the same.
    settings: Settings,
    #[serde(flatten)]
    report: Report,
}

impl<Settings: Serialize + DeserializeOwned + PartialEq> Journal<Settings> {
    /// Opens or creates the file, and reads what was finished with the same settings and is to be kept.
    ///
    /// A line that cannot be read counts for nothing: the last one may be cut short.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or another check has it.
    pub fn open<T: DeserializeOwned>(
        path: &Path,
        settings: Settings,
        keep: impl Fn(&SampleReport<T>) -> bool,
    ) -> Result<(Journal<Settings>, Finished<T>), CorpusError> {
        let failed = |source| CorpusError::Journal { path: path.into(), source };
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        let file = LockedFile::try_new(file).map_err(|error| match error {
            TryLockError::WouldBlock => CorpusError::JournalInUse { path: path.into() },
            TryLockError::Error(error) => failed(error),
        })?;
        let mut finished = HashMap::new();
        let mut reader = BufReader::new(&*file);
        let mut line = vec![];
        let mut whole = true;
        while reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line).map_err(failed)? > 0 {
            whole = line.ends_with(b"\n");
            let read: Result<Line<Settings, SampleReport<T>>, _> = serde_json::from_slice(&line);
            if let Ok(Line { settings: those, report }) = read
                && those == settings
                && keep(&report)
                && let Some(sha256) = report.sha256
            {
                finished.insert(sha256, report.graphs);
            }
            line.clear();
        }
        if !whole {
            (&*file).write_all(b"\n").map_err(failed)?;
        }
        Ok((Journal { file, settings }, finished))
    }

    /// Adds a finished sample, in one piece.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn add<T: Serialize>(&mut self, report: &SampleReport<T>) -> Result<(), CorpusError> {
        let line = serde_json::to_string(&Line { settings: &self.settings, report })?;
        (&*self.file).write_all(format!("{line}\n").as_bytes()).map_err(CorpusError::JournalLine)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::outcome::Outcome;

    fn report(sha256: &str, outcome: Outcome) -> SampleReport<u32> {
        let graph = GraphReport { variant: "a/b".into(), outcome, what: None, place: None, found: Some(7) };
        SampleReport { sample: "x".into(), sha256: Some(sha256.into()), graphs: vec![graph], known: false }
    }

    fn open(path: &Path, settings: u32) -> Result<(Journal<u32>, Finished<u32>), CorpusError> {
        Journal::open(path, settings, SampleReport::is_whole)
    }

    fn add(journal: &mut Journal<u32>, sha256: &str, outcome: Outcome) {
        journal.add(&report(sha256, outcome)).unwrap();
    }

    #[test]
    fn what_was_finished_with_the_same_settings_is_known_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let (mut journal, finished) = open(&path, 1).unwrap();
        assert!(finished.is_empty());
        add(&mut journal, "one", Outcome::Ok);
        add(&mut journal, "two", Outcome::Crashed);
        assert!(open(&path, 1).is_err(), "it is in use");
        drop(journal);
        assert_eq!(open(&path, 1).unwrap().1, HashMap::from([("one".into(), report("one", Outcome::Ok).graphs)]));
        assert!(open(&path, 2).unwrap().1.is_empty());
    }

    #[test]
    fn a_line_cut_short_is_left_out_and_the_next_one_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        add(&mut open(&path, 1).unwrap().0, "one", Outcome::Ok);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{}", &text[..text.len() / 2])).unwrap();
        add(&mut open(&path, 1).unwrap().0, "two", Outcome::Ok);
        let mut finished: Vec<String> = open(&path, 1).unwrap().1.into_keys().collect();
        finished.sort();
        assert_eq!(finished, ["one", "two"]);
    }
}
