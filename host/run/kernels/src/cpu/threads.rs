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

/// Shares out `0 .. count`, at most `grain` numbers at a time, at least one. `work` is called once per thread, with those that it gets.
pub(crate) fn share(
    threads: &dyn ThreadPool,
    count: usize,
    grain: usize,
    work: impl Fn(&mut dyn Iterator<Item = usize>) + Sync,
) {
    let next = AtomicUsize::new(0);
    let taken = || Some(next.fetch_add(grain, Ordering::Relaxed)).filter(|from| *from < count);
    let worker = || {
        let ranges = std::iter::from_fn(taken).map(|from| from..count.min(from + grain));
        let mut numbers = ranges.flatten().peekable();
        if numbers.peek().is_some() {
            work(&mut numbers);
        }
    };
    match threads.count().min(count.div_ceil(grain)) {
        0 | 1 => worker(),
        workers => threads.run(workers, &worker),
    }
}
