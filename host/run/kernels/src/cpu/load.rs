//! Reading an input into lanes. Elements are moved as they are, whatever their type.

use super::isa::prefetch;
use super::lanes::{Bits, lanes, lanes_mut, with_bits};
use super::loop_nest::{Loop, LoopNest};
use super::memory::InputView;

/// Lanes that a list of steps runs on: some points of each of some rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strip {
    /// The number of the first point, in the order of the loop nests.
    pub(crate) number: i64,
    /// The inner point at which rows side by side are, where they are.
    pub(crate) point: i64,
    pub(crate) rows: usize,
    /// Points of each row.
    pub(crate) points: usize,
    /// The position of the first point in its row.
    pub(crate) position: i64,
    /// The first row, and the first lane, in the buffers of the tile.
    pub(crate) first_row: usize,
    pub(crate) first_lane: usize,
}

impl Strip {
    /// Rows with a lane each, from a number on.
    pub(crate) fn of_rows(number: i64, rows: usize) -> Strip {
        Strip { number, point: 0, rows, points: 1, position: 0, first_row: 0, first_lane: 0 }
    }

    /// Lanes of a value.
    pub(crate) fn len(&self) -> usize {
        self.rows * self.points
    }
}

/// Where the points of strips lie in a tensor.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) nest: LoopNest,
    /// What the inner point adds, where rows are side by side.
    pub(crate) point: Option<LoopNest>,
}

impl Access {
    /// What the inner point adds; none if it is outside.
    pub(crate) fn shift(&self, strip: &Strip) -> Option<i64> {
        self.point.as_ref().map_or(Some(0), |nest| nest.at(strip.point))
    }

    /// The place of the first point, if all are inside and lie side by side.
    pub(crate) fn dense(&self, strip: &Strip) -> Option<usize> {
        Some((self.nest.dense(strip.number, strip.len())? + self.shift(strip)?) as usize)
    }

    /// Visits all points in runs: the number of lanes before, how many there are, and the place of the first if they are
    /// inside.
    #[inline(always)]
    pub(crate) fn runs(&self, strip: &Strip, mut run: impl FnMut(usize, usize, Option<i64>)) {
        match self.shift(strip) {
            Some(shift) => self.nest.runs(strip.number, strip.len(), |done, count, place| {
                run(done, count, place.map(|place| place.wrapping_add(shift)));
            }),
            None => run(0, strip.len(), None),
        }
    }
}

/// An index that is guarded for each point or row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guard {
    pub(crate) size: i64,
    pub(crate) stride: i64,
}

impl Guard {
    /// What the index adds to the place of an element; none outside of the dimension, where indices are not clamped.
    #[inline(always)]
    fn place(self, index: i64, clamps: bool) -> Option<i64> {
        let inside = index >= 0 && index < self.size;
        let index = if clamps { index.clamp(0, (self.size - 1).max(0)) } else { index };
        (inside || clamps).then(|| index.wrapping_mul(self.stride))
    }
}

/// A load with the layout of its storage.
#[derive(Debug, Clone)]
pub(crate) struct BoundLoad {
    /// Inputs, each with the points that are read from it.
    pub(crate) pieces: Vec<(usize, Access)>,
    /// Indices beside what is affine in the only piece.
    pub(crate) guards: Vec<Guard>,
    /// The element outside; none where indices are clamped.
    pub(crate) pad: Option<u64>,
    /// Whether the pieces cover all points.
    pub(crate) covered: bool,
    /// Bytes of an element.
    pub(crate) size: usize,
}

