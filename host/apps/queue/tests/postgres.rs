//! What the engine for many machines promises when processes are killed, take at once, or lose the database.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod engines;

use engines::{Database, LEASE, Place as _, Server};
use passhost_queue::{
    Counts, Delivered, JobLoss, JobState, LostAttempt, NewJob, Postgres, Queue, QueueError, QueueLimits, SIGNED,
    Ticket, Worker,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{scope, sleep};
use std::time::Duration;

/// Where a worker finds the queue, and milliseconds that a job takes.
const PLACE: &str = "PASSHOST_QUEUE_TO_WORK_ON";
const WORK: &str = "PASSHOST_WORK";
/// A lease that runs out soon after its worker is killed.
const SHORT: Duration = Duration::from_millis(400);

/// A worker of this name on this host.
fn worker(name: &str, host: &str) -> Worker {
    Worker { name: name.to_owned(), host: host.to_owned(), ..Worker::default() }
}

fn limits() -> QueueLimits {
    QueueLimits { attempts: u32::MAX, ..QueueLimits::default() }
}

/// What a worker process does: it says each thing when it is done. Does nothing where nobody asked for it.
#[test]
fn the_worker() {
    let Ok(address) = std::env::var(PLACE) else { return };
    let work = Duration::from_millis(std::env::var(WORK).unwrap().parse().unwrap());
    let queue = loop {
        match Postgres::open(&address, limits()) {
            // It is restarted meanwhile.
            Err(QueueError::Unreachable(_)) => sleep(Duration::from_millis(20)),
            opened => break opened.unwrap(),
        }
    };
    let say = |text: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\n{text}").and_then(|()| out.flush()).unwrap();
    };
    loop {
        let batch = queue.take_batch(&worker("worker", ""), 3, SHORT).unwrap();
        for job in &batch.jobs {
            let _ = queue.begin(&job.lease);
            sleep(work);
            let outcome = format!("{} {}", job.lease.ticket, job.lease.attempt);
            match queue.finish(&job.lease, outcome.as_bytes()) {
                Ok(()) => say(format!("finished {outcome}")),
                Err(QueueError::Stale(_)) => say(format!("stale {outcome}")),
                Err(error) => panic!("{error}"),
            }
        }
        let counts = queue.counts().unwrap();
        match counts.waiting + counts.running {
            0 => return,
            _ if batch.jobs.is_empty() => sleep(Duration::from_millis(20)),
            _ => {}
        }
    }
}

/// A worker process.
struct WorkerProcess(Child, BufReader<ChildStdout>);

impl WorkerProcess {
    fn start(address: &str, work_ms: u32) -> WorkerProcess {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_worker", "--nocapture"]).env(PLACE, address).env(WORK, work_ms.to_string());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        WorkerProcess(process, out)
    }

    /// What it said that it finished, by job.
    fn end(self) -> Vec<(String, String)> {
        let WorkerProcess(mut process, out) = self;
        let lines: Vec<String> = out.lines().map_while(Result::ok).collect();
        process.wait().unwrap();
        let finished = lines.iter().filter_map(|line| line.strip_prefix("finished "));
        finished.map(|outcome| (outcome.split(' ').next().unwrap().to_owned(), outcome.to_owned())).collect()
    }
}

#[test]
fn each_job_has_one_end_when_workers_are_killed_and_the_database_is_restarted() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(why) => return eprintln!("skipped: each_job_has_one_end_when_workers_are_killed: {why}"),
    };
    let address = server.schema("killed");
    let queue = Postgres::open(&address, limits()).unwrap();
    let submit = |number: u32| queue.submit(&format!("client {}", number % 3), None, &number.to_le_bytes()).unwrap();
    let tickets: Vec<Ticket> = (0..150).map(submit).collect();
    let mut workers: Vec<WorkerProcess> = (0..3).map(|_| WorkerProcess::start(&address, 5)).collect();
    let mut finished = vec![];
    for kill in 0..9 {
        sleep(Duration::from_millis(120));
        let mut killed = workers.remove(0);
        killed.0.kill().unwrap();
        finished.extend(killed.end());
        workers.push(WorkerProcess::start(&address, 5));
        if kill == 4 {
            server.restart();
        }
    }
    workers.into_iter().for_each(|worker| finished.extend(worker.end()));
    let said: BTreeMap<&String, &String> = finished.iter().map(|(ticket, outcome)| (ticket, outcome)).collect();
    assert_eq!(said.len(), finished.len(), "no job was finished twice: {finished:?}");
    let mut again = 0;
    for (number, ticket) in tickets.iter().enumerate() {
        let status = queue.look(&format!("client {}", number % 3), ticket).unwrap().unwrap();
        let outcome = String::from_utf8(status.outcome.unwrap()).unwrap();
        // A worker may have been killed before it said so.
        assert!(said.get(&ticket.as_str().to_owned()).is_none_or(|said| **said == outcome), "{outcome}");
        assert_eq!(outcome, format!("{ticket} {}", status.attempts));
        again += status.attempts - 1;
    }
    assert!(again > 0, "some worker was killed with a job");
    assert_eq!(queue.counts().unwrap(), Counts { ended: 150, ..Counts::default() });
}

