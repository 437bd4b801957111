//! How far from what the device allows: the speed of light, which is what moving the bytes takes.

use crate::entry::GraphItem;
use crate::part::MeanSpeedup;
use passhost_ir::DeviceKind;
use passhost_result::document::{Document, Launch, Variant};
use serde::Serialize;

/// Microseconds that an empty kernel keeps a GPU busy, between two events around it; measured on an H200.
pub const KERNEL_US: f64 = 1.8;
/// Microseconds from one wait for a GPU to the next with an empty kernel that is launched in between; measured on an H200.
pub const CALL_US: f64 = 8.5;

/// The least that a graph takes as one kernel: its inputs and outputs are moved once, at the nominal bandwidth of the device
/// that its document names. What it calculates is taken to cost nothing. What fits the second-level cache may be faster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Floor {
    /// Microseconds that moving the bytes takes.
    pub bytes_us: f64,
    /// These behind [`KERNEL_US`]: the device's own time.
    pub device_us: f64,
    /// These behind [`CALL_US`]: a reference time by wall clock, with a wait for the device. It is no bound. `None` where
    /// programs are captured: to launch them takes another time, which was not measured.
    pub wall_us: Option<f64>,
}

impl Floor {
    /// The floor of a graph; `None` where the document has no bytes, or the device is no GPU: nothing like it was measured
    /// for others.
    pub(crate) fn of(document: &Document, variant: &Variant) -> Option<Floor> {
        let facts = document.job.device.as_ref()?.facts;
        let bytes = variant.bytes.filter(|_| facts.kind == DeviceKind::Cuda && facts.bandwidth > 0)?;
        let bytes_us = bytes as f64 / facts.bandwidth as f64 * 1e6;
        let wall_us = (document.launch() == Launch::Stream).then_some(CALL_US + bytes_us);
        Some(Floor { bytes_us, device_us: KERNEL_US + bytes_us, wall_us })
    }
}

/// The speed of light over some graphs, by both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct SpeedOfLight {
    /// Of the reference time by wall clock; `None` where programs are captured.
    pub wall: Option<FloorShare>,
    /// By the device's own time.
    pub device: Option<FloorShare>,
}

/// Which share of the speed of light is reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FloorShare {
    /// The floor over the time, in the geometric mean over graphs.
    pub mean: f64,
    /// Graphs that it is over: right ones whose time and floor are known.
    pub graphs: usize,
    /// Graphs of these that take less than the floor.
    pub beyond: usize,
}

impl SpeedOfLight {
    /// Over the right ones of some graphs.
    pub(crate) fn of(items: &[&GraphItem<'_>]) -> SpeedOfLight {
        let share = |of: &dyn Fn(&GraphItem<'_>, Floor) -> Option<f64>| {
            let right = items.iter().filter(|item| item.is_right());
            FloorShare::of(right.filter_map(|item| of(item, Floor::of(item.document, item.variant)?)).collect())
        };
        SpeedOfLight {
            wall: share(&|item, floor| Some(floor.wall_us? / item.measured()?.rewritten_us)),
            device: share(&|item, floor| Some(floor.device_us / item.measured()?.rewritten_device_us?)),
        }
    }
}

impl FloorShare {
    fn of(shares: Vec<f64>) -> Option<FloorShare> {
        let shares: Vec<f64> = shares.into_iter().filter(|share| share.is_finite() && *share > 0.0).collect();
        let MeanSpeedup { graphs, speedup: mean } = MeanSpeedup::of(shares.iter().copied())?;
        Some(FloorShare { mean, graphs, beyond: shares.iter().filter(|share| **share > 1.0).count() })
    }
}
