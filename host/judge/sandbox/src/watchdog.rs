//! Ends a call that is over its deadline, by advancing the engine's epoch.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wasmtime::Engine;

/// A thread that sleeps until a deadline. There is no ticking: an idle plugin costs nothing.
#[derive(Clone)]
pub(crate) struct Watchdog(Arc<WatchdogShared>);

struct WatchdogShared {
    state: Mutex<WatchState>,
    changed: Condvar,
}

#[derive(Default)]
struct WatchState {
    deadline: Option<Instant>,
    stopped: bool,
}

impl Watchdog {
    /// Starts the thread. It ends when the engine's owner calls [`Watchdog::stop`].
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Watchdog> {
        let shared = Arc::new(WatchdogShared { state: Mutex::default(), changed: Condvar::new() });
        let (watched, engine) = (Arc::clone(&shared), engine.clone());
        std::thread::Builder::new()
            .name("watchdog".into())
            .stack_size(64 << 10)
            .spawn(move || watched.watch(&engine))?;
        Ok(Watchdog(shared))
    }

    /// From `deadline` on the engine's stores are interrupted; `None` ends the watch.
    pub(crate) fn set(&self, deadline: Option<Instant>) {
        self.0.lock().deadline = deadline;
        self.0.changed.notify_one();
    }

    /// Runs `wait` with the watch suspended and moves the deadline by the time that it took: what the host needs for an
    /// answer is not the plugin's time.
    pub(crate) fn suspended<R>(&self, wait: impl FnOnce() -> R) -> R {
        let deadline = self.0.lock().deadline.take();
        let started = Instant::now();
        let result = wait();
        // A deadline already missed stays missed, since it is checked before the call that follows returns.
        self.set(deadline.map(|deadline| deadline + started.elapsed()));
        result
    }

    pub(crate) fn stop(&self) {
        self.0.lock().stopped = true;
        self.0.changed.notify_one();
    }
}

impl WatchdogShared {
    /// The state is two plain fields, valid whatever a panicking thread left.
    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, engine: &Engine) {
        let mut state = self.lock();
        while !state.stopped {
            let now = Instant::now();
            match state.deadline {
                Some(deadline) if deadline <= now => {
                    // Under the lock, so that a deadline that was just taken back is not enforced on the next call.
                    engine.increment_epoch();
                    state.deadline = None;
                }
                deadline => {
                    let rest = deadline.map_or(Duration::MAX, |deadline| deadline - now);
                    state = self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }
}
