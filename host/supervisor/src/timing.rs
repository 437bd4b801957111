//! What the times of several processes say of a rewrite, and whether they say anything: a machine that does something else
//! meanwhile gives numbers, not a measurement.

mod disturbance;

use crate::document::{Timing, quartiles_us};
use disturbance::{Disturbed, disturbed};
use passhost_protocol::device::{Block, DeviceTimes, ProcessTimes};
use passhost_score::{Estimate, Repeats, ScoreError, Verdict, median};

/// What is asked of a measurement on one kind of device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Of the rules themselves.
    version: u32,
    is_gpu: bool,
    /// The factor within which equal measurements on other days lie.
    pub resolution: f64,
    /// The same of the device's time.
    pub device_resolution: f64,
    /// How far, as a factor, the interval of eager against itself may reach to each side.
    control_spread: f64,
    /// Eager beside the rewrite this much slower than beside itself was slowed down by the rewrite, and the faster of the
    /// two counts.
    drift: f64,
}

const CPU: Rules = Rules {
    version: Timing::RULES,
    is_gpu: false,
    resolution: 1.04,
    device_resolution: 1.03,
    control_spread: 1.5,
    drift: 1.05,
};
const GPU: Rules = Rules {
    version: Timing::RULES,
    is_gpu: true,
    resolution: 1.07,
    device_resolution: 1.02,
    control_spread: 1.3,
    drift: 1.02,
};

impl Rules {
    /// Those of a device, `cpu` or `cuda:0`.
    pub fn of(device: &str) -> Rules {
        if device == "cpu" { CPU } else { GPU }
    }

    /// The same as they were when times were judged.
    pub fn of_then(self, timing: &Timing) -> Rules {
        Rules { version: timing.rules, ..self }
    }

    /// Whether they are those of documents that do not say.
    fn is_first(self) -> bool {
        self.version < 2
    }

    /// What eager of so many ops may take beside its device, microseconds. What equal measurements differ by says nothing
    /// of the host.
    fn host_us(self, ops: usize, device_us: f64) -> f64 {
        let differs = if self.is_first() { 0.0 } else { (self.resolution - 1.0) * device_us };
        HOST_US * (1.0 + ops as f64) + differs
    }
}

/// What eager may take beyond the device's own time, in microseconds: once, and for each op.
const HOST_US: f64 = 25.0;

/// Why there is no measurement. The machine's doing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum NotMeasured {
    #[error("the machine was busy during {disturbed} of {blocks} blocks of trials: {first}")]
    Disturbed { disturbed: usize, blocks: usize, first: String },
    #[error("eager timed against itself is {speedup:.3} times as fast, [{low:.3}, {high:.3}]")]
    Control { speedup: f64, low: f64, high: f64 },
    #[error("eager timed against itself varies by a factor of {spread:.2}, more than {limit}")]
    Wide { spread: f64, limit: f64 },
    #[error(
        "eager takes {wall_us:.0} us of which its device works {device_us:.0}; more than {limit_us:.0} us beside it are the machine's"
    )]
    Host { wall_us: f64, device_us: f64, limit_us: f64 },
}

/// What came of timing a variant.
pub(crate) struct Measured {
    pub timing: Timing,
    pub speedups: Speedups,
}

/// Speedups of a variant, in each block of each process.
#[derive(Debug, Clone, PartialEq)]
pub struct Speedups {
    /// Of wall clock.
    pub wall: Repeats,
    /// Of the device's time, where every process has it.
    pub device: Option<Repeats>,
}

/// What eager took beside the rewrite in each process by itself: logarithms of medians in microseconds. By wall clock it is
/// what the speedups are against: where the rewrite slowed eager down, that is taken off.
#[derive(Debug, Clone, PartialEq)]
pub struct EagerTimes {
    /// By wall clock, in the blocks that count.
    pub wall: Vec<f64>,
    /// How many times as long eager took as is counted, by wall clock: 1 where no rewrite slowed it down.
    pub slowed: f64,
    /// By the device's time, where every process has it.
    pub device: Option<Vec<f64>>,
}

