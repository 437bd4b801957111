//! Who may work beside whom: an evaluation that times has its device alone among the attempts of a run, and where builds and
//! checks would take something from it that it is timed with, they wait for it as well, and it for them.
//!
//! **Invariant**: whoever waits has its turn before all that came after it, so that nobody waits for more than what was there
//! when it came: neither a stream of builds keeps an evaluation out, nor one of evaluations a build.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Turns of the attempts of one run.
#[derive(Debug)]
pub struct Turns {
    line: Mutex<Line>,
    changed: Condvar,
    /// Whether nothing else may run while something is timed.
    waits: bool,
}

/// Who works, and who waits.
#[derive(Debug, Default)]
struct Line {
    /// How many have come, and how many of them have begun.
    came: u64,
    began: u64,
    /// How many work that time nothing.
    beside: u64,
    is_timing: bool,
}

/// Held while something is measured.
pub(crate) struct Alone<'a>(&'a Turns);

/// Held while something runs that is not timed.
pub(crate) struct Beside<'a>(&'a Turns);

impl Turns {
    /// Nobody has a turn. `waits` says whether builds and checks wait while something is timed, because they have no cores
    /// of their own.
    pub fn new(waits: bool) -> Turns {
        Turns { line: Mutex::default(), changed: Condvar::new(), waits }
    }

    /// Waits until what is timed disturbs nobody, and nobody disturbs it.
    pub(crate) fn alone(&self) -> Alone<'_> {
        self.enter(|line| !line.is_timing && (!self.waits || line.beside == 0), |line| line.is_timing = true);
        Alone(self)
    }

    /// Waits until nothing is timed that this would disturb. Others may do the same at once.
    pub(crate) fn beside(&self) -> Beside<'_> {
        if self.waits {
            self.enter(|line| !line.is_timing, |line| line.beside += 1);
        } else {
            self.line().beside += 1;
        }
        Beside(self)
    }

    /// Waits for its turn in the line, and until it may begin.
    fn enter(&self, may: impl Fn(&Line) -> bool, begin: impl FnOnce(&mut Line)) {
        let mut line = self.line();
        let own = line.came;
        line.came += 1;
        let waits = |line: &mut Line| line.began != own || !may(line);
        let mut line = self.changed.wait_while(line, waits).unwrap_or_else(PoisonError::into_inner);
        begin(&mut line);
        line.began += 1;
        self.changed.notify_all();
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        // Each change is whole.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.line().is_timing = false;
        self.0.changed.notify_all();
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        self.0.line().beside -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};
    use std::thread::{Scope, ScopedJoinHandle};

    /// What began, in its order.
    type Begun = Sender<&'static str>;

    /// Waits for a turn on another thread, and has it until it is joined. Returns once it stands in the line.
    fn come<'s>(
        scope: &'s Scope<'s, '_>,
        turns: &'s Turns,
        (begun, name): (&Begun, &'static str),
        is_timed: bool,
    ) -> ScopedJoinHandle<'s, ()> {
        let (begun, before) = (begun.clone(), turns.line().came);
        let handle = scope.spawn(move || match is_timed {
            true => {
                let _turn = turns.alone();
                begun.send(name).unwrap();
            }
            false => {
                let _turn = turns.beside();
                begun.send(name).unwrap();
            }
        });
        while turns.line().came == before {
            std::thread::yield_now();
        }
        handle
    }

    #[test]
    fn what_has_cores_of_its_own_goes_on_beside_what_is_timed() {
        let turns = Turns::new(false);
        let (_timed, _built, _checked) = (turns.alone(), turns.beside(), turns.beside());
    }

    #[test]
    fn whoever_waits_has_its_turn_before_all_that_came_later() {
        let turns = &Turns::new(true);
        let (begun, order) = channel();
        std::thread::scope(|scope| {
            let built = [turns.beside(), turns.beside()];
            let waiting = [("first evaluation", true), ("build", false), ("check", false), ("second evaluation", true)];
            let _waiting = waiting.map(|(name, is_timed)| come(scope, turns, (&begun, name), is_timed));
            // However long it is looked, nothing is timed while something builds, and no build goes before it.
            for _ in 0..1000 {
                assert!(order.try_recv().is_err());
                std::thread::yield_now();
            }
            drop(built);
        });
        let order: Vec<&str> = order.try_iter().collect();
        assert_eq!((order[0], order[3], order.len()), ("first evaluation", "second evaluation", 4), "{order:?}");
    }
}
