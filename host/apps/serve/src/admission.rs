//! Bodies of submissions: none is read that is too large, or that there is no room for among those of its client.

use crate::access::{Client, kibibytes};
use crate::problem::Problem;
use crate::state::ServerState;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

/// A body, and the room that it has while it is held.
pub struct Received {
    pub bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

/// Reads a body whose length is said before, in the time that a request has.
pub async fn receive(
    state: &ServerState,
    client: &Client,
    headers: &HeaderMap,
    body: Body,
) -> Result<Received, Problem> {
    let length = length(headers)?;
    let limit = state.limits.body;
    if length > limit {
        let detail = format!("the submission has {length} bytes; expected at most {limit}");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    let kibibytes = u32::try_from(kibibytes(length)).unwrap_or(u32::MAX);
    let receiving = async {
        let room = client.receiving.clone().acquire_many_owned(kibibytes).await.ok()?;
        // One byte more than was said is an error, as is one less.
        let bytes = to_bytes(body, length).await.ok().filter(|bytes| bytes.len() == length)?;
        Some(Received { bytes, _room: room })
    };
    match timeout(state.limits.request, receiving).await {
        Ok(Some(received)) => Ok(received),
        Ok(None) => Err(Problem::new(StatusCode::BAD_REQUEST, "the body has not the length that was said")),
        Err(_) => {
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the body was not there in time; send it again").after(10))
        }
    }
}

fn length(headers: &HeaderMap) -> Result<usize, Problem> {
    let Some(value) = headers.get(header::CONTENT_LENGTH) else {
        return Err(Problem::new(StatusCode::LENGTH_REQUIRED, "send the length of the submission in `Content-Length`"));
    };
    let wrong = |detail| Problem::new(StatusCode::BAD_REQUEST, detail);
    let length = value.to_str().ok().and_then(|text| text.parse().ok());
    match length.ok_or_else(|| wrong("`Content-Length` is no number"))? {
        0 => Err(wrong("the submission is empty")),
        length => Ok(length),
    }
}