impl EagerTimes {
    /// Those of a measurement on a device, `cpu` or `cuda:0`, of which all blocks count with `accept_noise`.
    pub fn of(timing: &Timing, device: &str, accept_noise: bool) -> EagerTimes {
        let rules = Rules::of(device).of_then(timing);
        let disturbed = if accept_noise { vec![] } else { disturbed(&timing.processes, timing.ops, rules) };
        let quiet = quiet(&timing.processes, &disturbed);
        let ln_us = |nanoseconds: f64| (nanoseconds / 1e3).ln();
        let wall = |process: &Quiet<'_>| ln_us(eager_median(&process.pairs) / process.slowed(rules));
        let of_device = |process: &ProcessTimes| Some(ln_us(middle(&process.device.as_ref()?.eager_ns)));
        let slowed: f64 = quiet.iter().map(|process| process.slowed(rules).ln()).sum();
        EagerTimes {
            wall: quiet.iter().map(wall).collect(),
            slowed: (slowed / quiet.len().max(1) as f64).exp(),
            device: timing.processes.iter().map(of_device).collect(),
        }
    }
}

/// Looks at the times of all processes of a program of so many ops. With `accept_noise` every block counts and there is no
/// trouble. Of what is not measured, numbers are over all blocks.
///
/// # Errors
///
/// If the times give no speedup.
pub(crate) fn measured(
    processes: Vec<ProcessTimes>,
    rules: Rules,
    ops: usize,
    accept_noise: bool,
) -> Result<Measured, ScoreError> {
    let disturbed = if accept_noise { vec![] } else { disturbed(&processes, ops, rules) };
    let too_many = too_many(&quiet(&processes, &disturbed), &processes, &disturbed);
    let quiet = quiet(&processes, if too_many.is_some() { &[] } else { &disturbed });
    let control: Vec<Vec<f64>> =
        quiet.iter().map(|process| process.control.iter().map(|block| ratio(block)).collect()).collect();
    let control = Repeats::new(&control)?;
    let pairs: Vec<Vec<f64>> = quiet.iter().map(|process| process.speedups(rules)).collect();
    let wall = Repeats::new(&pairs)?;
    let device = device_repeats(&processes);
    let timing = timing(&quiet, &processes, [&wall, &control], device.as_ref(), rules, &disturbed);
    let trouble = too_many.or_else(|| if accept_noise { None } else { trouble(&timing, &control, rules, ops) });
    let timing = Timing { processes, ops, trouble: trouble.map(|trouble| trouble.to_string()), ..timing };
    Ok(Measured { timing, speedups: Speedups { wall, device } })
}

/// The blocks of each process but those that were disturbed.
fn quiet<'a>(processes: &'a [ProcessTimes], disturbed: &[Disturbed]) -> Vec<Quiet<'a>> {
    let counts = |process: usize, block: usize| !disturbed.iter().any(|found| found.at(process, block));
    processes.iter().enumerate().map(|(at, times)| Quiet::of(at, times, &counts)).collect()
}

/// Blocks of one process that count.
struct Quiet<'a> {
    control: Vec<&'a Block>,
    pairs: Vec<&'a Block>,
}

