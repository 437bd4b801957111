//! What a queue promises while its process lives, whichever engine it has.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engines;

use engines::{File, LEASE, Place, WALL};
use passhost_queue::{
    Counts, DiskShare, Embedded, JOB, JobState, Lease, NewJob, Queue, QueueError, QueueLimits, Taken, Ticket, Worker,
};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::collections::BTreeMap;
use std::time::Duration;

of_both_engines! {
    each_client_gets_its_turn_and_its_jobs_come_in_order,
    whoever_sends_one_job_at_a_time_does_not_come_before_those_who_wait,
    a_client_has_no_more_workers_than_its_limit,
    what_there_is_no_room_for_is_refused_and_changes_nothing,
    a_client_has_the_bytes_of_its_limit_and_gets_back_those_of_what_is_gone,
    a_request_that_is_sent_again_is_the_same_job,
    nobody_sees_cancels_or_removes_a_job_of_another,
    a_lease_that_ran_out_ends_nothing,
    a_job_that_nobody_gets_to_the_end_of_is_lost_and_one_that_is_given_back_is_not,
    only_a_process_that_began_a_job_and_died_counts_against_it,
    what_is_cancelled_is_not_done,
    jobs_outlive_their_process,
    whatever_is_done_in_whatever_order_each_job_has_one_end,
    a_job_goes_to_a_worker_that_offers_what_it_needs,
    what_is_withdrawn_by_its_key_leaves_nothing_whatever_its_state,
}

/// Somebody sets the time of the day, forwards or backwards.
fn set_clock(days: i64) {
    WALL.set(WALL.get().checked_add_signed(days * 24 * 3600 * 1000).unwrap());
}

fn take(queue: &dyn Queue) -> Taken {
    queue.take(LEASE).unwrap().unwrap()
}

fn state(queue: &dyn Queue, client: &str, ticket: &Ticket) -> JobState {
    queue.look(client, ticket).unwrap().unwrap().state
}

fn each_client_gets_its_turn_and_its_jobs_come_in_order(place: &dyn Place) {
    let queue = place.open(QueueLimits::default());
    for payload in ["a1", "a2", "a3", "a4"] {
        queue.submit("a", None, payload.as_bytes()).unwrap();
    }
    queue.submit("b", None, b"b1").unwrap();
    let last = queue.submit("b", None, b"b2").unwrap();
    assert_eq!(queue.look("b", &last).unwrap().unwrap().ahead, Some(1));
    let mut order = vec![];
    while let Some(taken) = queue.take(LEASE).unwrap() {
        order.push(String::from_utf8(taken.payload.clone()).unwrap());
        queue.finish(&taken.lease, b"done").unwrap();
    }
    assert_eq!(order, ["a1", "b1", "a2", "b2", "a3", "a4"]);
    assert_eq!(queue.counts().unwrap(), Counts { ended: 6, ..Counts::default() });
}

fn whoever_sends_one_job_at_a_time_does_not_come_before_those_who_wait(place: &dyn Place) {
    let queue = place.open(QueueLimits::default());
    for _ in 0..10 {
        queue.submit("batch", None, b"job").unwrap();
    }
    let mut order = vec![];
    for client in ["x", "y"].into_iter().cycle().take(30) {
        queue.submit(client, None, b"job").unwrap();
        let taken = take(&*queue);
        order.push(taken.client.clone());
        queue.finish(&taken.lease, b"done").unwrap();
    }
    let of_batch = order.iter().filter(|client| *client == "batch").count();
    assert!(of_batch >= 9, "{order:?}");
}

fn a_client_has_no_more_workers_than_its_limit(place: &dyn Place) {
    let queue = place.open(QueueLimits { running_of_client: 2, ..QueueLimits::default() });
    for _ in 0..4 {
        queue.submit("a", None, b"job").unwrap();
    }
    let first = take(&*queue);
    take(&*queue);
    assert_eq!(queue.take(LEASE).unwrap(), None);
    queue.submit("b", None, b"another").unwrap();
    assert_eq!(take(&*queue).client, "b");
    queue.finish(&first.lease, b"done").unwrap();
    assert_eq!(take(&*queue).client, "a");
}

