//! Grading without a server: what is taken together, and what becomes of it when the worker or the database ends.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../queue/tests/engines/mod.rs"]
mod engines;

use engines::Server as Database;
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
        let settings = GradingSettings {
            lease: Duration::from_secs(60),
            batch: 8,
            holds_results: true,
            sign: None,
            canary: Duration::MAX,
        };
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
}

fn submit(queue: &Postgres, byte: u8) -> Ticket {
    submit_bytes(queue, &[byte])
}

fn submit_bytes(queue: &Postgres, bytes: &[u8]) -> Ticket {
    let head = b"{\"sample\":\"s\",\"kind\":\"component\"}\n";
    queue.submit_job("alice", None, &NewJob { head, bytes, needs: &[] }).unwrap()
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
    let settings = GradingSettings {
        lease: Duration::from_secs(60),
        batch: 1,
        holds_results: true,
        sign: None,
        canary: Duration::MAX,
    };
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
