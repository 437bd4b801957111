//! What the text of a kernel takes for granted.
//!
//! A load is wide because its lanes were found to be neighbours at an aligned address, a guard is left out because an
//! index was proven inside, an offset has as few terms as do. Each of these is written down while the text is written,
//! so that it can be held against what the kernel means, point by point: `passhost-fuzz claims` does.

use super::schedule::{Schedule, ScheduleForm};
use passhost_ir::kernel::Reg;

/// An access to a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimAccess {
    /// The load that this instruction is.
    Load(Reg),
    /// The store at this position.
    Store(usize),
}

/// A part of an offset: `slope` times the position `number / inner % extent`, of the number of a row or a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Whether the number is that of the row.
    pub of_row: bool,
    /// Numbers per step.
    pub inner: i64,
    /// Steps until it starts again.
    pub extent: i64,
    /// Elements per step.
    pub slope: i64,
}

/// Something that is taken for granted at every point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// All lanes of a thread use one element.
    OneElement(ClaimAccess),
    /// The lanes of a thread use neighbours, whose common address is a multiple of their bytes, or of 16. Where the load
    /// pads, all lanes are inside or all are outside.
    Neighbours(ClaimAccess),
    /// The index of a dimension is a position in it, so that it has no guard.
    Inside {
        /// The load.
        load: Reg,
        /// The dimension.
        dim: usize,
    },
    /// The element lies at `base` and the sum of the terms.
    Offset {
        /// Which element.
        access: ClaimAccess,
        /// Elements from the first of the tensor.
        base: i64,
        /// What depends on the row and the point.
        terms: Vec<Term>,
        /// Whether it is computed in 32 bits.
        narrow: bool,
    },
    /// The offset of a load that is inside, and each product that it is the sum of, fits 32 bits.
    Narrow(Reg),
    /// All lanes of a thread compute this alike.
    OneValue(Reg),
    /// The position of a row or a point, `number / inner % extent`, is that of the thread's first lane, and behind it by as
    /// many as the lane where `inner` is 1.
    Together {
        /// Whether the number is that of the row.
        of_row: bool,
        /// Numbers per step.
        inner: i64,
        /// Steps until it starts again.
        extent: i64,
    },
    /// The rows of the lanes of a thread lie on one side of a matrix: none of them is at a multiple of so many but the first.
    OneSide(u64),
}

/// All of them for one kernel, with how its points are numbered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The axes whose points are the rows, outermost first: rows are numbered row-major.
    pub rows: Vec<usize>,
    /// The axes whose points are those of a row.
    pub points: Vec<usize>,
    /// Whether the lanes of a thread are neighbouring rows; otherwise they are neighbouring points of a row.
    pub along_rows: bool,
    /// Lanes of a thread. The number of the first is a multiple of it.
    pub lanes: u32,
    /// How many rows, and points of a row, the threads of a launch reach.
    pub reach: (u64, u64),
    /// The claims, as they came up; some of them more than once.
    pub list: Vec<Claim>,
}

impl Claims {
    /// None yet, for a part of a kernel that reaches all rows and points of a schedule, and no others.
    pub(super) fn everywhere(schedule: &Schedule) -> Claims {
        Claims { reach: (schedule.rows.points(), schedule.points.points()), ..Claims::new(schedule) }
    }

    /// None yet, for a schedule.
    pub(super) fn new(schedule: &Schedule) -> Claims {
        let shared = schedule.split.blocks();
        let rows = schedule.blocks() / u64::from(shared) * schedule.rows_per_block();
        let reach = match schedule.form {
            _ if schedule.tiles.is_some() => (schedule.rows.points(), 1),
            ScheduleForm::Columns { .. } => (rows, schedule.points.points()),
            ScheduleForm::Rows { threads, lanes, turns, .. } => {
                (rows, u64::from(turns) * u64::from(threads * shared) * u64::from(lanes))
            }
        };
        Claims {
            rows: schedule.rows.axes.clone(),
            points: schedule.points.axes.clone(),
            along_rows: matches!(schedule.form, ScheduleForm::Columns { .. }),
            lanes: schedule.lanes(),
            reach,
            list: vec![],
        }
    }
}
