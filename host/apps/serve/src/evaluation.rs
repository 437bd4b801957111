//! An evaluation as clients hear of it.

use crate::access::Client;
use crate::job::EvaluationOutcome;
use crate::problem::Problem;
use crate::state::ServerState;
use axum::http::StatusCode;
use passhost_queue::{JobLoss, JobState, JobStatus, Ticket};
use serde::Serialize;

/// What is known of an evaluation.
#[derive(Debug, Serialize)]
pub struct EvaluationStatus {
    pub id: Ticket,
    pub state: JobState,
    /// Evaluations of the same client that come before, while it waits.
    pub ahead: Option<usize>,
    pub submitted_ms: u64,
    pub started_ms: Option<u64>,
    pub ended_ms: Option<u64>,
    #[serde(flatten)]
    pub outcome: EvaluationOutcome,
    /// Why its result counts no more, if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
}

impl EvaluationStatus {
    pub fn new(id: Ticket, status: JobStatus) -> EvaluationStatus {
        let JobStatus { state, ahead, submitted_ms, started_ms, ended_ms, .. } = status;
        let revoked = status.revoked.clone();
        EvaluationStatus { id, state, ahead, submitted_ms, started_ms, ended_ms, outcome: outcome(status), revoked }
    }
}

/// What came of an evaluation, as far as that is known.
pub fn outcome(status: JobStatus) -> EvaluationOutcome {
    let trouble = |why: &str| EvaluationOutcome { trouble: Some(why.to_owned()), ..EvaluationOutcome::default() };
    let last = status.lost_attempts.iter().rfind(|attempt| !attempt.died).map(|attempt| attempt.log.as_str());
    match (status.state, status.outcome) {
        (JobState::Lost, _) => {
            let why = lost(status.loss.unwrap_or(JobLoss::Workers));
            trouble(&last.map_or_else(|| why.to_owned(), |last| format!("{why}: {last}")))
        }
        (_, Some(bytes)) => {
            EvaluationOutcome::read(&bytes).unwrap_or_else(|| trouble("its result cannot be read; tell the operator"))
        }
        (_, None) => EvaluationOutcome::default(),
    }
}

/// Why there is no result, and what to do.
fn lost(loss: JobLoss) -> &'static str {
    match loss {
        JobLoss::Workers => "the server ended three times while it was evaluated; it is not tried again",
        JobLoss::Quarantined => "the servers of two machines ended while they evaluated it; it is not tried again",
        JobLoss::Hosts => "as many machines as may try it could not evaluate it; it is not tried again",
        JobLoss::Payload => "the submission is damaged on the server's disk; submit it again, under another key",
        JobLoss::Outcome => "the result is damaged on the server's disk; submit it again, under another key",
        JobLoss::Record => "the server's record of it is damaged on its disk; submit it again, under another key",
        JobLoss::File => "the file that it was in is gone from the server's disk; submit it again",
    }
}

/// That there is no such evaluation, or it is somebody else's, which nobody else can tell.
pub fn unknown() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "this client has no such evaluation; results are kept for a while after their end",
    )
}

pub async fn known(state: &ServerState, client: &Client, id: &Ticket) -> Result<JobStatus, Problem> {
    let (name, ticket) = (client.name.clone(), id.clone());
    state.ask(move |queue| queue.look(&name, &ticket)).await?.ok_or_else(unknown)
}
