//! Leases of the jobs that graders have, and how they are given back.

use passhost_queue::{Lease, Queue, QueueError};
use std::sync::{Mutex, PoisonError};

/// Leases of the jobs that graders have.
#[derive(Default)]
pub struct HeldLeases(Mutex<Vec<Lease>>);

impl HeldLeases {
    pub fn with<T>(&self, change: impl FnOnce(&mut Vec<Lease>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives all of them back to those who wait, whatever becomes of the grading.
    pub fn give_back(&self, queue: &dyn Queue) -> Result<(), QueueError> {
        self.with(std::mem::take).iter().try_for_each(|lease| given_back(queue, lease))
    }
}

/// A job that is somebody else's by now is no error: its client did not want it any more, or it was given back.
pub fn not_stale(done: Result<(), QueueError>) -> Result<(), QueueError> {
    match done {
        Err(QueueError::Stale(_)) => Ok(()),
        done => done,
    }
}

/// Gives a job back to those who wait. Where not even that can be written, it is left to the next start.
pub fn given_back(queue: &dyn Queue, lease: &Lease) -> Result<(), QueueError> {
    match queue.give_back(lease) {
        Err(error) if error.is_passing() => Ok(()),
        given => not_stale(given),
    }
}
