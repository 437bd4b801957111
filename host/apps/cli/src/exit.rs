//! How a command ends.

use passhost_corpus::CorpusError;
use passhost_result::document::{Blame, Failure};
use passhost_supervisor::OpenError;
use passhost_supervisor::batch::BatchError;
use std::process::ExitCode;

/// How the command ended, as documented for the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0.
    Success,
    /// 1: the plugin is to blame, or a threshold was missed.
    Plugin,
    /// 2: wrong usage, or the sample is to blame.
    Usage,
    /// 3: the host or the device is to blame.
    Host,
    /// 4: a result says otherwise than it must.
    Differs,
    /// 128 and its number: the signal that ended the command.
    Interrupted(u8),
}

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Plugin => 1,
            Exit::Usage => 2,
            Exit::Host => 3,
            Exit::Differs => 4,
            Exit::Interrupted(signal) => 128 + signal,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// A failure of the whole command.
#[derive(Debug)]
pub struct Stop {
    pub exit: Exit,
    pub error: anyhow::Error,
}

impl Stop {
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Stop {
        Stop { exit, error: error.into() }
    }

    pub fn host(message: impl std::fmt::Display) -> Stop {
        Stop { exit: Exit::Host, error: anyhow::anyhow!("{message}") }
    }

    pub fn plugin(message: impl std::fmt::Display) -> Stop {
        Stop { exit: Exit::Plugin, error: anyhow::anyhow!("{message}") }
    }

    pub fn usage(message: impl std::fmt::Display) -> Stop {
        Stop { exit: Exit::Usage, error: anyhow::anyhow!("{message}") }
    }
}

/// Ends the command where something went wrong.
pub trait OrStop<T> {
    /// The value, or the end of the command with this exit code.
    fn or_stop(self, exit: Exit) -> Result<T, Stop>;
}

impl<T, E: Into<anyhow::Error>> OrStop<T> for Result<T, E> {
    fn or_stop(self, exit: Exit) -> Result<T, Stop> {
        self.map_err(|error| Stop::new(exit, error))
    }
}

impl From<BatchError> for Stop {
    fn from(error: BatchError) -> Stop {
        Stop::new(if error.is_hosts() { Exit::Host } else { Exit::Usage }, error)
    }
}

impl From<OpenError> for Stop {
    fn from(error: OpenError) -> Stop {
        match error {
            OpenError::Sample(error) => Stop::new(Exit::Usage, error),
            OpenError::Reader(error) => Stop::new(Exit::Host, error),
        }
    }
}

impl Stop {
    /// What a failure says, behind what it is about.
    pub fn of(failure: &Failure, about: impl std::fmt::Display) -> Stop {
        let exit = match failure.blame {
            Blame::Plugin => Exit::Plugin,
            Blame::Sample => Exit::Usage,
            Blame::Host => Exit::Host,
        };
        Stop { exit, error: anyhow::anyhow!("{about}{}; {}", failure.message, failure.hint) }
    }
}

impl From<&Failure> for Stop {
    fn from(failure: &Failure) -> Stop {
        Stop::of(failure, "")
    }
}

impl From<CorpusError> for Stop {
    fn from(error: CorpusError) -> Stop {
        Stop::new(if error.is_hosts() { Exit::Host } else { Exit::Usage }, error)
    }
}
