//! A queue in a file, for the workers of one process.

use crate::clock::{Now, QueueClock, milliseconds};
use crate::leases::Leases;
use crate::names::{QueueNames, beside};
use crate::record::{ClientLine, JobRecord, sha256, status};
use crate::store::{LEAST, QueueStore, RESERVE};
use crate::tables::{BYTES, ENDED, JOBS, LINES, OUTCOMES, RUNNING, Sequence, Tables, WAITING};
use crate::{
    Counts, DiskShare, JobLoss, JobState, JobStatus, Lease, NewJob, Queue, QueueError, QueueLimits, Taken, Ticket,
    Worker,
};
use redb::{ReadTransaction, ReadableTableMetadata as _};
use std::path::Path;
use std::time::Duration;

/// A queue in a file. One process has it open at a time; each change is on the disk when its call returns.
///
/// ```
/// use passhost_queue::{Embedded, JobState, Queue, QueueLimits};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let queue = Embedded::open(&directory.path().join("jobs"), QueueLimits::default())?;
/// let ticket = queue.submit("somebody", None, b"6 * 7")?;
/// let job = queue.take(Duration::from_secs(60))?.ok_or("nothing waits")?;
/// queue.finish(&job.lease, b"42")?;
/// let status = queue.look("somebody", &ticket)?.ok_or("no such job")?;
/// assert_eq!((status.state, status.outcome), (JobState::Finished, Some(b"42".to_vec())));
/// assert!(queue.look("somebody else", &ticket)?.is_none());
/// # Ok(())
/// # }
/// ```
pub struct Embedded {
    store: QueueStore,
    names: QueueNames,
    is_begun_anew: bool,
    limits: QueueLimits,
    clock: QueueClock,
    /// What the queue's own clock was when it was opened, less what `clock` said had elapsed.
    clock_from: i128,
    leases: Leases,
}

impl Embedded {
    /// Opens the queue in a file, or makes one. Jobs that ran when its last process ended wait again.
    ///
    /// # Errors
    ///
    /// If another process has it open, or the file is no queue or cannot be written.
    pub fn open(path: &Path, limits: QueueLimits) -> Result<Embedded, QueueError> {
        Embedded::open_at(path, limits, QueueClock::default())
    }

