//! Jobs, one after the other, on the thread of each grader.

use crate::api::Outcome;
use crate::job::Job;
use crate::state::State;
use passhost_queue::{QueueError, Taken};
use serde_json::value::RawValue;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// A grader has deadlines of its own. This is beyond all of them.
const LEASE: Duration = Duration::from_secs(24 * 3600);
/// How long nobody looks for a job that nobody told of.
const IDLE: Duration = Duration::from_secs(5);

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

/// Works until the server ends. When this returns, or panics, the server ends, too: without a grader nothing is promised.
pub fn work(state: &State, grader: &mut dyn Grader, handle: &Handle) -> Result<(), QueueError> {
    let _end = End(state);
    let mut changes = state.changes.subscribe();
    while !state.is_ending() {
        match state.queue.take(LEASE)? {
            Some(taken) => {
                state.changed();
                // Where both would use the same processors, no command of an episode runs meanwhile.
                let _alone = handle.block_on(state.episodes.shop.alone());
                end(state, grader, &taken)?;
                state.changed();
                changes.mark_unchanged();
            }
            None => drop(handle.block_on(async { timeout(IDLE, changes.changed()).await })),
        }
    }
    Ok(())
}

/// Ends the server when it is dropped.
struct End<'a>(&'a State);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.ending.send_replace(true);
    }
}

fn end(state: &State, grader: &mut dyn Grader, taken: &Taken) -> Result<(), QueueError> {
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
    match state.queue.finish(&taken.lease, &text) {
        // The client did not want it any more.
        Err(QueueError::Stale { .. }) => Ok(()),
        ended => ended,
    }
}

fn trouble(why: String) -> Outcome {
    Outcome { trouble: Some(why), document: None }
}