#[test]
fn two_processes_that_take_at_once_never_get_the_same_job() {
    let Some(server) = Server::shared("two_processes_that_take_at_once_never_get_the_same_job") else { return };
    let address = server.schema("at_once");
    let queue = Postgres::open(&address, limits()).unwrap();
    let tickets: BTreeSet<String> =
        (0..200).map(|_| queue.submit("a", None, b"job").unwrap().as_str().to_owned()).collect();
    let workers = [(); 4].map(|()| WorkerProcess::start(&address, 0));
    let finished: Vec<Vec<(String, String)>> = workers.map(WorkerProcess::end).into();
    assert!(finished.iter().filter(|jobs| !jobs.is_empty()).count() > 1, "more than one took part");
    let all: Vec<&(String, String)> = finished.iter().flatten().collect();
    assert_eq!((all.len(), all.iter().map(|job| job.0.clone()).collect()), (200, tickets));
    assert!(all.iter().all(|(_, outcome)| outcome.ends_with(" 1")), "each was taken once");
}

#[test]
fn threads_that_take_at_once_share_the_jobs_and_counts_stay_right() {
    let Some(server) = Server::shared("threads_that_take_at_once_share_the_jobs_and_counts_stay_right") else { return };
    let queue = &Postgres::open(&server.schema("threads"), limits()).unwrap();
    scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..40 {
                    let client = format!("client {}", number % 5);
                    let ticket = queue.submit(&client, None, b"job").unwrap();
                    match number % 4 {
                        0 => drop(queue.cancel(&client, &ticket).unwrap()),
                        _ => queue.take_batch(&worker("thread", ""), 1 + thread, LEASE).unwrap().jobs.iter().for_each(
                            |job| {
                                // A client may have cancelled it meanwhile.
                                let _ = queue.finish(&job.lease, b"done");
                            },
                        ),
                    }
                }
            });
        }
    });
    while let Some(job) = queue.take(LEASE).unwrap() {
        queue.finish(&job.lease, b"done").unwrap();
    }
    assert_eq!(queue.counts().unwrap(), Counts { ended: 160, ..Counts::default() });
    // Whoever has nothing any more leaves no counts behind.
    assert_eq!(queue.forget(Duration::ZERO).unwrap(), 160);
    assert_eq!(queue.counts().unwrap(), Counts::default());
    assert_eq!(queue.share("client 1").unwrap().held, 0);
}

#[test]
fn a_restart_of_the_database_is_not_noticed() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(why) => return eprintln!("skipped: a_restart_of_the_database_is_not_noticed: {why}"),
    };
    let queue = Postgres::open(&server.schema("restarted"), limits()).unwrap();
    let first = queue.submit("a", None, b"1").unwrap();
    server.restart();
    queue.submit("a", None, b"2").unwrap();
    let job = queue.take(LEASE).unwrap().unwrap();
    assert_eq!(job.lease.ticket, first);
    server.restart();
    queue.finish(&job.lease, b"done").unwrap();
    server.restart();
    // Nothing was sent yet, so this may be tried on another connection.
    assert!(queue.remove("a", &first).unwrap());
    assert_eq!(queue.counts().unwrap(), Counts { waiting: 1, clients: 1, ..Counts::default() });
}

