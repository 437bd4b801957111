//! Why the child gives up.

use passhost_confine::ConfineError;
use passhost_protocol::FrameError;

/// Nothing of a compiler runs when one of these is returned.
#[derive(Debug, thiserror::Error)]
pub enum WardenError {
    /// Whoever orders is gone or sent something malformed.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The process still has rights that it must not have.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// The system refuses something that every kernel supports.
    #[error("cannot set up the builder process: {0}")]
    Setup(#[from] std::io::Error),
    /// Wrong arguments.
    #[error(
        "expected no argument, `json`, or `attempt` with a stage, an attempt and a target; only passhost starts this program"
    )]
    Arguments,
}

impl From<rustix::io::Errno> for WardenError {
    fn from(errno: rustix::io::Errno) -> WardenError {
        WardenError::Setup(errno.into())
    }
}
