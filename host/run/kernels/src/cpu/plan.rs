//! From a verified kernel to steps over lanes.
//!
//! The plan splits the axes into *row* axes and *inner* axes. For a kernel that reduces, the inner axes are the reduce
//! axes. For a map they are the axes along which costly values stay the same (a gate that is broadcast over an image), or
//! there are none, and each row is one point.
//!
//! A *segment* is what lies between two reductions: steps on rows, then steps on the inner points of rows, on a strip of
//! some hundred of them after the other. A *tile* is the rows that go through all segments together. What a later segment
//! needs of an earlier one is kept for the tile, or computed anew.

mod build;
mod chains;
mod loads;
mod schedule;

use super::axes::split_axes;
use super::chain::Chain;
use super::compute::Code;
use super::contraction::ContractionPlan;
use crate::access::{IndexForm, KernelAnalysis};
use build::PlanBuilder;
use passhost_ir::kernel::{IndexId, ReduceOp, ScanOp};
use passhost_ir::{Dtype, Kernel};

/// Where a value lives. In a schedule the number is that of a constant or a buffer, before that the value's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// The same everywhere.
    Const(usize),
    /// One lane for each row of a tile.
    Row(usize),
    /// One lane for each point of a strip.
    Point(usize),
    /// One lane for each point of a tile.
    Kept(usize),
}

/// What a step does.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Compute(Code),
    /// Several computations in one loop; a source on rows serves their points.
    Chain(Chain),
    /// Repeats each row's lane at all its points.
    Spread,
    /// Reads an input: a position in [`CpuPlan::loads`].
    Load(usize),
    /// Evaluates an index expression that is affine in the axes: a position in [`CpuPlan::positions`].
    Positions(usize),
    /// Reduces elements of a type.
    Reduce(ReduceOp, Dtype),
    /// Scans elements of a type, with the carry of this number.
    Scan(ScanOp, Dtype, usize),
    /// Writes an output: a position in the kernel's stores.
    Store(usize),
}

/// One step: reads `sources`, writes `target`.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) action: Action,
    /// Where the result goes; a store names its source.
    pub(crate) target: Place,
    /// The positions of a reduction that gives one; the results of a chain that is summed, where others read them.
    pub(crate) places: Option<Place>,
    pub(crate) sources: Vec<Place>,
    /// The narrow float type that `f32` results are rounded to.
    pub(crate) round: Option<Dtype>,
    /// The output that the result is written to, where nothing else reads it; at once, where memory allows.
    pub(crate) into: Option<usize>,
}

impl Step {
    /// Steps that it stands for.
    fn cost(&self) -> u64 {
        if let Action::Chain(chain) = self.action { chain.steps() as u64 } else { 1 }
    }
}

/// Steps on rows, then steps on points.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segment {
    pub(crate) row: Vec<Step>,
    pub(crate) point: Vec<Step>,
}

/// Lanes behind those of a buffer, so that loops over buffers need not stop in the middle of a vector.
pub(crate) const SPARE: usize = 64;

/// A buffer, of one lane for each row, point of a strip or point of a tile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotPlan {
    pub(crate) lanes: usize,
    /// Bytes of a lane.
    pub(crate) size: usize,
}

/// The steps of a way to visit the points, with the buffers they need.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    /// Whether a strip is rows side by side at one inner point; otherwise it is whole rows or a part of one.
    pub(crate) columns: bool,
    /// Rows of a strip.
    pub(crate) strip_rows: usize,
    /// Rows of a tile.
    pub(crate) tile_rows: usize,
    /// Points of a strip.
    pub(crate) strip: usize,
    /// Steps whose results are the same in every strip: they run once.
    pub(crate) once: Segment,
    pub(crate) segments: Vec<Segment>,
    pub(crate) slots: Vec<SlotPlan>,
}

/// What a load reads of an input.
#[derive(Debug, Clone)]
pub(crate) struct PiecePlan {
    pub(crate) input: usize,
    /// Dimensions whose indices are affine, and in bounds wherever the piece is read.
    pub(crate) affine: Vec<(usize, IndexId)>,
    /// The positions along each axis at which it is read: from, and below.
    pub(crate) limits: Vec<(i64, i64)>,
}

