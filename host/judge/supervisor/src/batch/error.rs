//! Why a batch file cannot be used.

use std::fmt::Display;
use std::path::Path;

/// Why a batch file cannot be used, with the way out.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct BatchError {
    message: String,
    is_hosts: bool,
}

impl BatchError {
    /// Whether the machine is why, and not what was asked for.
    pub fn is_hosts(&self) -> bool {
        self.is_hosts
    }

    /// What was asked for is why.
    pub(super) fn asked(message: String) -> BatchError {
        BatchError { message, is_hosts: false }
    }

    /// The machine is why, or a bug.
    pub(super) fn hosts(message: String) -> BatchError {
        BatchError { message, is_hosts: true }
    }

    /// It cannot be opened, read or locked.
    pub(super) fn open(path: &Path, error: impl Display) -> BatchError {
        BatchError::asked(format!("cannot use `{}` as a batch file: {error}", path.display()))
    }

    /// The first line is no header of a batch.
    pub(super) fn header(path: &Path, reason: &str) -> BatchError {
        BatchError::asked(format!("`{}` is no batch file: {reason}; `passhost bench` writes them", path.display()))
    }

    /// A line that is not the last one is damaged, or longer than any that a batch writes.
    pub(super) fn line(path: &Path, line: usize, reason: &str) -> BatchError {
        let way_out = "take the line out, and what it was about is measured again with --resume";
        BatchError::asked(format!("`{}`, line {line}: {reason}; {way_out}", path.display()))
    }
}
