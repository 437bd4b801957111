//! Ends of jobs: those that come while others are being written are written together, in one transaction. An end that comes
//! alone waits for nobody.

use super::connections::Repeat;
use super::{Postgres, integer, statements};
use crate::record::sha256;
use crate::{Lease, QueueError, Ticket};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Ends of one transaction, and their bytes unless one has more.
const MOST: usize = 64;
const MOST_BYTES: usize = 4 << 20;

/// A job that ended, and what came of it.
pub struct JobEnd {
    ticket: String,
    attempt: i32,
    hash: String,
    outcome: Vec<u8>,
}

impl JobEnd {
    pub fn new(lease: &Lease, outcome: &[u8]) -> JobEnd {
        let (ticket, attempt) = (lease.ticket.as_str().to_owned(), integer(lease.attempt));
        JobEnd { ticket, attempt, hash: sha256(outcome), outcome: outcome.to_vec() }
    }
}

/// Ends of all threads of a process that wait to be written.
#[derive(Default)]
pub struct WaitingEnds {
    state: Mutex<EndsState>,
    written: Condvar,
}

#[derive(Default)]
struct EndsState {
    /// The number of the next one.
    next: u64,
    waiting: BTreeMap<u64, JobEnd>,
    /// Those that another thread wrote, and whether the lease was the job's. `None` if that is not known.
    written: BTreeMap<u64, Option<bool>>,
    is_writing: bool,
}

/// Those that one thread writes. When this is dropped, the others learn what came of theirs.
struct EndGroup<'a> {
    ends: &'a WaitingEnds,
    own: u64,
    written: BTreeMap<u64, Option<bool>>,
}

impl Drop for EndGroup<'_> {
    fn drop(&mut self) {
        let mut state = self.ends.lock();
        self.written.remove(&self.own);
        state.written.append(&mut self.written);
        state.is_writing = false;
        self.ends.written.notify_all();
    }
}

impl WaitingEnds {
    fn lock(&self) -> MutexGuard<'_, EndsState> {
        // Each change is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has an end written, by this thread or by one that writes others. `None` if it is not known what came of it.
    fn write(&self, end: JobEnd, write: impl Fn(&[JobEnd]) -> Result<Vec<bool>, QueueError>) -> Option<bool> {
        let mut state = self.lock();
        let own = state.next;
        state.next += 1;
        state.waiting.insert(own, end);
        while state.is_writing || !state.waiting.contains_key(&own) {
            if let Some(written) = state.written.remove(&own) {
                return written;
            }
            state = self.written.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let (numbers, ends) = state.take(own);
        state.is_writing = true;
        drop(state);
        let mut group = EndGroup { ends: self, own, written: numbers.iter().map(|number| (*number, None)).collect() };
        let held = write(&ends).ok()?;
        group.written.extend(numbers.into_iter().zip(held.into_iter().map(Some)));
        group.written.get(&own).copied().flatten()
    }
}

impl EndsState {
    /// This one, and those that fit into its transaction. A job has one end in it.
    fn take(&mut self, own: u64) -> (Vec<u64>, Vec<JobEnd>) {
        let Some(end) = self.waiting.remove(&own) else { return (vec![], vec![]) };
        let mut bytes = end.outcome.len();
        let mut tickets = BTreeSet::from([end.ticket.clone()]);
        let fits = |_: &u64, end: &mut JobEnd| {
            bytes += end.outcome.len();
            tickets.len() < MOST && bytes <= MOST_BYTES && tickets.insert(end.ticket.clone())
        };
        let others: Vec<(u64, JobEnd)> = self.waiting.extract_if(.., fits).collect();
        std::iter::once((own, end)).chain(others).unzip()
    }
}

impl Postgres {
    /// Ends a job, perhaps together with those that other threads end.
    pub(super) fn end(&self, lease: &Lease, outcome: &[u8]) -> Result<(), QueueError> {
        let stale = || QueueError::Stale(lease.ticket.clone());
        let is_held = match self.ends.write(JobEnd::new(lease, outcome), |ends| self.write_ends(ends)) {
            Some(is_held) => is_held,
            // What is wrong with another one is no reason for this.
            None => self.write_ends(&[JobEnd::new(lease, outcome)])?.contains(&true),
        };
        if is_held { Ok(()) } else { Err(stale()) }
    }

    /// Ends these jobs in one transaction, each under its lease, and says which of the leases were the jobs'.
    pub(super) fn write_ends(&self, ends: &[JobEnd]) -> Result<Vec<bool>, QueueError> {
        let tickets: Vec<&str> = ends.iter().map(|end| end.ticket.as_str()).collect();
        let attempts: Vec<i32> = ends.iter().map(|end| end.attempt).collect();
        let hashes: Vec<&str> = ends.iter().map(|end| end.hash.as_str()).collect();
        let outcomes: Vec<&[u8]> = ends.iter().map(|end| end.outcome.as_slice()).collect();
        self.connections.run(Repeat::Safe, |connection, again| {
            let rows = connection.query(statements::FINISH_ALL, &[&tickets, &attempts, &hashes, &outcomes])?;
            let ended = rows.iter().map(|row| row.try_get(0)).collect::<Result<BTreeSet<String>, _>>()?;
            let mut is_held = |end: &JobEnd| {
                if ended.contains(&end.ticket) || !again {
                    return Ok(ended.contains(&end.ticket));
                }
                // An earlier try, of which nobody heard the answer, may have ended it.
                let known = connection.query(statements::IS_FINISHED, &[&end.ticket, &end.attempt, &end.hash])?;
                Ok(!known.is_empty())
            };
            ends.iter().map(&mut is_held).collect()
        })
    }
}

impl Postgres {
    /// Jobs of clients that follow theirs ([`Postgres::ended`]) and that end from now on, at most so long until there is one.
    /// `None` at once if nobody listened until now: then any may have ended. Not for a process that waits for jobs, too
    /// ([`Queue::wait`](crate::Queue::wait)).
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    pub fn wait_for_ends(&self, timeout: Duration) -> Result<Option<Vec<Ticket>>, QueueError> {
        let ended = self.connections.announced("LISTEN passhost_ends", timeout)?;
        Ok(ended.map(|tickets| tickets.into_iter().map(Ticket::named).collect()))
    }

    /// Which of these jobs have ended, or are not there. From now on the client's ends are announced. Puts back jobs whose
    /// leases ran out.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    pub fn ended(&self, client: &str, tickets: &[&str]) -> Result<Vec<Ticket>, QueueError> {
        self.connections.run(Repeat::Safe, |connection, _| {
            self.requeue(connection)?;
            connection.query(statements::FOLLOW, &[&client])?;
            let ended = connection.query(statements::ENDED, &[&tickets])?;
            ended.iter().map(|row| Ok(Ticket::named(row.try_get::<_, String>(0)?))).collect()
        })
    }
}
