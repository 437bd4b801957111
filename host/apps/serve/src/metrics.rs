//! Numbers for Prometheus.

use crate::access::Held;
use crate::problem::Problem;
use crate::state::State;
use passhost_queue::Counts;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// What is counted.
pub struct Metrics {
    registry: Registry,
    pub submitted: Counter,
    pub refused: Counter,
    pub graded: Counter,
    pub troubles: Counter,
    /// Connections with episodes.
    pub sessions: Counter,
    /// Requests on them.
    pub requests: Counter,
    /// Seconds of a grading.
    pub seconds: Histogram,
    waiting: Gauge,
    running: Gauge,
    ended: Gauge,
    clients: Gauge,
    open: Gauge,
    strangers: Gauge,
    connections: Gauge,
    receiving: Gauge,
}

impl Metrics {
    pub fn new() -> Metrics {
        let metrics = Metrics {
            registry: Registry::with_prefix("passhost"),
            submitted: Counter::default(),
            refused: Counter::default(),
            graded: Counter::default(),
            troubles: Counter::default(),
            sessions: Counter::default(),
            requests: Counter::default(),
            seconds: Histogram::new(exponential_buckets(0.25, 2.0, 12)),
            waiting: Gauge::default(),
            running: Gauge::default(),
            ended: Gauge::default(),
            clients: Gauge::default(),
            open: Gauge::default(),
            strangers: Gauge::default(),
            connections: Gauge::default(),
            receiving: Gauge::default(),
        };
        metrics.registered()
    }

    fn registered(mut self) -> Metrics {
        let registry = &mut self.registry;
        for (name, help, counter) in [
            ("submissions", "Submissions that were queued", &self.submitted),
            ("submissions_refused", "Submissions that were not", &self.refused),
            ("evaluations", "Evaluations that have a result", &self.graded),
            ("evaluation_troubles", "Evaluations that the host could not do", &self.troubles),
            ("sessions", "Connections with episodes that were opened", &self.sessions),
            ("session_requests", "Requests on these", &self.requests),
        ] {
            registry.register(name, help, counter.clone());
        }
        for (name, help, gauge) in [
            ("jobs_waiting", "Jobs that nobody has", &self.waiting),
            ("jobs_running", "Jobs that a device has", &self.running),
            ("jobs_ended", "Jobs that ended and are kept", &self.ended),
            ("clients_busy", "Clients with a job that has not ended", &self.clients),
            ("sessions_open", "Connections with episodes that are open", &self.open),
            ("connections_without_token", "Connections on which nobody has shown a token", &self.strangers),
            ("connections", "Connections of clients", &self.connections),
            ("submission_bytes_held", "Room of submissions that are received or not on the disk yet", &self.receiving),
        ] {
            registry.register(name, help, gauge.clone());
        }
        registry.register("evaluation_seconds", "Time of an evaluation", self.seconds.clone());
        self
    }

    fn text(&self, counts: Counts, sessions: usize, strangers: usize, held: Held) -> Option<String> {
        self.open.set(i64::try_from(sessions).unwrap_or(i64::MAX));
        for (gauge, count) in [
            (&self.waiting, counts.waiting),
            (&self.running, counts.running),
            (&self.ended, counts.ended),
            (&self.clients, counts.clients),
            (&self.strangers, strangers as u64),
            (&self.connections, held.connections as u64),
            (&self.receiving, held.receiving as u64),
        ] {
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).ok().map(|()| text)
    }
}

/// The text that Prometheus reads.
pub async fn text(state: &State) -> Result<String, Problem> {
    let counts = state.ask(|queue| queue.counts()).await?;
    let (sessions, held) = (state.seats.count(), state.clients.held(&state.limits));
    Ok(state.metrics.text(counts, sessions, state.strangers.count(), held).unwrap_or_default())
}
