//! What all requests share.

use crate::access::Clients;
use crate::connection::Strangers;
use crate::grading::Running;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::openenv::{EpisodeLimits, Seats, Shop};
use crate::problem::Problem;
use axum::http::StatusCode;
use passhost_queue::{Queue, QueueError};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::watch;

/// What a server offers, and to whom.
pub struct Site {
    /// Names of samples, and the lists that name each.
    pub samples: BTreeMap<String, Vec<String>>,
    /// Who may ask.
    pub clients: Clients,
    /// What it says of itself.
    pub about: About,
    /// What clients may cost.
    pub limits: Limits,
    /// Where and how episodes go on.
    pub episodes: Episodes,
}

/// Where and how episodes go on.
pub struct Episodes {
    /// What they may cost.
    pub limits: EpisodeLimits,
    /// What they are worked on with.
    pub shop: Shop,
}

/// What a server says of itself.
#[derive(Debug, Clone, Serialize)]
pub struct About {
    /// Version of the host.
    pub host: String,
    /// The devices, as their runtime calls them.
    pub devices: Vec<String>,
    /// The policy's name.
    pub policy: String,
}

/// What all requests share.
#[derive(Clone)]
pub struct State(Arc<Shared>);

pub struct Shared {
    pub queue: Arc<dyn Queue>,
    pub samples: BTreeMap<String, Vec<String>>,
    pub clients: Clients,
    pub about: About,
    pub limits: Limits,
    pub episodes: Episodes,
    /// Connections on which there are episodes.
    pub seats: Arc<Seats>,
    pub metrics: Metrics,
    /// Connections on which nobody has shown a token.
    pub strangers: Arc<Strangers>,
    /// Jobs that graders have.
    pub running: Running,
    /// Changes whenever a job changes its state.
    pub changes: watch::Sender<u64>,
    /// Whether the server is about to end.
    pub ending: watch::Sender<bool>,
}

impl std::ops::Deref for State {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl State {
    pub fn new(site: Site, queue: Arc<dyn Queue>) -> State {
        let Site { samples, clients, about, limits, episodes } = site;
        State(Arc::new(Shared {
            strangers: Strangers::new(limits.strangers),
            running: Running::default(),
            changes: watch::Sender::new(0),
            ending: watch::Sender::new(false),
            metrics: Metrics::new(),
            seats: Seats::new(episodes.limits.sessions),
            queue,
            samples,
            clients,
            about,
            limits,
            episodes,
        }))
    }

    /// Asks the queue on a thread that may wait for the disk.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Queue) -> Result<T, QueueError> + Send + 'static,
    ) -> Result<T, Problem> {
        let state = self.clone();
        let answer = tokio::task::spawn_blocking(move || question(&*state.queue)).await;
        match answer {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the queue failed; tell the operator")),
        }
    }

    /// Tells everybody who waits that some job is in another state.
    pub fn changed(&self) {
        self.changes.send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    /// Whether the server is about to end.
    pub fn is_ending(&self) -> bool {
        *self.ending.borrow()
    }
}
