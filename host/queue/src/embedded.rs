//! A queue in a file, for the workers of one process.

use crate::record::{Line, Record, sha256};
use crate::tables::{BYTES, ENDED, JOBS, LINES, Number, OUTCOMES, RUNNING, Tables, WAITING};
use crate::{Counts, JOB, Lease, Limits, Queue, QueueError, Share, State, Status, Taken, Ticket};
use redb::{Database, DatabaseError, ReadTransaction, ReadableDatabase as _, ReadableTableMetadata as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of the file that are kept in memory.
const CACHE: usize = 32 << 20;

/// A queue in a file. One process has it open at a time; each change is on the disk when its call returns.
///
/// ```
/// use passhost_queue::{Embedded, Limits, Queue, State};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let queue = Embedded::open(&directory.path().join("jobs"), Limits::default())?;
/// let ticket = queue.submit("somebody", None, b"6 * 7")?;
/// let job = queue.take(Duration::from_secs(60))?.ok_or("nothing waits")?;
/// queue.finish(&job.lease, b"42")?;
/// let status = queue.look("somebody", &ticket)?.ok_or("no such job")?;
/// assert_eq!((status.state, status.outcome), (State::Finished, Some(b"42".to_vec())));
/// assert!(queue.look("somebody else", &ticket)?.is_none());
/// # Ok(())
/// # }
/// ```
pub struct Embedded {
    database: Database,
    limits: Limits,
    clock: fn() -> u64,
}

/// Milliseconds since 1970.
fn now_ms() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    milliseconds(elapsed)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Embedded {
    /// Opens the queue in a file, or makes one. Jobs that ran when its last process ended wait again.
    ///
    /// # Errors
    ///
    /// If another process has it open, or the file is no queue or cannot be written.
    pub fn open(path: &Path, limits: Limits) -> Result<Embedded, QueueError> {
        Embedded::open_at(path, limits, now_ms)
    }

    /// As [`Embedded::open`], with a clock of its own: milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn open_at(path: &Path, limits: Limits, clock: fn() -> u64) -> Result<Embedded, QueueError> {
        let database = Database::builder().set_cache_size(CACHE).create(path).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => QueueError::InUse { path: path.into() },
            error => QueueError::Open { path: path.into(), source: Box::new(error.into()) },
        })?;
        let queue = Embedded { database, limits, clock };
        queue.write(|tables| queue.put_back(tables, u64::MAX))?;
        Ok(queue)
    }

    /// Makes a change whole, or none.
    fn write<T>(&self, change: impl FnOnce(&mut Tables<'_>) -> Result<T, QueueError>) -> Result<T, QueueError> {
        let transaction = self.database.begin_write()?;
        // The transaction that is dropped in place of being committed has changed nothing.
        let changed = change(&mut Tables::open(&transaction)?)?;
        transaction.commit()?;
        Ok(changed)
    }

    /// Puts back the jobs whose lease ran out before a time.
    fn put_back(&self, tables: &mut Tables<'_>, before_ms: u64) -> Result<(), QueueError> {
        for ticket in tables.expired(before_ms)? {
            let record = tables.record(&ticket)?.ok_or(QueueError::Damaged("a job that runs has no record"))?;
            let losses = record.losses + 1;
            let after = if losses < self.limits.attempts {
                Record { state: State::Waiting, expires_ms: None, losses, ..record.clone() }
            } else {
                Record { losses, ..record.ended(State::Lost, (self.clock)()) }
            };
            tables.change(&ticket, &record, &after)?;
        }
        Ok(())
    }

    /// Changes the job that is held under a lease.
    fn of_lease(
        &self,
        lease: &Lease,
        change: impl FnOnce(&mut Tables<'_>, &Record) -> Result<Record, QueueError>,
    ) -> Result<(), QueueError> {
        self.write(|tables| {
            let held = |record: &Record| record.state == State::Running && record.attempts == lease.attempt;
            let record = tables.record(&lease.ticket)?.filter(held);
            let record = record.ok_or_else(|| QueueError::Stale { ticket: lease.ticket.clone() })?;
            let after = change(tables, &record)?;
            tables.change(&lease.ticket, &record, &after)
        })
    }

    fn check_length(what: &'static str, found: usize, limit: usize) -> Result<(), QueueError> {
        if (1..=limit).contains(&found) { Ok(()) } else { Err(QueueError::Length { what, found, limit }) }
    }

    /// The job that this client gave this key to before, if it did.
    fn submitted_before(
        tables: &Tables<'_>,
        client: &str,
        key: &str,
        sha256: &str,
    ) -> Result<Option<Ticket>, QueueError> {
        let Some(ticket) = tables.ticket_of(client, key)? else { return Ok(None) };
        let record = tables.record(&ticket)?.ok_or(QueueError::Damaged("a key stands for no job"))?;
        if record.sha256 == sha256 { Ok(Some(ticket)) } else { Err(QueueError::KeyReused { ticket }) }
    }

    /// Whether a job can be taken or put back, for which it takes a look alone.
    fn may_have_work(&self, now_ms: u64) -> Result<bool, QueueError> {
        let transaction = self.database.begin_read()?;
        if transaction.open_table(WAITING)?.len()? > 0 {
            return Ok(true);
        }
        let expired = transaction.open_table(RUNNING)?.range(..(now_ms, ""))?.next().transpose()?;
        Ok(expired.is_some())
    }
}

impl Queue for Embedded {
    fn submit(&self, client: &str, key: Option<&str>, payload: &[u8]) -> Result<Ticket, QueueError> {
        let Limits { waiting, waiting_of_client, bytes_of_client, payload: bytes, name, .. } = self.limits;
        Embedded::check_length("client's name", client.len(), name)?;
        key.map_or(Ok(()), |key| Embedded::check_length("key", key.len(), name))?;
        Embedded::check_length("job", payload.len(), bytes)?;
        let sha256 = sha256(payload);
        self.write(|tables| {
            if let Some(key) = key
                && let Some(ticket) = Embedded::submitted_before(tables, client, key, &sha256)?
            {
                return Ok(ticket);
            }
            let (all, own) = (tables.waiting()?, tables.line(client)?.waiting);
            if own >= waiting_of_client {
                return Err(QueueError::ClientFull { waiting: own });
            }
            if all >= waiting {
                return Err(QueueError::Full { waiting: all });
            }
            let (held, more) = (tables.bytes(client)?, payload.len() as u64 + JOB);
            if held.saturating_add(more) > bytes_of_client {
                return Err(QueueError::ClientBytes { held, more, limit: bytes_of_client });
            }
            let ticket = Ticket::random()?;
            let number = tables.number(Number::Job)?;
            let record = Record::new(client, key, sha256, number, (self.clock)());
            tables.add(&ticket, &record, payload)?;
            if let Some(key) = key {
                tables.keys.insert((client, key), ticket.as_str())?;
            }
            Ok(ticket)
        })
    }

    fn take(&self, lease: Duration) -> Result<Option<Taken>, QueueError> {
        let now_ms = (self.clock)();
        if !self.may_have_work(now_ms)? {
            return Ok(None);
        }
        self.write(|tables| {
            self.put_back(tables, now_ms)?;
            let Some(client) = tables.next_client(self.limits.running_of_client)? else { return Ok(None) };
            let ticket = tables.first_of(&client)?.ok_or(QueueError::Damaged("a line has no first job"))?;
            let record = tables.record(&ticket)?.ok_or(QueueError::Damaged("a job that waits has no record"))?;
            let payload = tables.payload(&ticket)?.ok_or(QueueError::Damaged("a job that waits has no bytes"))?;
            let attempts = record.attempts + 1;
            let taken = Record {
                state: State::Running,
                attempts,
                started_ms: Some(now_ms),
                expires_ms: Some(now_ms.saturating_add(milliseconds(lease))),
                ..record.clone()
            };
            tables.change(&ticket, &record, &taken)?;
            let last = tables.number(Number::Turn)?;
            let line = tables.line(&client)?;
            tables.set_line(&client, Line { last, ..line })?;
            Ok(Some(Taken { lease: Lease { ticket, attempt: attempts }, client, payload }))
        })
    }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<(), QueueError> {
        let expires_ms = Some((self.clock)().saturating_add(milliseconds(duration)));
        self.of_lease(lease, |_, record| Ok(Record { expires_ms, ..record.clone() }))
    }

    fn finish(&self, lease: &Lease, outcome: &[u8]) -> Result<(), QueueError> {
        self.of_lease(lease, |tables, record| {
            tables.keep(&lease.ticket, record, outcome)?;
            Ok(record.ended(State::Finished, (self.clock)()))
        })
    }

    fn give_back(&self, lease: &Lease) -> Result<(), QueueError> {
        self.of_lease(lease, |_, record| Ok(Record { state: State::Waiting, expires_ms: None, ..record.clone() }))
    }

    fn cancel(&self, client: &str, ticket: &Ticket) -> Result<Option<State>, QueueError> {
        self.write(|tables| {
            let Some(record) = tables.record(ticket)?.filter(|record| record.client == client) else { return Ok(None) };
            if record.state.is_end() {
                return Ok(Some(record.state));
            }
            tables.change(ticket, &record, &record.ended(State::Cancelled, (self.clock)()))?;
            Ok(Some(State::Cancelled))
        })
    }

    fn look(&self, client: &str, ticket: &Ticket) -> Result<Option<Status>, QueueError> {
        let transaction = self.database.begin_read()?;
        let record = transaction.open_table(JOBS)?.get(ticket.as_str())?.map(|bytes| Record::read(bytes.value()));
        let Some(record) = record.transpose()?.filter(|record| record.client == client) else { return Ok(None) };
        let outcome = transaction.open_table(OUTCOMES)?.get(ticket.as_str())?.map(|outcome| outcome.value().to_vec());
        Ok(Some(Status {
            state: record.state,
            ahead: ahead(&transaction, &record)?,
            attempts: record.attempts,
            submitted_ms: record.submitted_ms,
            started_ms: record.started_ms,
            ended_ms: record.ended_ms,
            outcome,
        }))
    }

    fn counts(&self) -> Result<Counts, QueueError> {
        let transaction = self.database.begin_read()?;
        Ok(Counts {
            waiting: transaction.open_table(WAITING)?.len()?,
            running: transaction.open_table(RUNNING)?.len()?,
            ended: transaction.open_table(ENDED)?.len()?,
            clients: transaction.open_table(LINES)?.len()?,
        })
    }

    fn remove(&self, client: &str, ticket: &Ticket) -> Result<bool, QueueError> {
        self.write(|tables| {
            let own = |record: &Record| record.client == client && record.state.is_end();
            let Some(record) = tables.record(ticket)?.filter(own) else { return Ok(false) };
            tables.remove(ticket, &record)?;
            Ok(true)
        })
    }

    fn withdraw(&self, keys: &str) -> Result<usize, QueueError> {
        self.write(|tables| {
            let tickets = tables.tickets_of(keys)?;
            for ticket in &tickets {
                let mut record = tables.record(ticket)?.ok_or(QueueError::Damaged("a key stands for no job"))?;
                if !record.state.is_end() {
                    let ended = record.ended(State::Cancelled, (self.clock)());
                    tables.change(ticket, &record, &ended)?;
                    record = ended;
                }
                tables.remove(ticket, &record)?;
            }
            Ok(tickets.len())
        })
    }

    fn share(&self, client: &str) -> Result<Share, QueueError> {
        let held = self.database.begin_read()?.open_table(BYTES)?.get(client)?.map_or(0, |bytes| bytes.value());
        Ok(Share { held, limit: self.limits.bytes_of_client })
    }

    fn forget(&self, ended_before: Duration) -> Result<usize, QueueError> {
        let before_ms = (self.clock)().saturating_sub(milliseconds(ended_before));
        self.write(|tables| {
            let tickets = tables.ended(before_ms)?;
            for ticket in &tickets {
                let record = tables.record(ticket)?.ok_or(QueueError::Damaged("a job that ended has no record"))?;
                tables.remove(ticket, &record)?;
            }
            Ok(tickets.len())
        })
    }
}

/// Jobs of the same client before one that waits.
fn ahead(transaction: &ReadTransaction, record: &Record) -> Result<Option<usize>, QueueError> {
    if record.state != State::Waiting {
        return Ok(None);
    }
    let client = record.client.as_str();
    let before = transaction.open_table(WAITING)?.range((client, 0)..(client, record.number))?.count();
    Ok(Some(before))
}
