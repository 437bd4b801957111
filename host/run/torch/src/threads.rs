//! Work on the threads that run ops.

use crate::bridge::ffi;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

/// Calls `work` on up to `workers` of the threads that run ops, the calling one among them. Returns when all calls have
/// ended. A panic in one of them goes on in the caller.
pub fn run_on_threads(workers: usize, work: &(dyn Fn() + Sync)) {
    struct Job<'a> {
        work: &'a (dyn Fn() + Sync),
        panic: Mutex<Option<Box<dyn std::any::Any + Send>>>,
    }
    fn call(context: usize) {
        // SAFETY: `context` is the address of the job below, which outlives `parallel`, and a job can be shared.
        let job = unsafe { &*(context as *const Job<'_>) };
        // A panic must not unwind through libtorch's frames.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(job.work)) {
            *job.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }
    let job = Job { work, panic: Mutex::new(None) };
    ffi::parallel(workers, call, std::ptr::from_ref(&job) as usize);
    if let Some(panic) = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
        resume_unwind(panic);
    }
}
