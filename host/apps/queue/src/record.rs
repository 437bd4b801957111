//! What is kept of a job beside its bytes.

use crate::clock::Now;
use crate::{JobLoss, JobState, JobStatus, QueueError};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Hexadecimal digits of a hash.
const HASH: usize = 64;

/// What is kept of a job beside its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    pub client: String,
    pub key: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Of the payload, in hexadecimal.
    pub sha256: String,
    /// Of the outcome, in hexadecimal.
    pub outcome_sha256: Option<String>,
    /// Its place in the line of its client, which it keeps when it is put back.
    pub number: u64,
    pub state: JobState,
    /// Why it is lost, if it is.
    pub loss: Option<JobLoss>,
    pub attempts: u32,
    /// Whether work on it has begun in the attempt that runs.
    #[serde(default)]
    pub begun: bool,
    /// Attempts in which work had begun whose worker was gone before their end.
    pub losses: u32,
    pub submitted_ms: u64,
    pub started_ms: Option<u64>,
    pub ended_ms: Option<u64>,
    /// When it ended by the queue's own clock, which alone decides how long it is kept.
    pub kept_from_ms: Option<u64>,
}

impl JobRecord {
    pub fn new(client: &str, key: Option<&str>, sha256: String, number: u64, now_ms: u64) -> JobRecord {
        JobRecord {
            client: client.to_owned(),
            key: key.map(str::to_owned),
            sha256,
            number,
            submitted_ms: now_ms,
            ..JobRecord::default()
        }
    }

    /// As it is when nothing comes any more.
    pub fn ended(&self, state: JobState, now: Now) -> JobRecord {
        let (ended_ms, kept_from_ms) = (Some(now.wall_ms), Some(now.queue_ms));
        JobRecord { state, ended_ms, kept_from_ms, ..self.clone() }
    }

    /// As it is when it waits again.
    pub fn waiting(&self) -> JobRecord {
        JobRecord { state: JobState::Waiting, begun: false, ..self.clone() }
    }

    /// Its place among those that ended. Older versions kept no clock of the queue's own.
    pub fn place_ms(&self) -> u64 {
        self.kept_from_ms.or(self.ended_ms).unwrap_or_default()
    }

    /// As it is when it is lost.
    pub fn lost(&self, loss: JobLoss, now: Now) -> JobRecord {
        JobRecord { loss: Some(loss), ..self.ended(JobState::Lost, now) }
    }

    /// Reads one that [`JobRecord::bytes`] wrote, if it is as it was.
    pub fn read(bytes: &[u8]) -> Result<JobRecord, QueueError> {
        // Older versions wrote no hash.
        let text = if bytes.starts_with(b"{") { Some(bytes) } else { verified(bytes) };
        let record = text.and_then(|text| serde_json::from_slice(text).ok());
        record.ok_or(QueueError::Record)
    }

    /// The hash of what follows, and that as JSON.
    pub fn bytes(&self) -> Vec<u8> {
        let text = serde_json::json!(self).to_string();
        [sha256(text.as_bytes()), text].concat().into_bytes()
    }
}

/// What is told of a job. An outcome that is not the one that was kept is none.
pub fn status(record: &JobRecord, ahead: Option<usize>, outcome: Option<Vec<u8>>) -> JobStatus {
    let is_kept = |outcome: &Vec<u8>| record.outcome_sha256.as_ref().is_none_or(|hash| sha256(outcome) == *hash);
    let outcome = outcome.filter(is_kept);
    let is_damaged = record.state == JobState::Finished && outcome.is_none();
    let of_workers = (record.state == JobState::Lost).then_some(JobLoss::Workers);
    JobStatus {
        state: if is_damaged { JobState::Lost } else { record.state },
        ahead,
        attempts: record.attempts,
        submitted_ms: record.submitted_ms,
        started_ms: record.started_ms,
        ended_ms: record.ended_ms,
        outcome,
        loss: if is_damaged { Some(JobLoss::Outcome) } else { record.loss.or(of_workers) },
        lost_attempts: vec![],
        revoked: None,
    }
}

fn verified(bytes: &[u8]) -> Option<&[u8]> {
    let (hash, text) = bytes.split_at_checked(HASH)?;
    (sha256(text).as_bytes() == hash).then_some(text)
}

/// A client with a job that has not ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientLine {
    pub waiting: u64,
    pub running: u64,
    /// The number of the last taking that was this client's turn.
    pub last: u64,
}

impl From<(u64, u64, u64)> for ClientLine {
    fn from((waiting, running, last): (u64, u64, u64)) -> ClientLine {
        ClientLine { waiting, running, last }
    }
}

impl From<ClientLine> for (u64, u64, u64) {
    fn from(line: ClientLine) -> (u64, u64, u64) {
        (line.waiting, line.running, line.last)
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}
