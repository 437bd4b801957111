//! An evaluation as server-sent events: one for each state, the last with what came of it.

use crate::access::Client;
use crate::evaluation::{EvaluationStatus, known, unknown};
use crate::problem::Problem;
use crate::state::ServerState;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State as Of};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::Stream;
use futures_util::stream::unfold;
use passhost_queue::{JobState, JobStatus, Ticket};
use std::convert::Infallible;
use tokio::sync::watch;

/// What is left to tell.
struct Telling {
    state: ServerState,
    client: Client,
    id: Ticket,
    changes: watch::Receiver<u64>,
    ending: watch::Receiver<bool>,
    /// What is told next, if it is known.
    next: Option<JobStatus>,
    /// What was told last.
    told: Option<JobState>,
}

pub async fn events(
    client: Client,
    Of(state): Of<ServerState>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let id = Ticket::named(id.map_err(|_| unknown())?.0);
    // Before it is looked at: what changes meanwhile is heard of.
    let (changes, ending) = (state.grading.changes.subscribe(), state.grading.ending.subscribe());
    let next = Some(known(&state, &client, &id).await?);
    let telling = Telling { state, client, id, changes, ending, next, told: None };
    Ok(Sse::new(unfold(telling, Telling::next)).keep_alive(KeepAlive::default()))
}

impl Telling {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Telling)> {
        loop {
            if self.told.is_some_and(JobState::is_end) || self.state.is_ending() {
                return None;
            }
            let status = match self.next.take() {
                Some(status) => status,
                None => {
                    tokio::select! { _ = self.changes.changed() => {}, _ = self.ending.changed() => {} }
                    known(&self.state, &self.client, &self.id).await.ok()?
                }
            };
            if self.told == Some(status.state) {
                continue;
            }
            self.told = Some(status.state);
            let event = Event::default().json_data(EvaluationStatus::new(self.id.clone(), status)).ok()?;
            return Some((Ok(event), self));
        }
    }
}
