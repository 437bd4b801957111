//! The CPU allocator behind every tensor: poison in fresh blocks, guard zones around them, a count and a limit.

use crate::bridge::ffi;

/// The byte that fills fresh blocks: every float type reads it as NaN.
pub const POISON: u8 = 0xff;

/// Poison, guards and a limit, for as long as this lives.
#[derive(Debug)]
pub struct Guarded(());

impl Guarded {
    /// From now on, allocating more than `limit` bytes at once beyond what is allocated now fails.
    pub fn start(limit: u64) -> Guarded {
        ffi::start_guarding(usize::try_from(limit).unwrap_or(usize::MAX));
        Guarded(())
    }

    /// Guard zones overwritten so far, of live blocks and of freed ones.
    pub fn overwritten_guards(&self) -> u64 {
        ffi::overwritten_guards()
    }

    /// Highest number of bytes allocated at once since the start.
    pub fn peak_bytes(&self) -> u64 {
        ffi::peak_bytes() as u64
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        ffi::stop_guarding();
    }
}

/// Starts counting the highest number of bytes allocated at once.
pub fn start_peak() {
    ffi::start_peak();
}

/// Bytes allocated at once since [`start_peak`], at their highest.
pub fn peak_bytes() -> u64 {
    ffi::peak_bytes() as u64
}
