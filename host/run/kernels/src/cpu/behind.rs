//! Running a contraction: what follows from the sums of a tile.

use super::arena::Arena;
use super::contraction::{ContractionPlan, FactorPlan, MOST_BEHIND};
use super::exec::Execution;
use super::lanes::{lanes, lanes_mut};
use super::load::Strip;
use super::plan::{Action, Step};
use super::tiles::MOST_AXES;

impl Execution<'_> {
    /// Computes a tile of sums, and what follows from them.
    ///
    /// # Safety
    /// No other thread computes any of these rows.
    pub(super) unsafe fn run_sums(&self, arena: &mut Arena, contraction: &ContractionPlan, tile: usize) {
        let mut at = [0; MOST_AXES];
        let (wide, high) = (contraction.columns.count(), contraction.rows.count());
        let columns = contraction.columns.start(tile % wide, &mut at);
        let rows = contraction.rows.start(tile / wide % high, &mut at);
        contraction.matrices.start(tile / wide / high, &mut at);
        let input = |factor: &FactorPlan| (self.binding.inputs[factor.input], &self.binding.strides[factor.input][..]);
        let inputs = contraction.factors.each_ref().map(input);
        if let Some(buffers) = &mut arena.tiles {
            buffers.add_up(self.isa, contraction, &inputs, (rows, columns), at);
        }
        let (width, all) = (columns as i64, contraction.columns.all());
        let (axes, extents) = (&self.plan.row_axes, &self.plan.extents);
        let first = axes.iter().fold(0, |number, axis| number * extents[*axis] + at[*axis]);
        let together = if width == all { (MOST_BEHIND / width).max(1) as usize } else { 1 };
        for row in (0..rows).step_by(together) {
            let strip = Strip::of_rows(first + row as i64 * all, together.min(rows - row) * columns);
            // SAFETY: the caller gives these rows to this thread alone.
            unsafe { self.run_behind(arena, contraction, (row, columns), &strip) };
        }
    }

    /// Hands sums of a tile on, from a row on.
    ///
    /// # Safety
    /// No other thread computes any of the strip's rows.
    unsafe fn run_behind(&self, arena: &mut Arena, contraction: &ContractionPlan, from: (usize, usize), strip: &Strip) {
        let [elements, behind] = &self.schedule.segments[..] else { return };
        // SAFETY: the caller's promise is handed on, here and below.
        unsafe { self.run_steps(arena, &elements.row, strip) };
        let reduces = |step: &&Step| matches!(step.action, Action::Reduce(..));
        let Some(reduce) = elements.point.iter().rfind(reduces) else { return };
        // SAFETY: sums are a buffer of their own, and steps write to it only while nothing borrows it.
        let sums = |arena: &mut Arena| unsafe { arena.lanes_mut(reduce.target, 0, strip.rows) };
        let found = sums(arena);
        if let Some(buffers) = &mut arena.tiles {
            buffers.sums(self.isa, contraction, from, found);
        }
        if contraction.guarded && lanes::<f64>(found).iter().any(|sum| sum.is_nan()) {
            // A product with what lies outside may be NaN: those sums are added up without.
            let found = lanes::<f64>(found).to_vec();
            for point in 0..self.plan.length {
                // SAFETY: these steps store nothing.
                unsafe { self.run_steps(arena, &elements.point, &Strip { point, position: point, ..*strip }) };
            }
            for (sum, found) in lanes_mut::<f64>(sums(arena)).iter_mut().zip(found) {
                *sum = if found.is_nan() { *sum } else { found };
            }
        }
        // SAFETY: as above.
        unsafe { self.run_steps(arena, &behind.row, strip) };
    }
}
