//! Why a server ends.

use passhost_queue::QueueError;
use std::io;

/// Why a server ends.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The socket or the threads behind it.
    #[error("the server cannot run: {0}")]
    Start(#[from] io::Error),
    /// What waits cannot be read or written.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// What grades has a fault.
    #[error("an evaluation panicked; report this")]
    Grader,
}
