//! Numbers for Prometheus.

mod fleet;

use crate::access::ClientUsage;
use fleet::FleetMetrics;
use passhost_queue::{Counts, FleetStatus};
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
    /// Of workers, by the judge.
    pub results_refused: Counter,
    pub queue_errors: Counter,
    /// Connections with episodes.
    pub sessions: Counter,
    /// Requests on them.
    pub requests: Counter,
    /// Seconds of a grading.
    pub seconds: Histogram,
    /// Those of [`GAUGES`].
    gauges: [Gauge; 8],
    fleet: FleetMetrics,
}

/// What is looked up when somebody asks, in the order of [`Metrics::text`].
const GAUGES: [(&str, &str); 8] = [
    ("jobs_waiting", "Jobs that nobody has"),
    ("jobs_running", "Jobs that a device has"),
    ("jobs_ended", "Jobs that ended and are kept"),
    ("clients_busy", "Clients with a job that has not ended"),
    ("sessions_open", "Connections with episodes that are open"),
    ("connections_without_token", "Connections on which nobody has shown a token"),
    ("connections", "Connections of clients"),
    ("submission_bytes_held", "Room of submissions that are received or not on the disk yet"),
];

impl Metrics {
    pub fn new() -> Metrics {
        let mut registry = Registry::with_prefix("passhost");
        let mut counter = |name: &str, help: &str| {
            let counter = Counter::default();
            registry.register(name, help, counter.clone());
            counter
        };
        let submitted = counter("submissions", "Submissions that were queued");
        let refused = counter("submissions_refused", "Submissions that were not");
        let graded = counter("evaluations", "Evaluations that have a result");
        let troubles = counter("evaluation_troubles", "Evaluations that the host could not do");
        let results_refused = counter("results_refused", "Results of workers that count for nothing");
        let queue_errors =
            counter("queue_errors", "Times that the queue or its object store did not do what was asked");
        let sessions = counter("sessions", "Connections with episodes that were opened");
        let requests = counter("session_requests", "Requests on these");
        let gauges = GAUGES.map(|(name, help)| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        });
        let fleet = FleetMetrics::new(&mut registry);
        let seconds = Histogram::new(exponential_buckets(0.25, 2.0, 12));
        registry.register("evaluation_seconds", "Time of an evaluation", seconds.clone());
        Metrics {
            registry,
            submitted,
            refused,
            graded,
            troubles,
            sessions,
            requests,
            seconds,
            gauges,
            results_refused,
            queue_errors,
            fleet,
        }
    }

    /// The text that Prometheus reads.
    pub fn text(
        &self,
        counts: Counts,
        fleet: Option<FleetStatus>,
        usage: ClientUsage,
        unauthenticated: usize,
    ) -> Option<String> {
        fleet.iter().for_each(|fleet| self.fleet.set(fleet));
        let Counts { waiting, running, ended, clients } = counts;
        let ClientUsage { connections, receiving, sessions } = usage;
        let of_connections = [sessions, unauthenticated, connections, receiving].map(|count| count as u64);
        let values = [waiting, running, ended, clients].into_iter().chain(of_connections);
        for (gauge, value) in self.gauges.iter().zip(values) {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).ok().map(|()| text)
    }
}