#[test]
fn what_is_asked_while_connections_are_cut_is_done_once() {
    let Some(server) = Server::shared("what_is_asked_while_connections_are_cut_is_done_once") else { return };
    let address = server.schema("cut");
    let queue = &Postgres::open(&format!("{address} application_name=cut"), limits()).unwrap();
    let cut = || {
        for _ in 0..40 {
            sleep(Duration::from_millis(25));
            Database { address: address.clone() }
                .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut'");
        }
    };
    scope(|scope| {
        let cuts = scope.spawn(cut);
        while !cuts.is_finished() {
            let tickets = [1, 2, 3].map(|number| queue.submit("a", None, &[number]).unwrap());
            // Nothing was put in twice, though no key was given.
            assert_eq!(queue.counts().unwrap(), Counts { waiting: 3, clients: 1, ..Counts::default() });
            while queue.counts().unwrap().ended < 3 {
                for job in queue.take_batch(&Worker::default(), 2, SHORT).unwrap().jobs {
                    match queue.finish(&job.lease, b"done") {
                        Ok(()) => assert!(matches!(queue.finish(&job.lease, b"twice"), Err(QueueError::Stale(_)))),
                        Err(error) => assert!(matches!(error, QueueError::Stale(_)), "{error}"),
                    }
                }
            }
            for ticket in &tickets {
                while queue.look("a", ticket).unwrap().is_some() {
                    let removed = queue.remove("a", ticket);
                    assert!(matches!(removed, Ok(true) | Err(QueueError::Unanswered(_))), "{removed:?}");
                }
            }
        }
    });
    assert_eq!(queue.counts().unwrap(), Counts::default());
}

#[test]
fn a_batch_has_the_turns_of_its_jobs_and_the_name_of_its_worker() {
    let Some(place) = Database::new("a_batch_has_the_turns_of_its_jobs") else { return };
    let queue = place.open(QueueLimits { running_of_client: 3, ..limits() });
    for (client, jobs) in [("a", 6), ("b", 2), ("c", 1)] {
        (0..jobs).for_each(|_| drop(queue.submit(client, None, b"job").unwrap()));
    }
    let clients = |jobs| {
        let batch = queue.take_batch(&worker("one", "host 1"), jobs, LEASE).unwrap();
        batch.jobs.into_iter().map(|job| job.client).collect::<String>()
    };
    assert_eq!([4, 9, 9].map(clients), ["aabc", "ab", ""]);
    place
        .execute("DO $$ BEGIN ASSERT (SELECT count(*) FROM jobs WHERE worker = 'one' AND host = 'host 1') = 6; END $$");
}

#[test]
fn whoever_starts_again_puts_back_what_it_held_and_nothing_of_another() {
    let Some(place) = Database::new("whoever_starts_again_puts_back") else { return };
    let queue = place.open(QueueLimits { attempts: 2, ..QueueLimits::default() });
    let submit = |client| queue.submit(client, None, b"job").unwrap();
    let tickets = ["a", "b", "c"].map(submit);
    let take = |name| queue.take_as(&worker(name, ""), LEASE).unwrap().unwrap().lease;
    let leases = ["one", "one", "another"].map(take);
    leases[1..].iter().for_each(|lease| queue.begin(lease).unwrap());
    let states = || {
        let looked = ["a", "b", "c"].iter().zip(&tickets).map(|(client, ticket)| queue.look(client, ticket).unwrap());
        looked.map(|status| status.unwrap().state).collect::<Vec<_>>()
    };
    queue.recover("nobody").unwrap();
    assert_eq!(states(), [JobState::Running; 3]);
    queue.recover("one").unwrap();
    assert_eq!(states(), [JobState::Waiting, JobState::Waiting, JobState::Running]);
    assert!(matches!(queue.finish(&leases[0], b"late"), Err(QueueError::Stale(_))));
    queue.finish(&leases[2], b"done").unwrap();
    // What had begun counts, as if its lease had run out.
    let again = [take("one"), take("one")];
    queue.begin(again.iter().find(|lease| lease.ticket == tickets[1]).unwrap()).unwrap();
    queue.recover("one").unwrap();
    assert_eq!(states(), [JobState::Waiting, JobState::Lost, JobState::Finished]);
}

