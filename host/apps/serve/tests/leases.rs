//! Jobs are held while they are graded, and given back by a server that does not wait for them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod server;

use passhost_queue::{
    Counts, DiskShare, Embedded, JobState, JobStatus, Lease, NewJob, Queue, QueueError, Taken, Ticket, Worker,
};
use passhost_serve::{ServerLimits, ShutdownMode};
use server::{Server, queue};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The real queue, which says when a lease is renewed.
struct Watched {
    queue: Arc<dyn Queue>,
    renewed: Sender<Duration>,
}

#[rustfmt::skip]
impl Queue for Watched {
    fn submit_job(&self, client: &str, key: Option<&str>, job: &NewJob<'_>) -> Result<Ticket, QueueError> { self.queue.submit_job(client, key, job) }
    fn take_as(&self, worker: &Worker, lease: Duration) -> Result<Option<Taken>, QueueError> { self.queue.take_as(worker, lease) }
    fn begin(&self, lease: &Lease) -> Result<(), QueueError> { self.queue.begin(lease) }
    fn finish(&self, lease: &Lease, outcome: &[u8]) -> Result<(), QueueError> { self.queue.finish(lease, outcome) }
    fn give_back(&self, lease: &Lease) -> Result<(), QueueError> { self.queue.give_back(lease) }
    fn cancel(&self, client: &str, ticket: &Ticket) -> Result<Option<JobState>, QueueError> { self.queue.cancel(client, ticket) }
    fn look(&self, client: &str, ticket: &Ticket) -> Result<Option<JobStatus>, QueueError> { self.queue.look(client, ticket) }
    fn counts(&self) -> Result<Counts, QueueError> { self.queue.counts() }
    fn remove(&self, client: &str, ticket: &Ticket) -> Result<bool, QueueError> { self.queue.remove(client, ticket) }
    fn withdraw(&self, client: &str) -> Result<usize, QueueError> { self.queue.withdraw(client) }
    fn share(&self, client: &str) -> Result<DiskShare, QueueError> { self.queue.share(client) }
    fn forget(&self, ended_before: Duration) -> Result<usize, QueueError> { self.queue.forget(ended_before) }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<(), QueueError> {
        let renewed = self.queue.renew(lease, duration);
        let _ = self.renewed.send(duration);
        renewed
    }
}

fn watched(limits: ServerLimits) -> (Server, Receiver<Duration>) {
    let (renewed, renewals) = channel();
    let watched = |place: &Path| -> Arc<dyn Queue> {
        Arc::new(Watched { queue: queue(place, passhost_queue::QueueLimits::default()), renewed })
    };
    (Server::start_on(limits, watched), renewals)
}

#[test]
fn a_job_that_takes_longer_than_its_lease_is_held_until_it_ends() {
    let lease = Duration::from_millis(200);
    let (server, renewals) = watched(ServerLimits { lease, ..ServerLimits::default() });
    let id = server.submit("alice", b"1").id();
    server.begins();
    // More often than it would have lasted.
    for _ in 0..8 {
        assert_eq!(renewals.recv().unwrap(), lease);
    }
    server.says("one");
    let status = server.ask("alice", &format!("GET /v1/evaluations/{id}?wait=50")).json();
    assert_eq!((&status["state"], &status["document"]["said"]), (&"finished".into(), &"one".into()));
    let ticket = Ticket::named(id);
    assert_eq!(server.queue.look("alice", &ticket).unwrap().unwrap().attempts, 1);
}

/// The queue in this directory, once a grader that nobody waits for has let go of it.
fn when_free(place: &Path) -> Arc<dyn Queue> {
    let limits = passhost_queue::QueueLimits { attempts: 2, ..Default::default() };
    loop {
        match Embedded::open(&place.join("queue"), limits) {
            Err(QueueError::InUse(_)) => std::thread::yield_now(),
            opened => return Arc::new(opened.unwrap()),
        }
    }
}

#[test]
fn a_server_that_does_not_wait_gives_back_what_it_has_and_that_is_no_attempt() {
    let directory = tempfile::tempdir().unwrap();
    let mut id = None;
    // More often than a job may be lost.
    for _ in 0..5 {
        let mut server = Server::start_on(ServerLimits::default(), |_| when_free(directory.path()));
        let ticket = id.get_or_insert_with(|| Ticket::named(server.submit("alice", b"1").id())).clone();
        server.begins();
        server.wish(ShutdownMode::EndNow);
        server.ended().unwrap();
        let status = server.queue.look("alice", &ticket).unwrap().unwrap();
        assert_eq!(status.state, JobState::Waiting);
    }
    let queue = when_free(directory.path());
    let status = queue.look("alice", &id.unwrap()).unwrap().unwrap();
    assert_eq!((status.state, status.attempts, status.outcome), (JobState::Waiting, 5, None));
}
