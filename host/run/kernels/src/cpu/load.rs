//! Reading an input into a block buffer.

use super::element::{Element, with_element};
use super::index::{AxisWalk, LANES};
use super::isa::{Isa, multiversion};
use super::lanes::{Lane, LaneView, ViewMut};
use super::memory::InputView;
use super::plan::LoadPlan;
use super::strided::{Strided, StridedRun};
use passhost_ir::Dtype;
use std::ops::Deref;

/// Consecutive points.
#[derive(Clone, Copy)]
pub(crate) struct PointRange<'a> {
    /// How each axis follows from a point's number.
    pub(crate) walks: &'a [AxisWalk],
    /// The first point.
    pub(crate) number: i64,
    pub(crate) len: usize,
    /// Positions along the inner axes, where the points are rows at one inner point; empty otherwise.
    pub(crate) fixed: &'a [i64],
}

/// How a load finds its elements.
#[derive(Debug, Clone)]
pub(crate) enum LoadAccess {
    /// All indices are in bounds, and the offset is affine.
    Plain {
        offsets: Strided,
        /// By how much a step along each inner axis changes the offset, for domains with fixed inner axes.
        inner: Vec<i64>,
    },
    /// The indices are affine along the innermost axis of the domain, at these slopes: each run along it is looked at
    /// once.
    Runs { extent: i64, slopes: Vec<i64> },
    /// The indices that may be outside stay the same along the innermost axes of the domain, the others change at one
    /// rate each: the guard decides for all points of a block along those axes.
    Blocks {
        /// Points of a block.
        points: i64,
        /// Offsets within a block, from its first element.
        offsets: Strided,
    },
    /// Indices are evaluated and guarded for every point.
    General,
}

/// A load with its storage.
#[derive(Debug, Clone)]
pub(crate) struct BoundLoad {
    pub(crate) view: InputView,
    pub(crate) shape: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    pub(crate) access: LoadAccess,
}

impl BoundLoad {
    /// The first of the elements at the points of a domain, where they lie side by side in memory and are lanes as they
    /// are: [`BoundLoad::lanes`] gives them.
    pub(crate) fn in_place(&self, domain: PointRange<'_>) -> Option<usize> {
        if self.are_lanes() { self.dense(domain) } else { None }
    }

    /// The first of the elements at the points of a domain, where they lie side by side in memory.
    pub(crate) fn dense(&self, domain: PointRange<'_>) -> Option<usize> {
        let LoadAccess::Plain { offsets, inner } = &self.access else { return None };
        let first = offsets.dense(domain.number, domain.len)? + shift(inner, domain.fixed);
        Some(first as usize)
    }

    /// Whether elements are lanes as they lie in memory.
    pub(crate) fn are_lanes(&self) -> bool {
        matches!(self.view.dtype(), Dtype::F32 | Dtype::F64 | Dtype::I32 | Dtype::I64)
    }

    /// Elements as lanes; none for types that lanes hold in another form.
    pub(crate) fn lanes(&self, first: usize, len: usize) -> LaneView<'_> {
        let range = first..first + len;
        match self.view.dtype() {
            Dtype::F32 => LaneView::F32(&self.view.elements()[range]),
            Dtype::F64 => LaneView::F64(&self.view.elements()[range]),
            Dtype::I32 => LaneView::I32(&self.view.elements()[range]),
            Dtype::I64 => LaneView::I64(&self.view.elements()[range]),
            _ => LaneView::EMPTY,
        }
    }
}

/// Fills `target` with the elements from `first` on.
pub(crate) fn widen(isa: Isa, load: &BoundLoad, first: usize, target: ViewMut<'_>) {
    with_element!(load.view.dtype(), E => {
        let lanes = <E as Element>::Lane::of_mut(target);
        let range = first..first + lanes.len();
        widen_lanes::<E>(isa, lanes, &load.view.elements()[range]);
    }, else {})
}

multiversion! {
    fn widen_lanes<E: Element>(lanes: &mut [E::Lane], elements: &[E]) = widen_lanes_body;
}

