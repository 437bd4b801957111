//! Raw storage: the only place where addresses become slices.
//!
//! [`CpuKernel::bind`](super::CpuKernel::bind) turns storage that it checked into views, which hand out elements with bounds
//! checks.

use super::element::Element;
use passhost_ir::Dtype;
use std::marker::PhantomData;

/// The elements of an input that its strides reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputView {
    pointer: *const u8,
    len: usize,
    dtype: Dtype,
}

// SAFETY: a view is read-only, and whoever made it promised that nobody writes to the storage while it lives.
unsafe impl Send for InputView {}
// SAFETY: as above.
unsafe impl Sync for InputView {}

impl InputView {
    /// A view of `len` elements.
    ///
    /// # Safety
    /// `pointer` is aligned for `dtype`, and `len` elements from it on can be read and are not written to while any copy
    /// of the view is used. If `len` is 0, `pointer` may be anything.
    pub(crate) unsafe fn new(pointer: *const u8, len: usize, dtype: Dtype) -> InputView {
        InputView { pointer, len, dtype }
    }

    /// The same view of other storage.
    ///
    /// # Safety
    /// As for [`InputView::new`], for as many elements of the same type.
    pub(crate) unsafe fn lie_at(&mut self, pointer: *const u8) {
        self.pointer = pointer;
    }

    /// The type of the elements.
    pub(crate) fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The elements, of the type that [`InputView::dtype`] names.
    pub(crate) fn elements<E: Element>(&self) -> &[E] {
        assert_eq!(size_of::<E>() as u64, self.dtype.size(), "a view of {} read as another type", self.dtype);
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `new`'s caller vouches for `len` readable, aligned elements of this size, and any bits make an `E`.
        unsafe { std::slice::from_raw_parts(self.pointer.cast::<E>(), self.len) }
    }
}

/// The elements of an output. Threads write disjoint parts of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputView<'a> {
    pointer: *mut u8,
    len: usize,
    dtype: Dtype,
    storage: PhantomData<&'a mut [u8]>,
}

// SAFETY: writes are unsafe, and their callers keep to disjoint elements.
unsafe impl Send for OutputView<'_> {}
// SAFETY: as above.
unsafe impl Sync for OutputView<'_> {}

impl OutputView<'_> {
    /// A view of `len` elements.
    ///
    /// # Safety
    /// `pointer` is aligned for `dtype`, and `len` elements from it on can be written and are not accessed in another
    /// way while any copy of the view is used. If `len` is 0, `pointer` may be anything.
    pub(crate) unsafe fn new(pointer: *mut u8, len: usize, dtype: Dtype) -> Self {
        OutputView { pointer, len, dtype, storage: PhantomData }
    }

    /// The same view of other storage.
    ///
    /// # Safety
    /// As for [`OutputView::new`], for as many elements of the same type.
    pub(crate) unsafe fn lie_at(&mut self, pointer: *mut u8) {
        self.pointer = pointer;
    }

    /// The type of the elements.
    pub(crate) fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The elements `at .. at + count`, to be written.
    ///
    /// # Safety
    /// Until the result is dropped, nobody else accesses these elements, on this thread or another.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the caller vouches for exclusive access to the elements")]
    pub(crate) unsafe fn run_mut<E: Element>(&self, at: usize, count: usize) -> &mut [E] {
        assert_eq!(size_of::<E>() as u64, self.dtype.size(), "a view of {} written as another type", self.dtype);
        assert!(at <= self.len && count <= self.len - at, "elements {at} + {count} of an output of {}", self.len);
        // SAFETY: the range lies in the view, whose elements are writable and aligned as `new`'s caller vouches; this
        // method's caller vouches that nobody else has access to the range.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.cast::<E>().add(at), count) }
    }

    /// Writes one element.
    ///
    /// # Safety
    /// No other thread accesses this element meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn write<E: Element>(&self, at: usize, element: E) {
        assert_eq!(size_of::<E>() as u64, self.dtype.size(), "a view of {} written as another type", self.dtype);
        assert!(at < self.len, "element {at} of an output of {}", self.len);
        // SAFETY: as in `run_mut`.
        unsafe { self.pointer.cast::<E>().add(at).write(element) };
    }
}
