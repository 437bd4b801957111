//! Writing lanes to an output.

use super::lanes::{Element, lanes, with_bits};
use super::load::{Access, Strip};
use super::memory::OutputView;

/// A store with the layout of its output.
#[derive(Debug, Clone)]
pub(crate) struct BoundStore {
    pub(crate) view: OutputView,
    pub(crate) access: Access,
    /// Bytes of an element.
    pub(crate) size: usize,
}

impl BoundStore {
    /// The elements at the points of a strip, to be written, where they lie side by side.
    ///
    /// # Safety
    /// No other thread handles points of this strip, and nobody else uses the elements while the result lives.
    pub(crate) unsafe fn in_place<'a>(&self, strip: &Strip) -> Option<&'a mut [u8]> {
        let first = self.access.dense(strip)?;
        // SAFETY: points and elements correspond one to one, and the caller vouches for the points.
        Some(unsafe { self.view.run_mut(first * self.size, strip.len() * self.size) })
    }

    /// Has the elements of a strip that is next fetched, where they lie side by side: a line is read before a part of it
    /// is written.
    pub(crate) fn fetch(&self, strip: &Strip) {
        if let Some(first) = self.access.dense(strip) {
            self.view.fetch(first * self.size, strip.len() * self.size);
        }
    }

    /// Writes the lanes of a strip.
    ///
    /// # Safety
    /// No other thread handles points of this strip.
    pub(crate) unsafe fn write(&self, strip: &Strip, source: &[u8]) {
        // SAFETY: the caller's promise is handed on.
        with_bits!(self.size, B => unsafe { self.write_as::<B>(strip, lanes(source)) });
    }

    /// # Safety
    /// As for [`BoundStore::write`].
    unsafe fn write_as<B: Element>(&self, strip: &Strip, source: &[B]) {
        let (view, stride) = (self.view, self.access.nest.stride() as usize);
        self.access.runs(strip, |done, count, place| {
            let (at, source) = (place.unwrap_or(0) as usize, &source[done..done + count]);
            if stride == 1 || count == 1 {
                // SAFETY: a store's places are those of a permutation of the axes, so points and elements correspond one
                // to one; the caller vouches that no other thread handles these points.
                let elements = unsafe { view.run_mut(at * size_of::<B>(), count * size_of::<B>()) };
                elements.copy_from_slice(super::lanes::bytes_of(source));
                return;
            }
            for (i, element) in source.iter().enumerate() {
                // SAFETY: as above.
                unsafe { view.write(at + stride * i, *element) };
            }
        });
    }
}
