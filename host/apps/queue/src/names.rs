//! The name of a queue, which its file has and a small file beside it: whoever opens an emptied file, or none, knows from the
//! other what is gone. Tickets begin with it, so that each tells which queue it was given in.

use crate::store::synced_directory;
use crate::{QueueError, Ticket, random_hexadecimal};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Hexadecimal digits of a name.
const DIGITS: usize = 8;
/// Names of queues that are gone, of which the last are kept.
const FORMER: usize = 100;

/// The name of a queue, and those of queues that were in its place and are gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueNames {
    pub queue: String,
    #[serde(default)]
    former: Vec<String>,
}

/// Where the names of a queue are.
pub fn beside(queue: &Path) -> PathBuf {
    let mut path = OsString::from(queue);
    path.push(".name");
    path.into()
}

impl QueueNames {
    pub fn random() -> Result<QueueNames, QueueError> {
        Ok(QueueNames { queue: random_hexadecimal::<{ DIGITS / 2 }>()?, former: vec![] })
    }

    /// A new name after one that is gone.
    pub fn after(self) -> Result<QueueNames, QueueError> {
        Ok(self.replaced(QueueNames::random()?.queue))
    }

    /// With the name of the queue that is there in place of that which was.
    pub fn replaced(self, queue: String) -> QueueNames {
        let all = self.former.into_iter().chain([self.queue]).filter(|name| *name != queue && !name.is_empty());
        let mut former: Vec<String> = all.collect();
        let more = former.len().saturating_sub(FORMER);
        former.drain(..more);
        QueueNames { queue, former }
    }

    /// Whether a ticket was given in a queue that is gone.
    pub fn is_former(&self, ticket: &Ticket) -> bool {
        ticket.as_str().get(..DIGITS).is_some_and(|name| self.former.iter().any(|former| former == name))
    }

    /// Those in a file, if it is there. What cannot be read is a name that nobody knows.
    pub fn read(path: &Path) -> Result<Option<QueueNames>, QueueError> {
        match std::fs::read(path) {
            Ok(bytes) => {
                let unknown = |_| QueueNames { queue: String::new(), former: vec![] };
                Ok(Some(serde_json::from_slice(&bytes).unwrap_or_else(unknown)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(path, error)),
        }
    }

    /// Writes them, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), QueueError> {
        let write = || -> io::Result<()> {
            let mut new = OsString::from(path);
            new.push(".new");
            let mut options = OpenOptions::new();
            let mut file: File = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            file.write_all(&serde_json::to_vec(self)?)?;
            file.sync_all()?;
            std::fs::rename(&new, path)?;
            synced_directory(path)
        };
        write().map_err(|error| failed(path, error))
    }
}

fn failed(path: &Path, error: io::Error) -> QueueError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => QueueError::Room(path.into()),
        _ => QueueError::Open { path: path.into(), source: Box::new(error.into()) },
    }
}
