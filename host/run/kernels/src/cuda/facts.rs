//! What the driver knows of a GPU without trying: nominal figures.

use super::device::{DriverError, Gpu};
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use passhost_ir::{DeviceFacts, DeviceKind};

/// What a launch costs in nanoseconds, on any GPU that this runs on, within a factor of two. It is measured where time
/// matters; here it must not vary.
const LAUNCH_NS: u32 = 2_000;

/// The same of a kernel in a CUDA graph.
const CAPTURED_NS: u32 = 500;

impl Gpu {
    /// The facts of this GPU, for kernels that are launched one after the other, or captured in a CUDA graph. Bandwidth is
    /// that of the memory's clock and bus: two transfers a cycle.
    pub fn facts(&self, is_captured: bool) -> Result<DeviceFacts, DriverError> {
        let ask = |attribute| self.attribute(attribute).map(|value| u64::from(value.unsigned_abs()));
        let clock = 1_000 * ask(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?;
        let bits = ask(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
        Ok(DeviceFacts {
            kind: DeviceKind::Cuda,
            multiprocessors: ask(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32,
            l2_bytes: ask(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
            bandwidth: 2 * clock * bits / 8,
            launch_ns: if is_captured { CAPTURED_NS } else { LAUNCH_NS },
        })
    }
}
