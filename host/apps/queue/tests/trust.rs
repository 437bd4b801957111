//! Results that a server judges before they count.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engines;

use engines::{Database, LEASE, Place as _, Server};
use passhost_queue::{
    Canary, CheckIn, Delivered, JobLoss, JobState, Judge, Judged, NewJob, Objects, Postgres, Queue, QueueError,
    QueueLimits, Rerun, SIGNED, Taken, Ticket, Worker, WorkerState,
};
use sha2::{Digest as _, Sha256};
use std::time::Duration;

fn worker(host: &str) -> Worker {
    Worker { name: host.to_owned(), host: host.to_owned(), offers: vec![SIGNED.to_owned()] }
}

fn begun(queue: &dyn Queue, host: &str) -> Option<Taken> {
    let taken = queue.take_as(&worker(host), LEASE).unwrap()?;
    queue.begin(&taken.lease).unwrap();
    Some(taken)
}

fn submit(queue: &Postgres) -> Ticket {
    queue
        .submit_job("alice", None, &NewJob { bytes: b"job", needs: &[SIGNED.to_owned()], ..NewJob::default() })
        .unwrap()
}

/// That of a server which only believes `signed`.
fn judge(delivered: &Delivered) -> Result<(), String> {
    if delivered.outcome == b"signed" { Ok(()) } else { Err(format!("it is not signed by {}", delivered.host)) }
}

const ACCEPTED: Judged = Judged { accepted: 1, refused: 0 };
const REFUSED: Judged = Judged { accepted: 0, refused: 1 };

#[test]
fn a_result_that_must_be_signed_counts_when_it_was_judged_and_else_another_host_tries() {
    let Some(place) = Database::new("judged") else { return };
    let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap();
    let ticket = submit(&queue);
    let look = || queue.look("alice", &ticket).unwrap().unwrap();
    assert_eq!(queue.take_as(&Worker::default(), LEASE).unwrap(), None, "it signs nothing");
    let first = begun(&queue, "one").unwrap();
    queue.finish(&first.lease, b"forged").unwrap();
    assert_eq!((look().state, look().outcome), (JobState::Running, None));
    assert!(matches!(queue.renew(&first.lease, LEASE), Err(QueueError::Stale(_))), "nobody holds it");
    // No lease of it runs out while no server is there.
    place.pass(100 * LEASE);
    queue.check_in(&worker("other")).unwrap();
    assert_eq!((queue.judge(&judge).unwrap(), look().state), (REFUSED, JobState::Waiting));
    // Never again on that host, however long it waits.
    place.pass(Duration::from_secs(1_000_000));
    assert_eq!(begun(&queue, "one"), None);
    let second = begun(&queue, "two").unwrap();
    assert_eq!(second.payload, b"job");
    queue.finish(&second.lease, b"signed").unwrap();
    assert_eq!((queue.judge(&judge).unwrap(), queue.judge(&judge).unwrap()), (ACCEPTED, Judged::default()));
    let status = look();
    assert_eq!(
        (status.state, status.outcome.as_deref(), status.attempts),
        (JobState::Finished, Some(&b"signed"[..]), 2)
    );
    let [lost] = status.lost_attempts.as_slice() else { unreachable!("{status:?}") };
    assert_eq!((&*lost.host, &*lost.log), ("one", "it is not signed by one"));
    let refused = queue.fleet().unwrap().refused;
    assert_eq!(
        refused.iter().map(|of| (&*of.host, of.results, &*of.last)).collect::<Vec<_>>(),
        [("one", 1, &*lost.log)]
    );
}

