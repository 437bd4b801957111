//! What a pass may know of the device that its rewrite runs on.

use std::fmt;

/// A kind of device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum DeviceKind {
    /// The processor.
    Cpu,
    /// A GPU of NVIDIA.
    Cuda,
}

/// The facts of a device. They are nominal, not measured, so that they are the same in every run on a machine: a pass
/// that decides by them gives the same rewrite again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DeviceFacts {
    /// What it is.
    pub kind: DeviceKind,
    /// Multiprocessors of a GPU; threads that run at a time on a CPU.
    pub multiprocessors: u32,
    /// Bytes of the second-level cache: of all of a GPU, of one core of a CPU.
    pub l2_bytes: u64,
    /// Bytes per second to and from memory.
    pub bandwidth: u64,
    /// Nanoseconds that a kernel costs however small it is.
    pub launch_ns: u32,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Cuda => "cuda",
        })
    }
}

impl fmt::Display for DeviceFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceFacts { kind, multiprocessors, l2_bytes, bandwidth, launch_ns } = self;
        write!(f, "{kind} multiprocessors={multiprocessors} l2={l2_bytes} bandwidth={bandwidth} launch_ns={launch_ns}")
    }
}
