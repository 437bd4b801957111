//! What the machine does while a block is timed: whether threads waited for a core, how long a fixed piece of work takes,
//! and at which clock a GPU runs.

use crate::device::BenchDevice;
use crate::gpu_state::GpuState;
use passhost_result::{ProbeTimes, Witness};
use std::fs;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time that the fixed piece of work takes on a CPU: long beside the start of threads, short beside a scheduler's slice.
const PROBE_NS: u64 = 20_000;
/// Probes that find out how fast the machine is when nothing disturbs it.
const CALIBRATION: u32 = 50;
/// A probe that takes so much longer than the fastest was disturbed.
const SLOW: f64 = 2.0;
/// How long a CPU is left alone before a block. Threads of this process that compared or drew something yield for a while
/// before they sleep, and those of OpenMP spin. Where all cores are busy, that lasts into the block and counts as waiting.
const SETTLE: Duration = Duration::from_millis(5);

/// Sees what the machine does. The piece of work is the same for as long as this lives.
pub struct Observer<'a> {
    device: &'a BenchDevice,
    /// Steps of the piece of work on a CPU.
    steps: u64,
    fastest_ns: u64,
    probes: Vec<u64>,
    begun: Option<(Instant, Scheduling)>,
}

impl<'a> Observer<'a> {
    /// Finds out how fast the machine is.
    pub fn new(device: &'a BenchDevice) -> Observer<'a> {
        let steps = 4096;
        let fastest = (0..CALIBRATION).map(|_| spin_ns(steps)).min().unwrap_or(1).max(1);
        let mut observer = Observer {
            device,
            steps: (steps * PROBE_NS / fastest).max(1),
            fastest_ns: u64::MAX,
            probes: vec![],
            begun: None,
        };
        (0..CALIBRATION).for_each(|_| observer.probe());
        observer.probes.clear();
        observer
    }

    /// A block begins.
    pub fn begin(&mut self) {
        if !self.device.has_queue() {
            std::thread::sleep(SETTLE);
            self.probe();
        }
        self.probes.clear();
        self.begun = Some((Instant::now(), Scheduling::now()));
    }

    /// Does the fixed piece of work once.
    pub fn probe(&mut self) {
        let time = self.device.probe_ns().unwrap_or_else(|| spin_everywhere_ns(self.steps));
        self.fastest_ns = self.fastest_ns.min(time);
        self.probes.push(time);
    }

    /// What happened since the block began.
    pub fn end(&mut self) -> Witness {
        let Some((begun, before)) = self.begun.take() else { return Witness::default() };
        let after = Scheduling::now();
        let since = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
        let slow = |&&time: &&u64| time as f64 > SLOW * self.fastest_ns as f64;
        let state = self.device.state();
        let held_back = state.map(GpuState::held_back).unwrap_or_default();
        Witness {
            elapsed_ns: u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            waited_ns: since(after.waited_ns, before.waited_ns),
            preempted: since(after.preempted, before.preempted),
            probes: self.probes.len() as u32,
            slow_probes: self.probes.iter().filter(slow).count() as u32,
            probe: probe_times(&self.probes, self.fastest_ns),
            clock_mhz: state.and_then(GpuState::clock_mhz),
            throttled: held_back.reasons,
            is_power_bound: held_back.by_power,
        }
    }
}

/// What the probes of a block say, where there are any.
fn probe_times(probes: &[u64], fastest_ns: u64) -> Option<ProbeTimes> {
    let mut sorted = probes.to_vec();
    sorted.sort_unstable_by(|one, other| other.cmp(one));
    let upper_ns = *sorted.get(sorted.len() / 4)?;
    let mut times: Vec<f64> = sorted.iter().map(|&time| time as f64).collect();
    Some(ProbeTimes { fastest_ns, median_ns: passhost_score::median(&mut times) as u64, upper_ns })
}

/// A fixed number of dependent operations on every thread of libtorch at once; nanoseconds until the last has ended.
fn spin_everywhere_ns(steps: u64) -> u64 {
    let start = Instant::now();
    let sum = AtomicU64::new(0);
    passhost_torch::run_on_threads(passhost_torch::thread_count(), &|| {
        sum.fetch_xor(spin(steps), Ordering::Relaxed);
    });
    black_box(sum.into_inner());
    nanoseconds(start)
}

fn spin_ns(steps: u64) -> u64 {
    let start = Instant::now();
    black_box(spin(steps));
    nanoseconds(start)
}

fn spin(steps: u64) -> u64 {
    (0..black_box(steps)).fold(1, |state: u64, step| (state ^ step).wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(17))
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1)
}