impl BoundLoad {
    /// The elements of a strip, where they lie in memory side by side.
    pub(crate) fn in_place<'a>(&self, inputs: &'a [InputView], strip: &Strip) -> Option<&'a [u8]> {
        let (input, from) = self.dense(strip)?;
        inputs[input].bytes().get(from..from + strip.len() * self.size)
    }

    /// Has the elements of a strip that is next fetched, where they lie side by side.
    pub(crate) fn fetch(&self, inputs: &[InputView], strip: &Strip) {
        if let Some((input, from)) = self.dense(strip) {
            inputs[input].fetch(from, strip.len() * self.size);
        }
    }

    /// The input that all elements of a strip lie in side by side, and the first byte.
    fn dense(&self, strip: &Strip) -> Option<(usize, usize)> {
        let dense = |(input, access): &(usize, Access)| Some((*input, access.dense(strip)? * self.size));
        self.pieces.iter().filter(|_| self.guards.is_empty()).find_map(dense)
    }

    /// Fills lanes with the elements of a strip. `indices` has lanes of `i64` for each guard: one for each row if `by_row`,
    /// for each point otherwise.
    pub(crate) fn fill(&self, inputs: &[InputView], strip: &Strip, indices: &[&[u8]], by_row: bool, out: &mut [u8]) {
        with_bits!(self.size, B => {
            let out = lanes_mut::<B>(out);
            let pad = self.pad.map(B::of);
            if self.guards.is_empty() {
                return self.fill_pieces(inputs, strip, pad, out);
            }
            let (input, access) = &self.pieces[0];
            let elements = lanes::<B>(inputs[*input].bytes());
            if by_row {
                self.fill_rows(access, elements, strip, indices, pad, out);
            } else {
                self.fill_points(access, elements, strip, indices, pad, out);
            }
        });
    }

    fn fill_pieces<B: Bits>(&self, inputs: &[InputView], strip: &Strip, pad: Option<B>, out: &mut [B]) {
        let several = self.pieces.len() > 1;
        if let Some(pad) = pad.filter(|_| several && !self.covered) {
            out.fill(pad);
        }
        for (input, access) in &self.pieces {
            let elements = lanes::<B>(inputs[*input].bytes());
            if let (Some((outer, inner)), Some(shift)) = (access.nest.crossed(), access.shift(strip)) {
                fill_crossed(access, (outer, inner), elements, (strip, shift, pad.filter(|_| !several)), out);
                continue;
            }
            let stride = access.nest.stride();
            access.runs(strip, |done, count, place| {
                let out = &mut out[done..done + count];
                match (place, pad) {
                    (Some(place), _) => copy_run(out, elements, place, stride),
                    (None, Some(pad)) if !several => out.fill(pad),
                    _ => {}
                }
            });
        }
    }

    fn fill_rows<B: Bits>(
        &self,
        access: &Access,
        elements: &[B],
        strip: &Strip,
        indices: &[&[u8]],
        pad: Option<B>,
        out: &mut [B],
    ) {
        let stride = access.nest.stride();
        for (row, out) in out.chunks_exact_mut(strip.points).enumerate() {
            let of = |(guard, index): (&Guard, &&[u8])| guard.place(lanes::<i64>(index)[row], pad.is_none());
            let start =
                self.guards.iter().zip(indices).map(of).try_fold(0i64, |sum, place| Some(sum.wrapping_add(place?)));
            let number = strip.number + (row * strip.points) as i64;
            let part = Strip { number, rows: 1, ..*strip };
            access.runs(&part, |done, count, place| {
                let out = &mut out[done..done + count];
                match (start.zip(place), pad) {
                    (Some((start, place)), _) => copy_run(out, elements, start.wrapping_add(place), stride),
                    (None, Some(pad)) => out.fill(pad),
                    (None, None) => {}
                }
            });
        }
    }

    fn fill_points<B: Bits>(
        &self,
        access: &Access,
        elements: &[B],
        strip: &Strip,
        indices: &[&[u8]],
        pad: Option<B>,
        out: &mut [B],
    ) {
        /// Points whose places are found together, and the place of those outside.
        const GROUP: usize = 64;
        const OUTSIDE: i64 = i64::MIN;
        let stride = access.nest.stride();
        access.runs(strip, |done, count, place| {
            for (from, out) in (done..done + count).step_by(GROUP).zip(out[done..done + count].chunks_mut(GROUP)) {
                let mut places = [OUTSIDE; GROUP];
                let places = &mut places[..out.len()];
                if let Some(place) = place {
                    let mut next = place.wrapping_add(stride.wrapping_mul((from - done) as i64));
                    for place in places.iter_mut() {
                        *place = next;
                        next = next.wrapping_add(stride);
                    }
                }
                for (guard, index) in self.guards.iter().zip(indices) {
                    for (place, index) in places.iter_mut().zip(&lanes::<i64>(index)[from..]) {
                        let inside = (0..guard.size).contains(index) && *place != OUTSIDE;
                        let index = (*index).clamp(0, (guard.size - 1).max(0));
                        let moved = place.wrapping_add(index.wrapping_mul(guard.stride));
                        *place = if inside || pad.is_none() { moved } else { OUTSIDE };
                    }
                }
                // Clamping finds no element where a dimension is empty; the verifier refuses that, and 0 does no harm.
                let outside = pad.unwrap_or_default();
                for (out, place) in out.iter_mut().zip(places) {
                    *out = elements.get(*place as usize).copied().unwrap_or(outside);
                }
            }
        });
    }
}

