//! Times of one variant, as the document has them and as they are shown.

use crate::ProcessTimes;
use passhost_score::{Estimate, Interval};
use serde::{Deserialize, Serialize};

/// Times of one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// What each process measured.
    pub processes: Vec<ProcessTimes>,
    /// Version of the rules by which the numbers follow from that. Older documents do not say: the first.
    #[serde(default = "first")]
    pub rules: u32,
    /// How often it was timed until the machine did nothing else; what was measured before that is not here.
    pub attempts: u32,
    /// Ops of eager's program, by which the host's part of its time is judged.
    pub ops: usize,
    /// Why all this is no measurement: the machine did something else. Nothing is scored then.
    pub trouble: Option<String>,
    /// Blocks that do not count because the machine did something else meanwhile, and what, in words.
    pub disturbed: Vec<String>,
    /// Eager beside the rewrite, less what the rewrite slowed it down by, microseconds: by the same means as the speedup, which
    /// is this over `rewritten_us`. By the first rules the median of all runs that count.
    pub eager_us: f64,
    /// Ratio, at least 1, of the medians of eager beside itself and beside the rewrite. Far above 1 either the machine changed
    /// its speed, or the rewrite slowed eager down: then the faster of the two counts.
    pub eager_drift: f64,
    /// The rewrite, likewise.
    pub rewritten_us: f64,
    /// Interquartile range of eager's, microseconds.
    pub eager_iqr_us: f64,
    /// Interquartile range of the rewrite's, microseconds.
    pub rewritten_iqr_us: f64,
    /// The geometric mean over processes and blocks of eager's median over the rewrite's.
    pub speedup: f64,
    /// Covers it in 95% of all measurements of a host that is as this run found it.
    pub interval: Interval,
    /// The same of eager against itself by the path that a rewrite takes.
    pub control: Estimate,
    /// The factor by which another run of the same host may differ, by what its launches took beside the fastest of them and its
    /// share of wall clock. Where it is above the resolution of the device, the interval is as wide. Of a GPU alone; older
    /// documents do not say.
    #[serde(default)]
    pub host_spread: Option<f64>,
    /// What eager's device works, microseconds, the geometric mean over processes of medians; absent where that could not be told
    /// in every process. By the first rules the median of all.
    pub eager_device_us: Option<f64>,
    /// What the rewrite's device works, likewise.
    pub rewritten_device_us: Option<f64>,
    /// The first over the second, the geometric mean over processes.
    pub speedup_device: Option<f64>,
    /// The speedup with cold caches.
    pub speedup_cold: Option<f64>,
}

fn first() -> u32 {
    1
}

impl Timing {
    /// The rules that are in force.
    pub const RULES: u32 = 2;
    /// How far, as a factor, an interval may reach to each side for its middle to say anything.
    const TOO_NOISY: f64 = 2.0;
    /// How far, as a factor, the quotient of the times may be from the speedup.
    const CONTRADICTION: f64 = 1.25;

    /// The times and the speedup, where they can be shown beside each other: `None` where they are too noisy to say anything.
    pub fn shown(&self) -> Option<ShownTimes> {
        let &Timing { eager_us, rewritten_us, speedup, interval, .. } = self;
        let agree = Interval { low: speedup / Timing::CONTRADICTION, high: speedup * Timing::CONTRADICTION };
        let are_times = [eager_us, rewritten_us, speedup].iter().all(|time| time.is_finite() && *time > 0.0);
        let is_said = are_times && interval.spread() <= Timing::TOO_NOISY && agree.contains(eager_us / rewritten_us);
        is_said.then_some(ShownTimes { eager_us, rewritten_us, speedup, interval })
    }
}

/// Times that contradict nothing: each is positive, and the speedup is the one over the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShownTimes {
    /// [`Timing::eager_us`].
    pub eager_us: f64,
    /// [`Timing::rewritten_us`].
    pub rewritten_us: f64,
    /// [`Timing::speedup`].
    pub speedup: f64,
    /// [`Timing::interval`].
    pub interval: Interval,
}

/// The quartiles of some times in nanoseconds, in microseconds: 25%, 50%, 75%. `None` of no samples.
pub fn quartiles_us(samples: &[u64]) -> Option<[f64; 3]> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().checked_sub(1)?;
    // Linear interpolation between order statistics; the middle one is the usual median.
    Some([0.25, 0.5, 0.75].map(|share| {
        let position = share * last as f64;
        let (low, high) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
        (low as f64 + (high as f64 - low as f64) * position.fract()) / 1e3
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_interpolate_between_samples() {
        assert_eq!(quartiles_us(&[4000, 1000, 3000, 2000]), Some([1.75, 2.5, 3.25]));
        assert_eq!(quartiles_us(&[7000]), Some([7.0, 7.0, 7.0]));
        assert_eq!(quartiles_us(&[]), None);
    }
}
