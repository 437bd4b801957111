//! A queue in a PostgreSQL database, for workers on many machines.

mod address;
mod connections;
mod ends;
mod fleet;
mod judging;
mod migrations;
mod statements;
mod stored;
mod turns;

use crate::clock::milliseconds;
use crate::record::{JobRecord, sha256, status};
use crate::{
    Canary, CheckIn, Counts, DiskShare, JobState, JobStatus, Judge, Judged, Lease, NewJob, ObjectError, Objects, Queue,
    QueueError, QueueLimits, Taken, TakenBatch, Ticket, UnmetNeeds, Worker,
};
use ::postgres::Row;
use ::postgres::types::ToSql;
use address::Address;
use connections::{Connection, ConnectionPool, Repeat};
use ends::{JobEnd, WaitingEnds};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use turns::{ClientTurn, turns};

/// Bytes of a submission that are sent before it is known whether the database has them.
const SENT_AT_ONCE: usize = 16 << 10;
pub use fleet::{
    DeadLetter, Disagreement, FleetStatus, LabelDepth, OldestJob, QuarantinedHost, RefusedResults, Revocation,
    UntriedResults, WorkerState, WorkerStatus,
};

/// A queue in a PostgreSQL database of version 15 or newer, which many processes on many machines use at once. It is in the first
/// schema of the connection's search path, and makes its tables there; it needs no extension.
///
/// What differs from [`Embedded`](crate::Embedded):
///
/// - A worker that is gone is noticed when its lease runs out by the database's clock, or by [`Queue::recover`]: opening a queue
///   puts back nothing. A job that is taken again has a new attempt number, without which nobody ends it.
/// - Turns are exact for one caller at a time. When `n` callers take at once, a client's turn may come up to `n - 1` batches late,
///   and it may run as many jobs above [`QueueLimits::running_of_client`]. The limits of what one client submits are exact;
///   [`QueueLimits::waiting`] may be exceeded by one job for each other client that submits at the same moment.
/// - An operation whose connection breaks is done again for up to 15 seconds, so that a restart of the database is not noticed:
///   a job is known by its ticket, and its end by the attempt. When [`Queue::take`] breaks, a job may be nobody's until its lease
///   runs out. After 15 seconds without an answer each operation is tried once, until one is answered. [`Queue::remove`] and [`Queue::withdraw`] are not done again: see [`QueueError::Unanswered`].
/// - [`Queue::wait`] hears of jobs that come, and the tables' owner of jobs that end, if few wait. A job that waits because of a
///   limit is not announced, so whoever waits looks again in any case. Its first call returns at once: what came before it was
///   not announced.
/// - The database damages no record without noticing (`initdb --data-checksums`); submissions and outcomes carry hashes here, too.
///
/// For the owner of the tables it is a queue like any other. `SELECT allow_worker('USER')` lets another user of the database take
/// jobs and end those that it took, by functions of the database; all else is denied to it.
///
/// Its operations wait for the database, so they must not be called on a thread that runs asynchronous tasks.
pub struct Postgres {
    connections: ConnectionPool,
    ends: WaitingEnds,
    limits: QueueLimits,
    objects: Option<Objects>,
    /// `None` if the user of the database is a worker.
    name: Option<String>,
}

impl Postgres {
    /// Opens the queue in a database (`postgres://user@host/database`, or `host=... user=...`), or makes one. With
    /// `sslmode=verify-full` connections are over TLS, and `sslrootcert` names a file of authorities in place of the system's.
    ///
    /// # Errors
    ///
    /// If the address is none, the database does not answer or is too old, or a newer program made its tables.
    pub fn open(address: &str, limits: QueueLimits) -> Result<Postgres, QueueError> {
        let connections = ConnectionPool::new(Address::parse(address)?);
        // A wrong address is told at once.
        drop(connections.connect()?);
        let name = connections.run(Repeat::Safe, |connection, _| migrations::migrate(connection))?;
        Ok(Postgres { connections, ends: WaitingEnds::default(), limits, objects: None, name })
    }

