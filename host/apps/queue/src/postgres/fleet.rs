//! What the operator of many workers sees, and may do.

use super::{Postgres, count, is_storable, named};
use crate::{JobLoss, JobState, LostAttempt, QueueError, Ticket};
use serde::Serialize;
use std::time::Duration;

/// What waits and runs, who works, and what nobody could do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FleetStatus {
    /// Jobs that have not ended, by what they need.
    pub depth: Vec<LabelDepth>,
    /// The job that waits for the longest time.
    pub oldest: Option<OldestJob>,
    /// Processes that took or would take jobs, by host.
    pub workers: Vec<WorkerStatus>,
    /// Machines that are to take nothing.
    pub drained: Vec<String>,
    /// Machines that take nothing since their canary was not as it should be.
    pub quarantined: Vec<QuarantinedHost>,
    /// Hosts of which results were refused.
    pub refused: Vec<RefusedResults>,
    /// Results that count no more.
    pub revoked: u64,
    /// Results that were compared with those of another host.
    pub reruns: u64,
    /// Jobs whose results differ between hosts.
    pub disagreements: u64,
    /// Of these at most 100, the last first.
    pub last_disagreements: Vec<Disagreement>,
    /// Results that were drawn for a second run, and that no other host tried.
    pub untried: Vec<UntriedResults>,
    /// Seconds that the last good canary of a host may be ago, where one is required.
    pub canary_within: Option<u64>,
    /// Jobs that came to nothing.
    pub lost: u64,
    /// Jobs that came to nothing by the doing of their hosts, at most 100, the last first.
    pub dead_letters: Vec<DeadLetter>,
}

/// A worker that says nothing for so many seconds is gone, or its host is.
const SILENT: u64 = 30;

/// Whether a worker takes jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerState {
    /// It does.
    Working,
    /// It did not say that it is there for half a minute.
    Silent,
    /// Its operator does not want that.
    Drained,
    /// Its canary was not as it should be.
    Quarantined,
    /// It has no canary that was good a short time ago, and one is required.
    Untested,
}

impl FleetStatus {
    /// Whether a worker takes jobs.
    pub fn state(&self, worker: &WorkerStatus) -> WorkerState {
        if worker.silent >= SILENT {
            WorkerState::Silent
        } else if self.quarantined.iter().any(|quarantined| quarantined.host == worker.host) {
            WorkerState::Quarantined
        } else if self.drained.contains(&worker.host) {
            WorkerState::Drained
        } else if worker.lacks_canary.is_some() {
            WorkerState::Untested
        } else {
            WorkerState::Working
        }
    }
}

/// Jobs that need the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LabelDepth {
    /// What their worker must offer.
    pub needs: Vec<String>,
    /// How many nobody has.
    pub waiting: u64,
    /// How many a worker has.
    pub running: u64,
}

/// A job that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OldestJob {
    /// Its name.
    pub ticket: Ticket,
    /// Whose it is.
    pub client: String,
    /// For how many seconds.
    pub seconds: u64,
}

/// A process that works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerStatus {
    /// The machine.
    pub host: String,
    /// The process.
    pub name: String,
    /// What it offers.
    pub offers: Vec<String>,
    /// For how many seconds it did not say that it is there.
    pub silent: u64,
    /// Jobs that it has.
    pub running: u64,
    /// Jobs that it ended in the last ten minutes.
    pub ended: u64,
    /// Why it takes nothing for want of a canary, if it does not.
    pub lacks_canary: Option<String>,
}

/// Results of a host that were to be tried by another one of its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UntriedResults {
    /// The machine.
    pub host: String,
    /// What another one must offer: the kind of its device.
    pub kind: String,
    /// How many no other host tried, and none will.
    pub results: u64,
    /// How many wait for one.
    pub waiting: u64,
}

/// A machine whose canary was not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuarantinedHost {
    /// The machine.
    pub host: String,
    /// What came of the canary.
    pub reason: String,
    /// How many seconds ago.
    pub seconds: u64,
    /// Its results that were revoked.
    pub revoked: u64,
}

/// A result that counts no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Revocation {
    /// Its job.
    pub ticket: Ticket,
    /// The machine.
    pub host: String,
    /// Why.
    pub reason: String,
    /// When, in seconds since 1970.
    pub revoked: u64,
}

/// A job whose results differ between hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// Its name.
    pub ticket: Ticket,
    /// The hosts, and in what they differ.
    pub reason: String,
    /// How many seconds ago.
    pub seconds: u64,
}

/// Results of a host that count for nothing, of jobs that are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedResults {
    /// The machine.
    pub host: String,
    /// How many.
    pub results: u64,
    /// Why the last one was.
    pub last: String,
}