#[test]
fn a_large_result_that_must_be_signed_is_judged_as_it_lies_in_the_store() {
    let Some(place) = Database::new("judged_large") else { return };
    let directory = tempfile::tempdir().unwrap();
    let objects = Objects::open(directory.path().to_str().unwrap(), |_| None).unwrap();
    let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap().with_objects(objects);
    let ticket = submit(&queue);
    let look = || queue.look("alice", &ticket).unwrap().unwrap();
    let large = vec![b's'; 100_000];
    let name: String = Sha256::digest(&large).iter().map(|byte| format!("{byte:02x}")).collect();
    let believes = |delivered: &Delivered| match delivered.outcome.len() {
        100_000 => Ok(()),
        bytes => Err(format!("{bytes} bytes")),
    };
    let first = begun(&queue, "one").unwrap();
    queue.finish(&first.lease, &large).unwrap();
    assert_eq!((look().state, look().outcome), (JobState::Running, None));
    std::fs::write(directory.path().join(name), b"other bytes").unwrap();
    assert_eq!((queue.judge(&believes).unwrap(), look().state), (REFUSED, JobState::Waiting));
    let second = begun(&queue, "two").unwrap();
    queue.finish(&second.lease, &large).unwrap();
    assert_eq!(queue.judge(&believes).unwrap(), ACCEPTED);
    assert_eq!((look().state, look().outcome), (JobState::Finished, Some(large)));
}

#[test]
fn a_result_that_cannot_be_read_keeps_no_other_from_being_judged() {
    let Some(place) = Database::new("unread") else { return };
    let directory = tempfile::tempdir().unwrap();
    let (store, gone) = (directory.path().join("store"), directory.path().join("gone"));
    std::fs::create_dir(&store).unwrap();
    let open = || Postgres::open(&place.address, QueueLimits::default()).unwrap();
    let stored = open().with_objects(Objects::open(store.to_str().unwrap(), |_| None).unwrap());
    let delivered = || {
        for (host, outcome) in [("one", &[b's'; 100_000][..]), ("two", b"signed")] {
            submit(&stored);
            stored.finish(&begun(&stored, host).unwrap().lease, outcome).unwrap();
        }
    };
    // By a server without a store.
    delivered();
    assert_eq!(open().judge(&judge).unwrap(), Judged { accepted: 1, refused: 1 });
    stored.finish(&begun(&stored, "three").unwrap().lease, b"signed").unwrap();
    assert_eq!(open().judge(&judge).unwrap(), ACCEPTED);
    // While the store is away.
    delivered();
    std::fs::rename(&store, &gone).unwrap();
    assert_eq!(stored.judge(&judge).unwrap(), ACCEPTED);
    assert!(matches!(stored.judge(&judge), Err(QueueError::Object(_))));
    std::fs::rename(&gone, &store).unwrap();
    let believes = |delivered: &Delivered| if delivered.outcome.len() == 100_000 { Ok(()) } else { Err(String::new()) };
    assert_eq!(stored.judge(&believes).unwrap(), ACCEPTED);
}

#[test]
fn what_a_worker_calls_damaged_can_be_tried_again() {
    let Some(place) = Database::new("called_damaged") else { return };
    let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap();
    let ticket = submit(&queue);
    let attempt = begun(&queue, "one").unwrap().lease.attempt;
    place.execute(&format!("SELECT worker_damaged('{ticket}', {attempt})"));
    let status = queue.look("alice", &ticket).unwrap().unwrap();
    assert_eq!((status.state, status.loss), (JobState::Lost, Some(JobLoss::Payload)));
    assert_eq!(queue.retry(&ticket).unwrap(), Some(JobState::Waiting));
    assert_eq!(begun(&queue, "one").unwrap().payload, b"job");
}

