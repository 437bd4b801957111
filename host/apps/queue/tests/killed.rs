//! What a queue promises when its process is killed: whoever reads its file next finds all that was said to be done.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_queue::{Embedded, JobState, Queue, QueueLimits, Ticket};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Where the process that is killed finds the queue.
const PLACE: &str = "PASSHOST_QUEUE_TO_WORK_ON";
/// Kills.
const KILLS: usize = 12;

/// What the killed process does: it says each thing when it is done. Does nothing where nobody asked for it.
#[test]
fn the_process_that_is_killed() {
    let Some(path) = std::env::var_os(PLACE) else { return };
    let queue = Embedded::open(Path::new(&path), limits()).unwrap();
    let say = |text: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\n{text}").and_then(|()| out.flush()).unwrap();
    };
    for _ in 0..200 {
        let ticket = queue.submit("client", None, b"job").unwrap();
        say(format!("submitted {ticket}"));
        let taken = queue.take(Duration::from_secs(600)).unwrap().unwrap();
        say(format!("finishing {}", taken.lease.ticket));
        let outcome = format!("{} {}", taken.lease.ticket, taken.lease.attempt);
        queue.finish(&taken.lease, outcome.as_bytes()).unwrap();
        say(format!("finished {outcome}"));
    }
}

fn limits() -> QueueLimits {
    QueueLimits { attempts: u32::MAX, ..QueueLimits::default() }
}

/// Runs that process until it has said so many things; what it said.
fn killed_after(lines: usize, path: &Path) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_process_that_is_killed", "--nocapture"]).env(PLACE, path);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let out = BufReader::new(process.stdout.take().unwrap());
    let mut said = vec![];
    for line in out.lines() {
        let line = line.unwrap();
        if ["submitted ", "finishing ", "finished "].iter().any(|word| line.starts_with(word)) {
            said.push(line);
        }
        if said.len() == lines {
            process.kill().unwrap();
        }
    }
    process.wait().unwrap();
    assert!(said.len() >= lines, "it ended by itself: {said:?}");
    said
}

#[test]
fn nothing_is_lost_and_nothing_is_done_twice_when_the_process_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("queue");
    let (mut submitted, mut finished) = (0, BTreeMap::<String, String>::new());
    for kill in 0..KILLS {
        for line in killed_after(3 + 7 * kill, &path) {
            let (what, rest) = line.split_once(' ').unwrap();
            match what {
                "submitted" => submitted += 1,
                "finished" => {
                    let (ticket, _) = rest.split_once(' ').unwrap();
                    assert_eq!(finished.insert(ticket.to_owned(), rest.to_owned()), None, "it was finished before");
                }
                _ => assert!(!finished.contains_key(rest), "{rest} was finished before"),
            }
        }
        let queue = Embedded::open(&path, limits()).unwrap();
        let counts = queue.counts().unwrap();
        let all = counts.waiting + counts.ended;
        // What it was doing when it was killed may be done, too.
        assert!(counts.running == 0 && all >= submitted && counts.ended >= finished.len() as u64, "{counts:?}");
        submitted = all;
        for (ticket, outcome) in &finished {
            let status = queue.look("client", &Ticket::named(ticket.clone())).unwrap().unwrap();
            assert_eq!((status.state, status.outcome.as_deref()), (JobState::Finished, Some(outcome.as_bytes())));
        }
    }
    assert!(finished.len() > KILLS, "{}", finished.len());
}
