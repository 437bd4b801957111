//! Who may work beside whom: an evaluation that times has its device alone among the attempts of a run, and where the device
//! is the processor, builds and checks wait for it as well.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Turns of the attempts of one run.
#[derive(Debug)]
pub struct Turns {
    measuring: Mutex<()>,
    /// The cores, where evaluations are timed on them.
    cores: Option<RwLock<()>>,
}

/// Held while something is measured.
pub(crate) struct Alone<'a> {
    _measuring: MutexGuard<'a, ()>,
    _cores: Option<RwLockWriteGuard<'a, ()>>,
}

/// Held while something runs that is not timed.
pub(crate) struct Beside<'a> {
    _cores: Option<RwLockReadGuard<'a, ()>>,
}

impl Turns {
    /// Nobody has a turn. `shares_processor` says whether evaluations are timed on the cores that everything else runs on.
    pub fn new(shares_processor: bool) -> Turns {
        Turns { measuring: Mutex::new(()), cores: shares_processor.then(RwLock::default) }
    }

    /// Waits until what is timed disturbs nobody, and nobody disturbs it.
    pub(crate) fn alone(&self) -> Alone<'_> {
        // Nothing is behind these locks that a panic could have left half done.
        let measuring = self.measuring.lock().unwrap_or_else(PoisonError::into_inner);
        let cores = self.cores.as_ref().map(|cores| cores.write().unwrap_or_else(PoisonError::into_inner));
        Alone { _measuring: measuring, _cores: cores }
    }

    /// Waits until nothing is timed that this would disturb. Others may do the same at once.
    pub(crate) fn beside(&self) -> Beside<'_> {
        Beside { _cores: self.cores.as_ref().map(|cores| cores.read().unwrap_or_else(PoisonError::into_inner)) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::mpsc::{TryRecvError, channel};

    #[test]
    fn what_is_timed_on_the_processor_has_it_alone_and_on_a_gpu_others_build_meanwhile() {
        let turns = Turns::new(false);
        let (_timed, _built) = (turns.alone(), turns.beside());
        let turns = Turns::new(true);
        let built = [turns.beside(), turns.beside()];
        let (starts, started) = channel();
        std::thread::scope(|scope| {
            let turns = &turns;
            scope.spawn(move || {
                let timed = turns.alone();
                starts.send(()).unwrap();
                drop(timed);
            });
            // However long it is looked, nothing is timed while something builds.
            for _ in 0..1000 {
                assert_eq!(started.try_recv(), Err(TryRecvError::Empty));
                std::thread::yield_now();
            }
            drop(built);
            started.recv().unwrap();
        });
    }
}
