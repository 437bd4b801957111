//! Bytes of jobs that are in an object store.

use super::connections::Repeat;
use super::{Postgres, statements};
use crate::record::sha256;
use crate::{Lease, ObjectError, Objects, Queue as _, QueueError, Taken, TakenBatch, Ticket};
use ::postgres::Row;
use std::time::{Duration, Instant};

/// Bytes from which on a submission or an outcome is stored, where there is a store.
pub const LEAST: usize = 64 << 10;
/// Bytes of an outcome that is read out of it, at most: its worker says how many there are.
const MOST: u64 = 64 << 20;
/// How long bytes may take out of it, and what is removed.
const FROM_STORE: Duration = Duration::from_secs(30);

/// Why a result does not count whose bytes cannot be read, unless that is the store's or this server's trouble.
pub fn why_it_does_not_count(error: &ObjectError) -> Option<&'static str> {
    match error {
        ObjectError::Missing(_) | ObjectError::Changed(_) => {
            Some("its result is not in the object store as it was delivered")
        }
        ObjectError::NoStore(_) => Some("its result is in an object store, and the server that judges it has none"),
        _ => None,
    }
}

/// Until when bytes may take into the store: far less than the hour for which nobody removes them.
pub fn put_until() -> Instant {
    Instant::now() + Duration::from_secs(90)
}

impl Postgres {
    /// Keeps submissions and outcomes of 64 KiB and more in a store. All who use the queue need the same one.
    #[must_use]
    pub fn with_objects(self, objects: Objects) -> Postgres {
        Postgres { objects: Some(objects), ..self }
    }

    fn object(&self, hash: &str, limit: u64, until: Instant) -> Result<Vec<u8>, ObjectError> {
        let objects = self.objects.as_ref().ok_or_else(|| ObjectError::NoStore(hash.to_owned()))?;
        objects.get(hash, limit, until)
    }

    /// Jobs that were claimed, with their bytes. Those whose bytes are damaged come to nothing. Those whose bytes the store has not
    /// are given up, and tried by another host. While the store is away all of them wait again.
    pub(super) fn arrived(&self, claimed: Vec<Row>, lease: Duration) -> Result<TakenBatch, QueueError> {
        let (mut batch, mut away, until) = (TakenBatch::default(), None, Instant::now() + (lease / 2).min(FROM_STORE));
        let mut object: (Option<String>, Option<Vec<u8>>) = (None, None);
        for row in claimed {
            let (ticket, attempt) = (Ticket(row.try_get(0)?), row.try_get::<_, i32>(1)?);
            let (head, client, hash): (Vec<u8>, String, Option<String>) =
                (row.try_get(3)?, row.try_get(4)?, row.try_get(5)?);
            let lease = Lease { ticket: ticket.clone(), attempt: attempt.unsigned_abs() };
            if away.is_some() {
                let _ = self.give_back(&lease);
                continue;
            }
            // Bytes come with the first of the jobs that follow each other and have them, or are stored.
            if object.0 != hash {
                object = (hash.clone(), row.try_get(6)?);
            }
            if let (Some(hash), None) = &object {
                match self.object(hash, self.limits.payload as u64, until) {
                    Ok(bytes) => object.1 = Some(bytes),
                    Err(error) if error.is_passing() => {
                        let _ = self.give_back(&lease);
                        away = Some(error);
                        continue;
                    }
                    Err(error) => {
                        let why = error.to_string();
                        if self.begin(&lease).and_then(|()| self.give_up(&lease, &why, b"")).is_ok() {
                            batch.left.push((ticket, why));
                        }
                        continue;
                    }
                }
            }
            let payload = object.1.as_ref().map(|bytes| [head.as_slice(), bytes].concat());
            match payload.filter(|payload| row.try_get(2).is_ok_and(|hash: &str| sha256(payload) == hash)) {
                Some(payload) => {
                    let draws = match client.as_str() {
                        statements::RERUN => self.query(statements::DRAWS, &[&ticket.as_str(), &attempt])?,
                        _ => vec![],
                    };
                    let draws = draws.first().map_or(Ok(None), |row| row.try_get(0))?;
                    batch.jobs.push(Taken { lease, client, payload, draws });
                }
                // What cannot be noted now is found again when the lease is over.
                None => {
                    if self.query(statements::DAMAGED, &[&ticket.as_str(), &attempt]).is_ok() {
                        batch.lost.push(ticket);
                    }
                }
            }
        }
        match away {
            Some(error) if batch == TakenBatch::default() => Err(error.into()),
            _ => Ok(batch),
        }
    }

    /// What came of a job.
    pub(super) fn stored_outcome(&self, hash: &str, size: u64) -> Result<Vec<u8>, ObjectError> {
        self.object(hash, size.min(MOST), Instant::now() + FROM_STORE)
    }

    /// Removes objects that nobody refers to, and nobody stored in the last hour. Their rows go in the same transaction: who stores
    /// one of them again waits for its end, and then stores it.
    pub(super) fn forget_stored(&self) -> Result<(), QueueError> {
        let Some(objects) = &self.objects else { return Ok(()) };
        loop {
            let until = Instant::now() + FROM_STORE;
            let removed = self.connections.run(Repeat::Safe, |connection, _| {
                connection.transaction(|connection| {
                    let rows = connection.query(statements::FORGET_STORED, &[])?;
                    rows.iter().try_for_each(|row| Ok::<_, QueueError>(objects.remove(row.try_get(0)?, until)?))?;
                    Ok(rows.len())
                })
            })?;
            if removed == 0 {
                return Ok(());
            }
        }
    }
}