fn what_there_is_no_room_for_is_refused_and_changes_nothing(place: &dyn Place) {
    let limits = QueueLimits { waiting: 3, waiting_of_client: 2, payload: 4, name: 3, ..QueueLimits::default() };
    let queue = place.open(limits);
    queue.submit("a", None, b"1").unwrap();
    queue.submit("a", None, b"2").unwrap();
    assert!(matches!(queue.submit("a", None, b"3"), Err(QueueError::ClientFull(2))));
    queue.submit("b", None, b"3").unwrap();
    assert!(matches!(queue.submit("c", None, b"4"), Err(QueueError::Full(3))));
    for (client, key, payload, wrong) in [
        ("", None, &b"1"[..], "client's name"),
        ("abcd", None, b"1", "client's name"),
        ("d", Some(""), b"1", "key"),
        ("d", Some("long"), b"1", "key"),
        ("d", None, b"", "job"),
        ("d", None, b"12345", "job"),
    ] {
        let refused = queue.submit(client, key, payload);
        assert!(matches!(&refused, Err(QueueError::Length { what, .. }) if *what == wrong), "{refused:?}");
    }
    assert_eq!(queue.counts().unwrap(), Counts { waiting: 3, clients: 2, ..Counts::default() });
}

fn a_client_has_the_bytes_of_its_limit_and_gets_back_those_of_what_is_gone(place: &dyn Place) {
    let queue = place.open(QueueLimits { bytes_of_client: 3 * JOB + 300, ..QueueLimits::default() });
    let held = || queue.share("a").unwrap().held;
    let tickets =
        [1, 2, 3].map(|number| queue.submit("a", Some("key").filter(|_| number == 1), &[number; 100]).unwrap());
    assert_eq!(held(), 3 * JOB + 300);
    let refused = queue.submit("a", None, b"1");
    let all = 3 * JOB + 300;
    assert!(
        matches!(refused, Err(QueueError::ClientBytes { held, more, limit }) if (held, more, limit) == (all, JOB + 1, all))
    );
    queue.submit("b", None, &[0; 300]).unwrap();
    // What came of a job counts in place of the job, and is kept though it is more.
    let taken = take(&*queue);
    assert_eq!(taken.lease.ticket, tickets[0]);
    queue.finish(&taken.lease, &[0; 1000]).unwrap();
    assert_eq!(held(), 3 * JOB + 1200);
    assert_eq!(queue.cancel("a", &tickets[1]).unwrap(), Some(JobState::Cancelled));
    assert_eq!(held(), 3 * JOB + 1100);
    for (client, ticket, is_gone) in [
        ("b", &tickets[0], false),
        ("a", &tickets[2], false),
        ("a", &tickets[0], true),
        ("a", &tickets[0], false),
        ("a", &tickets[1], true),
    ] {
        assert_eq!(queue.remove(client, ticket).unwrap(), is_gone, "{client} {ticket}");
    }
    assert_eq!((held(), queue.look("a", &tickets[0]).unwrap()), (JOB + 100, None));
    queue.submit("a", None, b"1").unwrap();
    assert_eq!(queue.share("c").unwrap(), DiskShare { held: 0, limit: all });
}

fn a_request_that_is_sent_again_is_the_same_job(place: &dyn Place) {
    let queue = place.open(QueueLimits { waiting_of_client: 1, ..QueueLimits::default() });
    let ticket = queue.submit("a", Some("key"), b"job").unwrap();
    assert_eq!(queue.submit("a", Some("key"), b"job").unwrap(), ticket);
    let other = queue.submit("a", Some("key"), b"another");
    assert!(matches!(&other, Err(QueueError::KeyReused(found)) if *found == ticket), "{other:?}");
    let of_another = queue.submit("b", Some("key"), b"another").unwrap();
    assert_ne!(of_another, ticket);
    let taken = take(&*queue);
    queue.finish(&taken.lease, b"done").unwrap();
    assert_eq!(queue.submit("a", Some("key"), b"job").unwrap(), ticket);
    assert_eq!(queue.look("a", &ticket).unwrap().unwrap().outcome.unwrap(), b"done");
    // What is forgotten is a new job.
    place.pass(Duration::from_secs(2));
    assert_eq!(queue.forget(Duration::from_secs(1)).unwrap(), 1);
    assert_ne!(queue.submit("a", Some("key"), b"job").unwrap(), ticket);
}