#[inline(always)]
fn widen_lanes_body<E: Element>(lanes: &mut [E::Lane], elements: &[E]) {
    E::widen_slice(lanes, elements);
}

/// By how much fixed positions along the inner axes change an offset.
pub(crate) fn shift(inner: &[i64], fixed: &[i64]) -> i64 {
    inner.iter().zip(fixed).map(|(stride, position)| stride * position).sum()
}

/// A body value that index expressions read.
#[derive(Clone, Copy)]
pub(crate) struct Gathered<'a> {
    pub(crate) view: LaneView<'a>,
    /// Points for which one lane stands.
    pub(crate) points_per_lane: usize,
}

impl Gathered<'_> {
    #[inline(always)]
    pub(crate) fn at(self, point: usize) -> i64 {
        self.view.integer(point / self.points_per_lane)
    }
}

/// A few of them. Gathered loads are of one or two indices as a rule, and a run allocates nothing for those.
pub(crate) struct GatheredList<'a> {
    few: [Gathered<'a>; 4],
    count: usize,
    /// All of them where they are more.
    many: Vec<Gathered<'a>>,
}

impl<'a> GatheredList<'a> {
    pub(crate) fn of(values: impl ExactSizeIterator<Item = Gathered<'a>>) -> GatheredList<'a> {
        let count = values.len();
        let mut list =
            GatheredList { few: [Gathered { view: LaneView::EMPTY, points_per_lane: 1 }; 4], count, many: vec![] };
        if count <= list.few.len() {
            list.few.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
        } else {
            list.many.extend(values);
        }
        list
    }
}

impl<'a> Deref for GatheredList<'a> {
    type Target = [Gathered<'a>];

    fn deref(&self) -> &[Gathered<'a>] {
        if self.many.is_empty() { &self.few[..self.count] } else { &self.many }
    }
}

/// Working space for index arithmetic.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) lanes: Vec<[i64; LANES]>,
    pub(crate) point: Vec<i64>,
}

/// What a load reads besides its storage.
pub(crate) struct Surroundings<'a> {
    pub(crate) isa: Isa,
    pub(crate) domain: PointRange<'a>,
    pub(crate) gathered: &'a [Gathered<'a>],
}

/// Fills `target`, one lane per point of the domain.
pub(crate) fn fill(
    load: &BoundLoad,
    plan: &LoadPlan,
    around: &Surroundings<'_>,
    target: ViewMut<'_>,
    scratch: &mut Scratch,
) {
    with_element!(load.view.dtype(), E => fill_typed::<E>(load, plan, around, target, scratch), else {})
}

