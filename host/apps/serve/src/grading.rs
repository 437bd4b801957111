//! Jobs, one after the other, on the thread of each grader.

use crate::evaluation::EvaluationOutcome;
use crate::job::SubmittedJob;
use crate::leases::{HeldLeases, given_back, not_stale};
use crate::state::ServerState;
use passhost_queue::{Lease, QueueError, Taken};
use serde_json::value::RawValue;
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
    fn grade(&mut self, job: &SubmittedJob) -> Graded;

    /// What it offers beside what all graders of the server do.
    fn offers(&self) -> Vec<String> {
        vec![]
    }
}

/// What comes of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Graded {
    /// The text of a result document, in JSON.
    Document(String),
    /// One that says what this host could not do, and why it could not.
    Fault(String, String),
    /// The host could not grade it: why, for the client.
    Trouble(String),
}

/// Works until the server ends. When this returns, or panics, the server ends, too: without a grader nothing is promised.
pub fn work(state: &ServerState, grader: &mut dyn Grader, handle: &Handle) -> Result<(), QueueError> {
    let _end = EndOnDrop(state);
    let (mut changes, mut ending) = (state.changes.subscribe(), state.ending.subscribe());
    let mut worker = state.worker.clone();
    worker.offers.extend(grader.offers());
    while !state.is_ending() {
        let taken = match state.queue.take_as(&worker, state.limits.lease) {
            // Its client is told, and others may wait.
            Err(QueueError::Lost(_)) => {
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
                let held = HeldJob::new(state, &taken.lease, handle);
                // Where both would use the same processors, no command of an episode runs meanwhile.
                let alone = handle.block_on(state.sessions.undisturbed());
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
fn kept(
    state: &ServerState,
    handle: &Handle,
    mut write: impl FnMut() -> Result<(), QueueError>,
) -> Result<bool, QueueError> {
    loop {
        match write() {
            Err(error) if error.is_passing() && state.is_ending() => return Ok(false),
            Err(error) if error.is_passing() => handle.block_on(pause(state)),
            done => return done.map(|()| true),
        }
    }
}

/// Waits for a while, or for the end of the server.
async fn pause(state: &ServerState) {
    let mut ending = state.ending.subscribe();
    let _ = timeout(AGAIN, ending.wait_for(|ending| *ending)).await;
}

/// A lease that a grader has: it is renewed until this is dropped. After a panic it is nobody's, and is not given back, so that
/// the next start of the server counts it as lost.
struct HeldJob<'a> {
    leases: &'a HeldLeases,
    lease: &'a Lease,
    renewing: JoinHandle<()>,
}

impl HeldJob<'_> {
    fn new<'a>(state: &'a ServerState, lease: &'a Lease, handle: &Handle) -> HeldJob<'a> {
        state.leases.with(|leases| leases.push(lease.clone()));
        let renewing = handle.spawn(renew(state.clone(), lease.clone()));
        HeldJob { leases: &state.leases, lease, renewing }
    }
}

impl Drop for HeldJob<'_> {
    fn drop(&mut self) {
        self.renewing.abort();
        self.leases.with(|leases| leases.retain(|lease| lease != self.lease));
    }
}

/// Ends the server when it is dropped.
struct EndOnDrop<'a>(&'a ServerState);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.ending.send_replace(true);
    }
}

/// Holds a job for as long as it is being graded.
async fn renew(state: ServerState, lease: Lease) {
    let duration = state.limits.lease;
    loop {
        sleep(duration / RENEWALS).await;
        let lease = lease.clone();
        // Whoever cannot renew finds out when the job ends.
        let _ = state.ask(move |queue| queue.renew(&lease, duration)).await;
    }
}

fn end(state: &ServerState, grader: &mut dyn Grader, taken: &Taken, handle: &Handle) -> Result<(), QueueError> {
    let started = Instant::now();
    let graded = match SubmittedJob::read(&taken.payload) {
        Some(job) if state.samples.contains_key(&job.sample) => grader.grade(&job),
        Some(_) => Graded::Trouble("its sample is not served any more".to_owned()),
        None => Graded::Trouble("it was submitted to another version of the server".to_owned()),
    };
    let (outcome, fault) = match graded {
        Graded::Document(text) => (document(text), None),
        Graded::Fault(text, why) => (document(text), Some(why)),
        Graded::Trouble(why) => (trouble(why.clone()), Some(why)),
    };
    let counter = if outcome.document.is_some() { &state.metrics.graded } else { &state.metrics.troubles };
    counter.inc();
    state.metrics.seconds.observe(started.elapsed().as_secs_f64());
    // As the document was written, in its order.
    let text = serde_json::to_vec(&outcome).unwrap_or_default();
    let ended = || match &fault {
        Some(why) => state.queue.give_up(&taken.lease, why, &text),
        None => state.queue.finish(&taken.lease, &text),
    };
    match kept(state, handle, ended) {
        Ok(true) => Ok(()),
        Ok(false) => given_back(&*state.queue, &taken.lease),
        Err(error) => not_stale(Err(error)),
    }
}

fn document(text: String) -> EvaluationOutcome {
    match RawValue::from_string(text) {
        Ok(document) => EvaluationOutcome { document: Some(document), trouble: None },
        Err(_) => trouble("its result is no JSON; tell the operator".to_owned()),
    }
}

fn trouble(why: String) -> EvaluationOutcome {
    EvaluationOutcome { trouble: Some(why), document: None }
}
