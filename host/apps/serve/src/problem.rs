//! Refusals, as RFC 9457 has them.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use passhost_queue::QueueError;
use serde::Serialize;

/// Why a request is refused: what, whose fault, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    status: StatusCode,
    detail: String,
    /// Seconds after which it may be tried again.
    retry_after: Option<u64>,
    /// Whether nothing else is answered on this connection.
    closes: bool,
}

#[derive(Serialize)]
struct ProblemBody<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    status: u16,
    detail: &'a str,
}

impl Problem {
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem { status, detail: detail.into(), retry_after: None, closes: false }
    }

    /// What is wrong, and what to do.
    pub fn detail(&self) -> String {
        self.detail.clone()
    }

    pub fn after(self, seconds: u64) -> Problem {
        Problem { retry_after: Some(seconds), ..self }
    }

    pub fn closing(self) -> Problem {
        Problem { closes: true, ..self }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("refused");
        let body = ProblemBody { kind: "about:blank", title, status: self.status.as_u16(), detail: &self.detail };
        let text = serde_json::json!(body).to_string();
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/problem+json")], text).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.closes {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<QueueError> for Problem {
    fn from(error: QueueError) -> Problem {
        let status = match &error {
            QueueError::Full(_) => StatusCode::SERVICE_UNAVAILABLE,
            QueueError::Room(_) => {
                let detail = "the disk of the server has no room, so nothing was changed; try again later";
                return Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).after(30);
            }
            error if error.is_passing() || matches!(error, QueueError::Unanswered(_)) => {
                let detail = "the database or the object store of the server does not answer: ask again later, and submit with the same `Idempotency-Key`";
                return Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).after(10);
            }
            QueueError::ClientFull(_) => StatusCode::TOO_MANY_REQUESTS,
            QueueError::ClientBytes { .. } => StatusCode::INSUFFICIENT_STORAGE,
            QueueError::Length { .. } => StatusCode::BAD_REQUEST,
            QueueError::KeyReused(_) => StatusCode::CONFLICT,
            // What went wrong with the file is the operator's to know.
            _ => return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the queue cannot be used; tell the operator"),
        };
        let detail = match &error {
            QueueError::ClientBytes { .. } => format!("{error} (`DELETE /v1/evaluations/ID?forget=true`)"),
            error => error.to_string(),
        };
        let problem = Problem::new(status, detail);
        match error {
            QueueError::Full(_) | QueueError::ClientFull(_) => problem.after(30),
            _ => problem,
        }
    }
}