/// A load, in terms of the kernel's axes.
#[derive(Debug, Clone)]
pub(crate) struct LoadPlan {
    pub(crate) pieces: Vec<PiecePlan>,
    /// Dimensions of the only piece whose indices are guarded for each point.
    pub(crate) guarded: Vec<usize>,
    /// The element outside; none where indices are clamped.
    pub(crate) pad: Option<u64>,
    /// Whether it ranges over points, not rows.
    pub(crate) point: bool,
    /// Bytes of an element.
    pub(crate) size: usize,
}

/// A literal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Literal {
    pub(crate) bits: u64,
    pub(crate) size: usize,
}

/// A kernel made ready.
#[derive(Debug, Clone)]
pub(crate) struct CpuPlan {
    /// Row axes, outermost first, in the order of the visit.
    pub(crate) row_axes: Vec<usize>,
    /// Inner axes, outermost first.
    pub(crate) inner_axes: Vec<usize>,
    /// Extents of all axes.
    pub(crate) extents: Vec<i64>,
    pub(crate) rows: i64,
    /// Inner points of a row.
    pub(crate) length: i64,
    /// Extent of the last inner axis.
    pub(crate) last_inner: i64,
    /// The form of each index expression.
    pub(crate) forms: Vec<IndexForm>,
    pub(crate) loads: Vec<LoadPlan>,
    /// The affine index expressions that steps evaluate, and whether for points.
    pub(crate) positions: Vec<(IndexId, bool)>,
    pub(crate) literals: Vec<Literal>,
    /// Scans.
    pub(crate) carries: usize,
    pub(crate) schedule: Schedule,
    /// With rows side by side, for a kernel that reduces short of scans.
    pub(crate) columns: Option<Schedule>,
    /// For a contraction: its tiles, and `columns` has what follows them.
    pub(crate) contraction: Option<ContractionPlan>,
    /// Steps per point, roughly.
    pub(crate) cost: u64,
    pub(crate) tuning: StripSizes,
}

/// Sizes that decide how points are visited.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StripSizes {
    /// Points of a strip: long enough to hide what a step costs, short enough for the cache nearest the core.
    pub(crate) strip: usize,
    /// Points of a tile of short rows.
    pub(crate) tile: usize,
    /// Bytes that may be kept for a row that is longer than a strip: they should stay in the second-level cache.
    pub(crate) kept_bytes: usize,
    /// Whether rows are side by side wherever they can be, not only where memory asks for it.
    pub(crate) always_columns: bool,
    /// Steps on single points from which on another thread is worth waking.
    pub(crate) parallel_cost: u64,
}

impl Default for StripSizes {
    fn default() -> StripSizes {
        StripSizes { strip: 2048, tile: 8192, kept_bytes: 256 << 10, always_columns: false, parallel_cost: 100_000 }
    }
}

impl CpuPlan {
    /// The plan of a kernel that [`verify`](passhost_ir::kernel::verify) let through.
    pub(crate) fn new(kernel: &Kernel, tuning: StripSizes) -> CpuPlan {
        let analysis = KernelAnalysis::new(kernel);
        let (row_axes, inner_axes) = split_axes(kernel, &analysis, tuning.strip as i64);
        let mut builder = PlanBuilder::new(kernel, &analysis, &row_axes, &inner_axes, tuning);
        builder.build();
        let schedule = builder.schedule();
        let contraction = ContractionPlan::of(kernel, &analysis, [&row_axes, &inner_axes], &builder.extents);
        // Sums, and what follows from them.
        let in_tiles =
            contraction.map(|tiles| (tiles, builder.behind())).filter(|(_, behind)| behind.segments.len() == 2);
        let (contraction, behind) = in_tiles.unzip();
        let columns = behind.or_else(|| builder.columns());
        CpuPlan {
            rows: builder.rows,
            length: builder.length,
            last_inner: inner_axes.last().map_or(1, |axis| builder.extents[*axis]),
            row_axes,
            inner_axes,
            cost: schedule.segments.iter().flat_map(|segment| &segment.point).map(|step| step.cost()).sum(),
            columns,
            contraction,
            schedule,
            extents: builder.extents,
            loads: builder.loads,
            positions: builder.positions,
            literals: builder.literals,
            carries: builder.carries,
            forms: analysis.forms,
            tuning,
        }
    }
}
