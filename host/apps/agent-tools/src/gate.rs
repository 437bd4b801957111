//! Who may work beside whom: an evaluation that times has its device alone among the attempts of a run, and where builds and
//! checks would take something from it that it is timed with, they wait for it as well, and it for them.
//!
//! **Invariant**: the lock is fair, so that neither a stream of builds keeps an evaluation out, nor one of evaluations a build.

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Lets evaluations of one run have the device one after the other.
#[derive(Debug)]
pub struct DeviceGate {
    lock: RwLock<()>,
    /// Whether nothing else may run while something is timed.
    waits: bool,
}

impl DeviceGate {
    /// Nobody is at work. `waits` says whether builds and checks wait while something is timed, because they have no cores
    /// of their own.
    pub fn new(waits: bool) -> DeviceGate {
        DeviceGate { lock: RwLock::new(()), waits }
    }

    /// Waits until what is timed disturbs nobody, and nobody disturbs it.
    pub(crate) fn timed(&self) -> RwLockWriteGuard<'_, ()> {
        self.lock.write()
    }

    /// Waits until nothing is timed that this would disturb. Others may do the same at once.
    pub(crate) fn untimed(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.waits.then(|| self.lock.read())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn what_has_cores_of_its_own_goes_on_beside_what_is_timed() {
        let gate = DeviceGate::new(false);
        let _timed = gate.timed();
        assert!(gate.untimed().is_none() && gate.lock.try_write().is_none());
    }

    #[test]
    fn an_evaluation_that_waits_comes_before_builds_that_came_later() {
        let gate = &DeviceGate::new(true);
        let (begun, order) = channel();
        std::thread::scope(|scope| {
            let built = [gate.untimed(), gate.untimed()];
            let of_evaluation = begun.clone();
            scope.spawn(move || {
                let _timed = gate.timed();
                let _ = of_evaluation.send("evaluation");
            });
            // While it waits, nobody else gets in.
            while gate.lock.try_read().is_some() {
                std::thread::yield_now();
            }
            scope.spawn(move || {
                let _untimed = gate.untimed();
                let _ = begun.send("build");
            });
            assert!(order.try_recv().is_err());
            drop(built);
        });
        assert_eq!(order.try_iter().collect::<Vec<_>>(), ["evaluation", "build"]);
    }
}
