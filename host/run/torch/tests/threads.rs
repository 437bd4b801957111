//! Work on libtorch's threads.

use passhost_torch::process::set_threads;
use passhost_torch::{run_on_threads, thread_count};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread::ThreadId;

#[test]
fn workers_run_at_once_and_all_have_ended_on_return() {
    set_threads(2);
    assert_eq!(thread_count(), 2);
    // Each waits for the other: one after the other they would wait for ever.
    let both = Barrier::new(2);
    let seen: Mutex<HashSet<ThreadId>> = Mutex::default();
    run_on_threads(2, &|| {
        both.wait();
        if let Ok(mut seen) = seen.lock() {
            seen.insert(std::thread::current().id());
        }
    });
    let seen = seen.into_inner().unwrap_or_default();
    assert_eq!(seen.len(), 2);
    assert!(seen.contains(&std::thread::current().id()), "the caller takes part");
}

#[test]
fn more_workers_than_threads_are_all_called() {
    set_threads(2);
    let calls = AtomicUsize::new(0);
    run_on_threads(7, &|| {
        calls.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(calls.into_inner(), 7);
}

#[test]
fn a_panic_in_a_worker_goes_on_in_the_caller() {
    set_threads(2);
    let work = || assert!(thread_count() > 1_000_000, "this one fails");
    let caught = catch_unwind(AssertUnwindSafe(|| run_on_threads(2, &work)));
    let message = caught.err().and_then(|panic| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    assert_eq!(message.as_deref(), Some("this one fails"));
}
