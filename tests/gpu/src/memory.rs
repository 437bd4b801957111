//! Memory of the GPU, with guard zones around every tensor.

use anyhow::{Context, Result, ensure};
use cudarc::driver::{result, sys};

/// Bytes before and after each tensor that nothing may write to.
const GUARD: usize = 256;
const GUARD_BYTE: u8 = 0xa5;
/// What outputs hold before a kernel runs: a NaN of every float type.
const POISON: u8 = 0xff;

/// One piece of memory, filled tensor by tensor.
#[derive(Debug)]
pub(crate) struct Arena {
    base: sys::CUdeviceptr,
    contents: Vec<u8>,
    capacity: usize,
}

impl Arena {
    pub(crate) fn new(capacity: usize) -> Result<Arena> {
        // SAFETY: a fresh allocation, freed when this is dropped.
        let base = unsafe { result::malloc_sync(capacity) }.context("allocating memory of the GPU")?;
        Ok(Arena { base, contents: Vec::new(), capacity })
    }

    /// Forgets all tensors.
    pub(crate) fn clear(&mut self) {
        self.contents.clear();
    }

    /// Places bytes at an address that is a multiple of `alignment` and of no larger power of two up to 16. Returns the
    /// offset.
    pub(crate) fn place(&mut self, bytes: &[u8], alignment: usize) -> usize {
        let start = (self.contents.len() + GUARD).next_multiple_of(256) + if alignment < 16 { alignment } else { 0 };
        self.contents.resize(start, GUARD_BYTE);
        self.contents.extend_from_slice(bytes);
        self.contents.resize(start + bytes.len() + GUARD, GUARD_BYTE);
        start
    }

    /// Places `len` bytes of poison.
    pub(crate) fn reserve(&mut self, len: usize) -> usize {
        self.place(&vec![POISON; len], 16)
    }

    /// Copies everything to the GPU.
    pub(crate) fn upload(&self) -> Result<()> {
        ensure!(self.contents.len() <= self.capacity, "the tensors take {} bytes", self.contents.len());
        // SAFETY: the memory is large enough.
        unsafe { result::memcpy_htod_sync(self.base, &self.contents) }.context("copying to the GPU")
    }

    /// The address of an offset.
    pub(crate) fn address(&self, offset: usize) -> usize {
        self.base as usize + offset
    }

    /// Copies everything back, and checks that nothing but the named tensors changed.
    pub(crate) fn download(&self, outputs: &[(usize, usize)]) -> Result<Vec<Vec<u8>>> {
        let mut now = vec![0; self.contents.len()];
        // SAFETY: the memory is large enough.
        unsafe { result::memcpy_dtoh_sync(&mut now, self.base) }.context("copying from the GPU")?;
        let results: Vec<Vec<u8>> = outputs.iter().map(|(start, len)| now[*start..start + len].to_vec()).collect();
        for (start, len) in outputs {
            now[*start..start + len].copy_from_slice(&self.contents[*start..start + len]);
        }
        let changed = now.iter().zip(&self.contents).position(|(now, before)| now != before);
        ensure!(changed.is_none(), "the byte at offset {} was overwritten, and is no output's", changed.unwrap_or(0));
        Ok(results)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`. There is nothing to do about an error.
        let _ = unsafe { result::free_sync(self.base) };
    }
}