    fn query(&self, sql: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, QueueError> {
        self.connections.run(Repeat::Safe, |connection, _| connection.query(sql, values))
    }

    /// Changes the job that is held under a lease. `known` finds a job of which an earlier try did the same.
    fn of_lease(
        &self,
        lease: &Lease,
        (sql, values): (&'static str, &[&(dyn ToSql + Sync)]),
        known: Option<(&'static str, &[&(dyn ToSql + Sync)])>,
    ) -> Result<(), QueueError> {
        self.connections.run(Repeat::Safe, |connection, again| {
            let is_done = !connection.query(sql, values)?.is_empty();
            let was_done = |connection: &mut Connection| match known {
                Some((sql, values)) if again => Ok(!connection.query(sql, values)?.is_empty()),
                _ => Ok::<_, QueueError>(false),
            };
            if is_done || was_done(connection)? { Ok(()) } else { Err(QueueError::Stale(lease.ticket.clone())) }
        })
    }

    /// Puts back the jobs whose leases ran out. A worker leaves that to servers.
    fn requeue(&self, connection: &mut Connection) -> Result<(), QueueError> {
        if self.name.is_some() && !connection.query(statements::HAS_EXPIRED, &[])?.is_empty() {
            let (of_host, hosts) = (integer(self.limits.attempts), integer(self.limits.hosts));
            connection.query(statements::REQUEUE, &[&of_host, &hosts])?;
        }
        Ok(())
    }

    /// Takes the jobs of these turns. Returns the clients of whom fewer were found: others are taking the rest.
    fn claim(
        connection: &mut Connection,
        mut turns: BTreeMap<String, i64>,
        (worker, lease): (&Worker, Duration),
        claimed: &mut Vec<Row>,
    ) -> Result<BTreeSet<String>, QueueError> {
        let (clients, most): (Vec<&String>, Vec<i64>) = turns.iter().unzip();
        let claim: [&(dyn ToSql + Sync); 6] =
            [&clients, &most, &span(lease), &worker.name, &worker.host, &worker.offers];
        for row in connection.query(statements::CLAIM, &claim)? {
            turns.entry(row.try_get(4)?).and_modify(|turns| *turns -= 1);
            claimed.push(row);
        }
        turns.retain(|_, left| *left > 0);
        Ok(turns.into_keys().collect())
    }
}

impl Queue for Postgres {
    fn submit_job(&self, client: &str, key: Option<&str>, job: &NewJob<'_>) -> Result<Ticket, QueueError> {
        self.limits.check_lengths(client, key, job)?;
        let texts = [("client's name", client)].into_iter().chain(key.map(|key| ("key", key)));
        for (what, text) in texts.chain(job.needs.iter().map(|need| ("label", need.as_str()))) {
            if !is_storable(text) {
                return Err(QueueError::Nul(what));
            }
        }
        let payload = &job.payload();
        let (hash, object, ticket) =
            (sha256(payload), sha256(job.bytes), Ticket::random(self.name.as_deref().unwrap_or_default())?);
        let [most, own, held] = [self.limits.waiting, self.limits.waiting_of_client, self.limits.bytes_of_client]
            .map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let (size, length) = (payload.len() as i64, job.bytes.len());
        // `None` if the bytes are not there and are not given.
        let submit = |connection: &mut Connection, bytes: Option<&[u8]>| {
            let values: [&(dyn ToSql + Sync); 12] = [
                &ticket.as_str(),
                &client,
                &key,
                &hash,
                &size,
                &job.head,
                &job.needs,
                &object,
                &bytes,
                &most,
                &own,
                &held,
            ];
            for row in connection.query(statements::SUBMIT, &values)? {
                match row.try_get(0)? {
                    "known" if row.try_get::<_, &str>(2)? == hash => return Ok(Some(Ticket(row.try_get(1)?))),
                    "known" => return Err(QueueError::KeyReused(Ticket(row.try_get(1)?))),
                    "room" => self.limits.check_room(count(&row, 3)?, count(&row, 4)?, count(&row, 5)?, payload)?,
                    "put" => return Ok(Some(ticket.clone())),
                    _ => {}
                }
            }
            Ok(None)
        };
        let run = |bytes| self.connections.run(Repeat::Safe, |connection, _| submit(connection, bytes));
        // Many may have bytes in common: they are sent if they are few, or not there.
        if let Some(put) = run(Some(job.bytes).filter(|_| length <= SENT_AT_ONCE))? {
            return Ok(put);
        }
        let Some(objects) = self.objects.as_ref().filter(|_| length >= stored::LEAST) else {
            return run(Some(job.bytes))?.ok_or(QueueError::Record);
        };
        self.query(statements::STORE, &[&object, &(length as i64)])?;
        objects.put(&object, job.bytes, stored::put_until())?;
        let put = self.connections.run(Repeat::Safe, |connection, _| {
            connection.batch("BEGIN")?;
            let put = connection.query(statements::STORED, &[&object]).and_then(|_| submit(connection, None));
            // Another job that has the key needs no bytes of this one.
            let is_put = put.as_ref().is_ok_and(|put| put.as_ref() == Some(&ticket));
            connection.batch(if is_put { "COMMIT" } else { "ROLLBACK" }).and(put)
        })?;
        put.ok_or(QueueError::Record)
    }

    fn take_as(&self, worker: &Worker, lease: Duration) -> Result<Option<Taken>, QueueError> {
        let TakenBatch { mut jobs, mut lost, mut left } = self.take_batch(worker, 1, lease)?;
        match (jobs.pop(), lost.pop(), left.pop()) {
            (None, Some(ticket), _) => Err(QueueError::Lost(ticket)),
            (None, None, Some((ticket, why))) => Err(QueueError::Left(ticket, why)),
            (job, ..) => Ok(job),
        }
    }

    fn recover(&self, worker: &str) -> Result<(), QueueError> {
        let (of_host, hosts) = (integer(self.limits.attempts), integer(self.limits.hosts));
        self.query(statements::RECOVER, &[&worker, &of_host, &hosts]).map(drop)
    }

    fn take_batch(&self, worker: &Worker, jobs: usize, lease: Duration) -> Result<TakenBatch, QueueError> {
        if ![&worker.name, &worker.host].into_iter().chain(&worker.offers).all(|text| is_storable(text)) {
            return Err(QueueError::Nul("worker's name or label"));
        }
        let running = self.limits.running_of_client;
        let limit = i64::try_from(running).unwrap_or(i64::MAX);
        let mut claimed = vec![];
        let taken = self.connections.run(Repeat::Safe, |connection, _| {
            self.requeue(connection)?;
            // Clients of whom others are taking all that wait.
            let mut taken_by_others = BTreeSet::new();
            while claimed.len() < jobs {
                let mut lines = vec![];
                for row in connection.query(statements::LINES, &[&limit, &worker.offers])? {
                    let client = row.try_get(0)?;
                    let (waiting, running, last) = (count(&row, 1)?, count(&row, 2)?, count(&row, 3)?);
                    lines.push(ClientTurn { running, last, client, waiting });
                }
                lines.retain(|line| !taken_by_others.contains(&line.client));
                let turns = turns(lines, running, jobs - claimed.len());
                if turns.is_empty() {
                    break;
                }
                taken_by_others.append(&mut Postgres::claim(connection, turns, (worker, lease), &mut claimed)?);
            }
            Ok(())
        });
        match taken {
            Err(error) if claimed.is_empty() => Err(error),
            _ => self.arrived(claimed, lease),
        }
    }

    fn take_like(&self, worker: &Worker, like: &Lease, jobs: usize, lease: Duration) -> Result<TakenBatch, QueueError> {
        let (job, attempt, most) = (like.ticket.as_str(), integer(like.attempt), jobs as i64);
        let running = i64::try_from(self.limits.running_of_client).unwrap_or(i64::MAX);
        let claim: [&(dyn ToSql + Sync); 8] =
            [&job, &attempt, &most, &running, &span(lease), &worker.name, &worker.host, &worker.offers];
        self.arrived(self.query(statements::CLAIM_LIKE, &claim)?, lease)
    }

    fn check_in(&self, worker: &Worker) -> Result<CheckIn, QueueError> {
        self.connections.run(Repeat::Safe, |connection, _| {
            self.requeue(connection)?;
            let drained = connection.query(statements::CHECK_IN, &[&worker.name, &worker.host, &worker.offers])?;
            let mut unmet = vec![];
            for row in connection.query(statements::UNMET, &[&worker.offers])? {
                // It may be taken by now.
                let Some(ticket) = row.try_get(2)? else { continue };
                unmet.push(UnmetNeeds { needs: row.try_get(0)?, waiting: count(&row, 1)?, first: Ticket(ticket) });
            }
            let Some(host) = drained.first() else { return Err(QueueError::Record) };
            let (is_drained, quarantine, lacks_canary) = (host.try_get(0)?, host.try_get(1)?, host.try_get(2)?);
            Ok(CheckIn { is_drained, quarantine, lacks_canary, unmet })
        })
    }

    fn report_canary(&self, worker: &Worker, canary: &Canary) -> Result<(), QueueError> {
        let report = canary.report.replace('\0', " ");
        self.query(statements::CANARY, &[&worker.host, &canary.device, &canary.is_good, &report]).map(drop)
    }

    fn begin(&self, lease: &Lease) -> Result<(), QueueError> {
        self.of_lease(lease, (statements::BEGIN, &[&lease.ticket.as_str(), &integer(lease.attempt)]), None)
    }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<(), QueueError> {
        let values: [&(dyn ToSql + Sync); 3] = [&lease.ticket.as_str(), &integer(lease.attempt), &span(duration)];
        self.of_lease(lease, (statements::RENEW, &values), None)
    }

    fn finish(&self, lease: &Lease, outcome: &[u8]) -> Result<(), QueueError> {
        let Some(objects) = self.objects.as_ref().filter(|_| outcome.len() >= stored::LEAST) else {
            return self.end(lease, outcome);
        };
        let (ticket, attempt, hash) = (lease.ticket.as_str(), integer(lease.attempt), sha256(outcome));
        let finish: [&(dyn ToSql + Sync); 3] = [&ticket, &attempt, &hash];
        let store: [&(dyn ToSql + Sync); 4] = [&ticket, &attempt, &hash, &(outcome.len() as i64)];
        self.of_lease(lease, (statements::STORE_OF_LEASE, &store), None)?;
        objects.put(&hash, outcome, stored::put_until())?;
        self.of_lease(lease, (statements::FINISH_STORED, &finish), Some((statements::IS_FINISHED, &finish)))
    }

    fn finish_all(&self, ends: &[(&Lease, &[u8])]) -> Vec<Result<(), QueueError>> {
        let are_stored = self.objects.is_some() && ends.iter().any(|(_, outcome)| outcome.len() >= stored::LEAST);
        let tickets: BTreeSet<&Ticket> = ends.iter().map(|(lease, _)| &lease.ticket).collect();
        let together: Vec<JobEnd> = ends.iter().map(|(lease, outcome)| JobEnd::new(lease, outcome)).collect();
        let held = if are_stored || tickets.len() < ends.len() { None } else { self.write_ends(&together).ok() };
        let Some(held) = held else {
            // What is wrong with one is no reason for the others.
            return ends.iter().map(|(lease, outcome)| self.finish(lease, outcome)).collect();
        };
        let end = |((lease, _), is_held): (&(&Lease, &[u8]), bool)| {
            if is_held { Ok(()) } else { Err(QueueError::Stale(lease.ticket.clone())) }
        };
        ends.iter().zip(held).map(end).collect()
    }

    fn judge(&self, judge: &dyn Judge) -> Result<Judged, QueueError> {
        self.judge_delivered(judge)
    }

    fn give_up(&self, lease: &Lease, why: &str, _outcome: &[u8]) -> Result<(), QueueError> {
        let (ticket, attempt, why) = (lease.ticket.as_str(), integer(lease.attempt), why.replace('\0', " "));
        let (of_host, hosts) = (integer(self.limits.attempts), integer(self.limits.hosts));
        let lose: [&(dyn ToSql + Sync); 5] = [&ticket, &attempt, &why, &of_host, &hosts];
        self.of_lease(lease, (statements::GIVE_UP, &lose), Some((statements::IS_GIVEN_UP, &[&ticket, &attempt])))
    }

    fn give_back(&self, lease: &Lease) -> Result<(), QueueError> {
        let values: [&(dyn ToSql + Sync); 2] = [&lease.ticket.as_str(), &integer(lease.attempt)];
        self.of_lease(lease, (statements::GIVE_BACK, &values), Some((statements::IS_GIVEN_BACK, &values)))
    }

    fn cancel(&self, client: &str, ticket: &Ticket) -> Result<Option<JobState>, QueueError> {
        if !is_storable(client) || !is_storable(ticket.as_str()) {
            return Ok(None);
        }
        self.connections.run(Repeat::Safe, |connection, _| {
            if !connection.query(statements::CANCEL, &[&ticket.as_str(), &client])?.is_empty() {
                return Ok(Some(JobState::Cancelled));
            }
            let rows = connection.query(statements::STATE, &[&ticket.as_str(), &client])?;
            rows.first().map(|row| named(row.try_get(0)?)).transpose()
        })
    }

    fn look(&self, client: &str, ticket: &Ticket) -> Result<Option<JobStatus>, QueueError> {
        if !is_storable(client) || !is_storable(ticket.as_str()) {
            return Ok(None);
        }
        let rows = self.query(statements::LOOK, &[&ticket.as_str(), &client])?;
        let Some(row) = rows.first() else { return Ok(None) };
        let record = JobRecord {
            state: named(row.try_get(0)?)?,
            loss: row.try_get::<_, Option<String>>(1)?.map(named).transpose()?,
            attempts: row.try_get::<_, i32>(2)?.unsigned_abs(),
            submitted_ms: count(row, 3)?,
            started_ms: row.try_get::<_, Option<i64>>(4)?.map(i64::unsigned_abs),
            ended_ms: row.try_get::<_, Option<i64>>(5)?.map(i64::unsigned_abs),
            outcome_sha256: row.try_get(6)?,
            ..JobRecord::default()
        };
        let ahead = row.try_get::<_, Option<i64>>(9)?.map(|ahead| ahead.unsigned_abs() as usize);
        let lost_attempts = serde_json::from_str(row.try_get(10)?).map_err(|_| QueueError::Record)?;
        let outcome = match (&record.outcome_sha256, row.try_get::<_, Option<i64>>(8)?) {
            (Some(hash), Some(size)) => match self.stored_outcome(hash, size.unsigned_abs()) {
                Err(ObjectError::Missing(_) | ObjectError::Changed(_)) => None,
                outcome => Some(outcome?),
            },
            _ => row.try_get(7)?,
        };
        Ok(Some(JobStatus { lost_attempts, revoked: row.try_get(11)?, ..status(&record, ahead, outcome) }))
    }

    fn fleet_status(&self) -> Result<Option<FleetStatus>, QueueError> {
        self.fleet().map(Some)
    }

    fn counts(&self) -> Result<Counts, QueueError> {
        let rows = self.query(statements::COUNTS, &[])?;
        let Some(row) = rows.first() else { return Ok(Counts::default()) };
        Ok(Counts { waiting: count(row, 0)?, running: count(row, 1)?, ended: count(row, 2)?, clients: count(row, 3)? })
    }

    fn remove(&self, client: &str, ticket: &Ticket) -> Result<bool, QueueError> {
        if !is_storable(client) || !is_storable(ticket.as_str()) {
            return Ok(false);
        }
        self.connections.run(Repeat::Never("the job was removed"), |connection, _| {
            Ok(!connection.query(statements::REMOVE, &[&ticket.as_str(), &client])?.is_empty())
        })
    }

    fn withdraw(&self, keys: &str) -> Result<usize, QueueError> {
        if !is_storable(keys) {
            return Ok(0);
        }
        self.connections.run(Repeat::Never("the jobs were withdrawn"), |connection, _| {
            Ok(connection.query(statements::WITHDRAW, &[&keys])?.len())
        })
    }

    fn share(&self, client: &str) -> Result<DiskShare, QueueError> {
        let limit = self.limits.bytes_of_client;
        if !is_storable(client) {
            return Ok(DiskShare { held: 0, limit });
        }
        let rows = self.query(statements::ROOM, &[&client])?;
        Ok(DiskShare { held: rows.first().map_or(Ok(0), |row| count(row, 2))?, limit })
    }

    fn wait(&self, timeout: Duration) -> Result<Option<bool>, QueueError> {
        let listen =
            if self.name.is_some() { "LISTEN passhost_jobs; LISTEN passhost_results" } else { "LISTEN passhost_jobs" };
        // All that were announced are one.
        Ok(Some(self.connections.announced(listen, timeout)?.is_none_or(|announced| !announced.is_empty())))
    }

    fn forget(&self, ended_before: Duration) -> Result<usize, QueueError> {
        // A few at a time, so that nobody waits for all. What was removed when a connection broke is not counted.
        let mut all = 0;
        loop {
            let forgotten = self.query(statements::FORGET, &[&span(ended_before)])?.len();
            all += forgotten;
            if forgotten == 0 {
                self.query(statements::FORGET_CLIENTS, &[])?;
                self.query(statements::FORGET_NAMES, &[])?;
                self.query(statements::FORGET_RERUNS, &[&span(ended_before)])?;
                self.query(fleet::FORGET_WORKERS, &[&span(ended_before)])?;
                return self.forget_stored().map(|()| all);
            }
        }
    }
}

/// A number of jobs or bytes.
fn count(row: &Row, column: usize) -> Result<u64, QueueError> {
    Ok(u64::try_from(row.try_get::<_, i64>(column)?).unwrap_or_default())
}

fn integer(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Milliseconds, at most as many as the database adds to a date.
fn span(duration: Duration) -> f64 {
    const YEARS: u64 = 100 * 365 * 24 * 3600 * 1000;
    milliseconds(duration).min(YEARS) as f64
}

/// A state or a loss, as both are called in documents.
fn named<T: serde::de::DeserializeOwned>(name: String) -> Result<T, QueueError> {
    serde_json::from_value(name.into()).map_err(|_| QueueError::Record)
}

/// Whether the database stores this text.
fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}
