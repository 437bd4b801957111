//! A GPU as the driver sees it: modules of machine code, launches on a stream.

use super::nvrtc::Cubin;
use super::properties::DeviceProperties;
use cudarc::driver::{result, sys};
use std::ffi::{CString, c_void};

/// The driver refused something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// There is no driver.
    #[error("the CUDA driver (libcuda.so.1) is not installed")]
    NoDriver,
    /// A call failed.
    #[error("CUDA: {call}: {message}")]
    Call {
        /// What was asked for.
        call: &'static str,
        /// What the driver said.
        message: String,
    },
}

fn failed(call: &'static str) -> impl Fn(result::DriverError) -> DeviceError {
    move |error| DeviceError::Call { call, message: error.to_string() }
}

/// A stream of the driver: the address of its `CUstream_st`. 0 is the legacy default stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream(pub usize);

impl Stream {
    fn raw(self) -> sys::CUstream {
        self.0 as sys::CUstream
    }
}

/// A GPU in its primary context, which libtorch uses as well.
#[derive(Debug)]
pub struct Gpu {
    device: sys::CUdevice,
    context: sys::CUcontext,
    properties: DeviceProperties,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

impl Gpu {
    /// The GPU with this number; its context becomes that of the calling thread.
    pub fn open(number: u32) -> Result<Gpu, DeviceError> {
        // SAFETY: loading the driver's library asks nothing of its users.
        if !unsafe { sys::is_culib_present() } {
            return Err(DeviceError::NoDriver);
        }
        result::init().map_err(failed("initialise"))?;
        let device = result::device::get(number as i32).map_err(failed("open the device"))?;
        let properties = read_properties(device)?;
        // SAFETY: the device exists. The context is released when this is dropped.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(failed("make a context"))?;
        let gpu = Gpu { device, context, properties };
        gpu.make_current()?;
        Ok(gpu)
    }

    /// Makes the context that of the calling thread.
    pub fn make_current(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is retained as long as `self` lives.
        unsafe { result::ctx::set_current(self.context) }.map_err(failed("use the context"))
    }

    /// Major and minor version of the compute capability.
    pub fn capability(&self) -> Result<(i32, i32), DeviceError> {
        use sys::CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
        };
        // SAFETY: the device exists.
        let attribute = |which| unsafe { result::device::get_attribute(self.device, which) };
        let version = attribute(MAJOR).and_then(|major| Ok((major, attribute(MINOR)?)));
        version.map_err(failed("ask for the compute capability"))
    }

    /// What schedules depend on.
    pub fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    /// The name of the product.
    pub fn name(&self) -> Result<String, DeviceError> {
        result::device::get_name(self.device).map_err(failed("ask for the name"))
    }

    /// Loads machine code.
    pub(super) fn load(&self, cubin: &Cubin, entry: &str) -> Result<Function, DeviceError> {
        let name = CString::new(entry).map_err(|_| DeviceError::Call { call: "load", message: "bad name".into() })?;
        // SAFETY: a cubin is self-contained, and says itself how long it is.
        let module = unsafe { result::module::load_data(cubin.0.as_ptr().cast()) }.map_err(failed("load a kernel"))?;
        // SAFETY: the module was just loaded.
        match unsafe { result::module::get_function(module, name) } {
            Ok(function) => Ok(Function { module, function }),
            Err(error) => {
                // SAFETY: nothing of the module is in use.
                let _ = unsafe { result::module::unload(module) };
                Err(failed("find a kernel")(error))
            }
        }
    }
}

fn read_properties(device: sys::CUdevice) -> Result<DeviceProperties, DeviceError> {
    use sys::CUdevice_attribute as Attribute;
    let read = |which| {
        // SAFETY: the caller got the device from the driver.
        let value = unsafe { result::device::get_attribute(device, which) };
        value.map(i32::unsigned_abs).map_err(failed("ask for a property of the device"))
    };
    Ok(DeviceProperties {
        multiprocessors: read(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        shared_bytes_per_multiprocessor: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
    })
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: retained once, in `open`. There is nothing to do about an error.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// A loaded kernel.
#[derive(Debug)]
pub(super) struct Function {
    module: sys::CUmodule,
    function: sys::CUfunction,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    /// Launches with these addresses as arguments.
    ///
    /// # Safety
    /// The function takes as many addresses, and the memory they name stays valid until the stream has run the launch.
    pub(super) unsafe fn launch(
        &self,
        stream: Stream,
        blocks: u32,
        threads: u32,
        addresses: &[u64],
    ) -> Result<(), DeviceError> {
        let mut parameters: Vec<*mut c_void> =
            addresses.iter().map(|address| std::ptr::from_ref(address).cast_mut().cast()).collect();
        // SAFETY: by this function's contract; the driver copies the arguments before it returns.
        unsafe {
            result::launch_kernel(self.function, (blocks, 1, 1), (threads, 1, 1), 0, stream.raw(), &mut parameters)
        }
        .map_err(failed("launch a kernel"))
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        // SAFETY: nobody launches it any more; the driver waits for what runs. There is nothing to do about an error.
        let _ = unsafe { result::module::unload(self.module) };
    }
}