fn nobody_sees_cancels_or_removes_a_job_of_another(place: &dyn Place) {
    let queue = place.open(QueueLimits::default());
    let [waits, ended] = ["key", "another"].map(|key| queue.submit("a", Some(key), b"job").unwrap());
    assert_eq!(queue.cancel("a", &ended).unwrap(), Some(JobState::Cancelled));
    let tickets = [Ticket::named(""), Ticket::named("0".repeat(32)), Ticket::named("%"), waits.clone(), ended.clone()];
    for stranger in ["b", "A", "a ", "%", "a' OR 'a' = 'a", "a'; DELETE FROM jobs; --", "a\0"] {
        for ticket in &tickets {
            assert_eq!(queue.look(stranger, ticket).unwrap(), None, "{stranger}");
            assert_eq!(queue.cancel(stranger, ticket).unwrap(), None, "{stranger}");
            assert!(!queue.remove(stranger, ticket).unwrap(), "{stranger}");
        }
        assert_eq!(queue.share(stranger).unwrap().held, 0, "{stranger}");
    }
    // A key is its client's own: it tells nothing of the other's job.
    assert!(!tickets.contains(&queue.submit("b", Some("key"), b"guess").unwrap()));
    assert_eq!([&waits, &ended].map(|ticket| state(&*queue, "a", ticket)), [JobState::Waiting, JobState::Cancelled]);
}

fn a_lease_that_ran_out_ends_nothing(place: &dyn Place) {
    let queue = place.open(QueueLimits::default());
    let ticket = queue.submit("a", None, b"job").unwrap();
    let slow = take(&*queue);
    place.pass(LEASE / 2);
    queue.renew(&slow.lease, LEASE).unwrap();
    place.pass(LEASE);
    assert_eq!(queue.take(LEASE).unwrap(), None);
    place.pass(Duration::from_millis(1));
    let fast = take(&*queue);
    assert_eq!(fast.lease, Lease { ticket: ticket.clone(), attempt: 2 });
    for stale in [queue.finish(&slow.lease, b"slow"), queue.renew(&slow.lease, LEASE), queue.give_back(&slow.lease)] {
        assert!(matches!(stale, Err(QueueError::Stale(_))), "{stale:?}");
    }
    queue.finish(&fast.lease, b"fast").unwrap();
    assert!(matches!(queue.finish(&fast.lease, b"twice"), Err(QueueError::Stale(_))));
    assert_eq!(queue.look("a", &ticket).unwrap().unwrap().outcome.unwrap(), b"fast");
}

fn a_job_that_nobody_gets_to_the_end_of_is_lost_and_one_that_is_given_back_is_not(place: &dyn Place) {
    let queue = place.open(QueueLimits { attempts: 2, ..QueueLimits::default() });
    let ticket = queue.submit("a", None, b"job").unwrap();
    for _ in 0..5 {
        queue.give_back(&take(&*queue).lease).unwrap();
    }
    for _ in 0..2 {
        queue.begin(&take(&*queue).lease).unwrap();
        place.pass(LEASE + Duration::from_millis(1));
    }
    assert_eq!(queue.take(LEASE).unwrap(), None);
    assert_eq!(state(&*queue, "a", &ticket), JobState::Lost);
    assert_eq!(queue.counts().unwrap(), Counts { ended: 1, ..Counts::default() });
}

fn only_a_process_that_began_a_job_and_died_counts_against_it(place: &dyn Place) {
    let limits = QueueLimits { attempts: 3, running_of_client: 1, ..QueueLimits::default() };
    let mut queue = place.open(limits);
    let [taken, waits] = ["1", "2"].map(|payload| queue.submit("a", None, payload.as_bytes()).unwrap());
    let begun = queue.submit("b", None, b"job").unwrap();
    for _ in 0..5 {
        let jobs: Vec<Taken> = std::iter::from_fn(|| queue.take(LEASE).unwrap()).collect();
        assert!(jobs.iter().any(|job| job.lease.ticket == taken) && jobs.iter().all(|job| job.lease.ticket != waits));
        if let Some(job) = jobs.iter().find(|job| job.lease.ticket == begun) {
            queue.begin(&job.lease).unwrap();
        }
        queue = place.restart(queue, limits);
    }
    let states = [("a", &waits), ("a", &taken), ("b", &begun)].map(|(client, ticket)| state(&*queue, client, ticket));
    assert_eq!(states, [JobState::Waiting, JobState::Waiting, JobState::Lost]);
}

