//! Several cases at once.

use crate::machine_code::MachineCode;
use crate::table::Row;
use crate::{Bench, Case, Trouble, trial};
use passhost_protocol::device::DeviceChoice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How to play cases.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Where the programs run.
    pub device: DeviceChoice,
    /// Cases at a time, each on a device child of its own.
    pub workers: usize,
    /// For the timed runs of a program.
    pub budget: Duration,
    /// How often each case is played.
    pub attempts: usize,
}

/// Plays cases; a row for each, in their order.
///
/// # Errors
///
/// If a device cannot be used, or a case is broken.
pub fn play(cases: &[Case], plan: Plan) -> Result<Vec<Row>, Trouble> {
    let code = MachineCode::new()?;
    let supervisors = trial::Supervisors::new(&code, plan.budget)?;
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(vec![]);
    let work = || -> Result<(), Trouble> {
        let mut bench = Bench::new(&supervisors, &code, plan.device)?;
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut row = Row::new(case);
            for _ in 0..plan.attempts {
                let found = bench.play(case).map_err(|trouble| format!("{}: {trouble}", case.name))?;
                row.add(case, &found);
            }
            rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.workers).map(|_| scope.spawn(work)).collect();
        let panicked = |_| Trouble::from("a worker panicked");
        workers.into_iter().try_for_each(|worker| worker.join().map_err(panicked)?)
    })?;
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by(|one: &Row, other| one.case.cmp(&other.case));
    Ok(rows)
}