/// Copies elements from `place` on, `stride` apart.
#[inline(always)]
fn copy_run<B: Bits>(out: &mut [B], elements: &[B], place: i64, stride: i64) {
    let at = place as usize;
    match stride {
        1 => out.copy_from_slice(&elements[at..at + out.len()]),
        0 => out.fill(elements[at]),
        2.. => copy_each(out, elements[at..].iter().step_by(stride as usize)),
        _ => copy_each(out, elements[..=at].iter().rev().step_by(stride.unsigned_abs() as usize)),
    }
}

#[inline(always)]
fn copy_each<'a, B: Bits>(out: &mut [B], elements: impl ExactSizeIterator<Item = &'a B>) {
    assert!(out.len() <= elements.len(), "elements of a run lie in their tensor");
    for (out, element) in out.iter_mut().zip(elements) {
        *out = *element;
    }
}

/// Rows of lanes that are read together where neighbours in memory are in different rows.
const CROSSED: i64 = 64;

/// As for [`LoopNest::crossed`]: reads neighbours in memory together, into rows of lanes below each other.
fn fill_crossed<B: Bits>(
    access: &Access,
    (outer, inner): (Loop, Loop),
    elements: &[B],
    (strip, shift, pad): (&Strip, i64, Option<B>),
    out: &mut [B],
) {
    let (mut done, width) = (0, inner.extent as usize);
    while done < out.len() {
        let number = strip.number + done as i64;
        let (column, row) = (number % inner.extent, number / inner.extent % outer.extent);
        let left = out.len() - done;
        let Some(place) = access.nest.at(number) else {
            let next = if row < outer.low { outer.low } else { outer.extent };
            let count = (((next - row) * inner.extent - column) as usize).min(left);
            if let Some(pad) = pad {
                out[done..done + count].fill(pad);
            }
            done += count;
            continue;
        };
        let place = place.wrapping_add(shift);
        let rows = ((left / width) as i64).min(outer.high - row).min(CROSSED) as usize;
        if column > 0 || rows < 2 {
            let count = (width - column as usize).min(left);
            copy_run(&mut out[done..done + count], elements, place, inner.stride);
            done += count;
            continue;
        }
        for column in elements[place as usize..].chunks(inner.stride as usize).take(width) {
            prefetch(column.as_ptr().cast(), rows.min(column.len()) * size_of::<B>());
        }
        transpose(
            &mut out[done..done + rows * width],
            &elements[place as usize..],
            inner.stride as usize,
            (rows, width),
        );
        done += rows * width;
    }
}

/// Reads a matrix by columns that are `stride` apart, in squares, and writes its rows.
fn transpose<B: Bits>(out: &mut [B], elements: &[B], stride: usize, (rows, columns): (usize, usize)) {
    const SIDE: usize = 8;
    for column in (0..columns).step_by(SIDE) {
        for row in (0..rows).step_by(SIDE) {
            if row + SIDE > rows || column + SIDE > columns {
                for column in column..columns.min(column + SIDE) {
                    for row in row..rows.min(row + SIDE) {
                        out[row * columns + column] = elements[column * stride + row];
                    }
                }
                continue;
            }
            let mut square = [[B::default(); SIDE]; SIDE];
            for (i, line) in square.iter_mut().enumerate() {
                line.copy_from_slice(&elements[(column + i) * stride + row..][..SIDE]);
            }
            for i in 0..SIDE {
                let line: [B; SIDE] = std::array::from_fn(|j| square[j][i]);
                out[(row + i) * columns + column..][..SIDE].copy_from_slice(&line);
            }
        }
    }
}
