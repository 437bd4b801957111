//! A database whose disk is full: what it refuses can be asked again, and what it answers is so.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engines;

use engines::{LEASE, Server};
use passhost_queue::{JobState, Postgres, Queue, QueueLimits};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the test finds the small disk that it is run on.
const DISK: &str = "PASSHOST_SMALL_DISK";

/// Fills the disk to its last byte, until the file is removed.
fn fill(ballast: &Path) {
    let mut file = File::create(ballast).unwrap();
    for size in [1 << 20, 4096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

/// The test, on its small disk. Does nothing where there is none.
#[test]
fn on_the_small_disk() {
    let Some(disk) = std::env::var_os(DISK).map(PathBuf::from) else { return };
    let database = Server::start().unwrap();
    let queue = Postgres::open(&database.schema("no_room"), QueueLimits::default()).unwrap();
    let [waits, runs, ends] = [b"1", b"2", b"3"].map(|bytes| queue.submit("alice", None, bytes).unwrap());
    let state = |ticket| queue.look("alice", ticket).unwrap().unwrap().state;
    let lease = [(); 2].map(|()| queue.take(LEASE).unwrap().unwrap().lease);
    assert_eq!([&lease[0].ticket, &lease[1].ticket], [&waits, &runs]);
    queue.give_back(&lease[0]).unwrap();
    queue.begin(&lease[1]).unwrap();
    let ballast = disk.join("ballast");
    fill(&ballast);
    // Bytes that the database cannot make smaller.
    let mut large = vec![0; 8 << 20];
    File::open("/dev/urandom").and_then(|mut random| std::io::Read::read_exact(&mut random, &mut large)).unwrap();
    let refused = queue.submit("alice", None, &large).unwrap_err();
    assert!(refused.is_passing() && refused.to_string().contains("53100"), "{refused}");
    // Room in pages that are there may do for these. What is refused changes nothing.
    for (ticket, before) in [(&waits, JobState::Waiting), (&runs, JobState::Running)] {
        match queue.cancel("alice", ticket) {
            Ok(now) => assert_eq!((now, state(ticket)), (Some(JobState::Cancelled), JobState::Cancelled)),
            Err(error) => assert!(error.is_passing() && state(ticket) == before, "{error}"),
        }
    }
    std::fs::remove_file(&ballast).unwrap();
    for ticket in [&waits, &runs] {
        assert_eq!(queue.cancel("alice", ticket).unwrap(), Some(JobState::Cancelled));
    }
    assert!(queue.finish(&lease[1], b"late").is_err());
    queue.submit("alice", None, &large).unwrap();
    let taken = queue.take(LEASE).unwrap().unwrap();
    queue.finish(&taken.lease, b"done").unwrap();
    let states = [&waits, &runs, &ends].map(state);
    assert_eq!(states, [JobState::Cancelled, JobState::Cancelled, JobState::Finished]);
}

#[test]
fn what_is_cancelled_while_the_database_has_no_room_is_cancelled_or_refused_and_never_lost() {
    if let Err(why) = Server::start() {
        return eprintln!("skipped: what_is_cancelled_while_the_database_has_no_room: {why}");
    }
    // Without a namespace of users, in which there is no second user for the server.
    let disk = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=256m none \"$0\" && echo mounted && exec \"$@\"";
    let mut inside = Command::new("unshare");
    inside.args(["--mount", "sh", "-c", script]).arg(disk.path());
    inside.arg(std::env::current_exe().unwrap()).args(["--exact", "on_the_small_disk", "--nocapture"]);
    let run = inside.env(DISK, disk.path()).env("TMPDIR", disk.path()).stdin(Stdio::null()).output();
    match run {
        Ok(run) if run.stdout.starts_with(b"mounted") => assert!(run.status.success(), "{run:?}"),
        run => eprintln!("no small disk for this user, not tried: {run:?}"),
    }
}
