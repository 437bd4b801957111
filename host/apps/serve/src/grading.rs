//! Jobs, one after the other, on the thread of each grader.

use crate::api::Outcome;
use crate::job::Job;
use crate::state::State;
use passhost_queue::{Lease, Queue, QueueError, Taken};
use serde_json::value::RawValue;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// How often a lease is renewed in the time that it lasts.
const RENEWALS: u32 = 4;
/// How long nobody looks for a job that nobody told of.
const IDLE: Duration = Duration::from_secs(5);
/// How often is tried again what a full disk refused.
const AGAIN: Duration = Duration::from_secs(1);

/// What grades submissions on one device.
pub trait Grader: Send {
    /// What comes of a submission.
    fn grade(&mut self, job: &Job) -> Graded;
}

/// What comes of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Graded {
    /// The text of a result document, in JSON.
    Document(String),
    /// The host could not grade it: why, for the client.
    Trouble(String),
}

/// Leases of the jobs that graders have.
#[derive(Default)]
pub struct Running(Mutex<Vec<Lease>>);

impl Running {
    fn with<T>(&self, change: impl FnOnce(&mut Vec<Lease>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.with(|running| running.len())
    }

    /// Gives all of them back to those who wait, whatever becomes of the grading.
    pub fn give_back(&self, queue: &dyn Queue) -> Result<(), QueueError> {
        self.with(std::mem::take).iter().try_for_each(|lease| given_back(queue, lease))
    }
}

/// A job that is somebody else's by now is no error: its client did not want it any more, or it was given back.
fn not_stale(done: Result<(), QueueError>) -> Result<(), QueueError> {
    match done {
        Err(QueueError::Stale { .. }) => Ok(()),
        done => done,
    }
}

/// Gives a job back to those who wait. Where not even that can be written, it is left to the next start.
fn given_back(queue: &dyn Queue, lease: &Lease) -> Result<(), QueueError> {
    match queue.give_back(lease) {
        Err(error) if error.is_passing() => Ok(()),
        given => not_stale(given),
    }
}

/// Works until the server ends. When this returns, or panics, the server ends, too: without a grader nothing is promised.
pub fn work(state: &State, grader: &mut dyn Grader, handle: &Handle) -> Result<(), QueueError> {
    let _end = End(state);
    let (mut changes, mut ending) = (state.changes.subscribe(), state.ending.subscribe());
    while !state.is_ending() {
        let taken = match state.queue.take(state.limits.lease) {
            // Its client is told, and others may wait.
            Err(QueueError::Lost { .. }) => {
                state.changed();
                continue;
            }
            // Nothing is taken before there is room for what comes of it.
            Err(error) if error.is_passing() => {
                handle.block_on(pause(state));
                continue;
            }
            taken => taken?,
        };
        match taken {
            // Nobody begins what the end of the server would have to wait for.
            Some(taken) if state.is_ending() => return given_back(&*state.queue, &taken.lease),
            Some(taken) => {
                state.changed();
                let held = Held::new(state, &taken.lease, handle);
                // Where both would use the same processors, no command of an episode runs meanwhile.
                let alone = handle.block_on(state.episodes.shop.alone());
                if state.is_ending() {
                    drop((alone, held));
                    return given_back(&*state.queue, &taken.lease);
                }
                match kept(state, handle, || state.queue.begin(&taken.lease)) {
                    Ok(true) => end(state, grader, &taken, handle)?,
                    Ok(false) => given_back(&*state.queue, &taken.lease)?,
                    // Its client did not want it any more while it waited for its turn.
                    Err(error) => not_stale(Err(error))?,
                }
                drop((alone, held));
                state.changed();
                changes.mark_unchanged();
            }
            None => handle.block_on(async {
                let told = async {
                    tokio::select! { _ = changes.changed() => {}, _ = ending.changed() => {} }
                };
                // Whatever comes first, it is looked again.
                let _ = timeout(IDLE, told).await;
            }),
        }
    }
    Ok(())
}

/// Writes to the queue, and waits for room where the disk has none: what was graded is held meanwhile. Whether it was written:
/// when the server ends before, the job is to be given back, and the next start grades it again.
fn kept(state: &State, handle: &Handle, mut write: impl FnMut() -> Result<(), QueueError>) -> Result<bool, QueueError> {
    loop {
        match write() {
            Err(error) if error.is_passing() && state.is_ending() => return Ok(false),
            Err(error) if error.is_passing() => handle.block_on(pause(state)),
            done => return done.map(|()| true),
        }
    }
}

/// Waits for a while, or for the end of the server.
async fn pause(state: &State) {
    let mut ending = state.ending.subscribe();
    let _ = timeout(AGAIN, ending.wait_for(|ending| *ending)).await;
}

/// A lease that a grader has: it is renewed until this is dropped. After a panic it is nobody's, and is not given back, so that
/// the next start of the server counts it as lost.
struct Held<'a> {
    running: &'a Running,
    lease: &'a Lease,
    renewing: JoinHandle<()>,
}

impl Held<'_> {
    fn new<'a>(state: &'a State, lease: &'a Lease, handle: &Handle) -> Held<'a> {
        state.running.with(|running| running.push(lease.clone()));
        let renewing = handle.spawn(renew(state.clone(), lease.clone()));
        Held { running: &state.running, lease, renewing }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.renewing.abort();
        self.running.with(|running| running.retain(|lease| lease != self.lease));
    }
}

/// Ends the server when it is dropped.
struct End<'a>(&'a State);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.ending.send_replace(true);
    }
}

/// Holds a job for as long as it is being graded.
async fn renew(state: State, lease: Lease) {
    let duration = state.limits.lease;
    loop {
        sleep(duration / RENEWALS).await;
        let lease = lease.clone();
        // Whoever cannot renew finds out when the job ends.
        let _ = state.ask(move |queue| queue.renew(&lease, duration)).await;
    }
}

fn end(state: &State, grader: &mut dyn Grader, taken: &Taken, handle: &Handle) -> Result<(), QueueError> {
    let started = Instant::now();
    let graded = match Job::read(&taken.payload) {
        Some(job) if state.samples.contains_key(&job.sample) => grader.grade(&job),
        Some(_) => Graded::Trouble("its sample is not served any more".to_owned()),
        None => Graded::Trouble("it was submitted to another version of the server".to_owned()),
    };
    let outcome = match graded {
        Graded::Document(text) => match RawValue::from_string(text) {
            Ok(document) => Outcome { document: Some(document), trouble: None },
            Err(_) => trouble("its result is no JSON; tell the operator".to_owned()),
        },
        Graded::Trouble(why) => trouble(why),
    };
    let counter = if outcome.document.is_some() { &state.metrics.graded } else { &state.metrics.troubles };
    counter.inc();
    state.metrics.seconds.observe(started.elapsed().as_secs_f64());
    // As the document was written, in its order.
    let text = serde_json::to_vec(&outcome).unwrap_or_default();
    match kept(state, handle, || state.queue.finish(&taken.lease, &text)) {
        Ok(true) => Ok(()),
        Ok(false) => given_back(&*state.queue, &taken.lease),
        Err(error) => not_stale(Err(error)),
    }
}

fn trouble(why: String) -> Outcome {
    Outcome { trouble: Some(why), document: None }
}
