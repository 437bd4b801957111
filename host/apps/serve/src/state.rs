//! What all requests share.

use crate::access::{Client, Clients};
use crate::connection::UnauthenticatedConnections;
use crate::grading::{Grading, GradingEvent, GradingSettings};
use crate::limits::ServerLimits;
use crate::metrics::Metrics;
use crate::openenv::SessionStore;
use crate::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use passhost_queue::{Judge, Queue, QueueError, Worker};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// What a server offers, and to whom.
pub struct ServedSite {
    /// What the server is on its queue: a name that it has each time that it starts and no other server has, and what each of its
    /// graders offers. Its submissions need that.
    pub worker: Worker,
    /// Names of samples, and the lists that name each.
    pub samples: BTreeMap<String, Vec<String>>,
    /// Who may ask.
    pub clients: Clients,
    /// What it says of itself.
    pub about: ServerInfo,
    /// What clients may cost.
    pub limits: ServerLimits,
    /// What episodes are worked on with.
    pub sessions: SessionStore,
    /// What judges the results of workers, where these must be signed.
    pub judge: Option<Arc<dyn Judge>>,
}

/// What a server says of itself.
#[derive(Debug, Clone, Serialize)]
pub struct ServerInfo {
    /// Version of the host.
    pub host: String,
    /// The devices, as their runtime calls them.
    pub devices: Vec<String>,
    /// The policy's name.
    pub policy: String,
}

/// What all requests share.
#[derive(Clone)]
pub struct ServerState(Arc<SharedState>);

pub struct SharedState {
    site: ServedSite,
    pub grading: Arc<Grading>,
    pub metrics: Metrics,
    /// Connections on which nobody has shown a token.
    pub unauthenticated: Arc<UnauthenticatedConnections>,
}

impl Deref for ServerState {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.0
    }
}

impl Deref for SharedState {
    type Target = ServedSite;

    fn deref(&self) -> &ServedSite {
        &self.site
    }
}

impl FromRequestParts<ServerState> for Client {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Client, Problem> {
        state.clients.of_request(parts)
    }
}

impl ServerState {
    pub fn new(site: ServedSite, queue: Arc<dyn Queue>) -> ServerState {
        let (metrics, settings) = (
            Metrics::new(),
            GradingSettings {
                lease: site.limits.lease,
                batch: 1,
                holds_results: false,
                sign: None,
                canary: Duration::MAX,
            },
        );
        let (graded, troubles, seconds) = (metrics.graded.clone(), metrics.troubles.clone(), metrics.seconds.clone());
        let errors = metrics.queue_errors.clone();
        let grading = Grading::new(queue, site.worker.clone(), settings, move |event| match event {
            GradingEvent::Graded { time, has_document, .. } => {
                if has_document {
                    graded.inc()
                } else {
                    troubles.inc()
                };
                seconds.observe(time.as_secs_f64());
            }
            GradingEvent::Away(_) => _ = errors.inc(),
            _ => {}
        });
        let unauthenticated = UnauthenticatedConnections::new(site.limits.unauthenticated);
        ServerState(Arc::new(SharedState { unauthenticated, metrics, grading: Arc::new(grading), site }))
    }

    /// Asks the queue on a thread that may wait for the disk.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Queue) -> Result<T, QueueError> + Send + 'static,
    ) -> Result<T, Problem> {
        let state = self.clone();
        let answer = tokio::task::spawn_blocking(move || question(&*state.grading.queue)).await;
        match answer {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the queue failed; tell the operator")),
        }
    }

    /// Tells everybody who waits that some job is in another state.
    pub fn changed(&self) {
        self.grading.changed();
    }

    /// Whether the server is about to end.
    pub fn is_ending(&self) -> bool {
        self.grading.is_ending()
    }
}
