//! Work that is done ahead by several and taken in order by one.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Does jobs `0..count` on `workers` threads, at most `room` of them ahead of the one that is taken, and hands the results
/// to `take` on this thread in their order. `worker` makes what a thread works with, on that thread and afresh after a panic. A job that
/// panics gives `None`.
///
/// # Errors
///
/// What `take` says; then no further job is begun.
pub(crate) fn ahead<W, T: Send, E>(
    count: usize,
    workers: usize,
    room: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) -> T + Sync,
    mut take: impl FnMut(usize, Option<T>) -> Result<(), E>,
) -> Result<(), E> {
    let queue =
        AheadQueue { state: Mutex::new(AheadState::default()), changed: Condvar::new(), count, room: room.max(1) };
    std::thread::scope(|scope| {
        for _ in 0..workers.clamp(1, count.max(1)) {
            scope.spawn(|| {
                let mut own = None;
                while let Some(job) = queue.begin() {
                    let result = catch_unwind(AssertUnwindSafe(|| work(own.get_or_insert_with(&worker), job)));
                    if result.is_err() {
                        own = None;
                    }
                    queue.finish(job, result.ok());
                }
            });
        }
        // Whoever leaves this thread early, by an error or a panic, must not be waited for.
        let _close = Close(&queue);
        (0..count).try_for_each(|job| take(job, queue.take(job)))
    })
}

struct AheadQueue<T> {
    state: Mutex<AheadState<T>>,
    changed: Condvar,
    count: usize,
    room: usize,
}

struct AheadState<T> {
    /// The first job that nobody has begun.
    next: usize,
    /// The job that is taken next.
    wanted: usize,
    closed: bool,
    done: BTreeMap<usize, Option<T>>,
}

impl<T> Default for AheadState<T> {
    fn default() -> AheadState<T> {
        AheadState { next: 0, wanted: 0, closed: false, done: BTreeMap::new() }
    }
}

impl<T> AheadQueue<T> {
    /// A job that nobody has begun, once there is room for it.
    fn begin(&self) -> Option<usize> {
        let full = |state: &mut AheadState<T>| {
            !state.closed && state.next < self.count && state.next >= state.wanted + self.room
        };
        let mut state = self.changed.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        if state.closed || state.next >= self.count {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn finish(&self, job: usize, result: Option<T>) {
        self.lock().done.insert(job, result);
        self.changed.notify_all();
    }

    /// Waits for the result of a job. Whoever waits for it makes room for one more.
    fn take(&self, job: usize) -> Option<T> {
        let mut state = self.lock();
        state.wanted = job;
        self.changed.notify_all();
        let missing = |state: &mut AheadState<T>| !state.done.contains_key(&job);
        let mut state = self.changed.wait_while(state, missing).unwrap_or_else(PoisonError::into_inner);
        state.done.remove(&job).flatten()
    }

    fn lock(&self) -> MutexGuard<'_, AheadState<T>> {
        // Nothing that holds the lock can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the queue at the end, whatever that is.
struct Close<'a, T>(&'a AheadQueue<T>);

impl<T> Drop for Close<'_, T> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
#[allow(clippy::panic, reason = "one of the jobs panics on purpose")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_order_and_no_more_than_there_is_room_for_are_ahead() {
        let (taken, most_ahead) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut order = vec![];
        let work = |_: &mut (), job: usize| {
            most_ahead.fetch_max(job - taken.load(Ordering::SeqCst).min(job), Ordering::SeqCst);
            job * 10
        };
        let take = |job: usize, result: Option<usize>| {
            order.push(result);
            taken.store(job + 1, Ordering::SeqCst);
            Ok::<(), ()>(())
        };
        assert_eq!(ahead(100, 3, 4, || (), work, take), Ok(()));
        assert_eq!(order, (0..100).map(|job| Some(job * 10)).collect::<Vec<_>>());
        assert!(most_ahead.load(Ordering::SeqCst) <= 4, "{most_ahead:?}");
    }

    #[test]
    fn a_job_that_panics_costs_itself_and_an_error_ends_all() {
        let work = |_: &mut (), job: usize| if job == 2 { panic!("on purpose") } else { job };
        let mut seen = vec![];
        let end = ahead(
            1000,
            2,
            3,
            || (),
            work,
            |job, result| {
                seen.push(result);
                if job == 4 { Err("enough") } else { Ok(()) }
            },
        );
        assert_eq!(end, Err("enough"));
        assert_eq!(seen, [Some(0), Some(1), None, Some(3), Some(4)]);
        assert_eq!(ahead(0, 2, 3, || (), |_, job| job, |_, _| Err("there is no job")), Ok(()));
    }
}