/// What the system says of the threads of this process, from their beginning on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scheduling {
    waited_ns: Option<u64>,
    preempted: Option<u64>,
}

impl Scheduling {
    fn now() -> Scheduling {
        Scheduling {
            waited_ns: sum_over_threads("schedstat", waited_ns),
            preempted: sum_over_threads("status", preempted),
        }
    }
}

/// What `read` finds in a file of each thread, added up; `None` where it finds nothing.
fn sum_over_threads(file: &str, read: fn(&str) -> Option<u64>) -> Option<u64> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    // A thread may end in between.
    let texts = threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join(file)).ok());
    texts.filter_map(|text| read(&text)).reduce(u64::saturating_add)
}

/// The second number of a schedstat: time ready to run and without a core. Where nobody keeps it, the first, the time on a
/// core, is zero as well.
fn waited_ns(schedstat: &str) -> Option<u64> {
    let mut numbers = schedstat.split_whitespace().map(|number| number.parse().ok());
    let (ran, waited): (u64, u64) = (numbers.next()??, numbers.next()??);
    (ran > 0 || waited > 0).then_some(waited)
}

fn preempted(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_of_threads_is_read() {
        assert_eq!(waited_ns("1223 456 7\n"), Some(456));
        assert_eq!(waited_ns(""), None);
        assert_eq!(waited_ns("0 0 1\n"), None);
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t12\n";
        assert_eq!(preempted(status), Some(12));
        assert_eq!(preempted("Name:\tx\n"), None);
    }

    #[test]
    fn a_block_counts_its_own_probes() {
        let device = BenchDevice::cpu();
        let mut observer = Observer::new(&device);
        observer.begin();
        (0..3).for_each(|_| observer.probe());
        let witness = observer.end();
        assert_eq!(witness.probes, 3);
        assert!(witness.slow_probes <= 3 && witness.elapsed_ns > 0, "{witness:?}");
        assert_eq!((witness.clock_mhz, witness.throttled), (None, vec![]));
        assert_eq!(observer.end(), Witness::default(), "no block has begun");
    }

    #[test]
    fn more_than_a_quarter_of_the_probes_took_as_long_as_is_said() {
        for (probes, median, upper) in [
            (vec![9], 9, 9),
            (vec![8, 30], 19, 30),
            (vec![8, 8, 8, 30], 8, 8),
            (vec![8, 9, 20, 30], 14, 20),
            (vec![8, 8, 8, 8, 8, 8, 8, 8, 8, 31, 30], 8, 8),
            (vec![8, 8, 8, 8, 8, 8, 8, 8, 32, 31, 30], 8, 30),
        ] {
            let slow = probes.iter().filter(|&&time| time >= upper).count();
            assert!(4 * slow > probes.len(), "{probes:?}");
            let expected = ProbeTimes { fastest_ns: 7, median_ns: median, upper_ns: upper };
            assert_eq!(probe_times(&probes, 7), Some(expected), "{probes:?}");
        }
        assert_eq!(probe_times(&[], 7), None);
    }

    #[test]
    fn a_slow_piece_of_work_is_seen() {
        let device = BenchDevice::cpu();
        let mut observer = Observer::new(&device);
        observer.begin();
        observer.probe();
        // As if it had been much faster once.
        observer.fastest_ns = 1;
        let witness = observer.end();
        assert_eq!(witness.slow_probes, 1);
        assert!(witness.probe.is_some_and(|probe| probe.upper_ns > 2 * probe.fastest_ns), "{witness:?}");
    }
}
