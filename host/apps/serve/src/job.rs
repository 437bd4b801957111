//! A submission as it waits, and what comes of it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What a submission is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubmissionKind {
    /// A WebAssembly component.
    Component,
    /// The source of a pass, one file of Rust.
    Source,
}

/// A submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedJob {
    /// The name of a sample.
    pub sample: String,
    /// What the bytes are.
    pub kind: SubmissionKind,
    /// The bytes, as they were sent.
    pub bytes: Vec<u8>,
    /// What the evaluation has in common with one by another host before, if there was one.
    pub draws: Option<Vec<u8>>,
}

/// What came of an evaluation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EvaluationOutcome {
    /// The result document, as `passhost eval --json` writes it.
    pub document: Option<Box<RawValue>>,
    /// Why there is none, by the host's doing.
    pub trouble: Option<String>,
    /// The line in which its host signed the document, where hosts do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<String>,
}

/// A signed line, as far as it matters here.
#[derive(Deserialize)]
struct SignedLine {
    payload: SignedPayload,
}

#[derive(Deserialize)]
struct SignedPayload {
    document: Box<RawValue>,
}

impl EvaluationOutcome {
    /// What a worker wrote: by itself, or as a signed line.
    pub(crate) fn read(bytes: &[u8]) -> Option<EvaluationOutcome> {
        if !bytes.starts_with(b"{\"payload\":") {
            return serde_json::from_slice(bytes).ok();
        }
        let line: SignedLine = serde_json::from_slice(bytes).ok()?;
        let signed = String::from_utf8(bytes.to_vec()).ok()?;
        Some(EvaluationOutcome { document: Some(line.payload.document), trouble: None, signed: Some(signed) })
    }
}

/// What stands before the bytes, on a line of its own.
#[derive(Serialize, Deserialize)]
struct Head {
    sample: String,
    kind: SubmissionKind,
}

/// What stands before the bytes of a submission that waits in the queue.
pub fn head(sample: &str, kind: SubmissionKind) -> Vec<u8> {
    let head = serde_json::json!(Head { sample: sample.to_owned(), kind });
    format!("{head}\n").into_bytes()
}

impl SubmittedJob {
    /// A job that waited; `None` of what another version wrote.
    pub(crate) fn read(payload: &[u8], draws: Option<Vec<u8>>) -> Option<SubmittedJob> {
        let end = payload.iter().position(|&byte| byte == b'\n')?;
        let Head { sample, kind } = serde_json::from_slice(&payload[..end]).ok()?;
        Some(SubmittedJob { sample, kind, bytes: payload[end + 1..].to_vec(), draws })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_read_as_it_was_written() {
        for kind in [SubmissionKind::Component, SubmissionKind::Source] {
            let (sample, bytes) = ("a\n\"b\"".to_owned(), b"\n{}\n\0".to_vec());
            let job = SubmittedJob { sample, kind, bytes, draws: Some(b"[]".to_vec()) };
            let payload = [head(&job.sample, kind), job.bytes.clone()].concat();
            assert_eq!(SubmittedJob::read(&payload, job.draws.clone()), Some(job));
        }
        assert_eq!(SubmittedJob::read(b"", None), None);
        assert_eq!(SubmittedJob::read(b"{}\nbytes", None), None);
    }
}
