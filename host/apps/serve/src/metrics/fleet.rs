//! Numbers of all workers on a queue.

use passhost_queue::{FleetStatus, WorkerState};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

type Labelled = Family<Vec<(&'static str, String)>, Gauge>;

/// Of a queue that many processes use.
#[derive(Default)]
pub struct FleetMetrics {
    jobs: Labelled,
    workers: Labelled,
    oldest: Gauge,
    lost: Gauge,
    revoked: Gauge,
    reruns: Gauge,
    untried: Gauge,
    disagreements: Gauge,
}

impl FleetMetrics {
    pub fn new(registry: &mut Registry) -> FleetMetrics {
        let metrics = FleetMetrics::default();
        let FleetMetrics { jobs, workers, oldest, lost, revoked, reruns, untried, disagreements } = &metrics;
        registry.register("fleet_jobs", "Jobs by what they need of a worker", jobs.clone());
        registry.register("fleet_workers", "Workers by whether they take jobs", workers.clone());
        registry.register("fleet_oldest_seconds", "How long the job waits that waits longest", oldest.clone());
        registry.register("fleet_dead_letters", "Jobs that came to nothing and are kept", lost.clone());
        registry.register("fleet_results_revoked", "Results that count no more", revoked.clone());
        registry.register("fleet_reruns", "Results that were compared with those of another host", reruns.clone());
        registry.register("fleet_results_untried", "Results that no other host of their kind tried", untried.clone());
        registry.register("fleet_disagreements", "Jobs whose results differ between hosts", disagreements.clone());
        metrics
    }

    pub fn set(&self, status: &FleetStatus) {
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.jobs.clear();
        for depth in &status.depth {
            for (state, count) in [("waiting", depth.waiting), ("running", depth.running)] {
                let labels = vec![("needs", depth.needs.join(", ")), ("state", state.to_owned())];
                self.jobs.get_or_create(&labels).set(number(count));
            }
        }
        use WorkerState::{Drained, Quarantined, Silent, Untested, Working};
        for state in [Working, Silent, Drained, Quarantined, Untested] {
            let count = status.workers.iter().filter(|worker| status.state(worker) == state).count();
            let labels = vec![("state", format!("{state:?}").to_lowercase())];
            self.workers.get_or_create(&labels).set(number(count as u64));
        }
        self.oldest.set(number(status.oldest.as_ref().map_or(0, |oldest| oldest.seconds)));
        self.lost.set(number(status.lost));
        self.revoked.set(number(status.revoked));
        self.reruns.set(number(status.reruns));
        self.untried.set(number(status.untried.iter().map(|untried| untried.results).sum()));
        self.disagreements.set(number(status.disagreements));
    }
}
