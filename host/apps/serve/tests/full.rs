//! A server that ends while its disk is full: what it could not write is no reason to begin a job, and no death of one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod server;

use passhost_queue::{Counts, DiskShare, JobState, JobStatus, Lease, NewJob, Queue, QueueError, Taken, Ticket, Worker};
use passhost_serve::{ServerLimits, ShutdownMode};
use server::{Server, queue};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// What finds no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    Begin,
    Finish,
}

/// The real queue, but that one thing finds no room on its disk, and says so.
struct Full {
    queue: Arc<dyn Queue>,
    refused: Refused,
    asked: Sender<()>,
}

impl Full {
    fn or_full(&self, what: Refused, write: impl FnOnce() -> Result<(), QueueError>) -> Result<(), QueueError> {
        if what != self.refused {
            return write();
        }
        let _ = self.asked.send(());
        Err(QueueError::Room("queue".into()))
    }
}

#[rustfmt::skip]
impl Queue for Full {
    fn submit_job(&self, client: &str, key: Option<&str>, job: &NewJob<'_>) -> Result<Ticket, QueueError> { self.queue.submit_job(client, key, job) }
    fn take_as(&self, worker: &Worker, lease: Duration) -> Result<Option<Taken>, QueueError> { self.queue.take_as(worker, lease) }
    fn begin(&self, lease: &Lease) -> Result<(), QueueError> { self.or_full(Refused::Begin, || self.queue.begin(lease)) }
    fn renew(&self, lease: &Lease, duration: Duration) -> Result<(), QueueError> { self.queue.renew(lease, duration) }
    fn finish(&self, lease: &Lease, outcome: &[u8]) -> Result<(), QueueError> { self.or_full(Refused::Finish, || self.queue.finish(lease, outcome)) }
    fn give_back(&self, lease: &Lease) -> Result<(), QueueError> { self.queue.give_back(lease) }
    fn cancel(&self, client: &str, ticket: &Ticket) -> Result<Option<JobState>, QueueError> { self.queue.cancel(client, ticket) }
    fn look(&self, client: &str, ticket: &Ticket) -> Result<Option<JobStatus>, QueueError> { self.queue.look(client, ticket) }
    fn counts(&self) -> Result<Counts, QueueError> { self.queue.counts() }
    fn remove(&self, client: &str, ticket: &Ticket) -> Result<bool, QueueError> { self.queue.remove(client, ticket) }
    fn withdraw(&self, client: &str) -> Result<usize, QueueError> { self.queue.withdraw(client) }
    fn share(&self, client: &str) -> Result<DiskShare, QueueError> { self.queue.share(client) }
    fn forget(&self, ended_before: Duration) -> Result<usize, QueueError> { self.queue.forget(ended_before) }
}

fn full(refused: Refused) -> (Server, Receiver<()>) {
    let (asked, asks) = channel();
    let full = |place: &Path| -> Arc<dyn Queue> {
        Arc::new(Full { queue: queue(place, passhost_queue::QueueLimits::default()), refused, asked })
    };
    (Server::start_on(ServerLimits::default(), full), asks)
}

#[test]
fn what_was_not_written_when_a_server_ends_is_given_back_and_begins_nothing() {
    for refused in [Refused::Begin, Refused::Finish] {
        let (mut server, asks) = full(refused);
        let ticket = Ticket::named(server.submit("alice", b"1").id());
        if refused == Refused::Finish {
            server.begins();
            server.says("one");
        }
        asks.recv().unwrap();
        // A grading that begins now would end at once.
        server.outcomes = None;
        server.wish(ShutdownMode::End);
        server.ended().unwrap();
        assert!(server.begun.try_recv().is_err(), "{refused:?}: nothing more begins");
        let status = server.queue.look("alice", &ticket).unwrap().unwrap();
        assert_eq!((status.state, status.outcome), (JobState::Waiting, None), "{refused:?}");
    }
}