fn fill_typed<E: Element>(
    load: &BoundLoad,
    plan: &LoadPlan,
    around: &Surroundings<'_>,
    target: ViewMut<'_>,
    scratch: &mut Scratch,
) {
    let PointRange { number, len, fixed, .. } = around.domain;
    let lanes = E::Lane::of_mut(target);
    let elements = load.view.elements::<E>();
    match &load.access {
        LoadAccess::Plain { offsets, inner } => {
            fill_plain::<E>(around.isa, lanes, elements, offsets, shift(inner, fixed), number);
        }
        LoadAccess::Runs { extent, slopes } => {
            let mut done = 0;
            while done < len {
                let first = number + done as i64;
                let run = (extent - first % extent).min((len - done) as i64) as usize;
                let value = |gathered: usize| around.gathered[gathered].at(done);
                plan.program.at_point(around.domain.walks, first, &mut scratch.point, value);
                let start = |dim: usize| scratch.point[plan.program.results[dim]];
                fill_run::<E>(around.isa, &mut lanes[done..done + run], elements, load, plan, slopes, start);
                done += run;
            }
        }
        LoadAccess::Blocks { points, offsets } => {
            let mut done = 0;
            while done < len {
                let first = number + done as i64;
                let within = first % points;
                let run = (points - within).min((len - done) as i64) as usize;
                let value = |gathered: usize| around.gathered[gathered].at(done);
                plan.program.at_point(around.domain.walks, first, &mut scratch.point, value);
                let at = |dim: usize| scratch.point[plan.program.results[dim]];
                let lanes = &mut lanes[done..done + run];
                let inside = (0..load.shape.len()).all(|dim| (0..load.shape[dim]).contains(&at(dim)));
                if let Some(pad) = plan.pad.as_ref().filter(|_| !inside) {
                    lanes.fill(E::Lane::of(pad.view())[0]);
                } else {
                    // PaddingMode without padding: the guarded index moves to the nearest element, the others do not.
                    let clamped = |dim: usize| at(dim).clamp(0, (load.shape[dim] - 1).max(0));
                    let offset: i64 = (0..load.shape.len()).map(|dim| clamped(dim) * load.strides[dim]).sum();
                    let shift = offset - offsets.offset(within);
                    fill_plain::<E>(around.isa, lanes, elements, offsets, shift, within);
                }
                done += run;
            }
        }
        LoadAccess::General => {
            for (block, lanes) in lanes.chunks_mut(LANES).enumerate() {
                let first = block * LANES;
                let value = |gathered: usize, lane: usize| around.gathered[gathered].at(first + lane);
                let number = number + first as i64;
                let walks = around.domain.walks;
                plan.program.at_points(around.isa, walks, number, lanes.len(), &mut scratch.lanes, value);
                for (lane, target) in lanes.iter_mut().enumerate() {
                    let index = |dim: usize| scratch.lanes[plan.program.results[dim]][lane];
                    *target = guarded::<E>(elements, load, plan, index);
                }
            }
        }
    }
}

multiversion! {
    /// Fills lanes from offsets that are all in bounds.
    fn fill_plain<E: Element>(
        lanes: &mut [E::Lane], elements: &[E], offsets: &Strided, shift: i64, number: i64,
    ) = fill_plain_body;
}

#[inline(always)]
fn fill_plain_body<E: Element>(lanes: &mut [E::Lane], elements: &[E], offsets: &Strided, shift: i64, number: i64) {
    let stride = offsets.inner_stride();
    offsets.for_runs(number, lanes.len(), &mut Fill { lanes, elements, shift, stride });
}

/// Fills the lanes of each run.
struct Fill<'a, E: Element> {
    lanes: &'a mut [E::Lane],
    elements: &'a [E],
    shift: i64,
    stride: i64,
}

impl<E: Element> StridedRun for Fill<'_, E> {
    #[inline(always)]
    fn run(&mut self, done: usize, offset: i64, count: usize) {
        strided_run(&mut self.lanes[done..done + count], self.elements, offset + self.shift, self.stride);
    }
}

/// Fills lanes from `offset`, `offset + stride` and so on.
#[inline(always)]
fn strided_run<E: Element>(lanes: &mut [E::Lane], elements: &[E], offset: i64, stride: i64) {
    let count = lanes.len();
    let at = offset as usize;
    match stride {
        1 => E::widen_slice(lanes, &elements[at..at + count]),
        0 => lanes.fill(elements[at].widen()),
        _ => {
            // Collected first, so that a conversion runs over neighbours.
            let mut gathered = [elements[at]; 64];
            for (block, lanes) in lanes.chunks_mut(64).enumerate() {
                let start = offset + stride * 64 * block as i64;
                let gathered = &mut gathered[..lanes.len()];
                for (i, element) in gathered.iter_mut().enumerate() {
                    *element = elements[(start + stride * i as i64) as usize];
                }
                E::widen_slice(lanes, gathered);
            }
        }
    }
}

multiversion! {
    fn fill_strided<E: Element>(lanes: &mut [E::Lane], elements: &[E], offset: i64, stride: i64) = strided_run;
}