#[test]
fn what_no_host_signs_is_lost_and_what_its_client_does_not_want_is_never_shown() {
    let Some(place) = Database::new("unsigned") else { return };
    let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap();
    let (ticket, unwanted) = (submit(&queue), submit(&queue));
    for host in ["one", "two", "three"] {
        let taken = begun(&queue, host).unwrap();
        assert_eq!(taken.lease.ticket, ticket);
        queue.finish(&taken.lease, b"forged").unwrap();
        assert_eq!(queue.judge(&judge).unwrap(), REFUSED);
    }
    let status = queue.look("alice", &ticket).unwrap().unwrap();
    assert_eq!((status.state, status.loss, status.outcome), (JobState::Lost, Some(JobLoss::Hosts), None));
    let taken = begun(&queue, "one").unwrap();
    queue.finish(&taken.lease, b"signed").unwrap();
    queue.cancel("alice", &unwanted).unwrap();
    assert_eq!(queue.judge(&judge).unwrap(), Judged::default());
    let status = queue.look("alice", &unwanted).unwrap().unwrap();
    assert_eq!((status.state, status.outcome), (JobState::Cancelled, None));
    assert!(queue.remove("alice", &unwanted).unwrap());
}

#[test]
fn a_user_of_the_database_for_workers_ends_no_job_whose_result_must_be_signed() {
    let Some(server) = Server::shared("a_user_of_the_database_for_workers") else { return };
    let owner = server.schema("unjudged");
    let queue = Postgres::open(&owner, QueueLimits::default()).unwrap();
    let database = Database { address: owner.clone() };
    database.execute("CREATE ROLE signs LOGIN; SELECT allow_worker('signs')");
    let address = owner.replace("user=postgres", "dbname=postgres user=signs");
    let own = Postgres::open(&address, QueueLimits::default()).unwrap();
    let ticket = submit(&queue);
    let lease = begun(&own, "one").unwrap().lease;
    let mut client = postgres::Client::connect(&address, postgres::NoTls).unwrap();
    let finish = format!("SELECT worker_finish('{ticket}', {}, '', '')", lease.attempt);
    let refused = client.batch_execute(&finish).unwrap_err();
    assert_eq!(refused.code(), Some(&postgres::error::SqlState::CHECK_VIOLATION), "{refused:?}");
    own.finish(&lease, b"signed").unwrap();
    for denied in [own.judge(&|_: &Delivered| Ok(())).map(drop), own.finish(&lease, b"other")] {
        assert!(denied.is_err(), "{denied:?}");
    }
    let refuse = format!("SELECT refuse_delivered('{ticket}', {}, '', 9, 9)", lease.attempt);
    assert_eq!(client.batch_execute(&refuse).unwrap_err().code().unwrap().code(), "42501");
    assert_eq!(queue.judge(&judge).unwrap(), ACCEPTED);
    assert_eq!(queue.look("alice", &ticket).unwrap().unwrap().state, JobState::Finished);
}

