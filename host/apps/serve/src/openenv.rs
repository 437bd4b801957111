//! Episodes, as OpenEnv's clients have them: a WebSocket at `/ws` over which one client works on one sample after the other,
//! call by call, and hears after each what it was worth. The tools, what they tell and what they pay are those of
//! [`passhost_agent_tools`]; evaluations go through the queue like every other submission.
//!
//! **Invariant**: whatever a tool takes, a request is answered in the time that [`crate::EpisodeLimits::answer`] gives: what goes
//! on meanwhile is pending, and is asked for again.
//! **Invariant**: an episode ends with its connection, and leaves neither files nor jobs that wait.

mod episode;
mod episode_tools;
mod paced;
mod paths;
mod schema;
mod session;
mod session_table;
mod store;
mod wire;
mod workplace;

pub use store::SessionStore;
pub use workplace::{KEYS, keys};

use crate::access::Client;
use crate::problem::Problem;
use crate::state::ServerState;
use axum::Json;
use axum::extract::{Request, State as Of};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use hyper::upgrade::OnUpgrade;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// What OpenEnv's clients ask for.
pub fn routes() -> Vec<(&'static str, MethodRouter<ServerState>)> {
    vec![
        ("/ws", get(connect)),
        ("/schema", get(schema)),
        ("/metadata", get(metadata)),
        ("/mcp", post(no_tools_here)),
        ("/reset", post(by_web_socket)),
        ("/step", post(by_web_socket)),
        ("/state", get(by_web_socket)),
    ]
}

async fn schema() -> Json<Value> {
    Json(schema::all())
}

async fn metadata(Of(state): Of<ServerState>) -> Json<Value> {
    Json(json!({
        "name": "passhost",
        "description": "Write a compiler pass in Rust for the graphs of a sample: write, build, check, evaluate, mend, submit. \
                        The reward is the score of `passhost eval`.",
        "version": state.about.host,
    }))
}

/// OpenEnv has the tools of some environments here; ours are called by steps.
async fn no_tools_here() -> Json<Value> {
    let message = "tools are called by steps over the WebSocket `/ws`; `GET /schema` describes them";
    Json(json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32601, "message": message } }))
}

/// An episode is what happens on a connection: a request alone has none.
async fn by_web_socket() -> Response {
    upgrade_required(
        "an episode belongs to a connection; open a WebSocket at `/ws`, and send `reset`, `step` and `state` there",
    )
}

fn upgrade_required(detail: &str) -> Response {
    let mut response = Problem::new(StatusCode::UPGRADE_REQUIRED, detail).into_response();
    response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    response
}

async fn connect(client: Client, Of(state): Of<ServerState>, mut request: Request) -> Result<Response, Problem> {
    if request.headers().contains_key(header::ORIGIN) {
        // A browser may remember a password, and send it for whichever page asks.
        return Err(Problem::new(StatusCode::FORBIDDEN, "this is not for pages in a browser, which send `Origin`"));
    }
    if state.is_ending() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is about to end").after(60));
    }
    let Some(key) = key(request.headers()) else {
        return Ok(upgrade_required("this is a WebSocket, version 13; `GET /schema` describes what is said there"));
    };
    let Some(upgrade) = request.extensions_mut().remove::<OnUpgrade>() else {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "this connection cannot become a WebSocket; use HTTP/1.1"));
    };
    let Ok(permit) = Arc::clone(&client.sessions).try_acquire_owned() else {
        let detail = "this client has as many connections with episodes open as it may; close some, or try again later";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).after(10).closing());
    };
    tokio::spawn(async move {
        // A client that breaks off is its own business.
        if let Ok(upgraded) = upgrade.await {
            session::hold(upgraded, state, client, permit).await;
        }
    });
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()));
    let accept = accept.map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "`Sec-WebSocket-Key` is none"))?;
    let mut response = StatusCode::SWITCHING_PROTOCOLS.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    Ok(response)
}

/// The key of a handshake, if it is one.
fn key(headers: &HeaderMap) -> Option<HeaderValue> {
    let has = |name, word: &str| {
        let text = headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
        text.split(',').any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    let is_handshake = has(header::CONNECTION, "upgrade")
        && has(header::UPGRADE, "websocket")
        && has(header::SEC_WEBSOCKET_VERSION, "13");
    headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| is_handshake).cloned()
}
