//! A server whose disk is full. When it ends, what it could not write is no reason to begin a job, and no death of one. What a
//! client cancels meanwhile goes on until there is room, and its client is told so.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod server;

use passhost_queue::{Counts, DiskShare, JobState, JobStatus, Lease, NewJob, Queue, QueueError, Taken, Ticket, Worker};
use passhost_serve::{ServerLimits, ShutdownMode};
use server::{Server, queue};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Where a test finds the small disk that it is run on.
const DISK: &str = "PASSHOST_SMALL_DISK";

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

/// Fills the disk to its last byte, until the file is removed.
fn fill(ballast: &Path) {
    let mut file = File::create(ballast).unwrap();
    for size in [1 << 20, 4096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

/// The test, on its small disk. Does nothing where there is none.
#[test]
fn cancelled_on_the_small_disk() {
    let Some(disk) = std::env::var_os(DISK).map(PathBuf::from) else { return };
    let server = Server::start_on(ServerLimits::default(), |_| queue(&disk, passhost_queue::QueueLimits::default()));
    let [runs, waits, kept] = [b"1", b"2", b"3"].map(|body| server.submit("alice", body).id());
    assert_eq!(server.begins().bytes, b"1");
    let ask = |what: &str, id: &str, more: &str| server.ask("alice", &format!("{what} /v1/evaluations/{id}{more}"));
    let state = |id: &str| ask("GET", id, "").json()["state"].as_str().unwrap_or_default().to_owned();
    let is_refused = |id: &str| {
        for more in ["", "?forget=true"] {
            let refused = ask("DELETE", id, more);
            assert_eq!(refused.status, 503, "{refused:?}");
            let is_named = refused.body.contains("no room") && refused.head.contains("retry-after: ");
            assert!(is_named, "{refused:?}");
        }
    };
    let ballast = disk.join("ballast");
    fill(&ballast);
    [&runs, &waits].iter().for_each(|id| is_refused(id));
    assert_eq!([&runs, &waits, &kept].map(|id| state(id)), ["running", "waiting", "waiting"]);
    // The same once there is room, and nobody evaluates it.
    std::fs::remove_file(&ballast).unwrap();
    assert_eq!(ask("DELETE", &waits, "").json()["state"], "cancelled");
    // What was evaluated while the disk is full cannot be cancelled either, and counts when there is room.
    fill(&ballast);
    server.says("one");
    is_refused(&runs);
    assert_eq!(state(&runs), "running");
    std::fs::remove_file(&ballast).unwrap();
    let ended = ask("GET", &runs, "?wait=50").json();
    assert_eq!((&ended["state"], &ended["document"]["said"]), (&"finished".into(), &"one".into()));
    assert_eq!(server.begins().bytes, b"3");
    server.says("three");
    assert_eq!(ask("GET", &kept, "?wait=50").json()["document"]["said"], "three");
    assert_eq!([&runs, &waits].map(|id| state(id)), ["finished", "cancelled"]);
}

#[test]
fn what_is_cancelled_on_a_full_disk_goes_on_and_its_client_is_told_so() {
    let disk = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=32m none \"$0\" && echo mounted && exec \"$@\"";
    let mut inside = Command::new("unshare");
    inside.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(disk.path());
    inside.arg(std::env::current_exe().unwrap()).args(["--exact", "cancelled_on_the_small_disk", "--nocapture"]);
    let run = inside.env(DISK, disk.path()).stdin(Stdio::null()).output();
    match run {
        Ok(run) if run.stdout.starts_with(b"mounted") => assert!(run.status.success(), "{run:?}"),
        run => eprintln!("no small disk for this user, not tried: {run:?}"),
    }
}
