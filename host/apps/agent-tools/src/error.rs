//! Why a tool could not do its work.

use passhost_result::document::{Blame, Document, Failure};
use passhost_result::untrusted::one_line;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a tool could not do its work. None of it is the model's doing, and none of it is written down: it is tried again
/// when the attempt goes on.
#[derive(Debug, thiserror::Error)]
pub enum AgentToolsError {
    /// A file of the attempt cannot be read or written.
    #[error("cannot use `{path}`: {1}", path = .0.display())]
    File(PathBuf, io::Error),
    /// A command of passhost does not start.
    #[error("`{path}` does not start: {1}", path = .0.display())]
    Start(PathBuf, io::Error),
    /// The machine, the device or the installation does not do what it must.
    #[error("`passhost {command}` ends with {status}: {said}")]
    Host {
        /// Its first word.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// The last line that it printed.
        said: String,
    },
    /// An evaluation has no result, by the doing of whoever evaluates.
    #[error("no evaluation: {0}")]
    Evaluation(String),
    /// The sample cannot be used, or not be scored.
    #[error("the sample cannot be used: {0}")]
    Sample(String),
    /// Somebody asked to stop.
    #[error("stopped")]
    Stopped,
}

impl AgentToolsError {
    /// Why a result says nothing of the pass, in its own words.
    pub(crate) fn of_result(document: &Document) -> Option<AgentToolsError> {
        let Failure { blame, message, hint, .. } = document.failure.as_ref()?;
        let said = one_line(&format!("{message}; {hint}"), 800);
        match blame {
            Blame::Plugin => None,
            Blame::Sample => Some(AgentToolsError::Sample(said)),
            Blame::Host => Some(AgentToolsError::Evaluation(said)),
        }
    }

    /// That a file of an attempt cannot be used.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> AgentToolsError {
        let path = path.into();
        |source| AgentToolsError::File(path, source)
    }
}
