//! The names of `get-size2` 0.10 that ruff's crates compile against. The derive implements nothing: no function there
//! asks for `GetSize`.

#[cfg(feature = "derive")]
pub use get_size_derive2::GetSize;

/// Remembers which allocations were counted.
pub trait GetSizeTracker {
    /// Whether the allocation at `address` was not counted before.
    fn track<T>(&mut self, address: *const T) -> bool;
}

/// A type that knows how much memory its value takes.
pub trait GetSize: Sized {
    /// Bytes on the heap that were not counted before.
    fn get_heap_size_with_tracker<T: GetSizeTracker>(&self, tracker: T) -> (usize, T) {
        (0, tracker)
    }
}
