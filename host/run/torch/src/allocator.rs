//! The CPU allocator behind every tensor, once [`crate::process::install_allocator`] has put it there: poison in fresh
//! blocks, guard zones around them, a count and a limit. They are the process's: one user at a time.

use crate::bridge::ffi;
use crate::target::Target;

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

/// Counts bytes of a device from here on.
#[derive(Debug, Clone, Copy)]
pub struct Peak {
    /// The GPU, by the shim's number, and the bytes of it that were allocated at the start.
    gpu: Option<(i32, usize)>,
}

impl Peak {
    /// Starts counting the highest number of bytes allocated at once.
    pub fn start(target: &Target) -> Peak {
        if target.gpu_index().is_none() {
            ffi::start_peak();
            return Peak { gpu: None };
        }
        let gpu = target.number();
        // Without statistics there is no limit either, and the device's own memory is one.
        let _ = ffi::start_gpu_peak(gpu);
        Peak { gpu: Some((gpu, ffi::gpu_bytes(gpu).unwrap_or(0))) }
    }

    /// Bytes allocated at once since the start, at their highest.
    pub fn bytes(self) -> u64 {
        match self.gpu {
            None => ffi::peak_bytes() as u64,
            Some((gpu, before)) => ffi::gpu_peak_bytes(gpu).unwrap_or(0).saturating_sub(before) as u64,
        }
    }
}
