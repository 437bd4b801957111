//! What a queue says of jobs whose bytes on the disk are not those that it wrote: each is a loss by name, and no other is
//! harmed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_queue::{Embedded, JobLoss, JobState, JobStatus, Queue, QueueError, QueueLimits, Ticket};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// What somebody does to a file, and how it is called.
type Way<'a> = (&'a str, &'a dyn Fn(&Path));

const LEASE: Duration = Duration::from_secs(60);

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("queue");
    (directory, path)
}

fn open(path: &Path) -> Embedded {
    Embedded::open(path, QueueLimits::default()).unwrap()
}

fn look(queue: &Embedded, client: &str, ticket: &Ticket) -> JobStatus {
    queue.look(client, ticket).unwrap().unwrap()
}

/// Changes a byte of the file wherever these are.
fn damage(path: &Path, bytes: &[u8]) {
    let mut text = std::fs::read(path).unwrap();
    let places: Vec<usize> = (0..text.len() - bytes.len()).filter(|&at| text[at..].starts_with(bytes)).collect();
    assert!(!places.is_empty(), "the file has them");
    places.iter().for_each(|at| text[at + bytes.len() / 2] ^= 4);
    std::fs::write(path, text).unwrap();
}

/// Takes and ends all jobs; how many were lost on the way.
fn work(queue: &Embedded) -> usize {
    let mut lost = 0;
    loop {
        match queue.take(LEASE) {
            Ok(Some(job)) => queue.finish(&job.lease, &[b"outcome of ", &job.payload[..]].concat()).unwrap(),
            Ok(None) => return lost,
            Err(QueueError::Lost(_)) => lost += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn what_is_damaged_is_a_loss_of_that_job_and_of_no_other() {
    let (before, after) = (false, true);
    // What is damaged, whether before the work or after it, and what it is then a loss of.
    let cases = [
        (&b"the second's own bytes"[..], before, JobLoss::Payload),
        (b"outcome of the second's", after, JobLoss::Outcome),
        (br#""client":"second""#, before, JobLoss::Record),
        (br#""client":"second""#, after, JobLoss::Record),
    ];
    for (bytes, when, loss) in cases {
        let (_directory, path) = place();
        let mut queue = open(&path);
        let clients = ["first", "second", "third"];
        let tickets = clients.map(|client| {
            let payload = format!("the {client}'s own bytes");
            queue.submit(client, Some("key"), payload.as_bytes()).unwrap()
        });
        if when == after {
            assert_eq!(work(&queue), 0);
        }
        drop(queue);
        damage(&path, bytes);
        queue = open(&path);
        let lost = work(&queue);
        assert_eq!(lost, usize::from(when == before), "{loss:?}");
        for (client, ticket) in clients.iter().zip(&tickets) {
            let status = look(&queue, client, ticket);
            if *client == "second" {
                assert_eq!((status.state, status.loss, status.outcome), (JobState::Lost, Some(loss), None), "{loss:?}");
                // What is lost stays lost, and its key says so.
                assert_eq!(queue.submit(client, Some("key"), b"the second's own bytes").ok().as_ref(), Some(ticket));
                assert_eq!(queue.cancel(client, ticket).unwrap().map(JobState::is_end), Some(true));
            } else {
                let outcome = format!("outcome of the {client}'s own bytes");
                assert_eq!((status.state, status.loss), (JobState::Finished, None), "{loss:?}");
                assert_eq!(status.outcome, Some(outcome.into_bytes()));
            }
        }
        // The queue goes on, for that client, too.
        let next = queue.submit("second", None, b"next").unwrap();
        assert_eq!((work(&queue), look(&queue, "second", &next).state), (0, JobState::Finished), "{loss:?}");
        assert_eq!(queue.counts().unwrap().clients, 0, "{loss:?}");
    }
}

#[test]
fn a_job_that_ran_and_whose_record_is_damaged_holds_nobody_up() {
    let (_directory, path) = place();
    let limits = QueueLimits { running_of_client: 1, ..QueueLimits::default() };
    let queue = Embedded::open(&path, limits).unwrap();
    let [ran, waits] = ["1", "2"].map(|payload| queue.submit("somebody", None, payload.as_bytes()).unwrap());
    let taken = queue.take(LEASE).unwrap().unwrap();
    assert_eq!(taken.lease.ticket, ran);
    drop(queue);
    damage(&path, br#""state":"running""#);
    let queue = Embedded::open(&path, limits).unwrap();
    assert_eq!(look(&queue, "somebody", &ran).loss, Some(JobLoss::Record));
    assert_eq!((work(&queue), look(&queue, "somebody", &waits).state), (0, JobState::Finished));
}

#[test]
fn a_file_that_was_emptied_removed_or_replaced_between_starts_is_noticed_and_its_jobs_are_told_as_lost() {
    let (_directory, other) = place();
    let foreign = open(&other).submit("a", None, b"of another queue").unwrap();
    let replace = |path: &Path| assert!(std::fs::copy(&other, path).unwrap() > 0);
    let ways: [Way<'_>; 3] = [
        ("emptied", &|path| std::fs::write(path, "").unwrap()),
        ("removed", &|path| std::fs::remove_file(path).unwrap()),
        ("replaced", &replace),
    ];
    for (way, harm) in ways {
        let (_directory, path) = place();
        let queue = open(&path);
        assert!(!queue.is_begun_anew(), "{way}: a new one is no loss");
        let gone: Vec<Ticket> = (0..3).map(|_| queue.submit("a", None, b"job").unwrap()).collect();
        drop(queue);
        assert!(!open(&path).is_begun_anew(), "{way}: nothing is gone yet");
        harm(&path);
        assert!(open(&path).is_begun_anew(), "{way}");
        // It is noticed once, and the jobs stay lost.
        let queue = open(&path);
        assert!(!queue.is_begun_anew(), "{way}");
        for ticket in &gone {
            let status = look(&queue, "a", ticket);
            assert_eq!((status.state, status.loss), (JobState::Lost, Some(JobLoss::File)), "{way}");
            assert_eq!(queue.cancel("a", ticket).unwrap(), Some(JobState::Lost), "{way}");
        }
        assert_eq!(queue.look("a", &Ticket::named("0".repeat(32))).unwrap(), None, "{way}: nobody was told of it");
        assert_eq!(queue.look("a", &foreign).unwrap().is_some(), way == "replaced");
        let next = queue.submit("a", None, b"next").unwrap();
        work(&queue);
        assert_eq!(look(&queue, "a", &next).state, JobState::Finished, "{way}");
    }
}

#[test]
fn nothing_is_accepted_into_a_file_that_is_not_there() {
    let (_directory, path) = place();
    let queue = open(&path);
    queue.submit("a", None, b"job").unwrap();
    std::fs::remove_file(&path).unwrap();
    for refused in [queue.submit("a", None, b"another").map(drop), queue.take(LEASE).map(drop)] {
        assert!(matches!(&refused, Err(QueueError::Gone(gone)) if *gone == path), "{refused:?}");
    }
    assert!(!path.exists());
}