#[test]
fn what_is_damaged_in_the_database_is_a_loss_of_that_job_alone() {
    let Some(place) = Database::new("what_is_damaged_in_the_database") else { return };
    let queue = place.open(limits());
    let [ended, damaged, waits] = [b"1", b"2", b"3"].map(|payload| queue.submit("a", None, payload).unwrap());
    queue.finish(&queue.take(LEASE).unwrap().unwrap().lease, b"outcome").unwrap();
    place.execute("UPDATE outcomes SET bytes = 'another'");
    place.execute(&format!(
        "UPDATE objects SET bytes = 'another' FROM payloads WHERE payloads.sha256 = objects.sha256 AND ticket = '{damaged}'"
    ));
    let batch = queue.take_batch(&Worker::default(), 2, LEASE).unwrap();
    assert_eq!((batch.jobs[0].lease.ticket.clone(), batch.lost), (waits, vec![damaged.clone()]));
    let loss = |ticket| queue.look("a", ticket).unwrap().unwrap().loss;
    assert_eq!([loss(&ended), loss(&damaged)], [Some(JobLoss::Outcome), Some(JobLoss::Payload)]);
    assert_eq!(queue.counts().unwrap(), Counts { running: 1, ended: 2, clients: 1, ..Counts::default() });
}

#[test]
fn two_that_open_at_once_make_one_queue_and_tables_of_a_newer_program_are_refused() {
    let Some(server) = Server::shared("two_that_open_at_once_make_one_queue") else { return };
    let address = &server.schema("opened");
    let open = || Postgres::open(address, limits());
    let tickets = scope(|scope| {
        let opened = [(); 4].map(|()| scope.spawn(move || open().unwrap().submit("a", None, b"job").unwrap()));
        opened.map(|opened| opened.join().unwrap())
    });
    assert!(tickets.iter().all(|ticket| ticket.as_str()[..8] == tickets[0].as_str()[..8]), "{tickets:?}");
    Database { address: address.clone() }.execute("INSERT INTO schema_versions VALUES (1000)");
    assert!(matches!(open(), Err(QueueError::Schema { found: 1000, .. })));
    assert!(matches!(Postgres::open("no address", limits()), Err(QueueError::Database(_))));
}

#[test]
fn whoever_waits_wakes_when_another_process_submits_or_ends_a_job() {
    let Some(server) = Server::shared("whoever_waits_wakes_when_another") else { return };
    let address = server.schema("wakes");
    let [here, there] = [(); 2].map(|()| Postgres::open(&address, limits()).unwrap());
    assert_eq!(here.wait(LEASE).unwrap(), Some(true), "what came before is unknown");
    // Jobs of other tests are announced as well.
    while here.wait(Duration::from_millis(50)).unwrap() != Some(false) {}
    scope(|scope| {
        let waits = scope.spawn(|| here.wait(LEASE).unwrap());
        there.submit("a", None, b"job").unwrap();
        assert_eq!(waits.join().unwrap(), Some(true));
    });
    let job = there.take(LEASE).unwrap().unwrap();
    while here.wait(Duration::from_millis(50)).unwrap() != Some(false) {}
    scope(|scope| {
        let waits = scope.spawn(|| here.wait(LEASE).unwrap());
        there.finish(&job.lease, b"done").unwrap();
        assert_eq!(waits.join().unwrap(), Some(true));
    });
    assert_eq!(there.look("a", &Ticket::named("a\0b")).unwrap(), None);
    assert!(matches!(there.submit("a\0b", None, b"job"), Err(QueueError::Nul("client's name"))));
}

