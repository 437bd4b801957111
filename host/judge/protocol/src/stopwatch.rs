//! Accounts for the time of an evaluation.

use passhost_result::{Spent, Work};
use std::time::Instant;

/// Accounts for time as it passes.
#[derive(Debug)]
pub struct Stopwatch {
    last: Instant,
    spent: Spent,
}

impl Stopwatch {
    /// Begins now.
    pub fn start() -> Stopwatch {
        Stopwatch { last: Instant::now(), spent: Spent::default() }
    }

    /// The time since the last call, or since the start, went into `work`.
    pub fn charge(&mut self, work: Work) {
        let now = Instant::now();
        self.spent.add(work, now - self.last);
        self.last = now;
    }

    /// What was accounted for.
    pub fn stop(self) -> Spent {
        self.spent
    }

    /// The same, and begins anew.
    pub fn restart(&mut self) -> Spent {
        std::mem::replace(self, Stopwatch::start()).stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    #[test]
    fn each_stretch_of_time_is_counted_once() {
        let mut watch = Stopwatch::start();
        for work in [Work::Draw, Work::Compare, Work::Draw] {
            std::thread::sleep(Duration::from_millis(2));
            watch.charge(work);
        }
        let mut spent = watch.stop();
        let times: BTreeMap<Work, Duration> = spent.each().collect();
        assert!(times[&Work::Draw] >= Duration::from_millis(4) && times[&Work::Compare] >= Duration::from_millis(2));
        assert_eq!(spent.total(), times.values().sum());
        spent.join(&spent.clone());
        assert_eq!(spent.total(), 2 * times.values().sum::<Duration>());
    }
}
