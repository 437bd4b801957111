//! Several servers on one queue.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../queue/tests/engines/mod.rs"]
mod engines;
mod server;

use engines::Place;
use passhost_queue::{JobState, Queue, QueueLimits, Ticket};
use passhost_serve::ServerLimits;
use server::Server;
use std::sync::Arc;

of_both_engines! {
    a_second_server_leaves_the_jobs_and_episodes_of_the_first_alone,
}

fn a_second_server_leaves_the_jobs_and_episodes_of_the_first_alone(place: &dyn Place) {
    let queue: Arc<dyn Queue> = Arc::from(place.open(QueueLimits { running_of_client: 1, ..QueueLimits::default() }));
    // Its client has as many running jobs as it may, so that nobody takes this.
    let episode = |server: &str| queue.submit("alice", Some(&format!("episode {server} 1")), b"job").unwrap();
    let first = Server::start_on(ServerLimits::default(), |_| Arc::clone(&queue));
    let graded = Ticket::named(first.submit("alice", b"1").id());
    first.begins();
    let of_first = episode(&first.name());
    let mut of_second = None;
    let second = Server::start_on(ServerLimits::default(), |place| {
        of_second = Some(episode(&server::name(place)));
        Arc::clone(&queue)
    });
    assert_eq!(second.ask("alice", "GET /health").status, 200);
    let look = |ticket: &Ticket| queue.look("alice", ticket).unwrap();
    assert_eq!(look(&of_first).unwrap().state, JobState::Waiting);
    assert_eq!(look(&of_second.unwrap()), None);
    first.says("one");
    let status = first.ask("alice", &format!("GET /v1/evaluations/{graded}?wait=50")).json();
    assert_eq!(status["document"]["said"], "one");
    assert_eq!(look(&graded).unwrap().attempts, 1);
}
