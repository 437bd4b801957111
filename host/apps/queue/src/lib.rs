//! A durable queue of jobs: many clients put them in, a few workers take them out, and what came of each is kept until
//! it is forgotten on purpose.
//!
//! What is promised, whenever the process ends and however:
//!
//! - A job that [`Queue::submit`] returned a ticket for has an end: an outcome, or that it was cancelled or lost.
//! - It has one outcome. A worker holds a job under a [`Lease`]; whose lease was given to somebody else since cannot end it.
//! - What is damaged on the disk is a loss of that job alone, which its client is told: submissions, outcomes and records
//!   carry hashes, which are checked whenever they are read.
//! - A file that is removed, emptied or replaced is noticed, and its jobs are told as lost.
//! - A full disk ends nothing: what was asked is refused until there is room, and can be read meanwhile.
//! - A client sees its own jobs alone, and each client gets its turn however many jobs others have.
//!
//! [`Queue`] is all that its users see. Jobs and outcomes are bytes here, and nothing looks into them. There are two engines:
//!
//! | | [`Embedded`] | [`Postgres`] |
//! | --- | --- | --- |
//! | for | the workers of one process | workers on many machines |
//! | kept in | a file (redb) | a schema of a PostgreSQL database, version 15 or newer |
//! | a worker is gone | when the process starts again, or its lease runs out | when its lease runs out |
//! | leases run by | a clock of the process | the clock of the database |
//! | turns and limits | exact | exact for one caller at a time; see [`Postgres`] for many |

mod clock;
mod embedded;
mod error;
mod leases;
mod limits;
mod names;
mod objects;
mod postgres;
mod record;
mod store;
mod tables;
mod ticket;
mod trust;

pub use clock::QueueClock;
pub use embedded::Embedded;
pub use error::QueueError;
pub use limits::{JOB, QueueLimits};
pub use objects::{ObjectError, Objects};
pub use postgres::{
    DeadLetter, Disagreement, FleetStatus, LabelDepth, OldestJob, Postgres, QuarantinedHost, RefusedResults,
    Revocation, UntriedResults, WorkerState, WorkerStatus,
};
pub use store::free;
pub use ticket::{Ticket, random_hexadecimal};
pub use trust::{Canary, Delivered, Judge, Judged, Rerun, SIGNED};

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Jobs that wait, and what became of others.
pub trait Queue: Send + Sync {
    /// Puts a job at the end of its client's line. With a key that the client gave before for the same bytes, nothing is put
    /// and the ticket is that of then: a request that nobody knows the answer of can be sent again.
    ///
    /// # Errors
    ///
    /// If a limit leaves no room for it, the key stands for other bytes, or the queue cannot be written.
    fn submit_job(&self, client: &str, key: Option<&str>, job: &NewJob<'_>) -> Result<Ticket, QueueError>;

    /// [`Queue::submit_job`] of bytes that any worker may take.
    ///
    /// # Errors
    ///
    /// As there.
    fn submit(&self, client: &str, key: Option<&str>, bytes: &[u8]) -> Result<Ticket, QueueError> {
        self.submit_job(client, key, &NewJob { bytes, ..NewJob::default() })
    }

    /// The next job that this worker may take, for so long; `None` if there is none now. The turn is that of the client with the
    /// fewest running jobs, and among those of whom it was longest ago. Jobs whose lease ran out are back in their place before.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written. [`QueueError::Lost`] says that a job came to nothing, [`QueueError::Left`] that it is left to
    /// another host, and both that there may be others.
    fn take_as(&self, worker: &Worker, lease: Duration) -> Result<Option<Taken>, QueueError>;

    /// [`Queue::take_as`] for a worker of which nothing is known.
    ///
    /// # Errors
    ///
    /// As there.
    fn take(&self, lease: Duration) -> Result<Option<Taken>, QueueError> {
        self.take_as(&Worker::default(), lease)
    }

    /// Puts back what workers of this name hold: their process is gone, and another one begins in its place. An engine for one
    /// process does this for all workers when it is opened.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    fn recover(&self, _worker: &str) -> Result<(), QueueError> {
        Ok(())
    }

