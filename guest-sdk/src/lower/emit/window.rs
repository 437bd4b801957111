//! The elements that a member reduces.

use super::RegionEmitter;
use crate::args::Args;
use crate::index::Index;
use crate::lower::LowerError;
use crate::lower::call::Window;
use crate::lower::footprint::Footprint;
use crate::lower::moves::literal;
use crate::lower::rule::Rule;
use crate::lower::space::{Coordinates, KernelSpace};
use passhost_ir::ValueId;
use passhost_ir::kernel::{Binary, Reg};

/// The points at which a member reduces, for a result at one place.
pub(super) struct WindowPoints {
    /// The rows and the window as axes: once, or for each position of a window that is taken one by one.
    pub(super) places: Vec<Coordinates>,
    /// Whether that is to be reduced over the reduce axes besides.
    pub(super) over_axes: bool,
    /// The window as reduce axes, as far as it goes over them.
    pub(super) axes: Coordinates,
}

impl RegionEmitter<'_> {
    /// The elements that a member reduces for the result at `place`.
    pub(super) fn window(
        &mut self,
        rule: &Rule,
        footprint: &Footprint,
        (position, value): (usize, ValueId),
        place: &[Index],
    ) -> Result<Window, LowerError> {
        let mut sources =
            Args::of(self.analysis.node(position)).single_tensors().map(|(_, source)| source).take(rule.folds);
        let source = sources.next().ok_or_else(|| LowerError::NoLowering(self.analysis.name(position)))?;
        let points = self.points(footprint, position, value, place)?;
        let passes_by = |point: &Coordinates| goes_through(self.space, footprint, place, point);
        if rule.scans && !(points.over_axes && points.places.iter().all(passes_by)) {
            return Err(LowerError::OtherRow(self.analysis.name(position)));
        }
        let element = |axes: &Coordinates| self.reduced_element(footprint, source, axes);
        let elements = points.places.iter().map(element).collect::<Result<_, _>>()?;
        let mut beside = vec![];
        for source in sources {
            for point in &points.places {
                beside.push(self.reduced_element(footprint, source, point)?);
            }
        }
        let counted = self.counted(footprint, place)?;
        let (extents, count) = (footprint.window.clone(), footprint.window.iter().product());
        Ok(Window { elements, over_axes: points.over_axes, beside, at: points.axes, extents, count, counted })
    }

    /// The points at which a member reduces for the result at `place`.
    pub(super) fn points(
        &mut self,
        footprint: &Footprint,
        position: usize,
        value: ValueId,
        place: &[Index],
    ) -> Result<WindowPoints, LowerError> {
        let rows: Coordinates = footprint.row_of.iter().map(|row| row.within(place)).collect();
        let (over_axes, listed) = footprint.divided_window();
        let each = |outer: &[Index]| {
            let count: i64 = listed.iter().product();
            let at = |at: i64| [&rows[..], outer, &Index::constant(at).unravel(listed)].concat();
            (0..count).map(at).collect()
        };
        if over_axes.is_empty() && !listed.is_empty() {
            return Ok(WindowPoints { places: each(&[]), over_axes: false, axes: vec![] });
        }
        let axes = self.space.window(over_axes).ok_or_else(|| LowerError::Window {
            op: self.analysis.name(position),
            found: over_axes.to_vec(),
            expected: self.space.reduce.clone(),
        })?;
        let places = each(&axes);
        let known = self.reduced.iter().find(|(known, _)| *known == value);
        if known.is_some_and(|(_, known)| *known != rows) || !rows.iter().all(|row| self.space.is_row(row)) {
            return Err(LowerError::OtherRow(self.analysis.name(position)));
        }
        self.reduced.push((value, rows));
        Ok(WindowPoints { places, over_axes: true, axes })
    }

    /// How many elements count, where that differs from row to row.
    fn counted(&mut self, footprint: &Footprint, place: &[Index]) -> Result<Option<Reg>, LowerError> {
        let rows: Coordinates = footprint.row_of.iter().map(|row| row.within(place)).collect();
        let mut counted = None;
        for count in &footprint.counts {
            let count = self.position(&count.within(&rows))?;
            counted = Some(match counted {
                None => count,
                Some(known) => self.kernel.binary(Binary::Mul, known, count),
            });
        }
        Ok(counted)
    }

    fn reduced_element(&mut self, footprint: &Footprint, source: ValueId, axes: &[Index]) -> Result<Reg, LowerError> {
        let at = footprint.at.iter().map(|at| at.within(axes)).collect();
        match footprint.outside {
            Some(outside) => {
                let guard = footprint.guard.iter().map(|(index, extent)| (index.within(axes), *extent)).collect();
                let pad = literal(self.analysis.graph.ty(source).dtype, outside);
                self.padded(source, at, &guard, pad)
            }
            None => self.value(source, at),
        }
    }
}

/// Whether an element of a result at `place` lies where its row, which is at `row` with its window, is gone through: along
/// the last reduce axis alone.
fn goes_through(space: &KernelSpace, footprint: &Footprint, place: &[Index], row: &[Index]) -> bool {
    let (parallel, [extent]) = (space.parallel.len(), &space.reduce[..]) else { return false };
    let here = footprint.at.iter().map(|at| at.within(row));
    row.last() == Some(&Index::axis(parallel, *extent)) && here.eq(place.iter().cloned())
}