/// A job that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeadLetter {
    /// Its name.
    pub ticket: Ticket,
    /// Whose it is.
    pub client: String,
    /// Why.
    pub loss: JobLoss,
    /// How many seconds ago.
    pub seconds: u64,
    /// Whether its submission is there, so that it can be tried again.
    pub has_submission: bool,
    /// What happened on each host.
    pub attempts: Vec<LostAttempt>,
}

const DEPTH: &str = "
    SELECT needs, sum(waiting)::bigint, sum(running)::bigint FROM client_counts GROUP BY needs
    HAVING sum(waiting) + sum(running) > 0 ORDER BY needs";

const OLDEST: &str = "
    SELECT ticket, client, floor(extract(epoch FROM queue_now() - submitted))::bigint
    FROM (SELECT DISTINCT client FROM client_counts WHERE client <> '(rerun)') clients CROSS JOIN LATERAL (
        SELECT ticket, submitted FROM jobs WHERE jobs.client = clients.client AND state = 'waiting' ORDER BY number LIMIT 1
    ) first ORDER BY submitted LIMIT 1";

const WORKERS: &str = "
    SELECT host, name, offers, floor(extract(epoch FROM queue_now() - seen))::bigint,
        (SELECT count(*) FROM jobs WHERE state = 'running' AND worker = name),
        (SELECT count(*) FROM jobs WHERE ended > (SELECT queue_now()) - interval '10 minutes' AND worker = name),
        lacks_canary(host, holder, offers)
    FROM workers ORDER BY host, name";

const DRAINED: &str = "SELECT host FROM drained_hosts ORDER BY host";

const QUARANTINED: &str = "
    SELECT host, min(reason), floor(extract(epoch FROM queue_now() - min(since)))::bigint,
        (SELECT count(*) FROM revocations WHERE revocations.host = quarantined_hosts.host)
    FROM quarantined_hosts GROUP BY host ORDER BY host";

const REVOKED: &str = "
    SELECT ticket, host, reason, floor(extract(epoch FROM revoked))::bigint FROM revocations ORDER BY revoked, ticket";

const REFUSED: &str = "
    SELECT host, count(*), (array_agg(log ORDER BY ticket DESC, attempt DESC))[1] FROM losses WHERE refused
    GROUP BY host ORDER BY host";

const DEAD: &str = "
    SELECT ticket, client, loss, floor(extract(epoch FROM queue_now() - ended))::bigint,
        EXISTS (SELECT FROM payloads WHERE payloads.ticket = jobs.ticket), (
            SELECT coalesce(json_agg(json_build_object('host', host, 'died', died, 'log', log) ORDER BY attempt), '[]')::text
            FROM losses WHERE losses.ticket = jobs.ticket
        )
    FROM jobs WHERE state = 'lost' ORDER BY ended DESC LIMIT 100";

/// Has it wait again, in its old place and as if no host had lost it.
const RETRY: &str = "
    UPDATE jobs SET state = 'waiting', loss = NULL, losses = 0, begun = false, ended = NULL, retried = attempts, outcome_bytes = 0
    WHERE ticket = $1 AND state = 'lost' AND EXISTS (SELECT FROM payloads WHERE payloads.ticket = jobs.ticket)
    RETURNING ticket";

const TOTALS: &str = "
    SELECT (SELECT count(*) FROM revocations), (SELECT count(*) FROM jobs WHERE state = 'lost'),
        (SELECT last_value FROM reruns_compared), (SELECT count(*) FROM disagreements),
        (SELECT extract(epoch FROM canary_within)::bigint FROM queue)";

const DISAGREEMENTS: &str = "
    SELECT ticket, reason, floor(extract(epoch FROM queue_now() - since))::bigint FROM disagreements
    ORDER BY since DESC, ticket LIMIT 100";

const UNTRIED: &str = "
    SELECT host, kind, sum(results)::bigint, sum(waiting)::bigint FROM (
        SELECT host, kind, results, 0 AS waiting FROM untried_results UNION ALL
        SELECT hosts[1], device_kind(needs), 0, 1 FROM reruns JOIN jobs USING (ticket)
        WHERE state = 'waiting' AND cardinality(hosts) = 1
    ) untried GROUP BY host, kind ORDER BY host, kind";

const CANARY_WITHIN: &str = "UPDATE queue SET canary_within = $1 * interval '1 second'";

const STATE: &str = "SELECT state::text FROM jobs WHERE ticket = $1";

const DRAIN: &str = "INSERT INTO drained_hosts (host) VALUES ($1) ON CONFLICT DO NOTHING";

const UNDRAIN: &str = "
    WITH quarantined AS (DELETE FROM quarantined_hosts WHERE host = $1) DELETE FROM drained_hosts WHERE host = $1";

/// Of workers that were not there for so long.
pub const FORGET_WORKERS: &str = "DELETE FROM workers WHERE seen < queue_now() - $1 * interval '1 millisecond'";

