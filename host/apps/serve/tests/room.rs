//! The room of a submission is taken until it is on the disk, whether or not its client is still there.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod server;

use passhost_queue::{Counts, DiskShare, JobState, JobStatus, Lease, NewJob, Queue, QueueError, Taken, Ticket, Worker};
use passhost_serve::ServerLimits;
use server::{Server, queue, read_answer};
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The real queue on a disk that is slow: what is submitted says so, and waits.
struct Slow {
    queue: Arc<dyn Queue>,
    arrived: Sender<usize>,
    go_on: Mutex<Receiver<()>>,
}

#[rustfmt::skip]
impl Queue for Slow {
    fn take_as(&self, worker: &Worker, lease: Duration) -> Result<Option<Taken>, QueueError> { self.queue.take_as(worker, lease) }
    fn renew(&self, lease: &Lease, duration: Duration) -> Result<(), QueueError> { self.queue.renew(lease, duration) }
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

    fn submit_job(&self, client: &str, key: Option<&str>, job: &NewJob<'_>) -> Result<Ticket, QueueError> {
        let _ = self.arrived.send(job.head.len() + job.bytes.len());
        let _ = self.go_on.lock().unwrap().recv();
        self.queue.submit_job(client, key, job)
    }
}

#[test]
fn room_is_taken_until_the_submission_is_on_the_disk_though_its_client_is_gone() {
    const BODY: usize = 100 << 10;
    let ((arrived, arrivals), (go_on, gone_on)) = (channel(), channel());
    let slow = |place: &std::path::Path| -> Arc<dyn Queue> {
        let queue = queue(place, passhost_queue::QueueLimits::default());
        Arc::new(Slow { queue, arrived, go_on: Mutex::new(gone_on) })
    };
    // Room for one of alice's, and one of bob's.
    let server = Server::start_on(ServerLimits { body: BODY, receiving: BODY, ..ServerLimits::default() }, slow);
    // Gone before the server, which waits for what is on its way to the disk.
    let go_on = go_on;
    let mut stream = server.connect();
    stream.write_all(&server.submission("alice", &[("Idempotency-Key", "1")], &vec![1; BODY])).unwrap();
    assert!(arrivals.recv().unwrap() > BODY);
    assert_eq!(server.metric("submission_bytes_held"), BODY as u64);
    drop(stream);
    server.wait_for("connections", 1);
    assert_eq!(server.metric("submission_bytes_held"), BODY as u64, "it is held still");
    // What there is no room for is not read, and takes nobody else's.
    let mut waiting = server.connect();
    waiting.write_all(&server.submission("alice", &[("Idempotency-Key", "2")], &vec![2; BODY])).unwrap();
    server.wait_for("connections", 2);
    let mut of_bob = server.connect();
    of_bob.write_all(&server.submission("bob", &[], &vec![3; BODY])).unwrap();
    server.wait_for("submission_bytes_held", 2 * BODY as u64);
    go_on.send(()).unwrap();
    // Bob's or alice's second, whichever comes first: both arrive now.
    for _ in 0..2 {
        assert!(arrivals.recv().unwrap() > BODY);
        go_on.send(()).unwrap();
    }
    assert_eq!(read_answer(&mut of_bob).unwrap().status, 202);
    assert_eq!(read_answer(&mut waiting).unwrap().status, 202);
    server.wait_for("submission_bytes_held", 0);
    // What nobody heard the answer of is on the disk.
    drop(go_on);
    let again = server.submit_with("alice", &[("Idempotency-Key", "1")], &vec![1; BODY]);
    assert_eq!((again.status, server.queue.counts().unwrap().clients), (202, 2));
    assert_eq!(server.metric("submissions_total"), 3, "those that were answered");
    let counts = server.queue.counts().unwrap();
    assert_eq!(counts.waiting + counts.running, 3, "{counts:?}");
}
