//! What a queue has room for.

use crate::{NewJob, QueueError};

/// Bytes that a job counts besides its own and those of what came of it: what is kept of it in all tables is less.
pub const JOB: u64 = 2048;

/// What a queue has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Jobs that wait, of all clients.
    pub waiting: u64,
    /// Jobs that wait, of one client.
    pub waiting_of_client: u64,
    /// Bytes of one client: its jobs that have not ended, what came of the others, and [`JOB`] for each.
    pub bytes_of_client: u64,
    /// Jobs that run, of one client: so many workers can one client have at once.
    pub running_of_client: u64,
    /// Bytes of a job.
    pub payload: usize,
    /// Bytes of a client's name, and of a key.
    pub name: usize,
    /// How many workers of one host may be gone after they began a job and before its end, until it is the reason for that, and
    /// lost.
    pub attempts: u32,
    /// On how many hosts a job may be lost, until nobody tries it again.
    pub hosts: u32,
}

impl Default for QueueLimits {
    fn default() -> QueueLimits {
        QueueLimits {
            waiting: 10_000,
            waiting_of_client: 1_000,
            bytes_of_client: 8 << 30,
            running_of_client: 64,
            payload: 40 << 20,
            name: 256,
            attempts: 3,
            hosts: 3,
        }
    }
}

impl QueueLimits {
    /// Refuses a submission with a text that is too long, or empty.
    pub(crate) fn check_lengths(&self, client: &str, key: Option<&str>, job: &NewJob<'_>) -> Result<(), QueueError> {
        check_length("client's name", client.len(), self.name)?;
        key.map_or(Ok(()), |key| check_length("key", key.len(), self.name))?;
        check_length("job", job.head.len() + job.bytes.len(), self.payload)
    }

    /// Refuses a submission when so many jobs wait, of all clients and of its own, and its own has so many bytes.
    pub(crate) fn check_room(&self, all: u64, own: u64, held: u64, payload: &[u8]) -> Result<(), QueueError> {
        if own >= self.waiting_of_client {
            return Err(QueueError::ClientFull(own));
        }
        if all >= self.waiting {
            return Err(QueueError::Full(all));
        }
        let (more, limit) = (payload.len() as u64 + JOB, self.bytes_of_client);
        if held.saturating_add(more) > limit {
            return Err(QueueError::ClientBytes { held, more, limit });
        }
        Ok(())
    }
}

fn check_length(what: &'static str, found: usize, limit: usize) -> Result<(), QueueError> {
    if (1..=limit).contains(&found) { Ok(()) } else { Err(QueueError::Length { what, found, limit }) }
}
