//! What the host adds to wall clock, and by how much it may add less in another run of the same host.

use super::counted::CountedRuns;
use crate::ProbeTimes;
use passhost_score::median;

/// The factor by which a speedup may differ in another run, as far as launches between runs say: what the host does for a
/// run takes as many times as long as at its best as a typical launch does, and in another run one of the two programs may find
/// it at its best. `None` where no launch says how long it took.
///
/// `took_us` has a program's wall clock and what the device works of that, where that is known; else all of it may be the
/// host's.
pub(super) fn spread(counted: &[CountedRuns<'_>], took_us: [(f64, Option<f64>); 2]) -> Option<f64> {
    let probes: Vec<ProbeTimes> =
        counted.iter().flat_map(CountedRuns::blocks).filter_map(|block| block.witness.probe).collect();
    let fastest = probes.iter().map(|probe| probe.fastest_ns).min()?.max(1) as f64;
    let typical = median(&mut probes.iter().map(|probe| probe.median_ns as f64).collect::<Vec<_>>());
    let saved = (1.0 - fastest / typical).max(0.0);
    let share = |(wall, device): (f64, Option<f64>)| (1.0 - device.unwrap_or(0.0) / wall).clamp(0.0, 1.0);
    let most = took_us.map(share).into_iter().fold(0.0, f64::max);
    Some(1.0 / (1.0 - most * saved))
}
