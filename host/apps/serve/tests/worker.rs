//! Grading without a server: what is taken together, and what becomes of it when the worker or the database ends.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../queue/tests/engines/mod.rs"]
mod engines;

use engines::Server as Database;
use passhost_queue::{Counts, JobState, NewJob, Postgres, Queue, QueueLimits, Ticket, Worker};
use passhost_serve::{
    Graded, Grader, GradingEvent, GradingSettings, JobsOfSample, ServerError, ShutdownMode, work_alone,
};
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
    /// What it hears of: `refused`, `away`, and `end` whenever it asks how it stands and is to end.
    heard: Receiver<&'static str>,
    mode: Arc<Mutex<ShutdownMode>>,
    thread: JoinHandle<Result<(), ServerError>>,
}

impl Working {
    fn on(address: &str) -> Working {
        let queue = Arc::new(Postgres::open(address, QueueLimits::default()).unwrap());
        let ((begin, begun), (says, said), (hear, heard)) = (channel(), channel(), channel());
        let mode = Arc::new(Mutex::new(ShutdownMode::GoOn));
        let (wished, graders): (_, Vec<Box<dyn Grader>>) = (Arc::clone(&mode), vec![Box::new(Told(begin, said))]);
        let worker = Worker { name: "worker".to_owned(), host: "host".to_owned(), offers: vec![] };
        let settings = GradingSettings { lease: Duration::from_secs(60), batch: 8, holds_results: true };
        let asked = hear.clone();
        let hear = move |event: GradingEvent<'_>| {
            let _ = match event {
                GradingEvent::Refused(_) => hear.send("refused"),
                GradingEvent::Away(_) => hear.send("away"),
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
    let head = b"{\"sample\":\"s\",\"kind\":\"component\"}\n";
    queue.submit_job("alice", None, &NewJob { head, bytes: &[byte], needs: &[] }).unwrap()
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
