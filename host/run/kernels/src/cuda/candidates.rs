//! Other schedules that a kernel may have in place of its default, to be measured (`--tune`).
//!
//! All candidates of a kernel give the same bits. So they differ in what the order of no reduction depends on:
//!
//! - how many rows that lie side by side a thread and a block have, where a thread goes along rows;
//! - how many whole rows a block has, where threads go along a row;
//! - whether values are kept in registers between passes, or computed anew by the same instructions;
//! - whether inputs are read, or outputs written, by squares;
//! - how large the tiles of a product are.
//!
//! How many threads and blocks share a row, and how many of its points a thread has at a time, is the order in which the
//! row is added up. It stays, unless every reduction and scan of the kernel gives the same in any order: those of
//! integers and bools, positions, and extrema of `f32`, of which a NaN is always the same one and -0 is below 0.

use super::chooser::{Chooser, KEPT_REGISTERS, REGISTERS};
use super::contraction::{Contraction, PartOf, SumTile};
use super::schedule::{Schedule, ScheduleForm};
use super::split::RowSplit;
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Op, ReduceOp, Reg};
use std::fmt;

/// Schedules that a kernel is measured in, at most.
pub const MOST_CANDIDATES: usize = 8;

/// Neighbouring rows or points that a thread has at most.
const MOST_LANES: u32 = 8;
/// Threads of a block, at most.
const MOST_THREADS: u32 = 1024;