impl Postgres {
    /// How all of it stands. For the owner of the tables.
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    pub fn fleet(&self) -> Result<FleetStatus, QueueError> {
        let mut status = FleetStatus::default();
        for row in self.query(DEPTH, &[])? {
            let (waiting, running) = (count(&row, 1)?, count(&row, 2)?);
            status.depth.push(LabelDepth { needs: row.try_get(0)?, waiting, running });
        }
        for row in self.query(OLDEST, &[])? {
            let (ticket, client) = (Ticket::named(row.try_get::<_, String>(0)?), row.try_get(1)?);
            status.oldest = Some(OldestJob { ticket, client, seconds: count(&row, 2)? });
        }
        for row in self.query(WORKERS, &[])? {
            let (host, name, offers) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let (silent, running, ended) = (count(&row, 3)?, count(&row, 4)?, count(&row, 5)?);
            let lacks_canary = row.try_get(6)?;
            status.workers.push(WorkerStatus { host, name, offers, silent, running, ended, lacks_canary });
        }
        for row in self.query(DRAINED, &[])? {
            status.drained.push(row.try_get(0)?);
        }
        for row in self.query(QUARANTINED, &[])? {
            let (host, reason, seconds) = (row.try_get(0)?, row.try_get(1)?, count(&row, 2)?);
            status.quarantined.push(QuarantinedHost { host, reason, seconds, revoked: count(&row, 3)? });
        }
        for row in self.query(TOTALS, &[])? {
            (status.revoked, status.lost) = (count(&row, 0)?, count(&row, 1)?);
            (status.reruns, status.disagreements) = (count(&row, 2)?, count(&row, 3)?);
            status.canary_within = row.try_get::<_, Option<i64>>(4)?.map(i64::unsigned_abs);
        }
        for row in self.query(UNTRIED, &[])? {
            let (host, kind) = (row.try_get(0)?, row.try_get(1)?);
            let (results, waiting) = (count(&row, 2)?, count(&row, 3)?);
            status.untried.push(UntriedResults { host, kind, results, waiting });
        }
        for row in self.query(DISAGREEMENTS, &[])? {
            let (ticket, reason) = (Ticket::named(row.try_get::<_, String>(0)?), row.try_get(1)?);
            status.last_disagreements.push(Disagreement { ticket, reason, seconds: count(&row, 2)? });
        }
        for row in self.query(REFUSED, &[])? {
            let (host, last) = (row.try_get(0)?, row.try_get(2)?);
            status.refused.push(RefusedResults { host, results: count(&row, 1)?, last });
        }
        for row in self.query(DEAD, &[])? {
            status.dead_letters.push(DeadLetter {
                ticket: Ticket::named(row.try_get::<_, String>(0)?),
                client: row.try_get(1)?,
                loss: named(row.try_get(2)?)?,
                seconds: count(&row, 3)?,
                has_submission: row.try_get(4)?,
                attempts: serde_json::from_str(row.try_get(5)?).map_err(|_| QueueError::Record)?,
            });
        }
        Ok(status)
    }

    /// Has a job wait again that is lost. Its losses until now count no more. The state in which another job is, which is left
    /// as it is; `None` of one that is not known.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    pub fn retry(&self, ticket: &Ticket) -> Result<Option<JobState>, QueueError> {
        if !is_storable(ticket.as_str()) {
            return Ok(None);
        }
        if !self.query(RETRY, &[&ticket.as_str()])?.is_empty() {
            return Ok(Some(JobState::Waiting));
        }
        self.query(STATE, &[&ticket.as_str()])?.first().map(|row| named(row.try_get(0)?)).transpose()
    }

    /// All results that count no more, the oldest first.
    ///
    /// # Errors
    ///
    /// If the queue cannot be read.
    pub fn revoked(&self) -> Result<Vec<Revocation>, QueueError> {
        let mut revoked = vec![];
        for row in self.query(REVOKED, &[])? {
            let ticket = Ticket::named(row.try_get::<_, String>(0)?);
            let (host, reason) = (row.try_get(1)?, row.try_get(2)?);
            revoked.push(Revocation { ticket, host, reason, revoked: count(&row, 3)? });
        }
        Ok(revoked)
    }

    /// Has hosts take nothing whose last good canary is longer ago than this, or that had none; `None` requires none.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    pub fn require_canary(&self, within: Option<Duration>) -> Result<(), QueueError> {
        self.query(CANARY_WITHIN, &[&within.map(|within| within.as_secs_f64())]).map(drop)
    }

    /// Has the workers of a host take nothing from now on, or take again, also if it is quarantined. What they have they end.
    ///
    /// # Errors
    ///
    /// If the queue cannot be written.
    pub fn drain(&self, host: &str, is_drained: bool) -> Result<(), QueueError> {
        if !is_storable(host) {
            return Err(QueueError::Nul("name of the host"));
        }
        self.query(if is_drained { DRAIN } else { UNDRAIN }, &[&host]).map(drop)
    }
}
