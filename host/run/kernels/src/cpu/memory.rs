//! Storage of tensors: the only place where addresses become slices.
//!
//! A binding turns storage that it checked into views, which hand out bytes with bounds checks.

use super::isa::prefetch;
use super::lanes::Element;

/// Bytes that some cache holds beside others.
const NEAR: usize = 512 << 10;

/// The bytes of an input that its strides reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputView {
    pointer: *const u8,
    bytes: usize,
}

// SAFETY: a view is read-only, and whoever made it promised that nobody writes to the storage while it lives.
unsafe impl Send for InputView {}
// SAFETY: as above.
unsafe impl Sync for InputView {}

impl InputView {
    /// A view of so many bytes.
    ///
    /// # Safety
    /// The bytes from `pointer` on can be read and are not written to while any copy of the view is used. If there are
    /// none, `pointer` may be anything.
    pub(crate) unsafe fn new(pointer: *const u8, bytes: usize) -> InputView {
        InputView { pointer, bytes }
    }

    /// The same view of other storage.
    ///
    /// # Safety
    /// As for [`InputView::new`], for as many bytes.
    pub(crate) unsafe fn lie_at(&mut self, pointer: *const u8) {
        self.pointer = pointer;
    }

    /// Has bytes fetched that are read soon, where they are many.
    pub(crate) fn fetch(&self, at: usize, count: usize) {
        if self.bytes > NEAR && at + count <= self.bytes {
            prefetch(self.pointer.wrapping_add(at), count);
        }
    }

    /// All bytes.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: `new`'s caller vouches for as many readable bytes.
        unsafe { std::slice::from_raw_parts(self.pointer, self.bytes) }
    }
}

/// The bytes of an output. Threads write disjoint parts of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputView {
    pointer: *mut u8,
    bytes: usize,
}

// SAFETY: writes are unsafe, and their callers keep to disjoint elements.
unsafe impl Send for OutputView {}
// SAFETY: as above.
unsafe impl Sync for OutputView {}

impl OutputView {
    /// A view of so many bytes.
    ///
    /// # Safety
    /// The bytes from `pointer` on can be written and are not accessed in another way while any copy of the view is used.
    /// If there are none, `pointer` may be anything.
    pub(crate) unsafe fn new(pointer: *mut u8, bytes: usize) -> OutputView {
        OutputView { pointer, bytes }
    }

    /// The same view of other storage.
    ///
    /// # Safety
    /// As for [`OutputView::new`], for as many bytes.
    pub(crate) unsafe fn lie_at(&mut self, pointer: *mut u8) {
        self.pointer = pointer;
    }

    /// The bytes `at .. at + count`, to be written.
    ///
    /// # Safety
    /// Until the result is dropped, nobody else accesses these bytes, on this thread or another.
    #[inline(always)]
    pub(crate) unsafe fn run_mut<'a>(self, at: usize, count: usize) -> &'a mut [u8] {
        assert!(at <= self.bytes && count <= self.bytes - at, "bytes {at} + {count} of an output of {}", self.bytes);
        // SAFETY: the range lies in the view, whose bytes are writable as `new`'s caller vouches; this method's caller
        // vouches that nobody else has access to the range.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.add(at), count) }
    }

    /// Has bytes fetched that are written soon, where they are many.
    pub(crate) fn fetch(self, at: usize, count: usize) {
        if self.bytes > NEAR && at + count <= self.bytes {
            prefetch(self.pointer.wrapping_add(at), count);
        }
    }

    /// Writes one element, given its position among elements of its type.
    ///
    /// # Safety
    /// No other thread accesses this element meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn write<T: Element>(self, at: usize, element: T) {
        assert!(at < self.bytes / size_of::<T>(), "element {at} of an output of {} bytes", self.bytes);
        // SAFETY: the element lies in the view, which is writable as `new`'s caller vouches.
        unsafe { self.pointer.cast::<T>().add(at).write_unaligned(element) };
    }
}
