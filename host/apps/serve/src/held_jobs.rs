//! Jobs that a grader has.

use crate::grading::{Graded, Grading, GradingEvent, JobsOfSample};
use crate::job::{EvaluationOutcome, SubmittedJob};
use crate::leases::given_back;
use passhost_queue::{QueueError, Taken};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// How often a lease is renewed in the time that it lasts.
const RENEWALS: u32 = 4;

/// Jobs that were taken together.
pub struct HeldJobs<'a> {
    grading: &'a Grading,
    handle: &'a Handle,
    /// Those that have not begun.
    waiting: VecDeque<HeldJob<'a>>,
    /// The one that is being graded, and since when.
    current: Option<(HeldJob<'a>, Instant)>,
    failed: Option<QueueError>,
    _busy: Busy<'a>,
}

/// Counts a grader that evaluates.
pub struct Busy<'a>(&'a Grading);

impl<'a> Busy<'a> {
    pub fn new(grading: &'a Grading) -> Busy<'a> {
        grading.busy.fetch_add(1, Ordering::Relaxed);
        Busy(grading)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A job whose lease is renewed until this is dropped. After a panic it is nobody's, and is not given back, so that it counts as
/// lost.
struct HeldJob<'a> {
    grading: &'a Grading,
    taken: Taken,
    renewing: JoinHandle<()>,
}

impl Drop for HeldJob<'_> {
    fn drop(&mut self) {
        self.renewing.abort();
        self.grading.leases.with(|leases| leases.retain(|lease| *lease != self.taken.lease));
    }
}

impl<'a> HeldJobs<'a> {
    pub fn new(grading: &'a Arc<Grading>, jobs: Vec<Taken>, handle: &'a Handle) -> HeldJobs<'a> {
        let hold = |taken: Taken| {
            grading.leases.with(|leases| leases.push(taken.lease.clone()));
            let (renewed, lease) = (Arc::clone(grading), taken.lease.clone());
            let renewing = handle.spawn(async move {
                let duration = renewed.settings.lease;
                loop {
                    sleep(duration / RENEWALS).await;
                    let (queue, lease) = (Arc::clone(&renewed.queue), lease.clone());
                    // Whoever cannot renew finds out when the job ends.
                    let _ = tokio::task::spawn_blocking(move || queue.renew(&lease, duration)).await;
                }
            });
            HeldJob { grading, taken, renewing }
        };
        let waiting = jobs.into_iter().map(hold).collect();
        // Once its leases are known.
        HeldJobs { grading, handle, waiting, current: None, failed: None, _busy: Busy::new(grading) }
    }

    /// Gives back what was not begun.
    pub fn end(self) -> Result<(), QueueError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.waiting.iter().try_for_each(|held| given_back(&*self.grading.queue, &held.taken.lease))
    }

    fn write(&mut self, graded: Graded) -> Result<(), QueueError> {
        let Some((held, began)) = self.current.take() else { return Ok(()) };
        let lease = &held.taken.lease;
        let (outcome, trouble) = match graded {
            Graded::Document(text) => (document(text), None),
            Graded::Fault(text, why) => (document(text), Some(why)),
            Graded::Trouble(why) => (refusal(why.clone()), Some(why)),
        };
        let (time, has_document, hear) = (began.elapsed(), outcome.document.is_some(), &self.grading.hear);
        // As the document was written, in its order.
        let text = || serde_json::to_vec(&outcome).unwrap_or_default();
        let (text, trouble) = match (&self.grading.settings.sign, &outcome.document, trouble) {
            (Some(sign), Some(document), None) => match sign(&lease.ticket, document.get()) {
                Ok(line) => (line.into_bytes(), None),
                Err(why) => (text(), Some(why)),
            },
            (_, _, trouble) => (text(), trouble),
        };
        hear(GradingEvent::Graded { ticket: &lease.ticket, time, has_document, trouble: trouble.as_deref() });
        let queue = &self.grading.queue;
        let written = self.grading.kept(self.handle, self.grading.settings.holds_results, || match &trouble {
            Some(why) => queue.give_up(lease, why, &text),
            None => queue.finish(lease, &text),
        });
        let written = match written {
            Ok(false) => given_back(&**queue, lease),
            Err(QueueError::Stale(_)) => {
                hear(GradingEvent::Refused(&lease.ticket));
                Ok(())
            }
            written => written.map(drop),
        };
        drop(held);
        self.grading.changed();
        written
    }
}

impl JobsOfSample for HeldJobs<'_> {
    fn next(&mut self) -> Option<SubmittedJob> {
        while self.failed.is_none() && !self.grading.is_ending() {
            let held = self.waiting.pop_front()?;
            let begun = self.grading.kept(self.handle, false, || self.grading.queue.begin(&held.taken.lease));
            match begun {
                Ok(true) => {}
                // The process ends, and gives it back.
                Ok(false) => {
                    self.waiting.push_front(held);
                    return None;
                }
                // Its client did not want it any more while it waited for its turn.
                Err(QueueError::Stale(_)) => continue,
                Err(error) => {
                    self.failed = Some(error);
                    return None;
                }
            }
            let job = SubmittedJob::read(&held.taken.payload, held.taken.draws.clone());
            self.current = Some((held, Instant::now()));
            if job.is_some() {
                return job;
            }
            self.ended(Graded::Trouble("it was submitted to another version of the server".to_owned()));
        }
        None
    }

    fn ended(&mut self, graded: Graded) {
        if let Err(error) = self.write(graded) {
            self.failed = Some(error);
        }
    }
}

fn document(text: String) -> EvaluationOutcome {
    match RawValue::from_string(text) {
        Ok(document) => EvaluationOutcome { document: Some(document), ..EvaluationOutcome::default() },
        Err(_) => refusal("its result is no JSON; tell the operator".to_owned()),
    }
}

fn refusal(why: String) -> EvaluationOutcome {
    EvaluationOutcome { trouble: Some(why), ..EvaluationOutcome::default() }
}
