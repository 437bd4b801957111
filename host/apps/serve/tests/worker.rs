//! Grading without a server: what is taken together, and what becomes of it when the worker or the database ends.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../queue/tests/engines/mod.rs"]
mod engines;

use engines::{Database as ClockedDatabase, LEASE, Place as _, Server as Database};
use passhost_queue::{
    Canary, Counts, Embedded, JobState, NewJob, Objects, Postgres, Queue, QueueLimits, Ticket, Worker,
};
use passhost_serve::{
    Graded, Grader, GradingEvent, GradingSettings, JobsOfSample, ServerError, ShutdownMode, work_alone,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A grader that says what it begins, and waits for what it is to say.
struct Told(Sender<Vec<u8>>, Receiver<&'static str>);

impl Grader for Told {
    fn grade(&mut self, jobs: &mut dyn JobsOfSample) {
        while let Some(job) = jobs.next() {
            self.0.send(job.bytes).unwrap();
            let said = serde_json::json!({ "said": self.1.recv().unwrap() });
            jobs.ended(Graded::Document(said.to_string()));
        }
    }
}

/// A worker in this process.
struct Working {
    begun: Receiver<Vec<u8>>,
    says: Sender<&'static str>,
    /// What it hears of: `refused`, `away`, `left`, and `end` whenever it asks how it stands and is to end.
    heard: Receiver<&'static str>,
    mode: Arc<Mutex<ShutdownMode>>,
    thread: JoinHandle<Result<(), ServerError>>,
}

impl Working {
    fn on(address: &str) -> Working {
        Working::with(Postgres::open(address, QueueLimits::default()).unwrap())
    }

    fn with(queue: Postgres) -> Working {
        let queue = Arc::new(queue);
        let ((begin, begun), (says, said), (hear, heard)) = (channel(), channel(), channel());
        let mode = Arc::new(Mutex::new(ShutdownMode::GoOn));
        let (wished, graders): (_, Vec<Box<dyn Grader>>) = (Arc::clone(&mode), vec![Box::new(Told(begin, said))]);
        let worker = Worker { name: "worker".to_owned(), host: "host".to_owned(), offers: vec![] };
        let settings = settings(LEASE, 8);
        let asked = hear.clone();
        let hear = move |event: GradingEvent<'_>| {
            let _ = match event {
                GradingEvent::Refused(_) => hear.send("refused"),
                GradingEvent::Away(_) => hear.send("away"),
                GradingEvent::Graded { trouble: Some(why), .. } if why.contains("missing") => hear.send("left"),
                _ => Ok(()),
            };
        };
        let mode_of = move || {
            let mode = *wished.lock().unwrap();
            if mode != ShutdownMode::GoOn {
                let _ = asked.send("end");
            }
            mode
        };
        let thread = std::thread::spawn(move || work_alone(queue, worker, settings, graders, mode_of, hear));
        Working { begun, says, heard, mode, thread }
    }

    /// It is to end. What is begun may go on.
    fn is_to_end(&self) {
        *self.mode.lock().unwrap() = ShutdownMode::End;
        // The second time that it asks, its graders know.
        (0..2).for_each(|_| while self.heard.recv().unwrap() != "end" {});
    }

    fn ends(self) {
        self.thread.join().unwrap().unwrap();
    }

    /// It ends while it grades; what it is to say and what it hears of then.
    fn ends_at_once(self) -> (Sender<&'static str>, Receiver<&'static str>) {
        *self.mode.lock().unwrap() = ShutdownMode::EndNow;
        self.thread.join().unwrap().unwrap();
        (self.says, self.heard)
    }
}

fn submit(queue: &Postgres, byte: u8) -> Ticket {
    submit_bytes(queue, &[byte])
}

fn submit_bytes(queue: &Postgres, bytes: &[u8]) -> Ticket {
    let head = b"{\"sample\":\"s\",\"kind\":\"component\"}\n";
    queue.submit_job("alice", None, &NewJob { head, bytes, needs: &[] }).unwrap()
}

fn settings(lease: Duration, batch: usize) -> GradingSettings {
    GradingSettings { lease, batch, holds_results: true, sign: None, canary: Duration::MAX }
}

/// A grader whose canary is good after it was not measured twice.
struct Canaried(u32, Sender<&'static str>);

impl Grader for Canaried {
    fn grade(&mut self, jobs: &mut dyn JobsOfSample) {
        while jobs.next().is_some() {
            self.1.send("graded").unwrap();
            jobs.ended(Graded::Document("{}".to_owned()));
        }
    }

    fn canary(&mut self) -> Option<Result<Canary, String>> {
        self.0 += 1;
        let canary = Canary { device: "cpu".to_owned(), is_good: true, report: String::new() };
        Some(if self.0 > 2 { Ok(canary) } else { Err("the machine is busy".to_owned()) })
    }
}

#[test]
fn nothing_is_taken_before_the_canary_is_measured() {
    let place = tempfile::tempdir().unwrap();
    let queue = Arc::new(Embedded::open(&place.path().join("queue"), QueueLimits::default()).unwrap());
    let head = b"{\"sample\":\"s\",\"kind\":\"component\"}\n";
    queue.submit_job("alice", None, &NewJob { head, bytes: b"job", needs: &[] }).unwrap();
    let (hear, heard) = channel();
    let graders: Vec<Box<dyn Grader>> = vec![Box::new(Canaried(0, hear.clone()))];
    let (is_over, hears) = (Arc::new(AtomicBool::new(false)), hear);
    let settings = settings(LEASE, 1);
    let over = Arc::clone(&is_over);
    let mode = move || if over.load(Ordering::Relaxed) { ShutdownMode::End } else { ShutdownMode::GoOn };
    let hear = move |event: GradingEvent<'_>| {
        let _ = match event {
            GradingEvent::NoCanary(_) => hears.send("not measured"),
            GradingEvent::Canary(_) => hears.send("good"),
            _ => Ok(()),
        };
    };
    let thread = std::thread::spawn(move || work_alone(queue, Worker::default(), settings, graders, mode, hear));
    let said: Vec<_> = (0..4).map(|_| heard.recv().unwrap()).collect();
    is_over.store(true, Ordering::Relaxed);
    thread.join().unwrap().unwrap();
    assert_eq!(said, ["not measured", "not measured", "good", "graded"]);
}

#[test]
fn a_worker_ends_what_it_began_and_gives_back_what_it_took_besides() {
    let Some(database) = Database::shared("a_worker_ends_what_it_began") else { return };
    let address = database.schema("ends");
    let queue = Postgres::open(&address, QueueLimits::default()).unwrap();
    let tickets = [1, 2, 3].map(|byte| submit(&queue, byte));
    let worker = Working::on(&address);
    assert_eq!(worker.begun.recv().unwrap(), [1]);
    assert_eq!(queue.counts().unwrap(), Counts { running: 3, clients: 1, ..Counts::default() });
    worker.says.send("one").unwrap();
    assert_eq!(worker.begun.recv().unwrap(), [2]);
    worker.is_to_end();
    worker.says.send("two").unwrap();
    worker.ends();
    let look = |ticket| queue.look("alice", ticket).unwrap().unwrap();
    let states = tickets.each_ref().map(|ticket| look(ticket).state);
    assert_eq!(states, [JobState::Finished, JobState::Finished, JobState::Waiting]);
    // What comes of a job that its client does not want any more is refused.
    let worker = Working::on(&address);
    assert_eq!(worker.begun.recv().unwrap(), [3]);
    let unwanted = submit(&queue, 4);
    queue.cancel("alice", &tickets[2]).unwrap();
    worker.says.send("three").unwrap();
    assert_eq!(worker.heard.recv().unwrap(), "refused");
    assert_eq!(worker.begun.recv().unwrap(), [4]);
    worker.is_to_end();
    worker.says.send("four").unwrap();
    worker.ends();
    assert_eq!((look(&tickets[2]).state, look(&unwanted).state), (JobState::Cancelled, JobState::Finished));
}

#[test]
fn what_was_measured_while_the_database_was_away_is_written_although_the_worker_is_to_end() {
    let database = match Database::start() {
        Ok(database) => database,
        Err(why) => return eprintln!("skipped: what_was_measured_while_the_database_was_away: {why}"),
    };
    let address = database.schema("away");
    let queue = Postgres::open(&address, QueueLimits::default()).unwrap();
    let [held, given_back] = [1, 2].map(|byte| submit(&queue, byte));
    let worker = Working::on(&address);
    worker.begun.recv().unwrap();
    database.stop();
    worker.says.send("one").unwrap();
    assert_eq!(worker.heard.recv().unwrap(), "away");
    worker.is_to_end();
    database.start_again();
    worker.ends();
    let state = |ticket| queue.look("alice", ticket).unwrap().unwrap().state;
    assert_eq!((state(&held), state(&given_back)), (JobState::Finished, JobState::Waiting));
}

#[test]
fn a_job_whose_object_is_missing_is_left_to_another_host_and_the_next_one_is_evaluated() {
    let Some(database) = Database::shared("a_job_whose_object_is_missing") else { return };
    let (address, place) = (database.schema("missing"), tempfile::tempdir().unwrap());
    let open = || {
        let objects = Objects::open(&place.path().display().to_string(), |_| None).unwrap();
        Postgres::open(&address, QueueLimits::default()).unwrap().with_objects(objects)
    };
    let (queue, bytes) = (open(), [1, 2].map(|byte| vec![byte; 100_000]));
    let tickets = bytes.each_ref().map(|bytes| submit_bytes(&queue, bytes));
    let files = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().path());
    let gone: Vec<_> = files.filter(|path| std::fs::read(path).unwrap() == bytes[0]).collect();
    gone.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let worker = Working::with(open());
    assert!(worker.begun.recv().unwrap() == bytes[1]);
    assert_eq!(worker.heard.recv().unwrap(), "left");
    worker.says.send("two").unwrap();
    worker.is_to_end();
    worker.ends();
    let states = tickets.each_ref().map(|ticket| queue.look("alice", ticket).unwrap().unwrap().state);
    assert_eq!((states, gone.len()), ([JobState::Waiting, JobState::Finished], 1));
}

