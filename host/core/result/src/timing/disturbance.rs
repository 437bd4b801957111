//! Which blocks something else than the two programs disturbed, by what witnesses saw. The times of the runs are not looked
//! at: who chose blocks by these would choose the result.

use super::rules::Rules;
use crate::{Block, DeviceTimes, ProbeTimes, ProcessTimes, Witness};
use passhost_score::median;

/// Share of a block that threads may wait for a core.
const WAITED: f64 = 0.10;
/// Share of the probes of a block that may be slow.
const SLOW_PROBES: f64 = 0.25;
/// Share by which slow probes may say that runs become longer.
const LONGER: f64 = 0.05;
/// Times that threads may be preempted for each run of a program, where waiting is not counted.
const PREEMPTED: f64 = 1.0;
/// What a thread waits that is preempted, at least: a slice of the scheduler's, nanoseconds.
const SLICE_NS: f64 = 3e6;
/// Clock of a block below that of its like.
const CLOCK: f64 = 0.97;

/// A block that something else disturbed.
pub(super) struct Disturbed {
    pub process: usize,
    /// Position among the blocks of the process, controls first.
    pub block: usize,
    pub why: String,
}

impl Disturbed {
    pub fn at(&self, process: usize, block: usize) -> bool {
        (self.process, self.block) == (process, block)
    }
}

/// The blocks of all processes that do not count, where eager's program has so many ops.
pub(super) fn disturbed(processes: &[ProcessTimes], ops: usize, rules: Rules) -> Vec<Disturbed> {
    let clocks = clocks(processes, rules);
    let mut found = vec![];
    for (process, times) in processes.iter().enumerate() {
        let loads = loads(times.device.as_ref());
        for (block, of) in blocks(times).enumerate() {
            // In a control block eager is both programs.
            let programs = if block < times.control.len() { 1 } else { 2 };
            let like = Like { clock: clocks[block], loads: loads.get(..programs).unwrap_or_default(), ops };
            if let Some(why) = why_disturbed(of, &like, rules) {
                found.push(Disturbed { process, block, why });
            }
        }
    }
    found
}

fn blocks(times: &ProcessTimes) -> impl Iterator<Item = &Block> {
    times.control.iter().chain(&times.pairs)
}

/// What a block is held against.
struct Like<'a> {
    /// Megahertz; 0 where none is known.
    clock: f64,
    loads: &'a [Load],
    ops: usize,
}

/// What disturbed a block, in words.
fn why_disturbed(block: &Block, like: &Like<'_>, rules: Rules) -> Option<String> {
    let Witness { elapsed_ns, waited_ns, preempted, probes, slow_probes, probe, clock_mhz, throttled, is_power_bound } =
        &block.witness;
    let runs = (block.eager_ns.len() + block.other_ns.len()) as f64;
    let elapsed = (*elapsed_ns).max(1) as f64;
    let waited = waited_ns.map(|waited| waited as f64 / elapsed);
    if let Some(waited) = waited.filter(|&waited| waited > WAITED) {
        return Some(format!("threads waited for a core {:.0}% of the time", 100.0 * waited));
    }
    let lost = |times: f64| times > PREEMPTED * runs && (rules.is_first() || times * SLICE_NS > WAITED * elapsed);
    if waited.is_none() && preempted.is_some_and(|times| lost(times as f64)) {
        return Some("other programs took the cores away".to_owned());
    }
    if f64::from(*slow_probes) > SLOW_PROBES * f64::from(*probes) {
        let slow = format!("{slow_probes} of {probes} probes took twice as long as they should");
        match probe.map(|probe| like.longer(probe, elapsed / runs.max(1.0), rules)) {
            None => return Some(slow),
            Some(longer) if longer > LONGER => {
                return Some(format!("{slow}, by which a run becomes {:.0}% longer", 100.0 * longer));
            }
            Some(_) => {}
        }
    }
    let clock = like.clock;
    if let Some(mhz) = clock_mhz.filter(|&mhz| f64::from(mhz) < CLOCK * clock && !is_power_bound) {
        return Some(format!("the GPU ran at {mhz} MHz in place of {clock:.0}"));
    }
    (!throttled.is_empty()).then(|| format!("the GPU was held back: {}", throttled.join(", ")))
}

impl Like<'_> {
    /// By which share a run of so many nanoseconds becomes longer if all the host does takes as much longer as the probes did
    /// of which a quarter took longer still.
    ///
    /// On a CPU a probe is work as the programs do it, on all of their threads: what slows one slows the others alike. On a
    /// GPU it is a launch and a wait, of which a run hides those that the device does not wait for.
    fn longer(&self, probe: ProbeTimes, run_ns: f64, rules: Rules) -> f64 {
        let times = probe.upper_ns as f64 / probe.fastest_ns.max(1) as f64;
        let more_ns = probe.upper_ns.saturating_sub(probe.fastest_ns) as f64;
        if !rules.is_gpu {
            return times - 1.0;
        }
        let known = self.loads.iter().map(|load| load.longer(times, probe.fastest_ns as f64));
        // Of a program of which nothing is known every op may wait for the device.
        known.reduce(f64::max).unwrap_or(more_ns * (1.0 + self.ops as f64) / run_ns)
    }
}

/// What a program asks of the host and of the device in a run, nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Load {
    host_ns: f64,
    device_ns: f64,
}

impl Load {
    fn of(host_ns: &[u64], device_ns: &[u64]) -> Option<Load> {
        let middle = |times: &[u64]| {
            let mut times: Vec<f64> = times.iter().map(|&time| time as f64).collect();
            (!times.is_empty()).then(|| median(&mut times))
        };
        Some(Load { host_ns: middle(host_ns)?, device_ns: middle(device_ns)? })
    }

    /// By which share a run becomes longer if the host takes so many times as long. The host asks while the device works,
    /// so that a run takes as long as the slower of both; the launch and the wait of a probe come on top.
    fn longer(self, times: f64, probe_ns: f64) -> f64 {
        let run = |times: f64| (times * self.host_ns).max(self.device_ns) + times * probe_ns;
        run(times) / run(1.0) - 1.0
    }
}

/// Those of eager and of what is timed beside it, where they are known.
fn loads(device: Option<&DeviceTimes>) -> Vec<Load> {
    let both = device.and_then(|times| {
        let rewritten = Load::of(&times.rewritten_host_ns, &times.rewritten_ns);
        Some(vec![Load::of(&times.eager_host_ns, &times.eager_ns)?, rewritten?])
    });
    both.unwrap_or_default()
}

/// Clocks that blocks are held against: the median of those at the same place of each process, where the same programs have
/// run as long. What power or heat of the programs makes of a clock is the same there.
fn clocks(processes: &[ProcessTimes], rules: Rules) -> Vec<f64> {
    let longest = processes.iter().map(|times| blocks(times).count()).max().unwrap_or(0);
    let clock = |block: &Block| block.witness.clock_mhz.map(f64::from);
    let middle = |mut clocks: Vec<f64>| if clocks.is_empty() { 0.0 } else { median(&mut clocks) };
    if rules.is_first() {
        return vec![middle(processes.iter().flat_map(blocks).filter_map(clock).collect()); longest];
    }
    let at = |place| middle(processes.iter().filter_map(|times| clock(blocks(times).nth(place)?)).collect());
    (0..longest).map(at).collect()
}

#[cfg(test)]
mod tests;
