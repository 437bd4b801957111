//! Threads that kernels run on.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that can share work. Kernels start none of their own: they run between a library's ops, and that library's
/// threads spin for a while after each op, on the cores that a second set would want.
pub trait ThreadPool: Sync {
    /// How many they are.
    fn count(&self) -> usize;

    /// Calls `work` on up to `workers` threads at once, the calling one among them. Returns when all calls have ended.
    fn run(&self, workers: usize, work: &(dyn Fn() + Sync));
}

/// The calling thread alone.
#[derive(Debug, Clone, Copy)]
pub struct CallingThread;

impl ThreadPool for CallingThread {
    fn count(&self) -> usize {
        1
    }

    fn run(&self, _workers: usize, work: &(dyn Fn() + Sync)) {
        work();
    }
}

/// The calling thread and others, started anew for every run.
#[derive(Debug, Clone, Copy)]
pub struct NewThreads(
    /// How many, with the calling one.
    pub usize,
);

impl ThreadPool for NewThreads {
    fn count(&self) -> usize {
        self.0.max(1)
    }

    fn run(&self, workers: usize, work: &(dyn Fn() + Sync)) {
        std::thread::scope(|scope| {
            for _ in 1..workers.min(self.0) {
                scope.spawn(work);
            }
            work();
        });
    }
}

/// Covers `0 .. count` by disjoint ranges of at most `grain` numbers, and hands each to a `worker`, which is made once
/// per thread.
pub(crate) fn for_ranges<W: FnMut(usize, usize)>(
    threads: &dyn ThreadPool,
    count: usize,
    grain: usize,
    worker: impl Fn() -> W + Sync,
) {
    let grain = grain.max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut from = next.fetch_add(grain, Ordering::Relaxed);
        if from >= count {
            return;
        }
        let mut worker = worker();
        while from < count {
            worker(from, count.min(from + grain));
            from = next.fetch_add(grain, Ordering::Relaxed);
        }
    };
    match threads.count().min(count.div_ceil(grain)) {
        0 | 1 => work(),
        workers => threads.run(workers, &work),
    }
}