#[test]
fn a_host_whose_canary_drifts_takes_nothing_and_its_results_since_the_last_good_one_are_revoked() {
    let Some(place) = Database::new("canaries") else { return };
    let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap();
    let tickets = [(); 6].map(|()| submit(&queue));
    let canary = |host: &str, is_good: bool| {
        let report = if is_good { "2.0, expected 1.5 to 2.5" } else { "the ratio of the canary is 1.1" }.to_owned();
        queue.report_canary(&worker(host), &Canary { device: "H100".to_owned(), is_good, report }).unwrap();
        place.pass(Duration::from_secs(10));
    };
    let delivers = |host: &str| {
        let taken = begun(&queue, host).unwrap();
        queue.finish(&taken.lease, b"signed").unwrap();
        taken.lease.ticket
    };
    let ends = |host: &str| {
        delivers(host);
        assert_eq!(queue.judge(&judge).unwrap(), ACCEPTED);
        place.pass(Duration::from_secs(10));
    };
    canary("one", true);
    ends("one");
    canary("one", true);
    ends("one");
    ends("two");
    let running = begun(&queue, "one").unwrap();
    let delivered = delivers("one");
    assert_eq!(queue.check_in(&worker("one")).unwrap().quarantine, None);
    canary("one", false);
    let why = "the ratio of the canary is 1.1";
    assert_eq!(queue.check_in(&worker("one")).unwrap().quarantine.as_deref(), Some(why));
    assert_eq!(queue.check_in(&worker("two")).unwrap().quarantine, None);
    // A good one does not end the quarantine.
    canary("one", true);
    queue.finish(&running.lease, b"signed").unwrap();
    assert_eq!(queue.judge(&judge).unwrap(), Judged { accepted: 0, refused: 2 });
    for ticket in [&delivered, &running.lease.ticket] {
        let lost = queue.look("alice", ticket).unwrap().unwrap();
        assert_eq!(
            (lost.state, &*lost.lost_attempts[0].log),
            (JobState::Waiting, &*format!("its host is quarantined: {why}"))
        );
    }
    let revoked = queue.revoked().unwrap();
    assert_eq!(
        revoked.iter().map(|of| (&of.ticket, &*of.host, &*of.reason)).collect::<Vec<_>>(),
        [(&tickets[1], "one", why)]
    );
    let quarantined = queue.fleet().unwrap().quarantined;
    assert_eq!(
        quarantined.iter().map(|of| (&*of.host, &*of.reason, of.revoked)).collect::<Vec<_>>(),
        [("one", why, 1)]
    );
    // What counts when it ends although nobody judges it is revoked as it ends.
    let unsigned = queue.submit("alice", None, b"job").unwrap();
    let taken = queue.take_as(&Worker { offers: vec![], ..worker("one") }, LEASE).unwrap().unwrap();
    queue.finish(&taken.lease, b"anything").unwrap();
    assert_eq!(queue.revoked().unwrap()[1].ticket, unsigned);
    for sql in ["DELETE FROM revocations", "UPDATE revocations SET host = ''", "TRUNCATE revocations"] {
        let mut client = postgres::Client::connect(&place.address, postgres::NoTls).unwrap();
        let refused = client.batch_execute(sql).unwrap_err();
        assert_eq!(refused.as_db_error().unwrap().message(), "the list of revocations only grows", "{sql}");
    }
    // It outlasts the jobs.
    queue.forget(Duration::ZERO).unwrap();
    assert_eq!(queue.revoked().unwrap().len(), 2);
    queue.drain("one", false).unwrap();
    assert_eq!(queue.check_in(&worker("one")).unwrap().quarantine, None);
}

#[test]
fn where_a_canary_is_required_a_host_without_a_good_one_takes_nothing_and_learns_why() {
    const WITHIN: Duration = Duration::from_secs(36);
    let Some(place) = Database::new("required") else { return };
    let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap();
    let tickets = [(); 3].map(|()| submit(&queue));
    let on = |devices: &[&str]| {
        let devices = devices.iter().map(|device| format!("device={device}, 1 threads, torch 2.11.0"));
        Worker { offers: devices.chain([SIGNED.to_owned()]).collect(), ..worker("one") }
    };
    let (one, both) = (on(&["H200"]), on(&["H200", "H100"]));
    let canary = |device: &str| {
        queue.report_canary(&one, &Canary { device: device.to_owned(), is_good: true, report: String::new() }).unwrap();
    };
    let take = |worker: &Worker| queue.take_as(worker, LEASE).unwrap().map(|taken| taken.lease);
    let states = || {
        let fleet = queue.fleet().unwrap();
        (fleet.canary_within, fleet.workers.iter().map(|worker| fleet.state(worker)).collect::<Vec<_>>())
    };
    let lacks = |worker: &Worker| queue.check_in(worker).unwrap().lacks_canary;
    let why = "host one had no good canary in the last 0.01 h, as this queue requires: \
               `passhost worker --canary FILE` measures one, and `passhost fleet require-canary --undo` requires none";
    assert_eq!(queue.check_in(&one).unwrap(), CheckIn::default(), "none is required");
    queue.require_canary(Some(WITHIN)).unwrap();
    assert_eq!((lacks(&one).as_deref(), take(&one)), (Some(why), None));
    assert_eq!(states(), (Some(36), vec![WorkerState::Untested]));
    // Each kind of device of a host needs its own, and whoever names none has none.
    canary("H200");
    assert_eq!((lacks(&one), states().1), (None, vec![WorkerState::Working]));
    assert_eq!((lacks(&both).as_deref(), take(&both)), (Some(why), None));
    assert_eq!(take(&worker("one")), None);
    let lease = take(&one).unwrap();
    assert_eq!(lease.ticket, tickets[0]);
    // It is too old, which harms no job that was taken before.
    place.pass(WITHIN + Duration::from_millis(1));
    assert_eq!(queue.take_like(&one, &lease, 2, LEASE).unwrap().jobs, []);
    assert_eq!(take(&one), None);
    queue.finish(&lease, b"signed").unwrap();
    assert_eq!(queue.judge(&judge).unwrap(), ACCEPTED);
    canary("H200");
    assert_eq!(take(&one).unwrap().ticket, tickets[1]);
    place.pass(WITHIN + Duration::from_millis(1));
    queue.require_canary(None).unwrap();
    assert_eq!((lacks(&one), states().0, take(&one).unwrap().ticket), (None, None, tickets[2].clone()));
}

