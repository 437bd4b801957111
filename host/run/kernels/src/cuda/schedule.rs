//! Which threads compute what.

use super::contraction::Contraction;
use super::scans::most_together;
use super::space::AxisDomain;
use super::split::RowSplit;
use super::tiles::{THREADS, Tiles};

/// Bytes of a thread's registers that the elements of a scan may take.
pub(super) const SCANNED_BYTES: u64 = 64;

/// What forms of kernels are called where they are counted.
pub const FORMS: [&str; 12] = [
    "map",
    "columns",
    "columns in a cluster",
    "columns of many blocks",
    "rows",
    "rows in a cluster",
    "rows of many blocks",
    "scan by a thread",
    "scan by a block",
    "scan by many blocks",
    "products in tiles",
    "products on tensor cores",
];

/// The form of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScheduleForm {
    /// Each thread computes `lanes` neighbouring rows, and the points of a row one after the other. `deep` threads share
    /// them. A map has nothing but rows.
    Columns {
        /// Threads along the rows.
        wide: u32,
        /// Threads that share the points of a row.
        deep: u32,
        /// Rows per thread.
        lanes: u32,
    },
    /// `threads` neighbouring threads compute a row, each in turn `lanes` neighbouring points of it.
    Rows {
        /// Threads per row; a power of two.
        threads: u32,
        /// Rows per block.
        rows: u32,
        /// Points per thread and turn.
        lanes: u32,
        /// Turns that a row takes.
        turns: u32,
        /// Whether what a later pass needs is kept in registers; otherwise it is computed anew.
        kept: bool,
    },
}

/// The form of a kernel with its domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) form: ScheduleForm,
    pub(super) rows: AxisDomain,
    pub(super) points: AxisDomain,
    pub(super) split: RowSplit,
    /// Squares of points by which inputs are read, if any.
    pub(super) tiles: Option<Tiles>,
    /// How products are added up by tiles, where they are.
    pub(super) contraction: Option<Contraction>,
}

impl Schedule {
    pub(super) fn whole(form: ScheduleForm, rows: AxisDomain, points: AxisDomain) -> Schedule {
        Schedule { form, rows, points, split: RowSplit::Whole, tiles: None, contraction: None }
    }

    /// The same points, by tiles.
    pub(super) fn by_tiles(self, tiles: Tiles) -> Schedule {
        let form = ScheduleForm::Columns { wide: THREADS, deep: 1, lanes: tiles.lanes };
        Schedule { form, tiles: Some(tiles), ..self }
    }

    /// The same rows and points as tiles of sums.
    pub(super) fn contracted(rows: AxisDomain, points: AxisDomain, contraction: Contraction) -> Schedule {
        let form = ScheduleForm::Columns { wide: contraction.tile.threads(), deep: 1, lanes: 1 };
        let split = match contraction.parts {
            1 => RowSplit::Whole,
            blocks => RowSplit::Cluster { blocks },
        };
        Schedule { contraction: Some(contraction), split, ..Schedule::whole(form, rows, points) }
    }

    /// Threads of a block along the rows, and along the points of a row.
    pub(super) fn sides(&self) -> (u32, u32) {
        match self.form {
            ScheduleForm::Columns { wide, deep, .. } => (wide, deep),
            ScheduleForm::Rows { threads, rows, .. } => (rows, threads),
        }
    }

    /// Threads of a block.
    pub(super) fn threads(&self) -> u32 {
        let (across, shared) = self.sides();
        across * shared
    }

    /// One of [`FORMS`], for a kernel that scans or does not.
    pub(super) fn name(&self, scans: bool) -> &'static str {
        if let Some(contraction) = &self.contraction {
            return if contraction.uses_tensor_cores() { "products on tensor cores" } else { "products in tiles" };
        }
        match (self.form, self.split) {
            (_, RowSplit::Scanned { .. }) => "scan by many blocks",
            (ScheduleForm::Columns { .. }, _) if scans => "scan by a thread",
            (ScheduleForm::Rows { .. }, _) if scans => "scan by a block",
            _ if self.points.axes.is_empty() => "map",
            (ScheduleForm::Columns { .. }, RowSplit::Whole) => "columns",
            (ScheduleForm::Columns { .. }, RowSplit::Cluster { .. }) => "columns in a cluster",
            (ScheduleForm::Columns { .. }, RowSplit::Last { .. }) => "columns of many blocks",
            (ScheduleForm::Rows { .. }, RowSplit::Whole) => "rows",
            (ScheduleForm::Rows { .. }, RowSplit::Cluster { .. }) => "rows in a cluster",
            (ScheduleForm::Rows { .. }, RowSplit::Last { .. }) => "rows of many blocks",
        }
    }

    /// Blocks of the grid.
    pub(super) fn blocks(&self) -> u64 {
        if let Some(tiles) = &self.tiles {
            return tiles.blocks();
        }
        if let Some(contraction) = &self.contraction {
            return contraction.blocks();
        }
        self.rows.points().div_ceil(self.rows_per_block()) * u64::from(self.split.blocks())
    }

    /// Rows of a block.
    pub(super) fn rows_per_block(&self) -> u64 {
        match self.form {
            ScheduleForm::Columns { wide, lanes, .. } => u64::from(wide) * u64::from(lanes),
            ScheduleForm::Rows { rows, .. } => rows.into(),
        }
    }

    /// Turns that a scan of so large values takes between two barriers: they divide those of a row. All of them where
    /// blocks share it.
    pub(super) fn turns_together(&self, bytes: u64) -> u32 {
        let ScheduleForm::Rows { lanes, turns, .. } = self.form else { return 1 };
        match self.split {
            RowSplit::Scanned { .. } => turns,
            _ => most_together(SCANNED_BYTES, lanes, bytes).min(1 << turns.trailing_zeros().min(30)),
        }
    }

    /// Bytes of a block's shared memory that reductions of so large accumulators take.
    pub(super) fn shared_bytes(&self, accumulator: u64) -> u64 {
        match self.form {
            ScheduleForm::Columns { deep: 1, .. } => 0,
            ScheduleForm::Columns { wide, deep, lanes, .. } => {
                // The threads of a warp that share a column need none.
                let of_warp = if 32 % wide == 0 && wide * deep >= 32 { 32 / wide } else { 1 };
                u64::from(wide * deep / of_warp * lanes) * accumulator
            }
            ScheduleForm::Rows { threads, .. } if threads <= 32 => 0,
            ScheduleForm::Rows { .. } => u64::from(self.threads() / 32) * accumulator,
        }
    }

    /// The domain that lanes are neighbours along, and the other.
    pub(super) fn along(&self) -> (&AxisDomain, &AxisDomain) {
        match self.form {
            ScheduleForm::Columns { .. } => (&self.rows, &self.points),
            ScheduleForm::Rows { .. } => (&self.points, &self.rows),
        }
    }

    /// Lanes of a thread.
    pub(super) fn lanes(&self) -> u32 {
        match self.form {
            ScheduleForm::Columns { lanes, .. } | ScheduleForm::Rows { lanes, .. } => lanes,
        }
    }
}
