//! The requests, and what is answered.

use crate::access::Client;
use crate::admission::receive;
use crate::evaluation::{EvaluationStatus, known, unknown};
use crate::job::{self, SubmissionKind};
use crate::openenv;
use crate::problem::Problem;
use crate::state::{ServerInfo, ServerState};
use crate::stream;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State as Of};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use passhost_queue::{DiskShare, JobState, NewJob, Ticket};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

const WEBASSEMBLY: &str = "application/wasm";
const RUST: &str = "text/rust";
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Everything that can be asked, by its path.
fn routes() -> Vec<(&'static str, MethodRouter<ServerState>)> {
    vec![
        ("/health", get(health)),
        ("/openapi.json", get(openapi)),
        ("/metrics", get(measured)),
        ("/v1/about", get(about)),
        ("/v1/samples", get(samples)),
        ("/v1/evaluations", post(submit)),
        ("/v1/evaluations/{id}", get(look).delete(cancel)),
        ("/v1/evaluations/{id}/events", get(stream::events)),
    ]
}

/// The paths of all requests that are answered, in the form that OpenAPI has.
pub fn paths() -> Vec<&'static str> {
    routes().into_iter().chain(openenv::routes()).map(|(path, _)| path).collect()
}

pub fn router(state: ServerState) -> Router {
    let all = routes().into_iter().chain(openenv::routes());
    let all = all.fold(Router::new(), |router, (path, answers)| router.route(path, answers));
    all.fallback(nothing).method_not_allowed_fallback(not_so).with_state(state)
}

#[derive(Deserialize)]
struct SubmissionQuery {
    sample: String,
}

#[derive(Deserialize)]
struct Waiting {
    /// Seconds.
    #[serde(default)]
    wait: u64,
}

async fn submit(
    client: Client,
    Of(state): Of<ServerState>,
    submission: Result<Query<SubmissionQuery>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let submitted = queued(client, &state, submission, &headers, body).await;
    let counter = if submitted.is_ok() { &state.metrics.submitted } else { &state.metrics.refused };
    counter.inc();
    let id = submitted?;
    let place = format!("/v1/evaluations/{id}");
    let body = Json(serde_json::json!({ "id": id, "state": JobState::Waiting }));
    Ok((StatusCode::ACCEPTED, [(header::LOCATION, place)], body).into_response())
}

async fn queued(
    client: Client,
    state: &ServerState,
    submission: Result<Query<SubmissionQuery>, QueryRejection>,
    headers: &HeaderMap,
    body: Body,
) -> Result<Ticket, Problem> {
    if state.is_ending() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is about to end").after(60));
    }
    let bad = |detail: String| Problem::new(StatusCode::BAD_REQUEST, detail);
    let Query(SubmissionQuery { sample }) = submission.map_err(|_| bad("name a sample: `?sample=NAME`".to_owned()))?;
    if !state.samples.contains_key(&sample) {
        let detail = "there is no such sample here; `GET /v1/samples` lists those that there are";
        return Err(Problem::new(StatusCode::NOT_FOUND, detail));
    }
    let kind = kind(headers)?;
    let key = headers.get(KEY).map(|key| key.to_str().map(str::to_owned));
    let key = key.transpose().map_err(|_| bad("the idempotency key is no ASCII text".to_owned()))?;
    if key.as_ref().is_some_and(|key| key.starts_with(openenv::KEYS)) {
        return Err(bad(format!("the idempotency key begins with `{}`, as those of episodes do", openenv::KEYS)));
    }
    let received = receive(state, &client, headers, body).await?;
    // Its room is taken until it is on the disk, whether or not the client is still there.
    let needs = state.worker.offers.clone();
    let submitted = state.ask(move |queue| {
        // All of it comes along: its bytes alone would leave the room behind, for whoever breaks off to give back.
        let received = received;
        let job = NewJob { head: &job::head(&sample, kind), bytes: &received.bytes, needs: &needs };
        queue.submit_job(&client.name, key.as_deref(), &job)
    });
    let ticket = submitted.await?;
    state.changed();
    Ok(ticket)
}