#[test]
fn a_worker_that_ends_at_once_gives_back_all_that_it_has_which_counts_as_no_loss() {
    let Some(database) = Database::shared("a_worker_that_ends_at_once") else { return };
    let address = database.schema("at_once");
    let queue = Postgres::open(&address, QueueLimits::default()).unwrap();
    let tickets = [1, 2, 3].map(|byte| submit(&queue, byte));
    let look = |ticket| queue.look("alice", ticket).unwrap().unwrap();
    // More often than a job may be lost.
    let abandoned: Vec<_> = (0..4)
        .map(|_| {
            let worker = Working::on(&address);
            assert_eq!(worker.begun.recv().unwrap(), [1]);
            let gone = worker.ends_at_once();
            let states = tickets.each_ref().map(|ticket| (look(ticket).state, look(ticket).lost_attempts.len()));
            assert_eq!(states, [(JobState::Waiting, 0); 3]);
            gone
        })
        .collect();
    let worker = Working::on(&address);
    assert_eq!(worker.begun.recv().unwrap(), [1]);
    // What nobody waited for is not taken.
    for (says, heard) in abandoned {
        says.send("late").unwrap();
        assert!(heard.iter().any(|said| said == "refused"));
    }
    worker.says.send("one").unwrap();
    assert_eq!(worker.begun.recv().unwrap(), [2]);
    worker.ends_at_once();
    let first = look(&tickets[0]);
    assert_eq!((first.state, first.attempts), (JobState::Finished, 5));
    assert!(String::from_utf8(first.outcome.unwrap()).unwrap().contains(r#"{"said":"one"}"#));
    assert_eq!([&tickets[1], &tickets[2]].map(|ticket| look(ticket).state), [JobState::Waiting; 2]);
}

/// A grader whose canary takes until somebody is gone.
struct Stuck(Sender<()>, Receiver<()>);

impl Grader for Stuck {
    fn grade(&mut self, _: &mut dyn JobsOfSample) {
        unreachable!("its canary comes first")
    }

    fn canary(&mut self) -> Option<Result<Canary, String>> {
        self.0.send(()).unwrap();
        let _ = self.1.recv();
        Some(Err("nobody waits for it".to_owned()))
    }
}

#[test]
fn a_worker_that_ends_at_once_does_not_wait_for_its_canary() {
    let place = tempfile::tempdir().unwrap();
    let queue = Arc::new(Embedded::open(&place.path().join("queue"), QueueLimits::default()).unwrap());
    let ((began, begun), (let_go, gone)) = (channel(), channel());
    let graders: Vec<Box<dyn Grader>> = vec![Box::new(Stuck(began, gone))];
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let mode = move || if over.load(Ordering::Relaxed) { ShutdownMode::EndNow } else { ShutdownMode::GoOn };
    let thread =
        std::thread::spawn(move || work_alone(queue, Worker::default(), settings(LEASE, 1), graders, mode, |_| {}));
    begun.recv().unwrap();
    is_over.store(true, Ordering::Relaxed);
    thread.join().unwrap().unwrap();
    drop(let_go);
}

/// A grader that panics at the second job.
struct Panics;

impl Grader for Panics {
    fn grade(&mut self, jobs: &mut dyn JobsOfSample) {
        jobs.next().unwrap();
        jobs.ended(Graded::Document(r#"{"said":"before"}"#.to_owned()));
        panic!("at {:?}", jobs.next().unwrap().bytes);
    }
}

#[test]
fn a_job_at_which_an_evaluation_panics_is_its_hosts_loss_and_no_score_however_many_hosts_it_takes() {
    let Some(place) = ClockedDatabase::new("an_evaluation_panics") else { return };
    let queue = Postgres::open(&place.address, QueueLimits::default()).unwrap();
    let look = |ticket: &Ticket| queue.look("alice", ticket).unwrap().unwrap();
    let panics_on = |host: &str| {
        let own = Arc::new(Postgres::open(&place.address, QueueLimits::default()).unwrap());
        let worker = Worker { name: host.to_owned(), host: host.to_owned(), offers: vec![] };
        let graders: Vec<Box<dyn Grader>> = vec![Box::new(Panics)];
        let ended = work_alone(own, worker, settings(LEASE, 8), graders, || ShutdownMode::GoOn, |_| {});
        assert!(matches!(&ended, Err(ServerError::Grader)), "{ended:?}");
        // It is nobody's until the lease ends, as if its machine were gone.
        place.pass(LEASE + Duration::from_millis(1));
        queue.check_in(&Worker::default()).unwrap();
    };
    let [before, poison, after] = [1, 2, 3].map(|byte| submit(&queue, byte));
    panics_on("one");
    let status = look(&poison);
    assert_eq!((status.state, &status.outcome), (JobState::Waiting, &None));
    let [lost] = status.lost_attempts.as_slice() else { unreachable!("{status:?}") };
    assert_eq!((&*lost.host, lost.died, &*lost.log), ("one", true, "its worker one was gone"));
    // What was taken besides had not begun, and what had ended counts.
    assert_eq!((look(&before).state, look(&after).state), (JobState::Finished, JobState::Waiting));
    assert_eq!(look(&after).lost_attempts, []);
    // Another host grades it.
    let told = Working::on(&place.address);
    assert_eq!(told.begun.recv().unwrap(), [2]);
    told.says.send("two").unwrap();
    assert_eq!(told.begun.recv().unwrap(), [3]);
    told.is_to_end();
    told.says.send("three").unwrap();
    told.ends();
    assert_eq!([&poison, &after].map(|ticket| look(ticket).state), [JobState::Finished; 2]);
    // Where each panics, nobody tries for ever.
    let [_, poison] = [4, 5].map(|byte| submit(&queue, byte));
    panics_on("two");
    submit(&queue, 6);
    let taken = queue.take_as(&Worker { host: "three".to_owned(), ..Worker::default() }, LEASE).unwrap().unwrap();
    assert_eq!(taken.lease.ticket, poison);
    queue.give_back(&taken.lease).unwrap();
}