impl Chooser<'_> {
    /// The default schedule, then others, all different.
    pub(super) fn candidates(&self) -> Vec<Schedule> {
        let default = self.schedule();
        let others = match default.form {
            _ if default.contraction.is_some() => self.by_tiles(),
            _ if default.tiles.is_some() => self.untiled(&default),
            ScheduleForm::Columns { .. } => self.other_columns(&default),
            ScheduleForm::Rows { .. } => self.other_rows(&default),
        };
        let mut candidates = vec![default];
        for other in others {
            let is_grid = i32::try_from(other.blocks()).is_ok();
            if is_grid && candidates.len() < MOST_CANDIDATES && !candidates.contains(&other) {
                candidates.push(other);
            }
        }
        candidates
    }

    /// Each point by itself, reading inputs and writing outputs where they lie.
    fn untiled(&self, default: &Schedule) -> Vec<Schedule> {
        let map = self.map(default.rows.clone());
        [vec![map.clone()], self.other_columns(&map)].concat()
    }

    /// More or fewer rows side by side, in a thread or in a block.
    fn other_columns(&self, default: &Schedule) -> Vec<Schedule> {
        let ScheduleForm::Columns { wide, deep, lanes } = default.form else { return vec![] };
        let doubled = |number: u32, times: i32| match times {
            0.. => Some(number << times),
            _ => number.is_multiple_of(1 << -times).then(|| number >> -times),
        };
        let changes = [(0, -1), (0, 1), (1, 0), (-1, 0), (1, -1), (-1, 1), (2, 0), (-2, 0), (0, -2), (2, -2)];
        let forms = changes.into_iter().filter_map(|(of_wide, of_lanes)| {
            let (wide, lanes) = (doubled(wide, of_wide)?, doubled(lanes, of_lanes)?);
            Some(Schedule { form: ScheduleForm::Columns { wide, deep, lanes }, ..default.clone() })
        });
        forms.filter(|schedule| self.has_room_for_columns(schedule, default.threads())).collect()
    }

    /// Whether a block of columns fits a multiprocessor and the rows, where the default has so many threads.
    fn has_room_for_columns(&self, schedule: &Schedule, default: u32) -> bool {
        let ScheduleForm::Columns { wide, deep, lanes, .. } = schedule.form else { return false };
        let (threads, rows) = (wide * deep, schedule.rows.points());
        let accumulator = self.accumulator_bytes();
        let columns = u64::from(wide * lanes);
        let whole = Schedule { split: RowSplit::Whole, ..schedule.clone() };
        (default.min(32)..=MOST_THREADS).contains(&threads)
            && lanes <= MOST_LANES
            && rows.is_multiple_of(u64::from(lanes))
            && columns < 2 * rows
            && u64::from(threads) * self.column_registers(lanes) <= REGISTERS
            && whole.shared_bytes(accumulator) <= self.device.shared_bytes_per_block()
            && self.is_shared_alike(schedule, &whole, columns)
    }

    /// Whether blocks can share rows as they do by default, where each block has `together` of them.
    fn is_shared_alike(&self, schedule: &Schedule, whole: &Schedule, together: u64) -> bool {
        let blocks = u64::from(schedule.split.blocks());
        schedule.split == RowSplit::Whole
            || RowSplit::among(blocks, self.exchange(whole, together), self.passes, self.device) == schedule.split
    }

    /// More or fewer rows in a block, values kept or not, and more or fewer threads for a row where the order is free.
    fn other_rows(&self, default: &Schedule) -> Vec<Schedule> {
        let ScheduleForm::Rows { threads, rows, lanes, kept, .. } = default.form else { return vec![] };
        if matches!(default.split, RowSplit::Scanned { .. }) {
            // Which part of a row a block has follows from all of these.
            return vec![];
        }
        let mut others = vec![];
        if self.gives_the_same_in_any_order() {
            let of_threads = [(threads * 2, rows, lanes), (threads / 2, rows, lanes), (threads * 2, rows / 2, lanes)];
            others.extend(of_threads.into_iter().chain([(threads, rows, lanes / 2)]).map(|form| (form, kept)));
        }
        let of_rows = [(rows * 2, kept), (rows / 2, kept), (rows, !kept), (rows * 4, kept), (rows * 2, !kept)];
        others.extend(of_rows.map(|(rows, kept)| ((threads, rows, lanes), kept)));
        others.into_iter().filter_map(|(form, kept)| self.of_rows(default, form, kept)).collect()
    }

    /// The schedule that gives each block so many rows, each of them so many threads, and each of these so many points
    /// at a time; `None` where that is no better than nonsense.
    fn of_rows(&self, default: &Schedule, (threads, rows, lanes): (u32, u32, u32), kept: bool) -> Option<Schedule> {
        let (split, has_scans) = (default.split, self.scans());
        if threads == 0 || rows == 0 || lanes == 0 || (kept && (has_scans || self.passes.kept.is_empty())) {
            return None;
        }
        let chunks = default.points.points().div_ceil(u64::from(lanes));
        let turns = chunks.div_ceil(u64::from(threads) * u64::from(split.blocks()));
        let kept_bytes = turns.saturating_mul(u64::from(lanes)).saturating_mul(self.passes.kept_bytes(self.kernel));
        let turns = match default.form {
            // A scan takes some turns at a time: how many is a matter of order, too.
            ScheduleForm::Rows { threads: same, lanes: alike, turns, .. }
                if has_scans && (same, alike) == (threads, lanes) =>
            {
                turns
            }
            _ => u32::try_from(turns).ok()?,
        };
        let schedule = Schedule { form: ScheduleForm::Rows { threads, rows, lanes, turns, kept }, ..default.clone() };
        let whole = Schedule { split: RowSplit::Whole, ..schedule.clone() };
        let block = threads.checked_mul(rows)?;
        let fits = (32..=MOST_THREADS).contains(&block)
            && block.is_multiple_of(32)
            && (rows == 1 || (split == RowSplit::Whole && u64::from(rows) < 2 * default.rows.points()))
            && u64::from(threads) < 2 * chunks
            && (!kept || kept_bytes <= 2 * KEPT_REGISTERS * 4)
            && self.is_shared_alike(&schedule, &whole, 1);
        fits.then_some(schedule)
    }

    /// Whether no reduction and no scan depends on the order of what it takes.
    fn gives_the_same_in_any_order(&self) -> bool {
        let is_free = |op: ReduceOp, operand: Reg| match self.dtype(operand) {
            _ if op.gives() == Gives::Position => true,
            Dtype::F32 => matches!(op, ReduceOp::Max | ReduceOp::Min),
            dtype => !dtype.is_float(),
        };
        self.needed().all(|(_, op)| match op {
            Op::Reduce(op, operand) => is_free(*op, *operand),
            Op::Scan(op, operand) => is_free(op.reduction(), *operand),
            _ => true,
        })
    }
}

/// What tells a schedule from the other candidates of its kernel.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Contraction { tile: SumTile { sides: [rows, columns], terms, by, .. }, .. }) = &self.contraction {
            let by = if *by == PartOf::Warpgroup { " warpgroups" } else { "" };
            return write!(f, "products rows={rows} columns={columns} terms={terms}{by}");
        }
        match self.form {
            ScheduleForm::Columns { lanes, .. } if self.tiles.is_some() => write!(f, "squares lanes={lanes}")?,
            ScheduleForm::Columns { wide, deep, lanes, .. } => {
                write!(f, "columns wide={wide} deep={deep} lanes={lanes}")?;
            }
            ScheduleForm::Rows { threads, rows, lanes, turns, .. } => {
                write!(f, "rows threads={threads} rows={rows} lanes={lanes} turns={turns}")?;
            }
        }
        if let ScheduleForm::Rows { kept: true, .. } = self.form {
            f.write_str(" kept")?;
        }
        match self.split {
            RowSplit::Whole => Ok(()),
            RowSplit::Cluster { blocks } => write!(f, " cluster={blocks}"),
            RowSplit::Last { blocks } => write!(f, " blocks={blocks}"),
            RowSplit::Scanned { blocks } => write!(f, " scanned={blocks}"),
        }
    }
}
