//! What is asked of a measurement on one kind of device, and what two files of this module calculate with.

use crate::document::Timing;
use passhost_score::median;

/// What is asked of a measurement on one kind of device.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Of the rules themselves.
    pub(super) version: u32,
    pub(super) is_gpu: bool,
    /// The factor within which equal measurements on other days lie, on a host whose launches take as long as ever.
    pub(super) resolution: f64,
    /// The same of the device's time.
    pub device_resolution: f64,
    /// How far, as a factor, the interval of eager against itself may reach to each side.
    pub(super) control_spread: f64,
    /// Eager beside the rewrite this much slower than beside itself was slowed down by the rewrite, and the faster of the
    /// two counts.
    pub(super) drift: f64,
}

pub(super) const CPU: Rules = Rules {
    version: Timing::RULES,
    is_gpu: false,
    resolution: 1.04,
    device_resolution: 1.03,
    control_spread: 1.5,
    drift: 1.05,
};

pub(super) const GPU: Rules = Rules {
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
    pub(super) fn is_first(self) -> bool {
        self.version < 2
    }

    /// The factor within which equal measurements of this host lie, where a run of it says that it differs by so much.
    pub fn resolution_on(self, host_spread: Option<f64>) -> f64 {
        self.resolution.max(host_spread.unwrap_or(1.0))
    }

    /// That of a score of several variants, whose host was the same: the geometric mean.
    pub fn resolution_of(self, resolutions: impl Iterator<Item = f64>) -> f64 {
        let logarithms: Vec<f64> = resolutions.map(f64::ln).collect();
        if logarithms.is_empty() { self.resolution } else { mean(logarithms.into_iter()).exp() }
    }

    /// What eager of so many ops may take beside its device, microseconds. What equal measurements differ by says nothing
    /// of the host.
    pub(super) fn host_us(self, ops: usize, device_us: f64) -> f64 {
        let differs = if self.is_first() { 0.0 } else { (self.resolution - 1.0) * device_us };
        HOST_US * (1.0 + ops as f64) + differs
    }
}

/// What eager may take beyond the device's own time, in microseconds: once, and for each op.
const HOST_US: f64 = 25.0;

/// Why there is no measurement. The machine's doing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum NotMeasured {
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

/// The median, or not a number where there is nothing.
pub(super) fn middle(times: &[u64]) -> f64 {
    let mut times: Vec<f64> = times.iter().map(|&time| time as f64).collect();
    if times.is_empty() { f64::NAN } else { median(&mut times) }
}

pub(super) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}
