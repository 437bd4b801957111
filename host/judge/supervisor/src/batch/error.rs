//! Why a batch file cannot be used.

use std::io;
use std::path::PathBuf;

/// Why a batch file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// It cannot be opened, read or locked.
    #[error("cannot use `{}` as a batch file: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A directory, a pipe or a device: nothing there can be synced, read back and cut.
    #[error("`{}` is no regular file; a batch is kept in one (--out FILE)", .0.display())]
    NotRegular(PathBuf),
    /// Another batch writes it.
    #[error("`{}` is being written by another batch; wait for its end, or keep this one in another file (--out FILE)", .0.display())]
    InUse(PathBuf),
    /// It holds something, and nobody asked to go on with it.
    #[error(
        "`{}` is not empty; --resume goes on with the batch in it, --out FILE begins another one, or remove it",
        .0.display()
    )]
    NotEmpty(PathBuf),
    /// The batch in it was begun with something else.
    #[error(
        "`{}` cannot be resumed: {item} was {recorded} and is {now}; go on with what it was begun with, or begin another batch (--out FILE)",
        path.display()
    )]
    Differs {
        /// The file.
        path: PathBuf,
        /// What differs, as the header names it.
        item: String,
        /// What the file says.
        recorded: String,
        /// What was asked for now.
        now: String,
    },
    /// The first line is no header of a batch.
    #[error("`{}` is no batch file: {reason}; `passhost bench` writes them", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A line that is not the last one is damaged.
    #[error("`{}`, line {line}: {reason}; take the line out, and what it was about is measured again with --resume", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A line is longer than any that a batch writes.
    #[error(
        "`{}`, line {line}: it has more than the {limit} bytes that a line of a batch may have; take the line out, and what it was \
         about is measured again with --resume",
        path.display()
    )]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Which, from 1.
        line: usize,
        /// Bytes that a line may have.
        limit: usize,
    },
    /// A line would be longer than any that is read again.
    #[error("a line of {bytes} bytes is not written to `{}`: a line of a batch may have {limit}; this is a bug of passhost", path.display())]
    TooLongToWrite {
        /// The file.
        path: PathBuf,
        /// What the line has.
        bytes: usize,
        /// Bytes that a line may have.
        limit: usize,
    },
    /// A line could not be added.
    #[error("cannot write to `{}`: {source}; what was written before is kept, and --resume goes on once there is room", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A value has no JSON form.
    #[error("a line of a batch has no JSON form: {0}; this is a bug of passhost")]
    Form(serde_json::Error),
}

impl BatchError {
    /// Whether the machine is why, and not what was asked for.
    pub fn is_hosts(&self) -> bool {
        matches!(self, BatchError::Write { .. } | BatchError::TooLongToWrite { .. } | BatchError::Form(_))
    }
}
