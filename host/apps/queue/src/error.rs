//! Why a queue does not do what was asked.

use crate::{ObjectError, Ticket};
use std::path::PathBuf;

/// Why a queue does not do what was asked. Nothing has changed then, except that nobody knows after
/// [`QueueError::Unreachable`] and [`QueueError::Unanswered`].
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// So many jobs wait already.
    #[error("{0} jobs wait already, which is all that there is room for; try again later")]
    Full(u64),
    /// So many jobs of this client wait already.
    #[error("{0} jobs of this client wait already, which is its limit; wait for some of them")]
    ClientFull(u64),
    /// The client has so many bytes in the queue already.
    #[error(
        "the jobs and results of this client have {held} bytes, and this job needs {more}; {limit} is its limit: have results removed that you have read, or wait until they are not kept any more"
    )]
    ClientBytes {
        /// Bytes that it has.
        held: u64,
        /// Bytes of the job.
        more: u64,
        /// As many as it may have.
        limit: u64,
    },
    /// A text is too long, or not there.
    #[error("the {what} has {found} bytes; expected 1 to {limit}")]
    Length {
        /// Which.
        what: &'static str,
        /// Its bytes.
        found: usize,
        /// As many as it may have.
        limit: usize,
    },
    /// The client gave a key twice for different jobs.
    #[error("this key was given before, with another job ({0}); give each job a key of its own")]
    KeyReused(Ticket),
    /// Somebody else has the job, or it has ended.
    #[error(
        "the job {0} is not held under this lease any more: it ended, or took too long and was given to another worker"
    )]
    Stale(Ticket),
    /// Another process has the file.
    #[error("another process has the queue `{}` open", .0.display())]
    InUse(PathBuf),
    /// The file cannot be opened.
    #[error(
        "cannot open the queue `{}`: {source}; name a directory of a server, or a new one. A damaged file is restored, or moved away: its jobs are then told as lost", path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// What the database said.
        source: Box<redb::Error>,
    },
    /// The file cannot be read or written.
    #[error("the queue cannot be read or written: {0}")]
    Storage(Box<redb::Error>),
    /// The disk has no room.
    #[error("the disk of the queue `{}` has no room; free some of it, and the queue goes on", .0.display())]
    Room(PathBuf),
    /// The file is not there any more, or is another or a shorter one.
    #[error(
        "the queue `{}` was removed, replaced or shortened while it was open; restore it, or start anew: its jobs are then told as lost", .0.display()
    )]
    Gone(PathBuf),
    /// A job was to be taken, and is damaged.
    #[error("the job {0} is damaged on the disk, and lost")]
    Lost(Ticket),
    /// The bytes of a job that was to be taken are not those that were submitted, and the job was given up: why.
    #[error("the job {0} is left to another host: {1}")]
    Left(Ticket, String),
    /// Bytes do not come from the object store, or do not get there.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A record is not one.
    #[error("the queue holds a record that is damaged, or that this version does not read")]
    Record,
    /// Tables contradict each other.
    #[error("the queue is damaged: {0}; restore its file, or move it away: its jobs are then told as lost")]
    Damaged(&'static str),
    /// The database refuses an operation.
    #[error("PostgreSQL: {}", described(.0))]
    Database(#[from] postgres::Error),
    /// The database does not answer. What was asked may have been done before.
    #[error("PostgreSQL does not answer: {}; start it, or check the address", described(.0))]
    Unreachable(#[source] postgres::Error),
    /// Other operations have all connections to the database.
    #[error("PostgreSQL does not answer other operations, which have all connections; try again later")]
    Busy,
    /// The connection broke before the answer, and the operation is none that may be done twice.
    #[error("the connection to PostgreSQL broke before it answered whether {0}: look, and ask again")]
    Unanswered(&'static str),
    /// A mode of TLS that would not notice a stranger in the server's place.
    #[error("sslmode is `{0}`; expected `disable`, or `verify-full`, without which `sslrootcert` is not read")]
    SslMode(String),
    /// No certificates of authorities.
    #[error("cannot read certificates of authorities: sslrootcert={file}: {why}; expected a file of PEM, or `system`")]
    Certificates {
        /// The file.
        file: String,
        /// Why not.
        why: String,
    },
    /// The database is too old.
    #[error("the database is PostgreSQL {found}; expected {oldest} or newer")]
    DatabaseVersion {
        /// Its version.
        found: i32,
        /// The oldest one that will do.
        oldest: i32,
    },
    /// The tables are those of a newer program.
    #[error("the queue in the database has version {found}, and this program knows {known}; use a newer one")]
    Schema {
        /// The version of the tables.
        found: i32,
        /// The newest version that this program knows.
        known: i32,
    },
    /// A text has a character that the database cannot store.
    #[error("the {0} has a NUL character; PostgreSQL stores none")]
    Nul(&'static str),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes for a ticket: {0}")]
    Random(#[from] getrandom::Error),
}

impl QueueError {
    /// Whether the same may be done when the disk has room, or the database or the object store answers.
    pub fn is_passing(&self) -> bool {
        match self {
            QueueError::Room(_) | QueueError::Unreachable(_) | QueueError::Busy => true,
            QueueError::Object(error) => error.is_passing(),
            // It has no room on its disk or in its memory.
            QueueError::Database(error) => error.code().is_some_and(|code| code.code().starts_with("53")),
            _ => false,
        }
    }
}

/// An error of the database with its cause and code, which its text leaves out.
fn described(error: &postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(error), _) => format!("{error} ({})", error.code().code()),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}

macro_rules! storage {
    ($($error:ident),*) => {
        $(impl From<redb::$error> for QueueError {
            fn from(error: redb::$error) -> QueueError {
                QueueError::Storage(Box::new(error.into()))
            }
        })*
    };
}

storage!(TransactionError, TableError, StorageError, CommitError);