/// Fills a run along which each index changes by its slope.
fn fill_run<E: Element>(
    isa: Isa,
    lanes: &mut [E::Lane],
    elements: &[E],
    load: &BoundLoad,
    plan: &LoadPlan,
    slopes: &[i64],
    start: impl Fn(usize) -> i64,
) {
    let count = lanes.len();
    let (first, end) = (0..slopes.len()).fold((0, count), |(first, end), dim| {
        let (from, to) = inside(start(dim), slopes[dim], load.shape[dim], count);
        (first.max(from), end.min(to))
    });
    let end = end.max(first);
    let (before, rest) = lanes.split_at_mut(first);
    let (within, after) = rest.split_at_mut(end - first);
    if !within.is_empty() {
        let at = |dim: usize| start(dim).wrapping_add(slopes[dim].wrapping_mul(first as i64));
        let offset = (0..slopes.len()).map(|dim| at(dim) * load.strides[dim]).sum();
        // The slopes of a run of one element mean nothing, and may be huge.
        let along = |(slope, stride): (&i64, &i64)| slope.wrapping_mul(*stride);
        let stride = slopes.iter().zip(&load.strides).map(along).fold(0, i64::wrapping_add);
        fill_strided::<E>(isa, within, elements, offset, stride);
    }
    if let Some(pad) = &plan.pad {
        let pad = E::Lane::of(pad.view())[0];
        before.fill(pad);
        after.fill(pad);
        return;
    }
    for (from, lanes) in [(0, before), (end, after)] {
        for (i, lane) in lanes.iter_mut().enumerate() {
            let index = |dim: usize| start(dim).wrapping_add(slopes[dim].wrapping_mul((from + i) as i64));
            *lane = guarded::<E>(elements, load, plan, index);
        }
    }
}

/// Of a run of `count` indices `start`, `start + slope`, ..., those within a dimension: from the first to one past the
/// last. They are neighbours; if there are none, the two are equal.
fn inside(start: i64, slope: i64, extent: i64, count: usize) -> (usize, usize) {
    let (start, slope, extent) = (i128::from(start), i128::from(slope), i128::from(extent));
    let position = |numerator: i128| numerator.clamp(0, count as i128) as usize;
    // The least number of steps of this size that reach a distance.
    let steps = |distance: i128, size: i128| position((distance + size - 1).div_euclid(size));
    let (from, to) = match slope {
        0 if start >= 0 && start < extent => (0, count),
        0 => (0, 0),
        1.. => (steps(-start, slope), steps(extent - start, slope)),
        _ => (steps(start - extent + 1, -slope), steps(start + 1, -slope)),
    };
    (from, to.max(from))
}

/// The element at these indices, or what the load says about those outside.
#[inline(always)]
fn guarded<E: Element>(elements: &[E], load: &BoundLoad, plan: &LoadPlan, index: impl Fn(usize) -> i64) -> E::Lane {
    let mut offset = 0;
    for (dim, (size, stride)) in load.shape.iter().zip(&load.strides).enumerate() {
        let at = index(dim);
        let at = if at >= 0 && at < *size {
            at
        } else {
            match &plan.pad {
                Some(pad) => return E::Lane::of(pad.view())[0],
                None => at.clamp(0, (*size - 1).max(0)),
            }
        };
        offset += at * stride;
    }
    // Clamping finds no element where a dimension is empty; the verifier refuses that, and 0 does no harm.
    elements.get(offset as usize).map_or(E::Lane::default(), |element| element.widen())
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn the_indices_inside_are_those_that_a_search_finds() {
        for start in [-9, -3, -1, 0, 1, 4, 5, 9, i64::MIN, i64::MAX] {
            for slope in [-7, -2, -1, 0, 1, 2, 3, 7, i64::MIN, i64::MAX] {
                for extent in [0, 1, 5] {
                    let within =
                        |i: i128| (0..i128::from(extent)).contains(&(i128::from(start) + i128::from(slope) * i));
                    let found: Vec<usize> = (0..12).filter(|i| within(*i as i128)).collect();
                    let (from, to) = inside(start, slope, extent, 12);
                    let expected: Vec<usize> = (from..to).collect();
                    assert_eq!(found, expected, "{start} + {slope} i in 0..{extent}");
                }
            }
        }
    }
}
