//! Threads that share the work of kernels: those that run ops, which spin for a while after each on the cores that a second
//! set would want. Before PyTorch lent them, threads of our own, asleep between runs.

use crate::functions::ThreadFunctions;
use passhost_kernels::ThreadPool;
use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError, TryLockError};

/// What threads of ops are to do, and what one of them panicked with.
struct Job<'a> {
    work: &'a (dyn Fn() + Sync),
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Works for a job as often as the range says.
unsafe extern "C" fn work_for(begin: i64, end: i64, job: *mut c_void) {
    // SAFETY: it is the address of a job that outlives the loop, and can be shared.
    let job = unsafe { &*job.cast::<Job<'_>>() };
    for _ in begin..end {
        // A panic must not unwind through PyTorch's frames.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(job.work)) {
            *job.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
    }
}

impl ThreadPool for ThreadFunctions {
    fn count(&self) -> usize {
        let mut count = 1;
        // SAFETY: there is room for the result.
        match unsafe { (self.count)(&raw mut count) } {
            0 => count.max(1) as usize,
            _ => 1,
        }
    }

    fn run(&self, workers: usize, work: &(dyn Fn() + Sync)) {
        let job = Job { work, panic: Mutex::new(None) };
        // SAFETY: the job outlives the loop.
        let failed = unsafe { (self.parallel_for)(0, workers as i64, 1, work_for, (&raw const job).cast_mut().cast()) };
        if failed != 0 {
            work();
        }
        if let Some(panic) = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }
}

/// Some threads beside the calling one. One run at a time has them; others go on alone.
#[derive(Debug)]
pub(crate) struct Threads {
    count: usize,
    helpers: Mutex<Helpers>,
}

/// Those that were started, and by which process: a fork has none of them.
#[derive(Debug, Default)]
struct Helpers {
    process: u32,
    started: Vec<Helper>,
}

type Task = Box<dyn FnOnce() + Send>;

#[derive(Debug)]
struct Helper {
    jobs: SyncSender<Task>,
    done: Receiver<std::thread::Result<()>>,
}

impl Helper {
    /// A thread that works until its sender is dropped; `None` if the system has none left.
    fn start() -> Option<Helper> {
        let (jobs, received) = sync_channel::<Task>(1);
        let (finished, done) = sync_channel(1);
        let work = move || {
            for task in received {
                if finished.send(catch_unwind(AssertUnwindSafe(task))).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("passhost".into()).spawn(work).ok()?;
        Some(Helper { jobs, done })
    }
}

impl Threads {
    pub(crate) fn new(count: usize) -> Threads {
        Threads { count: count.max(1), helpers: Mutex::default() }
    }
}

impl ThreadPool for Threads {
    fn count(&self) -> usize {
        self.count
    }

    fn run(&self, workers: usize, work: &(dyn Fn() + Sync)) {
        let mut helpers = match self.helpers.try_lock() {
            Ok(helpers) => helpers,
            Err(TryLockError::Poisoned(helpers)) => helpers.into_inner(),
            Err(TryLockError::WouldBlock) => return work(),
        };
        let (wanted, process) = (workers.min(self.count).saturating_sub(1), std::process::id());
        if helpers.process != process {
            *helpers = Helpers { process, started: vec![] };
        }
        while helpers.started.len() < wanted {
            let Some(helper) = Helper::start() else { break };
            helpers.started.push(helper);
        }
        // SAFETY: every job has ended before this function returns, its panics included: the borrow outlives them.
        let lasting: &'static (dyn Fn() + Sync) = unsafe { std::mem::transmute(work) };
        let started: Vec<&Helper> =
            helpers.started.iter().take(wanted).filter(|helper| helper.jobs.send(Box::new(lasting)).is_ok()).collect();
        let own = catch_unwind(AssertUnwindSafe(work));
        let others: Vec<_> = started.iter().filter_map(|helper| helper.done.recv().ok()).collect();
        for result in others.into_iter().chain([own]) {
            result.unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn work_runs_on_as_many_threads_at_once_and_again() {
        let threads = Threads::new(3);
        for workers in [3, 2, 3, 1] {
            let (met, calls) = (Barrier::new(workers), AtomicUsize::new(0));
            threads.run(workers, &|| {
                met.wait();
                calls.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(calls.into_inner(), workers);
        }
    }

    #[test]
    fn a_panic_on_any_of_them_is_the_callers_and_the_next_run_works() {
        let (threads, calls) = (Threads::new(2), AtomicUsize::new(0));
        let met = Barrier::new(2);
        let run = || {
            threads.run(2, &|| {
                met.wait();
                assert!(calls.fetch_add(1, Ordering::Relaxed) > 0, "the first of them");
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        assert_eq!(calls.load(Ordering::Relaxed), 2, "both ended");
        run();
    }
}
