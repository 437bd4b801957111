//! Windows that slide along rows, as those of depthwise convolutions and pools: neighbouring rows read mostly the same.

use super::chooser::Chooser;
use super::schedule::{Schedule, ScheduleForm};
use super::space::{Address, AxisDomain};
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Class, Op, Reg};

/// Places of a window, at most: a thread goes through all of them.
const MOST_PLACES: u64 = 64;
/// Neighbouring rows of a thread, at most.
const MOST_ROWS: u32 = 4;
/// Threads of a block.
const THREADS: u32 = 128;
/// Values that the text of a thread computes at most, where each place is written out.
const MOST_VALUES: u64 = 6000;
/// Elements from one row's window to the next one's, at most.
const MOST_STEP: i64 = 2;

impl Chooser<'_> {
    /// A few neighbouring rows for each thread, which reads once what several of them need; `None` where no window slides
    /// along them, or threads would be too few.
    pub(super) fn window(&self, rows: &AxisDomain, points: &AxisDomain) -> Option<Schedule> {
        let all = self.kernel.parallel.len() + self.kernel.reduce.len();
        let is_sum = |op: &Op| !matches!(op, Op::Reduce(op, _) if op.gives() == Gives::Position);
        let is_one_pass = self.passes.list.iter().filter(|pass| !pass.reduces.is_empty()).count() == 1
            && self.kernel.stores.iter().all(|store| store.order.len() < all);
        let slides = || self.needed().any(|(reg, _)| self.slides_along(reg, rows));
        if points.points() > MOST_PLACES || !is_one_pass || !self.needed().all(|(_, op)| is_sum(op)) || !slides() {
            return None;
        }
        let innermost = self.kernel.extent(rows.innermost()? as u32)?;
        let mut lanes = MOST_ROWS;
        while lanes > 1 {
            let form = ScheduleForm::Columns { wide: THREADS, deep: 1, lanes };
            let schedule = Schedule::whole(form, rows.clone(), points.clone());
            let threads = rows.points() / u64::from(lanes);
            let is_even = innermost % i64::from(lanes) == 0;
            if is_even && threads >= self.device.busy_threads() / 8 && self.is_written_out(&schedule) {
                return Some(schedule);
            }
            lanes /= 2;
        }
        None
    }

    /// Whether a thread's text has each of its points.
    pub(super) fn is_written_out(&self, schedule: &Schedule) -> bool {
        let values = self.needed().filter(|(reg, _)| self.facts.class(*reg) == Class::Elem).count() as u64;
        values * schedule.points.points().max(1) * u64::from(schedule.lanes()) <= MOST_VALUES
    }

    /// Whether lanes read one by one, at this load, what others of them read at another point or load.
    pub(super) fn slides(&self, reg: Reg, schedule: &Schedule) -> bool {
        matches!(schedule.form, ScheduleForm::Columns { lanes: 2.., .. })
            && schedule.tiles.is_none()
            && (schedule.points.axes.is_empty() || self.is_written_out(schedule))
            && self.slides_along(reg, &schedule.rows)
    }

    fn slides_along(&self, reg: Reg, rows: &AxisDomain) -> bool {
        let (Some(axis), Op::Load { input, .. }) = (rows.innermost(), self.op(reg)) else { return false };
        let Some(steps) = self.steps(reg).filter(|steps| (1..=MOST_STEP).contains(&steps[axis])) else { return false };
        let is_alike = |(other, op): (Reg, &Op)| {
            let is_same = matches!(op, Op::Load { input: same, .. } if same == input);
            other != reg && is_same && self.steps(other).as_ref() == Some(&steps)
        };
        steps[self.kernel.parallel.len()..].iter().any(|step| *step != 0) || self.needed().any(is_alike)
    }

    /// Elements from one position to the next along each axis, at a load of which all of these are known.
    fn steps(&self, reg: Reg) -> Option<Vec<i64>> {
        match self.load_access(reg)?.address {
            Address::Affine(offset) => Some(offset.slopes),
            Address::Indexed { index, strides } => {
                let of_axis = |axis: usize| {
                    let terms = index.iter().zip(&strides);
                    terms
                        .map(|(id, stride)| self.analysis.forms[id.0 as usize].slopes[axis]?.checked_mul(*stride))
                        .sum()
                };
                (0..self.kernel.parallel.len() + self.kernel.reduce.len()).map(of_axis).collect()
            }
        }
    }
}