impl<'a> Quiet<'a> {
    fn of(process: usize, times: &'a ProcessTimes, counts: &dyn Fn(usize, usize) -> bool) -> Quiet<'a> {
        let controls = times.control.len();
        let control = times.control.iter().enumerate().filter(|(at, _)| counts(process, *at));
        let pairs = times.pairs.iter().enumerate().filter(|(at, _)| counts(process, controls + at));
        Quiet { control: control.map(|(_, block)| block).collect(), pairs: pairs.map(|(_, block)| block).collect() }
    }

    /// How many times as long eager took beside the rewrite as beside itself, where that is more than machines change their
    /// speed by: then the rewrite slowed it down.
    fn slowed(&self, rules: Rules) -> f64 {
        let (alone, beside) = (eager_median(&self.control), eager_median(&self.pairs));
        if beside > rules.drift * alone { beside / alone } else { 1.0 }
    }

    /// The speedup in each block. A rewrite gains nothing by slowing eager down.
    fn speedups(&self, rules: Rules) -> Vec<f64> {
        let slowed = self.slowed(rules);
        self.pairs.iter().map(|block| ratio(block) / slowed).collect()
    }
}

/// Half of the blocks with the rewrite and one of the others have to be left in each process.
fn too_many(quiet: &[Quiet<'_>], processes: &[ProcessTimes], disturbed: &[Disturbed]) -> Option<NotMeasured> {
    let enough = |(quiet, times): (&Quiet<'_>, &ProcessTimes)| {
        2 * quiet.pairs.len() >= times.pairs.len() && !quiet.control.is_empty() && !quiet.pairs.is_empty()
    };
    if quiet.iter().zip(processes).all(enough) {
        return None;
    }
    let blocks = processes.iter().map(|times| times.control.len() + times.pairs.len()).sum();
    let first = disturbed.first().map_or("no block was timed".to_owned(), |found| found.why.clone());
    Some(NotMeasured::Disturbed { disturbed: disturbed.len(), blocks, first })
}

fn trouble(timing: &Timing, control: &Repeats, rules: Rules, ops: usize) -> Option<NotMeasured> {
    let Estimate { speedup, interval } = timing.control;
    if control.verdict(rules.resolution, 1) != Verdict::Undecided {
        return Some(NotMeasured::Control { speedup, low: interval.low, high: interval.high });
    }
    let (spread, limit) = (interval.spread(), rules.control_spread);
    if spread > limit {
        return Some(NotMeasured::Wide { spread, limit });
    }
    let (wall_us, device_us) = (timing.eager_us, timing.eager_device_us?);
    let limit_us = rules.host_us(ops, device_us);
    (wall_us - device_us > limit_us).then_some(NotMeasured::Host { wall_us, device_us, limit_us })
}

/// How often the other program of a block would have run in the time of eager.
fn ratio(block: &Block) -> f64 {
    middle(&block.eager_ns) / middle(&block.other_ns)
}

/// The median, or not a number where there is nothing.
fn middle(times: &[u64]) -> f64 {
    let mut times: Vec<f64> = times.iter().map(|&time| time as f64).collect();
    if times.is_empty() { f64::NAN } else { median(&mut times) }
}

fn eager_median(blocks: &[&Block]) -> f64 {
    middle(&blocks.iter().flat_map(|block| block.eager_ns.iter().copied()).collect::<Vec<_>>())
}

/// The speedup over the device's time in each process.
fn device_repeats(processes: &[ProcessTimes]) -> Option<Repeats> {
    let speedup = |times: &DeviceTimes| middle(&times.eager_ns) / middle(&times.rewritten_ns);
    let speedups = processes.iter().map(|times| Some(vec![speedup(times.device.as_ref()?)]));
    Repeats::new(&speedups.collect::<Option<Vec<_>>>()?).ok()
}

/// All but the processes themselves.
fn timing(
    quiet: &[Quiet<'_>],
    processes: &[ProcessTimes],
    repeats: [&Repeats; 2],
    device: Option<&Repeats>,
    rules: Rules,
    disturbed: &[Disturbed],
) -> Timing {
    let [pairs, control] = repeats.map(|repeats| repeats.estimate(rules.resolution));
    let blocks = || quiet.iter().flat_map(|process| process.pairs.iter().copied());
    let eager: Vec<u64> = blocks().flat_map(|block| block.eager_ns.iter().copied()).collect();
    let rewritten: Vec<u64> = blocks().flat_map(|block| block.other_ns.iter().copied()).collect();
    let alone: Vec<&Block> = quiet.iter().flat_map(|process| process.control.iter().copied()).collect();
    let drift = eager_median(&alone) / middle(&eager);
    let [eager, rewritten] = [eager, rewritten].map(|times| quartiles_us(&times).unwrap_or([f64::NAN; 3]));
    let of_device = |times: fn(&DeviceTimes) -> &Vec<u64>| {
        let all = processes.iter().filter_map(|process| process.device.as_ref()).flat_map(times).copied();
        device.map(|_| middle(&all.collect::<Vec<_>>()) / 1e3)
    };
    let cold =
        |times: fn(&ProcessTimes) -> &Vec<u64>| middle(&processes.iter().flat_map(times).copied().collect::<Vec<_>>());
    let speedup_cold = cold(|times| &times.eager_cold_ns) / cold(|times| &times.rewritten_cold_ns);
    let name = |found: &Disturbed| format!("process {}, block {}: {}", found.process + 1, found.block + 1, found.why);
    Timing {
        processes: vec![],
        rules: rules.version,
        ops: 0,
        attempts: 1,
        trouble: None,
        disturbed: disturbed.iter().map(name).collect(),
        eager_us: eager[1],
        eager_drift: drift.max(1.0 / drift),
        rewritten_us: rewritten[1],
        eager_iqr_us: eager[2] - eager[0],
        rewritten_iqr_us: rewritten[2] - rewritten[0],
        speedup: pairs.speedup,
        interval: pairs.interval,
        control,
        eager_device_us: of_device(|times| &times.eager_ns),
        rewritten_device_us: of_device(|times| &times.rewritten_ns),
        speedup_device: device.map(|device| device.ln_speedup().exp()),
        speedup_cold: speedup_cold.is_finite().then_some(speedup_cold),
    }
}

#[cfg(test)]
mod tests;
