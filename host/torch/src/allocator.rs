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

/// Counts bytes of the device from here on.
#[derive(Debug, Clone, Copy)]
pub struct Peak {
    /// Bytes of the GPU that were allocated at the start.
    on_gpu: usize,
}

impl Peak {
    /// Starts counting the highest number of bytes allocated at once.
    pub fn start() -> Peak {
        ffi::start_peak();
        // Without statistics there is no limit either, and the device's own memory is one.
        let _ = ffi::start_gpu_peak();
        Peak { on_gpu: ffi::gpu_bytes() }
    }

    /// Bytes allocated at once since the start, at their highest.
    pub fn bytes(self) -> u64 {
        match crate::device::device() {
            tch::Device::Cpu => ffi::peak_bytes() as u64,
            _ => ffi::gpu_peak_bytes().saturating_sub(self.on_gpu) as u64,
        }
    }
}