#[test]
fn a_clock_that_somebody_sets_ends_no_lease_and_forgets_nothing() {
    const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
    let place = File::new();
    let mut queue = place.open(QueueLimits::default());
    let [ended, runs] = ["1", "2"].map(|payload| queue.submit("a", None, payload.as_bytes()).unwrap());
    queue.finish(&take(&*queue).lease, b"done").unwrap();
    let held = take(&*queue);
    for days in [10, -25, 400] {
        set_clock(days);
        assert_eq!((queue.forget(WEEK).unwrap(), queue.take(LEASE).unwrap()), (0, None), "{days} days");
    }
    queue.renew(&held.lease, LEASE).unwrap();
    queue.finish(&held.lease, b"done, too").unwrap();
    assert_eq!((state(&*queue, "a", &ended), state(&*queue, "a", &runs)), (JobState::Finished, JobState::Finished));
    // A process that ends takes none of the time along in which the queue was open.
    place.pass(WEEK / 2);
    assert_eq!(queue.forget(WEEK).unwrap(), 0);
    drop(queue);
    set_clock(10);
    queue = place.open(QueueLimits::default());
    assert_eq!(queue.forget(WEEK).unwrap(), 0);
    place.pass(WEEK / 2 + Duration::from_millis(1));
    assert_eq!(queue.forget(WEEK).unwrap(), 2);
}

fn what_is_cancelled_is_not_done(place: &dyn Place) {
    let queue = place.open(QueueLimits::default());
    let tickets = ["1", "2", "3"].map(|payload| queue.submit("a", None, payload.as_bytes()).unwrap());
    let running = take(&*queue);
    let finished = take(&*queue);
    queue.finish(&finished.lease, b"done").unwrap();
    let states = tickets.clone().map(|ticket| queue.cancel("a", &ticket).unwrap().unwrap());
    assert_eq!(states, [JobState::Cancelled, JobState::Finished, JobState::Cancelled]);
    assert!(matches!(queue.finish(&running.lease, b"late"), Err(QueueError::Stale(_))));
    assert_eq!(queue.take(LEASE).unwrap(), None);
    assert_eq!(queue.look("a", &tickets[0]).unwrap().unwrap().outcome, None);
}

fn jobs_outlive_their_process(place: &dyn Place) {
    let queue = place.open(QueueLimits::default());
    let tickets = ["1", "2", "3"].map(|payload| queue.submit("a", None, payload.as_bytes()).unwrap());
    queue.finish(&take(&*queue).lease, b"done").unwrap();
    take(&*queue);
    let queue = place.restart(queue, QueueLimits::default());
    let states = tickets.clone().map(|ticket| state(&*queue, "a", &ticket));
    assert_eq!(states, [JobState::Finished, JobState::Waiting, JobState::Waiting]);
    // It keeps its place.
    assert_eq!(take(&*queue).lease, Lease { ticket: tickets[1].clone(), attempt: 2 });
}

#[test]
fn one_process_has_the_file() {
    let place = File::new();
    let _queue = place.open(QueueLimits::default());
    let second = Embedded::open(&place.0.path().join("queue"), QueueLimits::default());
    assert!(matches!(second, Err(QueueError::InUse(_))));
}