/// Panics at a result, or where it is compared.
struct Panics;

impl Judge for Panics {
    fn check(&self, delivered: &Delivered) -> Result<(), String> {
        assert_ne!(delivered.outcome, b"poison");
        Ok(())
    }

    fn rerun(&self, _: &Delivered) -> Option<Rerun> {
        Some(Rerun { needs: vec![SIGNED.to_owned()], draws: vec![] })
    }

    fn difference(&self, first: &[u8], second: &[u8]) -> Option<String> {
        assert_ne!(second, b"incomparable");
        (first != second).then(|| "another".to_owned())
    }
}

#[test]
fn a_result_at_which_judging_panics_is_refused_and_tried_on_another_host() {
    let Some(place) = Database::new("panics") else { return };
    let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap();
    ["one", "two", "three", "four"].iter().for_each(|host| drop(queue.check_in(&worker(host)).unwrap()));
    let ends = |host: &str, outcome: &[u8]| {
        queue.finish(&begun(&queue, host).unwrap().lease, outcome).unwrap();
        queue.judge(&Panics).unwrap()
    };
    let (ticket, look) = (submit(&queue), |ticket: &Ticket| queue.look("alice", ticket).unwrap().unwrap());
    assert_eq!((ends("one", b"poison"), look(&ticket).state), (REFUSED, JobState::Waiting));
    assert_eq!((begun(&queue, "one"), ends("two", b"right")), (None, ACCEPTED));
    let status = look(&ticket);
    assert_eq!((status.state, status.outcome.as_deref()), (JobState::Finished, Some(&b"right"[..])));
    let [lost] = status.lost_attempts.as_slice() else { unreachable!("{status:?}") };
    let why = "the server panicked when it judged the result; report this";
    assert_eq!((&*lost.host, &*lost.log, lost.died), ("one", why, false));
    // A second run, too: nobody is accused, and another host compares.
    assert_eq!(ends("three", b"incomparable"), REFUSED);
    assert_eq!((ends("four", b"right"), queue.fleet().unwrap().disagreements), (ACCEPTED, 0));
    assert_eq!(queue.fleet().unwrap().refused.iter().map(|of| &*of.host).collect::<Vec<_>>(), ["one", "three"]);
    assert_eq!(look(&ticket).revoked, None);
}

#[test]
fn a_server_wakes_when_a_result_comes_that_it_is_to_judge() {
    let Some(server) = Server::shared("a_server_wakes_when_a_result_comes") else { return };
    let address = server.schema("delivered");
    let [here, there] = [(); 2].map(|()| Postgres::open(&address, QueueLimits::default()).unwrap());
    submit(&there);
    let lease = begun(&there, "one").unwrap().lease;
    // Jobs of other tests are announced as well.
    while here.wait(Duration::from_millis(50)).unwrap() != Some(false) {}
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| here.wait(LEASE).unwrap());
        there.finish(&lease, b"signed").unwrap();
        assert_eq!(waits.join().unwrap(), Some(true));
    });
}
