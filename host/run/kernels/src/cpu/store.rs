//! Writing a block buffer to an output.

use super::element::{Element, with_element};
use super::isa::{Isa, multiversion};
use super::lanes::{Lane, LaneView, OperandSource, ViewMut};
use super::load::{PointRange, shift};
use super::memory::OutputView;
use super::strided::{Strided, StridedRun};
use passhost_ir::Dtype;

/// A store with its storage.
#[derive(Debug, Clone)]
pub(crate) struct BoundStore<'a> {
    pub(crate) view: OutputView<'a>,
    pub(crate) offsets: Strided,
    /// By how much a step along each inner axis changes the offset, for domains with fixed inner axes.
    pub(crate) inner: Vec<i64>,
}

impl BoundStore<'_> {
    /// The first of the elements at the points of a domain, where they lie side by side in memory and are lanes as they
    /// are: [`BoundStore::lanes`] gives them.
    pub(crate) fn in_place(&self, domain: PointRange<'_>) -> Option<usize> {
        let lanes = matches!(self.view.dtype(), Dtype::Bool | Dtype::F32 | Dtype::F64 | Dtype::I32 | Dtype::I64);
        if lanes { self.dense(domain) } else { None }
    }

    /// The first of the elements at the points of a domain, where they lie side by side in memory.
    pub(crate) fn dense(&self, domain: PointRange<'_>) -> Option<usize> {
        let first = self.offsets.dense(domain.number, domain.len)? + shift(&self.inner, domain.fixed);
        Some(first as usize)
    }

    /// Elements to be written as lanes. The type must be one that [`BoundStore::in_place`] accepts.
    ///
    /// # Safety
    /// Until the result is dropped, nobody else accesses these elements, on this thread or another.
    pub(crate) unsafe fn lanes(&self, first: usize, len: usize) -> ViewMut<'_> {
        // SAFETY: the caller promises what `run_mut` asks for; one arm is taken.
        unsafe {
            match self.view.dtype() {
                Dtype::Bool => ViewMut::Bool(self.view.run_mut(first, len)),
                Dtype::I32 => ViewMut::I32(self.view.run_mut(first, len)),
                Dtype::I64 => ViewMut::I64(self.view.run_mut(first, len)),
                Dtype::F32 => ViewMut::F32(self.view.run_mut(first, len)),
                Dtype::F64 => ViewMut::F64(self.view.run_mut(first, len)),
                other => unreachable!("{other} is not stored in place"),
            }
        }
    }
}

/// Writes the first lanes of `source`, one per point of the domain.
///
/// # Safety
/// No other thread handles points of this domain.
pub(crate) unsafe fn store(isa: Isa, store: &BoundStore<'_>, domain: PointRange<'_>, source: LaneView<'_>) {
    let shift = shift(&store.inner, domain.fixed);
    with_element!(store.view.dtype(), E => {
        write_lanes::<E>(isa, store.view, &store.offsets, shift, domain.number, &<E as Element>::Lane::of(source)[..domain.len]);
    }, else {})
}

/// Writes lanes to the elements from `first` on.
///
/// # Safety
/// No other thread handles these elements.
pub(crate) unsafe fn narrow(isa: Isa, store: &BoundStore<'_>, first: usize, source: OperandSource<'_>, len: usize) {
    with_element!(store.view.dtype(), E => {
        // SAFETY: the caller vouches that the elements are this thread's.
        let elements = unsafe { store.view.run_mut::<E>(first, len) };
        narrow_lanes::<E>(isa, elements, source.lanes(len));
    }, else {})
}

multiversion! {
    fn narrow_lanes<E: Element>(elements: &mut [E], lanes: &[E::Lane]) = narrow_lanes_body;
}

#[inline(always)]
fn narrow_lanes_body<E: Element>(elements: &mut [E], lanes: &[E::Lane]) {
    E::narrow_slice(elements, lanes);
}

multiversion! {
    fn write_lanes<E: Element>(
        view: OutputView<'_>, offsets: &Strided, shift: i64, number: i64, lanes: &[E::Lane],
    ) = write_lanes_body;
}

#[inline(always)]
fn write_lanes_body<E: Element>(view: OutputView<'_>, offsets: &Strided, shift: i64, number: i64, lanes: &[E::Lane]) {
    let stride = offsets.inner_stride();
    offsets.for_runs(number, lanes.len(), &mut RunWriter::<E> { view, lanes, shift, stride });
}

/// Writes the lanes of each run.
struct RunWriter<'a, E: Element> {
    view: OutputView<'a>,
    lanes: &'a [E::Lane],
    shift: i64,
    stride: i64,
}

impl<E: Element> StridedRun for RunWriter<'_, E> {
    #[inline(always)]
    fn run(&mut self, done: usize, offset: i64, count: usize) {
        let lanes = &self.lanes[done..done + count];
        let at = (offset + self.shift) as usize;
        if self.stride == 1 || count == 1 {
            // SAFETY: a store's offsets are those of a permutation of the axes, so points and elements correspond one to
            // one; `store`'s caller vouches that no other thread handles these points.
            let elements = unsafe { self.view.run_mut::<E>(at, count) };
            E::narrow_slice(elements, lanes);
            return;
        }
        // Converted first, so that the conversion runs over neighbours.
        let mut narrow = [E::narrow(E::Lane::default()); 64];
        for (block, lanes) in lanes.chunks(64).enumerate() {
            E::narrow_slice(&mut narrow[..lanes.len()], lanes);
            for (i, element) in narrow[..lanes.len()].iter().enumerate() {
                // SAFETY: as above.
                unsafe { self.view.write::<E>(at + self.stride as usize * (block * 64 + i), *element) };
            }
        }
    }
}