/// What the body is, by what the client calls it.
fn kind(headers: &HeaderMap) -> Result<SubmissionKind, Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match given.split(';').next().map(str::trim) {
        Some(WEBASSEMBLY) => Ok(SubmissionKind::Component),
        Some(RUST) => Ok(SubmissionKind::Source),
        _ => {
            let detail = format!("send a component as `{WEBASSEMBLY}`, or the source of a pass as `{RUST}`");
            Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail))
        }
    }
}

async fn look(
    client: Client,
    Of(state): Of<ServerState>,
    id: Result<Path<String>, PathRejection>,
    wait: Result<Query<Waiting>, QueryRejection>,
) -> Result<Json<EvaluationStatus>, Problem> {
    let id = Ticket::named(id.map_err(|_| unknown())?.0);
    let no_number = |_| Problem::new(StatusCode::BAD_REQUEST, "`wait` is a number of seconds");
    let wait = Duration::from_secs(wait.map_err(no_number)?.wait).min(state.limits.wait);
    let until = Instant::now() + wait;
    let (mut changes, mut ending) = (state.grading.changes.subscribe(), state.grading.ending.subscribe());
    loop {
        let status = known(&state, &client, &id).await?;
        let over = status.state.is_end() || Instant::now() >= until || state.is_ending();
        if over {
            return Ok(Json(EvaluationStatus::new(id, status)));
        }
        // Whatever comes first, it is looked at again.
        let _ = timeout_at(until, async {
            tokio::select! { _ = changes.changed() => {}, _ = ending.changed() => {} }
        })
        .await;
    }
}

#[derive(Deserialize)]
struct Cancelling {
    /// Whether nothing of it is kept.
    #[serde(default)]
    forget: bool,
}

async fn cancel(
    client: Client,
    Of(state): Of<ServerState>,
    id: Result<Path<String>, PathRejection>,
    how: Result<Query<Cancelling>, QueryRejection>,
) -> Result<Response, Problem> {
    let id = Ticket::named(id.map_err(|_| unknown())?.0);
    let neither = |_| Problem::new(StatusCode::BAD_REQUEST, "`forget` is `true` or `false`");
    let Query(Cancelling { forget }) = how.map_err(neither)?;
    let (name, ticket) = (client.name.clone(), id.clone());
    state.ask(move |queue| queue.cancel(&name, &ticket)).await?.ok_or_else(unknown)?;
    state.changed();
    if forget {
        state.ask(move |queue| queue.remove(&client.name, &id)).await?;
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let status = known(&state, &client, &id).await?;
    Ok(Json(EvaluationStatus::new(id, status)).into_response())
}

async fn health(Of(state): Of<ServerState>) -> Result<Json<serde_json::Value>, Problem> {
    match state.is_ending() {
        true => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is about to end")),
        false => Ok(Json(serde_json::json!({ "status": "healthy" }))),
    }
}

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], crate::OPENAPI).into_response()
}

async fn measured(client: Client, Of(state): Of<ServerState>) -> Result<Response, Problem> {
    client.is_operator()?;
    let (counts, fleet) = state.ask(|queue| Ok((queue.counts()?, queue.fleet_status()?))).await?;
    let text = state.metrics.text(counts, fleet, state.clients.usage(&state.limits), state.unauthenticated.count());
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text.unwrap_or_default()).into_response())
}

/// What the server says of itself, and what a client has of the room on its disk.
#[derive(Serialize)]
struct AboutClient {
    #[serde(flatten)]
    about: ServerInfo,
    bytes_held: u64,
    bytes_limit: u64,
}

async fn about(client: Client, Of(state): Of<ServerState>) -> Result<Json<AboutClient>, Problem> {
    let DiskShare { held, limit } = state.ask(move |queue| queue.share(&client.name)).await?;
    Ok(Json(AboutClient { about: state.about.clone(), bytes_held: held, bytes_limit: limit }))
}

async fn samples(_: Client, Of(state): Of<ServerState>) -> Json<serde_json::Value> {
    let samples = state.samples.iter().map(|(name, groups)| serde_json::json!({ "name": name, "groups": groups }));
    Json(serde_json::json!({ "samples": samples.collect::<Vec<_>>() }))
}

async fn nothing() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is nothing here; `GET /openapi.json` says what there is")
}

async fn not_so() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this cannot be asked so; `GET /openapi.json` says how")
}
