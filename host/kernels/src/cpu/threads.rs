//! Threads that kernels run on.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A set of threads. The one that asks for work always takes part in it.
#[derive(Debug)]
pub struct Threads {
    pool: Option<ThreadPool>,
    count: usize,
}

/// Threads could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {count} threads for kernels: {reason}; allow this process more threads or ask for fewer")]
pub struct ThreadsError {
    count: usize,
    reason: String,
}

impl Threads {
    /// The calling thread alone.
    pub fn single() -> Threads {
        Threads { pool: None, count: 1 }
    }

    /// The calling thread and `count - 1` more.
    pub fn new(count: usize) -> Result<Threads, ThreadsError> {
        if count <= 1 {
            return Ok(Threads::single());
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(count - 1)
            .thread_name(|number| format!("kernel-{number}"))
            .build()
            .map_err(|error| ThreadsError { count, reason: error.to_string() })?;
        Ok(Threads { pool: Some(pool), count })
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Covers `0 .. count` by disjoint ranges of at most `grain` numbers, and hands each to a `worker`, which is made
    /// once per thread.
    pub(crate) fn for_ranges<W: FnMut(usize, usize)>(&self, count: usize, grain: usize, worker: impl Fn() -> W + Sync) {
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
        match &self.pool {
            Some(pool) if grain < count => pool.in_place_scope(|scope| {
                for _ in 1..self.count.min(count.div_ceil(grain)) {
                    scope.spawn(|_| work());
                }
                work();
            }),
            _ => work(),
        }
    }
}
