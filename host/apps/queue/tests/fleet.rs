//! What operators see of a queue in a database, and what they may do; what a worker learns, and takes together.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engines;

use engines::{Database, LEASE, Place as _};
use passhost_queue::{
    CheckIn, DiskShare, JobLoss, JobState, NewJob, Postgres, Queue, QueueLimits, TakenBatch, UnmetNeeds, Worker,
};
use std::time::Duration;

fn opened(test: &str) -> Option<(Database, Postgres)> {
    let place = Database::new(test)?;
    let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap();
    Some((place, queue))
}

fn worker(name: &str, host: &str, offers: &[&str]) -> Worker {
    let offers = offers.iter().map(|&offer| offer.to_owned()).collect();
    Worker { name: name.to_owned(), host: host.to_owned(), offers }
}

#[test]
fn a_dead_letter_keeps_its_submission_and_is_tried_again_when_somebody_wants_that() {
    let Some((place, queue)) = opened("dead_letters") else { return };
    let ticket = queue.submit("alice", None, b"job").unwrap();
    let held = queue.share("alice").unwrap();
    // Its worker on each of two hosts is gone.
    for host in ["one", "two"] {
        let taken = queue.take_as(&worker(host, host, &[]), LEASE).unwrap().unwrap();
        queue.begin(&taken.lease).unwrap();
        place.pass(LEASE + Duration::from_millis(1));
        queue.check_in(&worker("other", "other", &[])).unwrap();
    }
    let fleet = queue.fleet().unwrap();
    let [dead] = fleet.dead_letters.as_slice() else { unreachable!("{fleet:?}") };
    assert_eq!((&dead.ticket, &*dead.client, dead.loss), (&ticket, "alice", JobLoss::Quarantined));
    assert_eq!(dead.attempts.iter().map(|attempt| &*attempt.host).collect::<Vec<_>>(), ["one", "two"]);
    assert!(dead.has_submission && queue.share("alice").unwrap() == held, "{dead:?}");
    assert_eq!(queue.retry(&ticket).unwrap(), Some(JobState::Waiting));
    assert_eq!(queue.share("alice").unwrap(), held);
    // A loss counts as the first one again.
    let taken = queue.take_as(&worker("one", "one", &[]), LEASE).unwrap().unwrap();
    assert_eq!((&*taken.payload, taken.lease.attempt), (&b"job"[..], 3));
    queue.begin(&taken.lease).unwrap();
    queue.recover("one").unwrap();
    let status = queue.look("alice", &ticket).unwrap().unwrap();
    assert_eq!((status.state, status.lost_attempts.len()), (JobState::Waiting, 3));
    let taken = queue.take_as(&worker("three", "three", &[]), LEASE).unwrap().unwrap();
    queue.finish(&taken.lease, b"done").unwrap();
    assert_eq!(queue.retry(&ticket).unwrap(), Some(JobState::Finished));
    assert_eq!(queue.retry(&passhost_queue::Ticket::named("none")).unwrap(), None);
    assert!(queue.remove("alice", &ticket).unwrap());
    assert_eq!(queue.share("alice").unwrap(), DiskShare { held: 0, ..held });
}

#[test]
fn a_worker_says_that_it_is_there_and_hears_what_is_not_for_it_and_that_its_host_is_drained() {
    let Some((place, queue)) = opened("check_in") else { return };
    let needs = ["programs=2".to_owned()];
    let tickets = [(); 2].map(|()| {
        queue.submit_job("alice", None, &NewJob { bytes: b"job", needs: &needs, ..NewJob::default() }).unwrap()
    });
    let old = worker("old", "host", &["programs=1", "device=cpu"]);
    let unmet = vec![UnmetNeeds { needs: needs.to_vec(), waiting: 2, first: tickets[0].clone() }];
    assert_eq!(queue.check_in(&old).unwrap(), CheckIn { unmet, ..CheckIn::default() });
    assert_eq!(queue.take_as(&old, LEASE).unwrap(), None);
    let new = worker("new", "host", &["programs=2", "device=cpu"]);
    assert_eq!(queue.check_in(&new).unwrap(), CheckIn::default());
    let taken = queue.take_as(&new, LEASE).unwrap().unwrap();
    place.pass(Duration::from_secs(7));
    queue.drain("host", true).unwrap();
    assert!(queue.check_in(&new).unwrap().is_drained && queue.check_in(&old).unwrap().is_drained);
    place.pass(Duration::from_secs(3));
    let fleet = queue.fleet().unwrap();
    assert_eq!(fleet.drained, ["host"]);
    let workers = fleet.workers.iter().map(|worker| (&*worker.name, worker.silent, worker.running));
    assert_eq!(workers.collect::<Vec<_>>(), [("new", 3, 1), ("old", 3, 0)]);
    let depth = fleet.depth.iter().map(|depth| (&*depth.needs, depth.waiting, depth.running));
    assert_eq!(depth.collect::<Vec<_>>(), [(&needs[..], 1, 1)]);
    let oldest = fleet.oldest.unwrap();
    assert_eq!((&oldest.ticket, &*oldest.client, oldest.seconds), (&tickets[1], "alice", 10));
    queue.finish(&taken.lease, b"done").unwrap();
    queue.drain("host", false).unwrap();
    assert!(!queue.check_in(&new).unwrap().is_drained);
    assert_eq!(queue.fleet().unwrap().workers[0].ended, 1);
}

#[test]
fn jobs_of_a_client_that_begin_alike_are_taken_together() {
    let Some((place, queue)) = opened("alike") else { return };
    let submit = |client: &str, head: &str, byte: u8| {
        queue.submit_job(client, None, &NewJob { head: head.as_bytes(), bytes: &[byte], needs: &[] }).unwrap()
    };
    let submitted = [("alice", "a", 1), ("alice", "b", 2), ("alice", "a", 3), ("bob", "a", 4), ("alice", "a", 5)]
        .map(|(client, head, byte)| submit(client, head, byte));
    let one = worker("one", "one", &[]);
    let first = queue.take_as(&one, LEASE).unwrap().unwrap();
    assert_eq!(first.lease.ticket, submitted[0]);
    let like = |jobs| {
        let TakenBatch { jobs, lost, .. } = queue.take_like(&one, &first.lease, jobs, LEASE).unwrap();
        assert!(lost.is_empty());
        jobs.iter().map(|job| job.payload.clone()).collect::<Vec<_>>()
    };
    assert_eq!(like(1), [b"a\x03"]);
    assert_eq!(like(9), [b"a\x05"]);
    assert!(like(9).is_empty());
    // Whoever has not the job has none that are like it.
    let mut stale = first.lease.clone();
    stale.attempt += 1;
    assert_eq!(queue.take_like(&one, &stale, 9, LEASE).unwrap(), TakenBatch::default());
    let few = QueueLimits { running_of_client: 1, ..QueueLimits::default() };
    let few = Postgres::open(&place.address, few).unwrap();
    submit("bob", "a", 6);
    let of_bob = few.take_as(&one, LEASE).unwrap().unwrap();
    assert_eq!((&*of_bob.client, few.take_like(&one, &of_bob.lease, 9, LEASE).unwrap().jobs.len()), ("bob", 0));
}
