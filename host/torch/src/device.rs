//! Where tensors live and ops run: the CPU, or one GPU for the rest of the process.

use crate::bridge::ffi;
use crate::call::OpError;
use std::sync::atomic::{AtomicI64, Ordering};

/// The index of the GPU; negative for the CPU.
static GPU: AtomicI64 = AtomicI64::new(-1);

/// Makes the GPU of this index the device, and a stream of torch's pool the current one. On an error the CPU stays it.
pub fn open_gpu(index: u32) -> Result<(), OpError> {
    ffi::open_gpu(i64::from(index))?;
    GPU.store(i64::from(index), Ordering::Relaxed);
    Ok(())
}

pub(crate) fn device() -> tch::Device {
    match usize::try_from(GPU.load(Ordering::Relaxed)) {
        Ok(index) => tch::Device::Cuda(index),
        Err(_) => tch::Device::Cpu,
    }
}

/// The stream that ops run on, as the driver knows it; 0 on the CPU.
pub fn stream() -> usize {
    ffi::gpu_stream()
}

/// Waits until everything that was asked for has run. An error of a GPU shows here at the latest.
pub fn synchronize() -> Result<(), OpError> {
    Ok(ffi::synchronize()?)
}

/// Gives the memory that the allocator of the GPU holds in reserve back to the driver.
pub fn empty_gpu_cache() -> Result<(), OpError> {
    Ok(ffi::empty_gpu_cache()?)
}

/// The settings of libtorch that change what GPU ops compute, in words.
pub fn gpu_settings() -> String {
    ffi::gpu_settings()
}
