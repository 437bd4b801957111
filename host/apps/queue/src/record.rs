//! What is kept of a job beside its bytes.

use crate::clock::Now;
use crate::{Loss, QueueError, State};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Hexadecimal digits of a hash.
const HASH: usize = 64;

/// What is kept of a job beside its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub client: String,
    pub key: Option<String>,
    /// Of the payload, in hexadecimal.
    pub sha256: String,
    /// Of the outcome, in hexadecimal. Versions before kept none.
    #[serde(default)]
    pub outcome_sha256: Option<String>,
    /// Its place in the line of its client, which it keeps when it is put back.
    pub number: u64,
    pub state: State,
    /// Why it is lost, if it is.
    #[serde(default)]
    pub loss: Option<Loss>,
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
    #[serde(default)]
    pub kept_from_ms: Option<u64>,
    /// Its place among jobs that run, in files of versions that kept leases on the disk.
    pub expires_ms: Option<u64>,
}

impl Record {
    pub fn new(client: &str, key: Option<&str>, sha256: String, number: u64, now_ms: u64) -> Record {
        Record {
            client: client.to_owned(),
            key: key.map(str::to_owned),
            sha256,
            outcome_sha256: None,
            number,
            state: State::Waiting,
            loss: None,
            attempts: 0,
            begun: false,
            losses: 0,
            submitted_ms: now_ms,
            started_ms: None,
            ended_ms: None,
            kept_from_ms: None,
            expires_ms: None,
        }
    }

    /// As it is when nothing comes any more.
    pub fn ended(&self, state: State, now: Now) -> Record {
        let (ended_ms, kept_from_ms) = (Some(now.wall_ms), Some(now.queue_ms));
        Record { state, expires_ms: None, ended_ms, kept_from_ms, ..self.clone() }
    }

    /// As it is when it waits again.
    pub fn waiting(&self) -> Record {
        Record { state: State::Waiting, begun: false, expires_ms: None, ..self.clone() }
    }

    /// Its place among those that ended.
    pub fn place_ms(&self) -> u64 {
        self.kept_from_ms.or(self.ended_ms).unwrap_or_default()
    }

    /// As it is when it is lost.
    pub fn lost(&self, loss: Loss, now: Now) -> Record {
        Record { loss: Some(loss), ..self.ended(State::Lost, now) }
    }

    /// Reads one that [`Record::bytes`] wrote, if it is as it was.
    pub fn read(bytes: &[u8]) -> Result<Record, QueueError> {
        // Versions before wrote no hash.
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

fn verified(bytes: &[u8]) -> Option<&[u8]> {
    let (hash, text) = bytes.split_at_checked(HASH)?;
    (sha256(text).as_bytes() == hash).then_some(text)
}

/// A client with a job that has not ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Line {
    pub waiting: u64,
    pub running: u64,
    /// The number of the last taking that was this client's turn.
    pub last: u64,
}

impl From<(u64, u64, u64)> for Line {
    fn from((waiting, running, last): (u64, u64, u64)) -> Line {
        Line { waiting, running, last }
    }
}

impl From<Line> for (u64, u64, u64) {
    fn from(line: Line) -> (u64, u64, u64) {
        (line.waiting, line.running, line.last)
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}