#[test]
fn a_job_that_is_lost_on_a_host_is_tried_on_others_and_not_for_ever() {
    let Some(place) = Database::new("a_job_that_is_lost_on_a_host") else { return };
    // On which host the job is lost, whether its worker dies there, and what becomes of it then.
    type Case<'a> = (&'a [(&'a str, bool)], Option<JobLoss>);
    let cases: [Case<'_>; 6] = [
        (&[("one", false), ("two", false)], None),
        (&[("one", false), ("two", false), ("three", false)], Some(JobLoss::Hosts)),
        (&[("one", true), ("two", true)], Some(JobLoss::Quarantined)),
        (&[("one", true), ("two", false), ("one", true)], None),
        (&[("one", false), ("one", true), ("one", true)], Some(JobLoss::Workers)),
        (&[("", false), ("", false), ("", false)], Some(JobLoss::Workers)),
    ];
    for (number, (losses, expected)) in cases.into_iter().enumerate() {
        let (queue, client) = (place.open(QueueLimits::default()), number.to_string());
        let ticket = queue.submit(&client, None, b"job").unwrap();
        for (attempt, (host, dies)) in losses.iter().enumerate() {
            let again = losses[..attempt].iter().any(|(before, _)| before == host && !host.is_empty());
            if again {
                assert_eq!(queue.take_as(&worker("w", host), LEASE).unwrap(), None, "others have their turn before");
                place.pass(LEASE + Duration::from_millis(1));
            }
            let job = queue.take_as(&worker("w", host), LEASE).unwrap().unwrap();
            queue.begin(&job.lease).unwrap();
            if *dies {
                place.pass(LEASE + Duration::from_millis(1));
                queue.take_batch(&Worker::default(), 0, LEASE).unwrap();
            } else {
                queue.give_up(&job.lease, &format!("Xid 79 on\0{host}"), b"trouble").unwrap();
                assert!(matches!(queue.give_up(&job.lease, "twice", b""), Err(QueueError::Stale(_))));
            }
        }
        let status = queue.look(&client, &ticket).unwrap().unwrap();
        assert_eq!((status.loss, status.state.is_end()), (expected, expected.is_some()), "{losses:?}");
        let log = |host: &str, died| {
            let log = if died { "its worker w was gone".to_owned() } else { format!("Xid 79 on {host}") };
            LostAttempt { host: host.to_owned(), died, log }
        };
        let logs: Vec<LostAttempt> = losses.iter().map(|(host, died)| log(host, *died)).collect();
        assert_eq!(status.lost_attempts, logs);
        // What is lost keeps its submission, so that it can be tried again, until it is removed.
        place.execute("DO $$ BEGIN ASSERT (SELECT count(*) FROM payloads) = 1; END $$");
        queue.cancel(&client, &ticket).unwrap();
        queue.remove(&client, &ticket).unwrap();
        place.execute(
            "DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM payloads) AND NOT EXISTS (SELECT FROM objects); END $$",
        );
    }
}

#[test]
fn bytes_of_many_jobs_are_kept_once_until_the_last_of_them_ends() {
    let Some(place) = Database::new("bytes_of_many_jobs_are_kept_once") else { return };
    let queue = place.open(limits());
    let objects = |count: u32| {
        place.execute(&format!("DO $$ BEGIN ASSERT (SELECT count(*) FROM objects) = {count}; END $$"));
    };
    let bytes = vec![7; 1 << 20];
    let submit = |client: &str, head: &str| {
        queue.submit_job(client, None, &NewJob { head: head.as_bytes(), bytes: &bytes, needs: &[] }).unwrap()
    };
    let [cancelled, _, withdrawn] = [("a", "1"), ("a", "2"), ("b", "3")].map(|(client, head)| submit(client, head));
    queue.submit("c", Some("episode"), b"another").unwrap();
    objects(2);
    queue.cancel("a", &cancelled).unwrap();
    queue.withdraw("episode").unwrap();
    objects(1);
    for head in ["2", "3"] {
        let job = queue.take(LEASE).unwrap().unwrap();
        assert!(job.payload == [head.as_bytes(), &bytes].concat());
        objects(1);
        queue.finish(&job.lease, b"done").unwrap();
    }
    objects(0);
    assert_eq!(queue.look("b", &withdrawn).unwrap().unwrap().state, JobState::Finished);
    // Whoever ends the last ones at once, and puts in others meanwhile.
    let queue = &*queue;
    for _ in 0..20 {
        scope(|scope| {
            for client in ["a", "b", "c", "d"] {
                scope.spawn(move || {
                    let ticket = queue.submit(client, None, b"the same").unwrap();
                    queue.cancel(client, &ticket).unwrap();
                });
            }
        });
        objects(0);
    }
}

#[test]
fn tables_of_version_1_are_brought_to_todays_and_their_jobs_go_on() {
    let Some(server) = Server::shared("tables_of_version_1") else { return };
    let address = server.schema("version_1");
    let first = include_str!("../src/postgres/migrations/0001_jobs.sql");
    Database { address: address.clone() }.execute(&format!(
        "{first};
        CREATE TABLE schema_versions (version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now());
        INSERT INTO schema_versions (version) VALUES (1);
        INSERT INTO queue (name) VALUES ('01234567');
        INSERT INTO jobs (ticket, client, payload_sha256, payload_bytes)
            SELECT n, 'a', encode(sha256('job'), 'hex'), 3 FROM generate_series(1, 2) n;
        INSERT INTO payloads SELECT n, 'job' FROM generate_series(1, 2) n;"
    ));
    let queue = Postgres::open(&address, limits()).unwrap();
    assert_eq!(queue.counts().unwrap(), Counts { waiting: 2, clients: 1, ..Counts::default() });
    for _ in 0..2 {
        let job = queue.take(LEASE).unwrap().unwrap();
        assert_eq!(job.payload, b"job");
        queue.finish(&job.lease, b"done").unwrap();
    }
    assert_eq!(queue.counts().unwrap(), Counts { ended: 2, ..Counts::default() });
}

#[test]
fn jobs_end_together_and_a_stale_lease_fails_none_but_its_own() {
    let Some(server) = Server::shared("jobs_end_together") else { return };
    let queue = &Postgres::open(&server.schema("together"), limits()).unwrap();
    let signed = [SIGNED.to_owned()];
    for number in 0..40_u8 {
        let needs = if number % 4 == 0 { &signed[..] } else { &[] };
        queue.submit_job("a", None, &NewJob { bytes: &[number], needs, ..NewJob::default() }).unwrap();
    }
    let worker = Worker { offers: signed.to_vec(), ..Worker::default() };
    let jobs = queue.take_batch(&worker, 40, LEASE).unwrap().jobs;
    queue.give_back(&jobs[1].lease).unwrap();
    let stale = |job: usize| job == 1;
    let ends: Vec<_> = jobs[..20].iter().map(|job| (&job.lease, &job.payload[..])).collect();
    for (job, end) in queue.finish_all(&ends).into_iter().enumerate() {
        assert_eq!(matches!(end, Err(QueueError::Stale(_))), stale(job), "{job}: {end:?}");
    }
    // Nothing ends twice, not even in one call.
    let ends = [(&jobs[20].lease, &b"one"[..]), (&jobs[20].lease, &b"two"[..]), ends[0]];
    assert_eq!(queue.finish_all(&ends).iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false]);
    scope(|scope| {
        for job in &jobs[21..] {
            scope.spawn(|| queue.finish(&job.lease, &job.payload).unwrap());
        }
    });
    assert_eq!(queue.judge(&|_: &Delivered| Ok(())).unwrap().accepted, 10);
    assert_eq!(queue.counts().unwrap(), Counts { waiting: 1, ended: 39, clients: 1, ..Counts::default() });
    for job in jobs.iter().enumerate().filter(|(number, _)| !stale(*number)).map(|(_, job)| job) {
        let status = queue.look("a", &job.lease.ticket).unwrap().unwrap();
        let outcome = if job.payload == [20] { b"one".to_vec() } else { job.payload.clone() };
        assert_eq!((status.state, status.outcome), (JobState::Finished, Some(outcome)));
    }
}

#[test]
fn a_client_hears_of_the_ends_of_its_jobs() {
    let Some(server) = Server::shared("a_client_hears_of_the_ends") else { return };
    let queue = Postgres::open(&server.schema("ends"), limits()).unwrap();
    let [first, second, third] = [(); 3].map(|()| queue.submit("a", None, b"job").unwrap());
    let all = [&first, &second, &third].map(Ticket::as_str);
    let wait = || queue.wait_for_ends(LEASE).unwrap();
    assert_eq!(wait(), None);
    queue.finish(&queue.take(LEASE).unwrap().unwrap().lease, b"done").unwrap();
    assert_eq!(queue.ended("a", &all).unwrap(), std::slice::from_ref(&first));
    let (job, another) = (queue.take(LEASE).unwrap().unwrap(), queue.submit("b", None, b"job").unwrap());
    queue.cancel("b", &another).unwrap();
    queue.finish(&job.lease, b"done").unwrap();
    assert_eq!(wait(), Some(vec![second.clone()]), "nobody follows the other client");
    queue.cancel("a", &third).unwrap();
    assert_eq!(wait(), Some(vec![third.clone()]));
    assert_eq!(queue.ended("a", &all[1..]).unwrap(), [second.clone(), third.clone()]);
    assert_eq!(queue.wait_for_ends(Duration::ZERO).unwrap(), Some(vec![]));
}