    /// The next jobs in their turns, at most so many. A damaged job is among those that are lost, and takes nothing from the others.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written, and nothing was taken.
    fn take_batch(&self, worker: &Worker, jobs: usize, lease: Duration) -> Result<TakenBatch, QueueError> {
        let mut batch = TakenBatch::default();
        while batch.jobs.len() < jobs {
            match self.take_as(worker, lease) {
                Ok(Some(job)) => batch.jobs.push(job),
                Ok(None) => break,
                Err(QueueError::Lost(ticket)) => batch.lost.push(ticket),
                Err(error) if batch == TakenBatch::default() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(batch)
    }

    /// More jobs of the same client that begin as one that the worker holds and were never lost, at most so many. None of an
    /// engine for one process.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written, and nothing was taken.
    fn take_like(&self, _: &Worker, _like: &Lease, _jobs: usize, _lease: Duration) -> Result<TakenBatch, QueueError> {
        Ok(TakenBatch::default())
    }

    /// Says that a worker is there, and learns what it should know. Puts back jobs whose leases ran out, where the caller may.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    fn check_in(&self, _: &Worker) -> Result<CheckIn, QueueError> {
        Ok(CheckIn::default())
    }

    /// Notes what came of a canary. After one that is not good the worker's host is quarantined, and its results since the last
    /// good one are revoked. An engine for one process notes nothing.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    fn report_canary(&self, _: &Worker, _: &Canary) -> Result<(), QueueError> {
        Ok(())
    }

    /// Notes that work on a job begins. If its worker is gone before the end, that is a loss; before this, it is none.
    ///
    /// # Errors
    ///
    /// If the lease is not the job's any more, or the queue cannot be written.
    fn begin(&self, lease: &Lease) -> Result<(), QueueError>;

    /// Holds a job for so long from now on.
    ///
    /// # Errors
    ///
    /// If the lease is not the job's any more, or the queue cannot be written.
    fn renew(&self, lease: &Lease, duration: Duration) -> Result<(), QueueError>;

    /// Ends a job with what came of it.
    ///
    /// # Errors
    ///
    /// If the lease is not the job's any more, or the queue cannot be written.
    fn finish(&self, lease: &Lease, outcome: &[u8]) -> Result<(), QueueError>;

    /// [`Queue::finish`] of several jobs, in one transaction where the engine can. A lease that is not its job's any more fails
    /// none but that.
    fn finish_all(&self, ends: &[(&Lease, &[u8])]) -> Vec<Result<(), QueueError>> {
        ends.iter().map(|(lease, outcome)| self.finish(lease, outcome)).collect()
    }

    /// Judges results of jobs that need [`SIGNED`] ones: until then such a job runs. One that counts ends its job. One that does
    /// not is refused, and its job is tried on another host. Another host also runs those again that the judge wants to compare. An
    /// engine for one process has none.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    fn judge(&self, _: &dyn Judge) -> Result<Judged, QueueError> {
        Ok(Judged::default())
    }

    /// Gives up a job that this host cannot do, and says why: it is tried on another host. An engine for one host ends it with this
    /// outcome.
    ///
    /// # Errors
    ///
    /// If the lease is not the job's any more, or the queue cannot be written.
    fn give_up(&self, lease: &Lease, _why: &str, outcome: &[u8]) -> Result<(), QueueError> {
        self.finish(lease, outcome)
    }

    /// Puts a job back where it was: whoever took it is about to stop. That does not count as a loss.
    ///
    /// # Errors
    ///
    /// If the lease is not the job's any more, or the queue cannot be written.
    fn give_back(&self, lease: &Lease) -> Result<(), QueueError>;

    /// Ends a job that waits or runs without an outcome. One that has ended stays as it is. `None` of a ticket that the client
    /// does not have.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    fn cancel(&self, client: &str, ticket: &Ticket) -> Result<Option<JobState>, QueueError>;

    /// What is known of a job. `None` of a ticket that the client does not have.
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    fn look(&self, client: &str, ticket: &Ticket) -> Result<Option<JobStatus>, QueueError>;

    /// How many jobs there are.
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    fn counts(&self) -> Result<Counts, QueueError>;

    /// How the workers of all processes stand; `None` of an engine for one process.
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    fn fleet_status(&self) -> Result<Option<FleetStatus>, QueueError> {
        Ok(None)
    }

    /// Removes a job that has ended, with what came of it. Whether there was one: `false` of one that waits or runs, or that the
    /// client does not have.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    fn remove(&self, client: &str, ticket: &Ticket) -> Result<bool, QueueError>;

    /// Removes all jobs of all clients whose keys begin so, whatever their states, and says how many. What runs comes to nothing.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    fn withdraw(&self, keys: &str) -> Result<usize, QueueError>;

    /// What a client has of the room in the queue.
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    fn share(&self, client: &str) -> Result<DiskShare, QueueError>;

    /// Waits until another process may have put in a job, or ended one, at most so long, and says whether one was announced.
    /// `None` at once of an engine for one process. One thread waits at a time.
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    fn wait(&self, _timeout: Duration) -> Result<Option<bool>, QueueError> {
        Ok(None)
    }

    /// Removes jobs that ended so long ago, with their outcomes, and says how many. Time counts while a process has the queue
    /// open, however somebody sets the clock.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    fn forget(&self, ended_before: Duration) -> Result<usize, QueueError>;
}

/// A job that is put in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NewJob<'a> {
    /// What stands before the bytes.
    pub head: &'a [u8],
    /// What many jobs may have in common.
    pub bytes: &'a [u8],
    /// What its worker must offer.
    pub needs: &'a [String],
}