    /// As [`Embedded::open`], with clocks of its own.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn open_at(path: &Path, limits: QueueLimits, clock: QueueClock) -> Result<Embedded, QueueError> {
        let place = beside(path);
        let known = QueueNames::read(&place)?;
        let is_empty = std::fs::metadata(path).map_or(true, |file| file.len() == 0);
        let mut names = match known.clone() {
            // Before there is a file of the new name: whoever is killed in between loses a name that nobody was told.
            Some(gone) if is_empty => gone.after()?,
            Some(known) => known,
            None => QueueNames::random()?,
        };
        if is_empty && known.is_some() {
            names.write(&place)?;
        }
        let store = QueueStore::open(path)?;
        let (name, clock_from) = store.write(0, |transaction| {
            let mut tables = Tables::new(transaction);
            tables.make()?;
            // It goes on where it was; a new one begins with the time of the day, as all times did in files without one.
            let last = tables.last(Sequence::Clock)?.unwrap_or_else(clock.wall_ms);
            Ok((tables.name(&names.queue)?, i128::from(last) - i128::from((clock.elapsed_ms)())))
        })?;
        if name != names.queue {
            names = names.replaced(name);
        }
        if known.as_ref() != Some(&names) {
            names.write(&place)?;
        }
        let is_begun_anew = known.is_some_and(|known| known.queue != names.queue);
        let leases = Leases::default();
        let queue = Embedded { store, names, is_begun_anew, limits, clock, clock_from, leases };
        queue.write(0, |tables| queue.requeue(tables, tables.running()?.into_iter().map(|ticket| (ticket, None))))?;
        Ok(queue)
    }

    /// Whether the queue that was in this file is gone: the file was removed, emptied or replaced since. Its jobs are told as
    /// lost.
    pub fn is_begun_anew(&self) -> bool {
        self.is_begun_anew
    }

    fn now(&self) -> Now {
        let queue_ms = self.clock_from + i128::from((self.clock.elapsed_ms)());
        Now { wall_ms: (self.clock.wall_ms)(), queue_ms: u64::try_from(queue_ms).unwrap_or_default() }
    }

    /// Makes a change whole, or none, on a disk that has so many bytes free.
    fn write<T>(
        &self,
        free: u64,
        change: impl FnOnce(&mut Tables<'_>) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        self.store.write(free, |transaction| change(&mut Tables::new(transaction)))
    }

    /// Puts back jobs whose workers are gone, in these attempts or in any. That is a loss if work on them had begun: a job
    /// that was taken and waited for its turn has brought no worker down.
    fn requeue(
        &self,
        tables: &mut Tables<'_>,
        gone: impl IntoIterator<Item = (Ticket, Option<u32>)>,
    ) -> Result<(), QueueError> {
        for (ticket, attempt) in gone {
            let ticket = &ticket;
            let is_gone = |record: &JobRecord| attempt.is_none_or(|attempt| record.attempts == attempt);
            let runs = |record: &JobRecord| record.state == JobState::Running && is_gone(record);
            // Else it has ended meanwhile, or somebody else put it back and it was taken again.
            let Some(record) = tables.readable(ticket)?.filter(runs) else { continue };
            let losses = record.losses + u32::from(record.begun);
            let counted = JobRecord { losses, ..record.clone() };
            if losses < self.limits.attempts {
                tables.change(ticket, &record, &counted.waiting())?;
            } else {
                self.end(tables, ticket, &record, &counted.lost(JobLoss::Workers, self.now()))?;
            }
        }
        Ok(())
    }

    /// Moves a job to its end, and keeps what the queue's clock says then.
    fn end(
        &self,
        tables: &mut Tables<'_>,
        ticket: &Ticket,
        before: &JobRecord,
        after: &JobRecord,
    ) -> Result<(), QueueError> {
        tables.set(Sequence::Clock, after.place_ms())?;
        tables.change(ticket, before, after)
    }

    /// Changes the job that is held under a lease, on a disk that has so many bytes free.
    fn of_lease(
        &self,
        lease: &Lease,
        free: u64,
        change: impl FnOnce(&mut Tables<'_>, &JobRecord) -> Result<JobRecord, QueueError>,
    ) -> Result<(), QueueError> {
        let stale = || QueueError::Stale(lease.ticket.clone());
        let is_damaged = self.write(free, |tables| {
            let held = |record: &JobRecord| record.state == JobState::Running && record.attempts == lease.attempt;
            let record = match tables.record(&lease.ticket) {
                // That is a loss of this job, and no reason for its worker to end.
                Err(QueueError::Record) => return tables.strike(&lease.ticket).map(|()| true),
                record => record?.filter(held).ok_or_else(stale)?,
            };
            let after = change(tables, &record)?;
            if after.state.is_end() {
                self.end(tables, &lease.ticket, &record, &after)?;
            } else {
                tables.change(&lease.ticket, &record, &after)?;
            }
            Ok(false)
        })?;
        if is_damaged {
            self.leases.release_all(&lease.ticket);
            return Err(stale());
        }
        Ok(())
    }

    /// When a lease runs out that begins now.
    fn until(&self, lease: Duration) -> u64 {
        (self.clock.elapsed_ms)().saturating_add(milliseconds(lease))
    }

    /// The job that this client gave this key to before, if it did.
    fn submitted_before(
        tables: &Tables<'_>,
        client: &str,
        key: &str,
        sha256: &str,
    ) -> Result<Option<Ticket>, QueueError> {
        let Some(ticket) = tables.ticket_of(client, key)? else { return Ok(None) };
        match tables.record(&ticket) {
            // Whoever asks for one whose record is damaged hears that it is lost.
            Ok(Some(JobRecord { loss: Some(JobLoss::Record), .. })) | Err(QueueError::Record) => Ok(Some(ticket)),
            Ok(Some(record)) if record.sha256 != sha256 => Err(QueueError::KeyReused(ticket)),
            Ok(Some(_)) => Ok(Some(ticket)),
            // The record that said which key it had was damaged, and what was left of it is forgotten.
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes this job of a client, or ends it if it is damaged.
    fn taken(
        &self,
        tables: &mut Tables<'_>,
        client: &str,
        (number, ticket): (u64, Ticket),
    ) -> Result<NextJob, QueueError> {
        let (record, loss) = match tables.record(&ticket) {
            Ok(Some(record)) => (record, JobLoss::Payload),
            Ok(None) | Err(QueueError::Record) => {
                // As much as its place says of it.
                (JobRecord::new(client, None, String::new(), number, self.now().wall_ms), JobLoss::Record)
            }
            Err(error) => return Err(error),
        };
        let Some(payload) = tables.payload(&ticket, &record)? else {
            self.end(tables, &ticket, &record, &record.lost(loss, self.now()))?;
            return Ok(NextJob::Damaged(ticket));
        };
        let attempts = record.attempts + 1;
        let started_ms = Some(self.now().wall_ms);
        let taken = JobRecord { state: JobState::Running, attempts, started_ms, ..record.clone() };
        tables.change(&ticket, &record, &taken)?;
        let last = tables.number(Sequence::Turn)?;
        let line = tables.line(client)?;
        tables.set_line(client, ClientLine { last, ..line })?;
        Ok(NextJob::Job(Taken {
            lease: Lease { ticket, attempt: attempts },
            client: client.to_owned(),
            payload,
            draws: None,
        }))
    }
}

/// What is found at the head of the lines.
enum NextJob {
    Nothing,
    Job(Taken),
    /// A job that is lost.
    Damaged(Ticket),
}

/// Bytes that must be free for a change with so many bytes of its own, which are written anew beside the old ones.
fn room(least: u64, bytes: usize) -> u64 {
    least.saturating_add(2 * bytes as u64)
}

impl Queue for Embedded {
    fn submit_job(&self, client: &str, key: Option<&str>, job: &NewJob<'_>) -> Result<Ticket, QueueError> {
        self.limits.check_lengths(client, key, job)?;
        let payload = job.payload();
        let sha256 = sha256(&payload);
        self.write(room(RESERVE, payload.len()), |tables| {
            if let Some(key) = key
                && let Some(ticket) = Embedded::submitted_before(tables, client, key, &sha256)?
            {
                return Ok(ticket);
            }
            let (all, own) = (tables.waiting()?, tables.line(client)?.waiting);
            self.limits.check_room(all, own, tables.bytes(client)?, &payload)?;
            let ticket = Ticket::random(&self.names.queue)?;
            let number = tables.number(Sequence::Job)?;
            let record = JobRecord::new(client, key, sha256, number, self.now().wall_ms);
            let record = JobRecord { needs: job.needs.to_vec(), ..record };
            tables.add(&ticket, &record, &payload)?;
            if let Some(key) = key {
                tables.set_key(client, key, &ticket)?;
            }
            Ok(ticket)
        })
    }

    fn take_as(&self, worker: &Worker, lease: Duration) -> Result<Option<Taken>, QueueError> {
        self.store.check()?;
        let expired = self.leases.expired((self.clock.elapsed_ms)());
        let waits = || self.store.read(|transaction| Ok(!transaction.open_table(WAITING)?.is_empty()?));
        if expired.is_empty() && !waits()? {
            return Ok(None);
        }
        let found = self.write(LEAST, |tables| {
            self.requeue(tables, expired.iter().map(|lease| (lease.ticket.clone(), Some(lease.attempt))))?;
            for client in tables.next_clients(self.limits.running_of_client)? {
                if let Some(first) = tables.first_of(&client, &worker.offers)? {
                    return self.taken(tables, &client, first);
                }
            }
            Ok(NextJob::Nothing)
        })?;
        expired.iter().for_each(|lease| self.leases.release(lease));
        match found {
            NextJob::Nothing => Ok(None),
            NextJob::Damaged(ticket) => Err(QueueError::Lost(ticket)),
            NextJob::Job(taken) => {
                self.leases.hold(&taken.lease, self.until(lease));
                Ok(Some(taken))
            }
        }
    }

    fn begin(&self, lease: &Lease) -> Result<(), QueueError> {
        self.of_lease(lease, LEAST, |_, record| Ok(JobRecord { begun: true, ..record.clone() }))
    }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<(), QueueError> {
        let is_held = self.leases.renew(lease, self.until(duration));
        if is_held { Ok(()) } else { Err(QueueError::Stale(lease.ticket.clone())) }
    }

    fn finish(&self, lease: &Lease, outcome: &[u8]) -> Result<(), QueueError> {
        let outcome_sha256 = sha256(outcome);
        self.of_lease(lease, room(LEAST, outcome.len()), |tables, record| {
            tables.keep(&lease.ticket, record, outcome)?;
            let ended = record.ended(JobState::Finished, self.now());
            Ok(JobRecord { outcome_sha256: Some(outcome_sha256), ..ended })
        })?;
        self.leases.release(lease);
        Ok(())
    }

    fn give_back(&self, lease: &Lease) -> Result<(), QueueError> {
        // What it takes was there for the job before: a server that stops on a full disk gives back all the same.
        self.of_lease(lease, 0, |_, record| Ok(record.waiting()))?;
        self.leases.release(lease);
        Ok(())
    }

    fn cancel(&self, client: &str, ticket: &Ticket) -> Result<Option<JobState>, QueueError> {
        let state = self.write(LEAST, |tables| {
            let record = match tables.record(ticket) {
                Err(QueueError::Record) => return Ok(Some(JobState::Lost)),
                record => record?.filter(|record| record.client == client),
            };
            let Some(record) = record else { return Ok(self.names.is_former(ticket).then_some(JobState::Lost)) };
            if record.state.is_end() {
                return Ok(Some(record.state));
            }
            self.end(tables, ticket, &record, &record.ended(JobState::Cancelled, self.now()))?;
            Ok(Some(JobState::Cancelled))
        })?;
        if state == Some(JobState::Cancelled) {
            self.leases.release_all(ticket);
        }
        Ok(state)
    }

    fn look(&self, client: &str, ticket: &Ticket) -> Result<Option<JobStatus>, QueueError> {
        let found = self.store.read(|transaction| {
            let Some(bytes) = transaction.open_table(JOBS)?.get(ticket.as_str())? else { return Ok(None) };
            // Whose it is cannot be read, and nothing else is said of it to whoever knows its name.
            let Ok(record) = JobRecord::read(bytes.value()) else { return Ok(Some(JobStatus::lost(JobLoss::Record))) };
            if record.client != client {
                return Ok(None);
            }
            let outcome = transaction.open_table(OUTCOMES)?.get(ticket.as_str())?;
            let outcome = outcome.map(|outcome| outcome.value().to_vec());
            Ok(Some(status(&record, ahead(transaction, &record)?, outcome)))
        })?;
        Ok(found.or_else(|| self.names.is_former(ticket).then(|| JobStatus::lost(JobLoss::File))))
    }

    fn counts(&self) -> Result<Counts, QueueError> {
        self.store.read(|transaction| {
            Ok(Counts {
                waiting: transaction.open_table(WAITING)?.len()?,
                running: transaction.open_table(RUNNING)?.len()?,
                ended: transaction.open_table(ENDED)?.len()?,
                clients: transaction.open_table(LINES)?.len()?,
            })
        })
    }

    fn remove(&self, client: &str, ticket: &Ticket) -> Result<bool, QueueError> {
        self.write(LEAST, |tables| {
            let record = match tables.record(ticket) {
                Err(QueueError::Record) => None,
                record => record?,
            };
            let own = |record: &JobRecord| record.client == client && record.state.is_end();
            let Some(record) = record.filter(own) else { return Ok(false) };
            tables.remove(ticket, &record)?;
            Ok(true)
        })
    }

    fn withdraw(&self, keys: &str) -> Result<usize, QueueError> {
        let tickets = self.write(LEAST, |tables| {
            let tickets = tables.tickets_of(keys)?;
            for ticket in &tickets {
                let Some(mut record) = tables.readable(ticket)? else { continue };
                if !record.state.is_end() {
                    let ended = record.ended(JobState::Cancelled, self.now());
                    self.end(tables, ticket, &record, &ended)?;
                    record = ended;
                }
                tables.remove(ticket, &record)?;
            }
            Ok(tickets)
        })?;
        tickets.iter().for_each(|ticket| self.leases.release_all(ticket));
        Ok(tickets.len())
    }

    fn share(&self, client: &str) -> Result<DiskShare, QueueError> {
        let limit = self.limits.bytes_of_client;
        self.store.read(|transaction| {
            let held = transaction.open_table(BYTES)?.get(client)?.map_or(0, |bytes| bytes.value());
            Ok(DiskShare { held, limit })
        })
    }

    fn forget(&self, ended_before: Duration) -> Result<usize, QueueError> {
        let now_ms = self.now().queue_ms;
        let before_ms = now_ms.saturating_sub(milliseconds(ended_before));
        self.write(LEAST, |tables| {
            tables.set(Sequence::Clock, now_ms)?;
            let tickets = tables.ended(before_ms)?;
            for ticket in &tickets {
                if let Some(record) = tables.readable(ticket)? {
                    tables.remove(ticket, &record)?;
                }
            }
            Ok(tickets.len())
        })
    }
}

/// Jobs of the same client before one that waits.
fn ahead(transaction: &ReadTransaction, record: &JobRecord) -> Result<Option<usize>, QueueError> {
    if record.state != JobState::Waiting {
        return Ok(None);
    }
    let client = record.client.as_str();
    let before = transaction.open_table(WAITING)?.range((client, 0)..(client, record.number))?.count();
    Ok(Some(before))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
