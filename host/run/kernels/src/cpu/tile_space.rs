//! What the tiles of a run share, and the points that steps run on.

use super::index::AxisWalk;
use super::isa::Isa;
use super::load::BoundLoad;
use super::plan::{CpuPlan, CpuSchedule};
use super::store::BoundStore;

/// Walks of the plan's axes over rows, and over rows and inner points.
#[derive(Debug, Clone)]
pub(crate) struct Walks {
    pub(super) row: Vec<AxisWalk>,
    pub(super) inner: Vec<AxisWalk>,
}

impl Walks {
    /// The walks of a plan.
    pub(crate) fn new(plan: &CpuPlan) -> Walks {
        let mut walks = Walks {
            row: vec![AxisWalk::Fixed(0); plan.extents.len()],
            inner: vec![AxisWalk::Fixed(0); plan.extents.len()],
        };
        let mut points = 1;
        for axis in plan.inner_axes.iter().rev() {
            walks.inner[*axis] = AxisWalk::Varies { inner: points, extent: plan.extents[*axis].max(1) };
            points *= plan.extents[*axis].max(1);
        }
        let mut rows = 1;
        for axis in plan.row_axes.iter().rev() {
            let extent = plan.extents[*axis].max(1);
            walks.row[*axis] = AxisWalk::Varies { inner: rows, extent };
            walks.inner[*axis] = AxisWalk::Varies { inner: rows * points, extent };
            rows *= extent;
        }
        walks
    }
}

/// Everything that tiles share.
pub(crate) struct TileSpace<'a> {
    pub(crate) isa: Isa,
    pub(crate) plan: &'a CpuPlan,
    pub(crate) schedule: &'a CpuSchedule,
    pub(crate) walks: &'a Walks,
    pub(crate) loads: &'a [BoundLoad],
    pub(crate) stores: &'a [BoundStore<'a>],
}

/// The points that a list of steps runs on.
#[derive(Clone, Copy)]
pub(super) struct PointBlock {
    /// The first row.
    pub(super) row: i64,
    /// Rows.
    pub(super) count: usize,
    pub(super) points: BlockPoints,
}

/// The points of each row in a block.
#[derive(Clone, Copy)]
pub(super) enum BlockPoints {
    /// The row itself: one lane.
    Row,
    /// This many inner points, from a position on.
    Inner { points: usize, position: i64 },
    /// One inner point, the first of all or a later one.
    Column { first: bool },
}

impl PointBlock {
    /// Lanes of a value over the block.
    pub(super) fn lanes(self) -> usize {
        match self.points {
            BlockPoints::Row | BlockPoints::Column { .. } => self.count,
            BlockPoints::Inner { points, .. } => self.count * points,
        }
    }
}