impl NewJob<'_> {
    /// All of it, as its worker gets it.
    fn payload(&self) -> Vec<u8> {
        [self.head, self.bytes].concat()
    }
}

/// Whoever takes jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worker {
    /// What is its own of the jobs that run: see [`Queue::recover`].
    pub name: String,
    /// The machine. One on which a job was lost leaves it to others for as long as a lease lasts.
    pub host: String,
    /// What it offers. It gets the jobs that need nothing else.
    pub offers: Vec<String>,
}

/// What a worker learns when it says that it is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckIn {
    /// Whether its host is to take nothing: see [`Postgres::drain`].
    pub is_drained: bool,
    /// Why its host is quarantined, if it is, and takes nothing either.
    pub quarantine: Option<String>,
    /// Why it gets nothing for want of a canary, where one is required: see [`Postgres::require_canary`].
    pub lacks_canary: Option<String>,
    /// What waits and is not for this worker.
    pub unmet: Vec<UnmetNeeds>,
}

/// Jobs that wait, and need what a worker does not offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmetNeeds {
    /// All that they need.
    pub needs: Vec<String>,
    /// How many.
    pub waiting: u64,
    /// One of them.
    pub first: Ticket,
}

/// The right to end a job. It is another each time that the job is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub ticket: Ticket,
    /// How often it was taken, this time included.
    pub attempt: u32,
}

/// A job in the hands of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// What ends it.
    pub lease: Lease,
    /// Whose it is.
    pub client: String,
    /// What is to be done.
    pub payload: Vec<u8>,
    /// What it has in common with the first run, if another host ran it before: see [`Rerun`].
    pub draws: Option<Vec<u8>>,
}

/// What [`Queue::take_batch`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenBatch {
    /// Jobs in the hands of the worker.
    pub jobs: Vec<Taken>,
    /// Jobs that are damaged, and came to nothing.
    pub lost: Vec<Ticket>,
    /// Jobs whose bytes an object store has not or has changed, and why they were left to another host: see [`ObjectError`].
    pub left: Vec<(Ticket, String)>,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Nobody has it.
    #[default]
    Waiting,
    /// A worker has it.
    Running,
    /// It has an outcome.
    Finished,
    /// Its client did not want it any more.
    Cancelled,
    /// Nothing comes of it: see [`JobLoss`].
    Lost,
}

impl JobState {
    /// Whether nothing comes any more.
    pub fn is_end(self) -> bool {
        matches!(self, JobState::Finished | JobState::Cancelled | JobState::Lost)
    }
}

/// Why nothing comes of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobLoss {
    /// Everybody who began to work on it was gone before its end.
    Workers,
    /// The workers of two hosts were gone before its end.
    Quarantined,
    /// As many hosts as there may be gave it up.
    Hosts,
    /// What was submitted is damaged on the disk.
    Payload,
    /// What came of it is damaged on the disk.
    Outcome,
    /// What is kept of it beside that is damaged on the disk.
    Record,
    /// The file of the queue in which it was is gone.
    File,
}

/// An attempt that came to nothing by its host's doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostAttempt {
    /// Where.
    pub host: String,
    /// Whether the worker was gone. Else it gave the job up.
    pub died: bool,
    /// Why.
    pub log: String,
}

/// What is known of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobStatus {
    /// How far it is.
    pub state: JobState,
    /// Jobs of the same client that come before, while it waits.
    pub ahead: Option<usize>,
    /// How often it was taken.
    pub attempts: u32,
    /// When it was put in, in milliseconds since 1970.
    pub submitted_ms: u64,
    /// When it was taken last.
    pub started_ms: Option<u64>,
    /// When it ended.
    pub ended_ms: Option<u64>,
    /// What came of it, if it is finished.
    pub outcome: Option<Vec<u8>>,
    /// Why nothing comes of it, if it is lost.
    pub loss: Option<JobLoss>,
    /// Attempts that came to nothing by their hosts' doing, where the engine keeps them.
    pub lost_attempts: Vec<LostAttempt>,
    /// Why the outcome counts no more, if it does not.
    pub revoked: Option<String>,
}

impl JobStatus {
    /// Of a job of which nothing else is known any more.
    fn lost(loss: JobLoss) -> JobStatus {
        JobStatus { state: JobState::Lost, loss: Some(loss), ..JobStatus::default() }
    }
}

/// What a client has of the room in a queue: see [`QueueLimits::bytes_of_client`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskShare {
    /// Bytes of its jobs and of what came of them.
    pub held: u64,
    /// As many as it may have.
    pub limit: u64,
}

/// How many jobs there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// That nobody has.
    pub waiting: u64,
    /// That a worker has.
    pub running: u64,
    /// That have ended and are not forgotten.
    pub ended: u64,
    /// Clients with a job that has not ended.
    pub clients: u64,
}
