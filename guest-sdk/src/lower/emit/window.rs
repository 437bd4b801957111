//! The elements that a member reduces.

use super::Emitter;
use crate::index::Index;
use crate::lower::LowerError;
use crate::lower::call::{Elements, Window};
use crate::lower::moves::literal;
use crate::lower::rules::Footprint;
use crate::lower::space::Place;
use passhost_ir::ValueId;
use passhost_ir::kernel::{Binary, Reg};

/// The rows and the window of a reduction as axes, for a result at one place.
pub(super) enum Points {
    /// Each point of the reduce axes.
    OverAxes(Place),
    /// These, in row-major order of the window.
    Listed(Vec<Place>),
}

impl Emitter<'_> {
    /// The elements that a member reduces for the result at `place`.
    pub(super) fn window(
        &mut self,
        footprint: &Footprint,
        position: usize,
        value: ValueId,
        place: &[Index],
    ) -> Result<Window, LowerError> {
        let source =
            self.analysis.reduced(position).ok_or_else(|| LowerError::NoLowering(self.analysis.name(position)))?;
        let elements = match self.points(footprint, position, value, place)? {
            Points::OverAxes(axes) => Elements::OverAxes(self.reduced_element(footprint, source, &axes)?),
            Points::Listed(points) => {
                let element = |axes: &Place| self.reduced_element(footprint, source, axes);
                Elements::Listed(points.iter().map(element).collect::<Result<_, _>>()?)
            }
        };
        let counted = self.counted(footprint, place)?;
        Ok(Window { elements, count: footprint.window.iter().product(), counted })
    }

    /// The points at which a member reduces for the result at `place`.
    pub(super) fn points(
        &mut self,
        footprint: &Footprint,
        position: usize,
        value: ValueId,
        place: &[Index],
    ) -> Result<Points, LowerError> {
        let rows: Place = footprint.row_of.iter().map(|row| row.within(place)).collect();
        if footprint.is_listed() {
            let count = footprint.window.iter().product();
            let at = |at: i64| [&rows[..], &Index::constant(at).unravel(&footprint.window)].concat();
            return Ok(Points::Listed((0..count).map(at).collect()));
        }
        let axes = self.space.window(&footprint.window).ok_or_else(|| LowerError::Window {
            op: self.analysis.name(position),
            found: footprint.window.clone(),
            expected: self.space.reduce.clone(),
        })?;
        let known = self.reduced.iter().find(|(known, _)| *known == value);
        if known.is_some_and(|(_, known)| *known != rows) || !rows.iter().all(|row| self.space.is_row(row)) {
            return Err(LowerError::OtherRow(self.analysis.name(position)));
        }
        self.reduced.push((value, rows.clone()));
        Ok(Points::OverAxes([&rows[..], &axes].concat()))
    }

    /// How many elements count, where that differs from row to row.
    fn counted(&mut self, footprint: &Footprint, place: &[Index]) -> Result<Option<Reg>, LowerError> {
        let rows: Place = footprint.row_of.iter().map(|row| row.within(place)).collect();
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
