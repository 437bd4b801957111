//! What the times of several processes say of a rewrite, and whether they say anything: a machine that does something else
//! meanwhile gives numbers, not a measurement.

mod counted;
mod disturbance;
mod host;
mod rules;

use crate::document::{Timing, quartiles_us};
use crate::{DeviceTimes, ProcessTimes};
use counted::{CountedProcesses, CountedRuns};
use disturbance::{Disturbed, disturbed};
use passhost_score::{Estimate, Repeats, ScoreError, Verdict};
pub use rules::Rules;
use rules::{NotMeasured, mean, middle};

/// What came of timing a variant.
pub struct Measured {
    /// As the document has it.
    pub timing: Timing,
    /// Behind it.
    pub speedups: Speedups,
}

/// Speedups of a variant, in each block of each process.
#[derive(Debug, Clone, PartialEq)]
pub struct Speedups {
    /// Of wall clock.
    pub wall: Repeats,
    /// Of the device's time, where every process has it.
    pub device: Option<Repeats>,
    /// The factor within which equal measurements of this host lie, by wall clock.
    pub resolution: f64,
}

/// What eager took beside the rewrite: what the speedups are against. Where the rewrite slowed eager down by wall clock, that
/// is taken off.
#[derive(Debug, Clone, PartialEq)]
pub struct EagerTimes {
    /// By wall clock over all processes, microseconds.
    pub us: f64,
    /// By wall clock in each process by itself: logarithms of microseconds.
    pub wall: Vec<f64>,
    /// By the device's time, where every process has it.
    pub device: Option<Vec<f64>>,
}

impl EagerTimes {
    /// Those of a measurement on a device, `cpu` or `cuda:0`, in which noise was accepted or not.
    pub fn of(timing: &Timing, device: &str, accept_noise: bool) -> EagerTimes {
        let rules = Rules::of(device).of_then(timing);
        let disturbed = disturbed_of(&timing.processes, timing.ops, accept_noise, rules);
        let counted = CountedProcesses::of(&timing.processes, &disturbed, accept_noise, rules).processes;
        let ln_us = |nanoseconds: f64| (nanoseconds / 1e3).ln();
        let wall = |process: &CountedRuns<'_>| match rules.is_first() {
            true => ln_us(middle(&process.eager_ns()) / process.slowed(rules)),
            false => process.ln_times(rules)[0] - 1e3f64.ln(),
        };
        let of_device = |process: &ProcessTimes| Some(ln_us(middle(&process.device.as_ref()?.eager_ns)));
        // What a rewrite slowed it down by was in the time of the first rules.
        let slowed = counted.iter().map(|process| if rules.is_first() { process.slowed(rules).ln() } else { 0.0 });
        EagerTimes {
            us: timing.eager_us / mean(slowed).exp(),
            wall: counted.iter().map(wall).collect(),
            device: timing.processes.iter().map(of_device).collect(),
        }
    }
}

/// Looks at the times of all processes of a program of so many ops. With `accept_noise` there is no trouble.
///
/// # Errors
///
/// If the times give no speedup.
pub fn measured(
    processes: Vec<ProcessTimes>,
    rules: Rules,
    ops: usize,
    accept_noise: bool,
) -> Result<Measured, ScoreError> {
    let disturbed = disturbed_of(&processes, ops, accept_noise, rules);
    let CountedProcesses { processes: counted, trouble: too_many } =
        CountedProcesses::of(&processes, &disturbed, accept_noise, rules);
    let control = Repeats::new(&counted.iter().map(CountedRuns::control).collect::<Vec<_>>())?;
    let wall = Repeats::new(&counted.iter().map(|process| process.speedups(rules)).collect::<Vec<_>>())?;
    let device = device_repeats(&processes);
    let timing = timing(&counted, &processes, [&wall, &control], device.as_ref(), rules, &disturbed);
    let trouble = too_many.or_else(|| if accept_noise { None } else { trouble(&timing, &control, rules, ops) });
    let timing = Timing { processes, ops, trouble: trouble.map(|trouble| trouble.to_string()), ..timing };
    let resolution = rules.resolution_on(timing.host_spread);
    Ok(Measured { timing, speedups: Speedups { wall, device, resolution } })
}

/// The blocks that something disturbed. By the first rules nothing did where noise was accepted.
fn disturbed_of(processes: &[ProcessTimes], ops: usize, accept_noise: bool, rules: Rules) -> Vec<Disturbed> {
    if accept_noise && rules.is_first() { vec![] } else { disturbed(processes, ops, rules) }
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

/// The speedup over the device's time in each process.
fn device_repeats(processes: &[ProcessTimes]) -> Option<Repeats> {
    let speedup = |times: &DeviceTimes| middle(&times.eager_ns) / middle(&times.rewritten_ns);
    let speedups = processes.iter().map(|times| Some(vec![speedup(times.device.as_ref()?)]));
    Repeats::new(&speedups.collect::<Option<Vec<_>>>()?).ok()
}

/// All but the processes themselves. Times are geometric means over processes and blocks of medians, as the speedup is.
fn timing(
    counted: &[CountedRuns<'_>],
    processes: &[ProcessTimes],
    repeats: [&Repeats; 2],
    device: Option<&Repeats>,
    rules: Rules,
    disturbed: &[Disturbed],
) -> Timing {
    let eager: Vec<u64> = counted.iter().flat_map(|process| process.eager_ns()).collect();
    let rewritten: Vec<u64> = counted.iter().flat_map(|process| process.rewritten_ns()).collect();
    let alone: Vec<u64> = counted.iter().flat_map(|process| process.eager_alone()).collect();
    let drift = middle(&alone) / middle(&eager);
    let [eager, rewritten] = [eager, rewritten].map(|times| quartiles_us(&times).unwrap_or([f64::NAN; 3]));
    let us_of = |at: usize| mean(counted.iter().map(|process| process.ln_times(rules)[at])).exp() / 1e3;
    let [eager_us, rewritten_us] = if rules.is_first() { [eager[1], rewritten[1]] } else { [us_of(0), us_of(1)] };
    let of_device = |of: fn(&DeviceTimes) -> &Vec<u64>| {
        let times: Vec<&Vec<u64>> = processes.iter().filter_map(|process| Some(of(process.device.as_ref()?))).collect();
        let us = match rules.is_first() {
            true => middle(&times.iter().flat_map(|times| times.iter().copied()).collect::<Vec<u64>>()),
            false => mean(times.iter().map(|times| middle(times).ln())).exp(),
        };
        device.map(|_| us / 1e3)
    };
    let took_us =
        [(eager_us, of_device(|times| &times.eager_ns)), (rewritten_us, of_device(|times| &times.rewritten_ns))];
    let host_spread = if rules.is_gpu && !rules.is_first() { host::spread(counted, took_us) } else { None };
    let [wall, control] = repeats;
    let pairs = wall.estimate(rules.resolution_on(host_spread));
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
        eager_us,
        eager_drift: drift.max(1.0 / drift),
        rewritten_us,
        eager_iqr_us: eager[2] - eager[0],
        rewritten_iqr_us: rewritten[2] - rewritten[0],
        speedup: pairs.speedup,
        interval: pairs.interval,
        control: control.estimate(rules.resolution),
        host_spread,
        eager_device_us: took_us[0].1,
        rewritten_device_us: took_us[1].1,
        speedup_device: device.map(|device| device.ln_speedup().exp()),
        speedup_cold: speedup_cold.is_finite().then_some(speedup_cold),
    }
}

#[cfg(test)]
mod tests;
