//! What a GPU alone takes for a run: events around calls that were all asked for before the GPU was let go on.
//!
//! Calls follow each other, so that kernels that begin early do so while the call before ends. Where a program overwrites its
//! inputs, copies on the same stream restore them before each call, and each call lies between two events of its own. The
//! event before a call comes when the copies have ended, and its first kernel cannot begin before that event: early
//! beginners follow kernels alone. A queue of copies taken off a queue of copies and calls would be no such bound. Copies
//! are faster from a cache that no call emptied, so that the rest depends on what a call leaves in it, and where copies take
//! long beside the call it may be nothing at all.

use super::BenchDevice;
use passhost_ir::NodeId;
use passhost_runtime::{Cause, ContextError, Gate, NodeError};
use std::time::{Duration, Instant};

/// Launches that a stream takes ahead of the GPU, less than what any driver allows: a node is two at most as a rule.
const QUEUE: usize = 400;
/// Runs of a program that are asked for ahead, at most; no more than take about [`QUEUED_NS`], but [`FEWEST_CALLS`].
const QUEUED_CALLS: usize = 10;
const QUEUED_NS: u64 = 1_000_000;
const FEWEST_CALLS: usize = 3;
/// How long the GPU may be kept waiting for them; the second where the host was held up.
const KEPT_WAITING: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(100)];

/// A program that can be asked for ahead of the device.
pub trait QueuedProgram {
    /// How often the device is asked for something in a call and in what restores its inputs.
    fn launches(&self) -> usize;

    /// Asks for what a call finds in the inputs that it overwrites.
    fn restore(&mut self);

    /// Asks for a run, and does not wait.
    fn call(&mut self) -> Result<(), NodeError>;
}

/// How calls follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// One after the other.
    Close,
    /// Each between events of its own, behind what restores its inputs.
    Apart,
}

/// What one of several calls took, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedTimes {
    /// The GPU.
    pub device_ns: u64,
    /// The host, to ask for it.
    pub host_ns: u64,
}

impl BenchDevice {
    /// What the GPU takes for one of several calls of a program. `before` is what it took the last time. The reason if that
    /// cannot be had.
    pub fn queued_ns(
        &self,
        program: &mut impl QueuedProgram,
        spacing: Spacing,
        before: Option<u64>,
    ) -> Result<Result<QueuedTimes, &'static str>, NodeError> {
        let Some(on) = &self.gpu else { return Ok(Err("calls of the CPU are not queued")) };
        let enough = before.map_or(QUEUED_CALLS, |took| (QUEUED_NS / took.max(1)) as usize);
        let calls = (QUEUE / program.launches().max(1)).clamp(1, enough.clamp(FEWEST_CALLS, QUEUED_CALLS));
        for limit in KEPT_WAITING {
            if let Some(taken) = self.queue_behind(&mut on.gate.borrow_mut(), limit, (program, calls), spacing)? {
                return Ok(Ok(taken));
            }
        }
        Ok(Err("an op of the program waits for the GPU, which cannot run ahead of the next call then"))
    }

    /// The same behind a gate that is shut for as long at most; `None` if that was not long enough.
    fn queue_behind(
        &self,
        gate: &mut Gate,
        limit: Duration,
        (program, calls): (&mut impl QueuedProgram, usize),
        spacing: Spacing,
    ) -> Result<Option<QueuedTimes>, NodeError> {
        self.context.synchronize().map_err(failed)?;
        let shut = self.context.shut(gate, limit).map_err(failed)?;
        program.restore();
        program.call()?;
        let asked = ask(program, calls, spacing, || self.context.mark().map_err(failed))?;
        drop(shut);
        self.context.synchronize().map_err(failed)?;
        if gate.gave_up() {
            return Ok(None);
        }
        let mut device_ns = 0;
        for marks in asked.around {
            let [Some(start), Some(end)] = marks else { return Ok(None) };
            device_ns += end.since(&start).map_err(|error| failed(error.into()))?;
        }
        let each = |all: u64| (all / calls as u64).max(1);
        Ok(Some(QueuedTimes { device_ns: each(device_ns), host_ns: each(asked.host.as_nanos() as u64) }))
    }
}

fn failed(error: ContextError) -> NodeError {
    NodeError { node: NodeId(0), op: "queue".into(), cause: Cause::Fault(error.to_string()) }
}

/// Calls that were asked for.
struct Asked<M> {
    /// Marks before and behind what is timed.
    around: Vec<[M; 2]>,
    /// What the host took to ask for the calls.
    host: Duration,
}

/// Asks for so many calls, with marks around what is to be timed of them.
fn ask<M>(
    program: &mut impl QueuedProgram,
    calls: usize,
    spacing: Spacing,
    mut mark: impl FnMut() -> Result<M, NodeError>,
) -> Result<Asked<M>, NodeError> {
    let (stretches, calls_of_each) = match spacing {
        Spacing::Close => (1, calls),
        Spacing::Apart => (calls, 1),
    };
    let (mut around, mut host) = (vec![], Duration::ZERO);
    for _ in 0..stretches {
        if spacing == Spacing::Apart {
            program.restore();
        }
        let start = mark()?;
        let asked = Instant::now();
        for _ in 0..calls_of_each {
            program.call()?;
        }
        host += asked.elapsed();
        around.push([start, mark()?]);
    }
    Ok(Asked { around, host })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Writes down what it is asked for.
    struct Written<'a>(&'a RefCell<String>);

    impl QueuedProgram for Written<'_> {
        fn launches(&self) -> usize {
            1
        }

        fn restore(&mut self) {
            self.0.borrow_mut().push('r');
        }

        fn call(&mut self) -> Result<(), NodeError> {
            self.0.borrow_mut().push('c');
            Ok(())
        }
    }

    #[test]
    fn inputs_are_restored_in_the_queue_and_outside_of_what_is_timed() {
        for (spacing, order, around) in
            [(Spacing::Close, "|ccc|", vec![[0, 4]]), (Spacing::Apart, "r|c|r|c|r|c|", vec![[1, 3], [5, 7], [9, 11]])]
        {
            let written = RefCell::new(String::new());
            let mark = || {
                written.borrow_mut().push('|');
                Ok(written.borrow().len() - 1)
            };
            let asked = ask(&mut Written(&written), 3, spacing, mark).unwrap();
            assert_eq!((written.borrow().as_str(), asked.around), (order, around), "{spacing:?}");
        }
    }

    #[test]
    fn a_cpu_has_no_queue() {
        let found = BenchDevice::cpu().queued_ns(&mut Written(&RefCell::default()), Spacing::Apart, None).unwrap();
        assert_eq!(found, Err("calls of the CPU are not queued"));
    }
}
