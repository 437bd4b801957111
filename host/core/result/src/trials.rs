//! What one process measured of a rewrite: blocks of pairs of runs, and what else happened meanwhile.

use serde::{Deserialize, Serialize};

/// Times of one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessTimes {
    /// Pairs of eager and eager once more, by the path that a rewrite takes. The first block and the last.
    pub control: Vec<Block>,
    /// Pairs of eager and the rewrite.
    pub pairs: Vec<Block>,
    /// What the device alone takes; `None` where that could not be told, for the reason in `device_note`.
    pub device: Option<DeviceTimes>,
    /// Why there are no times of the device; empty if there are.
    pub device_note: String,
    /// Eager with cold caches, nanoseconds a run.
    pub eager_cold_ns: Vec<u64>,
    /// The rewrite with cold caches.
    pub rewritten_cold_ns: Vec<u64>,
    /// How the time was taken.
    pub method: String,
    /// Least plausible time of one run.
    pub floor_ns: u64,
}

/// Pairs of runs in an order that favours neither, and what the machine did meanwhile.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Block {
    /// Eager, nanoseconds a run in the order measured.
    pub eager_ns: Vec<u64>,
    /// The other program.
    pub other_ns: Vec<u64>,
    /// What the machine did.
    pub witness: Witness,
}

/// What the machine did during a block.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Witness {
    /// Wall clock of the block.
    pub elapsed_ns: u64,
    /// How long threads of the process were ready to run and had no core, summed over the threads; `None` where the system
    /// does not say.
    pub waited_ns: Option<u64>,
    /// Times that a thread of the process lost its core to something else; `None` where the system does not say.
    pub preempted: Option<u64>,
    /// Rounds of a fixed piece of work between trials: on a CPU on all threads at once, on a GPU an empty launch and a wait.
    pub probes: u32,
    /// How many of these took twice as long as the fastest of the process.
    pub slow_probes: u32,
    /// How long these took. Older documents do not say.
    #[serde(default)]
    pub probe: Option<ProbeTimes>,
    /// Clock of the multiprocessors at the end of the block, where there is a GPU that says so.
    pub clock_mhz: Option<u32>,
    /// Reasons for which a GPU held its clock back, power and idleness left out.
    pub throttled: Vec<String>,
    /// Whether a GPU held its clock back for the power that programs draw. Older documents do not say.
    #[serde(default)]
    pub is_power_bound: bool,
}

/// How long the fixed piece of work between runs took, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeTimes {
    /// The fastest of the process so far.
    pub fastest_ns: u64,
    /// The median of the block.
    pub median_ns: u64,
    /// What more than a quarter of those of the block took at least.
    pub upper_ns: u64,
}

/// What the device alone takes, nanoseconds a run: on a GPU the time between two events around calls that were all queued
/// before the first began, on a CPU the calling thread's time on a core.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DeviceTimes {
    /// Eager.
    pub eager_ns: Vec<u64>,
    /// The rewrite.
    pub rewritten_ns: Vec<u64>,
    /// What the host took to ask a GPU for a run of eager. Older documents do not say.
    #[serde(default)]
    pub eager_host_ns: Vec<u64>,
    /// Likewise of the rewrite.
    #[serde(default)]
    pub rewritten_host_ns: Vec<u64>,
}