#[test]
fn a_file_that_is_no_queue_is_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("queue");
    std::fs::write(&path, "something else".repeat(1000)).unwrap();
    assert!(matches!(Embedded::open(&path, QueueLimits::default()), Err(QueueError::Open { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "something else".repeat(1000));
}

/// What a queue should say of a job.
#[derive(Debug, Clone, PartialEq)]
enum Expected {
    Waiting,
    Running,
    Finished(Vec<u8>),
    Cancelled,
}

fn whatever_is_done_in_whatever_order_each_job_has_one_end(place: &dyn Place) {
    let mut random = SplitMix64::seed_from_u64(1);
    let (mut jobs, mut held) = (BTreeMap::<Ticket, (String, Expected)>::new(), Vec::<Taken>::new());
    let mut queue = place.open(QueueLimits { attempts: u32::MAX, running_of_client: 3, ..QueueLimits::default() });
    for step in 0..600u32 {
        let client = format!("client {}", random.next_u64() % 3);
        match random.next_u64() % 8 {
            0..=2 => {
                drop(jobs.insert(queue.submit(&client, None, client.as_bytes()).unwrap(), (client, Expected::Waiting)))
            }
            3 | 4 => {
                if let Some(taken) = queue.take(LEASE).unwrap() {
                    let job = jobs.get_mut(&taken.lease.ticket).unwrap();
                    assert_eq!(*job, (String::from_utf8(taken.payload.clone()).unwrap(), Expected::Waiting));
                    job.1 = Expected::Running;
                    held.push(taken);
                }
            }
            5 if !held.is_empty() => {
                let taken = held.swap_remove(random.next_u64() as usize % held.len());
                queue.finish(&taken.lease, &step.to_le_bytes()).unwrap();
                jobs.get_mut(&taken.lease.ticket).unwrap().1 = Expected::Finished(step.to_le_bytes().to_vec());
            }
            6 if !held.is_empty() => {
                let taken = held.swap_remove(random.next_u64() as usize % held.len());
                let job = jobs.get_mut(&taken.lease.ticket).unwrap();
                job.1 = if random.next_u64() % 2 == 0 {
                    queue.give_back(&taken.lease).unwrap();
                    Expected::Waiting
                } else {
                    assert_eq!(queue.cancel(&job.0, &taken.lease.ticket).unwrap(), Some(JobState::Cancelled));
                    Expected::Cancelled
                };
            }
            7 if step % 50 == 0 => {
                let limits = QueueLimits { attempts: u32::MAX, running_of_client: 3, ..QueueLimits::default() };
                queue = place.restart(queue, limits);
                held.drain(..).for_each(|taken| jobs.get_mut(&taken.lease.ticket).unwrap().1 = Expected::Waiting);
            }
            _ => {}
        }
    }
    assert!(jobs.len() > 100 && jobs.values().any(|(_, expected)| matches!(expected, Expected::Finished(_))));
    for (ticket, (client, expected)) in &jobs {
        let status = queue.look(client, ticket).unwrap().unwrap();
        let outcome = match expected {
            Expected::Finished(outcome) => Some(outcome.clone()),
            _ => None,
        };
        let state = match expected {
            Expected::Waiting => JobState::Waiting,
            Expected::Running => JobState::Running,
            Expected::Finished(_) => JobState::Finished,
            Expected::Cancelled => JobState::Cancelled,
        };
        assert_eq!((status.state, status.outcome), (state, outcome));
    }
}

fn what_is_withdrawn_by_its_key_leaves_nothing_whatever_its_state(place: &dyn Place) {
    let queue = place.open(QueueLimits::default());
    let submit = |client: &str, key: &str| queue.submit(client, Some(key), b"job").unwrap();
    submit("a", "episode 1");
    let runs = take(&*queue);
    submit("a", "episode 2");
    let ended = take(&*queue);
    queue.finish(&ended.lease, b"done").unwrap();
    let (waits, other) = (submit("b", "episode 3"), submit("b", "episodes of another"));
    assert_eq!(queue.withdraw("episode ").unwrap(), 3);
    assert_eq!(queue.withdraw("episode ").unwrap(), 0);
    assert!(queue.look("b", &waits).unwrap().is_none());
    assert!(matches!(queue.finish(&runs.lease, b"done"), Err(QueueError::Stale(_))));
    assert_eq!(queue.counts().unwrap(), Counts { waiting: 1, clients: 1, ..Counts::default() });
    assert_eq!((queue.share("a").unwrap().held, queue.share("b").unwrap().held), (0, JOB + 3));
    assert_eq!(state(&*queue, "b", &other), JobState::Waiting);
}

fn a_job_goes_to_a_worker_that_offers_what_it_needs(place: &dyn Place) {
    let labels = |labels: &str| labels.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let submit = |queue: &dyn Queue, client: &str, needs: &str| {
        let job = NewJob { head: needs.as_bytes(), bytes: b" job", needs: &labels(needs) };
        queue.submit_job(client, Some(needs).filter(|needs| !needs.is_empty()), &job).unwrap()
    };
    let mut queue = place.open(QueueLimits::default());
    let tickets = ["cpu", "gpu", "gpu strict"].map(|needs| submit(&*queue, "a", needs));
    assert_eq!(submit(&*queue, "a", "gpu"), tickets[1]);
    submit(&*queue, "b", "");
    queue = place.restart(queue, QueueLimits::default());
    let taken = |offers: &str| {
        let worker = Worker { offers: labels(offers), ..Worker::default() };
        let job = queue.take_as(&worker, LEASE).unwrap()?;
        queue.finish(&job.lease, b"done").unwrap();
        Some(String::from_utf8(job.payload).unwrap())
    };
    assert_eq!(taken("strict gpu").as_deref(), Some("gpu job"));
    assert_eq!([taken(""), taken("")], [Some(" job".to_owned()), None]);
    assert_eq!(taken("gpu"), None);
    assert_eq!(queue.counts().unwrap(), Counts { waiting: 2, ended: 2, clients: 1, ..Counts::default() });
    let left = ["gpu cpu", "strict", "gpu strict"].map(taken);
    assert_eq!(left, [Some("cpu job".to_owned()), None, Some("gpu strict job".to_owned())]);
}
