//! A GPU as the driver sees it: modules of machine code, launches on a stream.

use super::nvrtc::Cubin;
use super::properties::DeviceProperties;
use cudarc::driver::{result, sys};
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::sync::Arc;

/// The driver refused something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
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

pub(super) fn failed(call: &'static str) -> impl Fn(result::DriverError) -> DriverError {
    move |error| DriverError::Call { call, message: error.to_string() }
}

/// A stream of the driver: the address of its `CUstream_st`. 0 is the legacy default stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream(pub usize);

impl Stream {
    pub(super) fn raw(self) -> sys::CUstream {
        self.0 as sys::CUstream
    }
}

/// A GPU in its primary context, which libtorch uses as well.
#[derive(Debug)]
pub struct Gpu {
    number: u32,
    device: sys::CUdevice,
    context: sys::CUcontext,
    /// The major version of its compute capability.
    major: i32,
    properties: DeviceProperties,
}

/// The major compute capability from which on a launch may begin before the one before it has ended.
const FIRST_THAT_BEGINS_EARLY: i32 = 9;

/// What a function does first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FunctionStart {
    /// It calls `begin` of `prelude.cu`, which waits for the launch before.
    Waits,
    /// Anything: all that the stream was given before must have ended.
    Anyhow,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

impl Gpu {
    /// The GPU with this number. The calling thread's context stays what it is.
    pub fn open(number: u32) -> Result<Arc<Gpu>, DriverError> {
        Gpu::open_as(number, |properties| properties)
    }

    /// The GPU with this number, for which schedules are chosen as for one with other properties: on a smaller one small
    /// kernels get the forms of large ones.
    pub fn open_as(
        number: u32,
        as_if: impl FnOnce(DeviceProperties) -> DeviceProperties,
    ) -> Result<Arc<Gpu>, DriverError> {
        // SAFETY: loading the driver's library asks nothing of its users.
        if !unsafe { sys::is_culib_present() } {
            return Err(DriverError::NoDriver);
        }
        result::init().map_err(failed("initialise"))?;
        let device = result::device::get(number as i32).map_err(failed("open the device"))?;
        let (major, properties) = read_properties(device)?;
        // SAFETY: the device exists. The context is released when this is dropped.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(failed("make a context"))?;
        Ok(Arc::new(Gpu { number, device, context, major, properties: as_if(properties) }))
    }

    /// The number that it was opened by.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Makes the GPU's context that of the calling thread until the result is dropped.
    pub fn enter(&self) -> Result<Entered<'_>, DriverError> {
        let current = result::ctx::get_current().map_err(failed("ask for the context"))?;
        let pushed = current != Some(self.context);
        if pushed {
            // SAFETY: the context is retained as long as `self` lives.
            unsafe { sys::cuCtxPushCurrent_v2(self.context) }.result().map_err(failed("use the context"))?;
        }
        Ok(Entered { gpu: self, pushed, here: PhantomData })
    }

    /// Makes the GPU's context that of the calling thread for good, as it is where libtorch alone uses the GPU: each time
    /// that a thread without one enters it and leaves takes it half a microsecond.
    pub fn stay(&self) -> Result<(), DriverError> {
        // SAFETY: the context is retained as long as `self` lives, and the driver refuses one that was released.
        unsafe { result::ctx::set_current(self.context) }.map_err(failed("use the context"))
    }

    /// Major and minor version of the compute capability.
    pub fn capability(&self) -> Result<(i32, i32), DriverError> {
        let minor = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
        Ok((self.major, self.attribute(minor)?))
    }

    /// A figure that the driver has of the device.
    pub(super) fn attribute(&self, which: sys::CUdevice_attribute) -> Result<i32, DriverError> {
        // SAFETY: the device exists.
        unsafe { result::device::get_attribute(self.device, which) }.map_err(failed("ask for an attribute"))
    }

    /// Whether a launch of such a function may begin while the one before it still runs. GPUs before Hopper know no such
    /// launches, and nothing in the text waits there.
    fn begins_early(&self, start: FunctionStart) -> bool {
        start == FunctionStart::Waits && self.major >= FIRST_THAT_BEGINS_EARLY
    }

    /// Bytes of its memory that nobody has.
    pub fn free_bytes(&self) -> Result<u64, DriverError> {
        let _entered = self.enter()?;
        let (free, _) = result::mem_get_info().map_err(failed("ask for its free memory"))?;
        Ok(free as u64)
    }

    /// What schedules depend on.
    pub fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    /// The name of the product.
    pub fn name(&self) -> Result<String, DriverError> {
        result::device::get_name(self.device).map_err(failed("ask for the name"))
    }

    /// What names this very GPU, whatever number it is opened by: `GPU-` and a UUID.
    pub fn uuid(&self) -> Result<String, DriverError> {
        let bytes = result::device::get_uuid(self.device).map_err(failed("ask for the UUID"))?.bytes;
        let digits: String = bytes.iter().map(|byte| format!("{:02x}", *byte as u8)).collect();
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
        Ok(format!("GPU-{}", parts.join("-")))
    }

    /// Loads machine code.
    pub(super) fn load(
        self: &Arc<Gpu>,
        cubin: &Cubin,
        entry: &str,
        start: FunctionStart,
    ) -> Result<GpuFunction, DriverError> {
        let name = CString::new(entry).map_err(|_| DriverError::Call { call: "load", message: "bad name".into() })?;
        let _entered = self.enter()?;
        // SAFETY: a cubin is self-contained, and says itself how long it is.
        let module = unsafe { result::module::load_data(cubin.0.as_ptr().cast()) }.map_err(failed("load a kernel"))?;
        // SAFETY: the module was just loaded.
        match unsafe { result::module::get_function(module, name) } {
            Ok(function) => {
                Ok(GpuFunction { gpu: self.clone(), module, function, begins_early: self.begins_early(start) })
            }
            Err(error) => {
                // SAFETY: nothing of the module is in use.
                let _ = unsafe { result::module::unload(module) };
                Err(failed("find a kernel")(error))
            }
        }
    }
}

fn read_properties(device: sys::CUdevice) -> Result<(i32, DeviceProperties), DriverError> {
    use sys::CUdevice_attribute as Attribute;
    let read = |which| {
        // SAFETY: the caller got the device from the driver.
        let value = unsafe { result::device::get_attribute(device, which) };
        value.map(i32::unsigned_abs).map_err(failed("ask for a property of the device"))
    };
    let major = read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?.cast_signed();
    let minor = read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?.cast_signed();
    let properties = DeviceProperties {
        multiprocessors: read(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        shared_bytes_per_multiprocessor: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
        cluster_blocks: DeviceProperties::cluster_blocks_of(major),
        warpgroup_shared_bytes: DeviceProperties::warpgroup_shared_bytes_of((major, minor)),
    };
    Ok((major, properties))
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: retained once, in `open`. There is nothing to do about an error.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// The calling thread while a GPU's context is its own. Its stack of contexts is then as it was before.
#[derive(Debug)]
pub struct Entered<'a> {
    gpu: &'a Gpu,
    pushed: bool,
    /// Contexts are a thread's: this stays on it.
    here: PhantomData<*const ()>,
}

impl Entered<'_> {
    /// Waits until everything on the stream has run. An error of the GPU shows here at the latest.
    pub fn synchronize(&self, stream: Stream) -> Result<(), DriverError> {
        // SAFETY: the driver knows its streams, and refuses what is none in this context.
        unsafe { result::stream::synchronize(stream.raw()) }.map_err(failed("wait for the stream"))
    }

    /// The GPU.
    pub fn gpu(&self) -> &Gpu {
        self.gpu
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if self.pushed {
            let mut popped = std::ptr::null_mut();
            // SAFETY: pushed once, in `enter`. There is nothing to do about an error.
            let _ = unsafe { sys::cuCtxPopCurrent_v2(&raw mut popped) };
        }
    }
}

/// The blocks of a launch, the threads of each, and the bytes of shared memory that it has besides what its text declares.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchShape {
    pub(super) blocks: u32,
    pub(super) threads: u32,
    pub(super) shared_bytes: u32,
}

/// A loaded kernel.
#[derive(Debug)]
pub(super) struct GpuFunction {
    /// Lives as long as what is loaded on it.
    gpu: Arc<Gpu>,
    module: sys::CUmodule,
    function: sys::CUfunction,
    begins_early: bool,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for GpuFunction {}
// SAFETY: as above.
unsafe impl Sync for GpuFunction {}

impl GpuFunction {
    /// Lets its launches have so many bytes of shared memory.
    pub(super) fn may_have(&self, _entered: &Entered<'_>, shared_bytes: u32) -> Result<(), DriverError> {
        let which = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is loaded; the driver refuses more than there is.
        let status = unsafe { sys::cuFuncSetAttribute(self.function, which, shared_bytes.cast_signed()) };
        status.result().map_err(failed("ask for shared memory"))
    }

    /// Launches with these addresses as arguments.
    ///
    /// # Safety
    /// The function takes as many addresses, and the memory they name stays valid until the stream has run the launch.
    pub(super) unsafe fn launch(
        &self,
        _entered: &Entered<'_>,
        stream: Stream,
        LaunchShape { blocks, threads, shared_bytes }: LaunchShape,
        addresses: &[u64],
    ) -> Result<(), DriverError> {
        let mut bytes = 0;
        let mut arguments = packed(addresses, &mut bytes);
        let mut early = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let config = sys::CUlaunchConfig {
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: shared_bytes,
            hStream: stream.raw(),
            attrs: &raw mut early,
            numAttrs: self.begins_early.into(),
        };
        // SAFETY: by this function's contract; the driver copies the arguments before it returns. Each is an address, so
        // that they lie in the buffer as the function expects them. What begins early waits itself.
        let status = unsafe {
            let (none, extra) = (std::ptr::null_mut(), arguments.as_mut_ptr());
            sys::cuLaunchKernelEx(&raw const config, self.function, none, extra)
        };
        status.result().map_err(failed("launch a kernel"))
    }

    /// Whether its launches may begin while the one before still runs.
    pub(super) fn begins_early(&self) -> bool {
        self.begins_early
    }
}

/// A list of arguments in one buffer, as the driver takes it. `bytes` holds its size for as long as the result is used.
pub(super) fn packed(addresses: &[u64], bytes: &mut usize) -> [*mut c_void; 5] {
    *bytes = size_of_val(addresses);
    [
        sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize as *mut c_void,
        addresses.as_ptr().cast_mut().cast(),
        sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize as *mut c_void,
        std::ptr::from_mut(bytes).cast(),
        sys::CU_LAUNCH_PARAM_END_AS_INT as usize as *mut c_void,
    ]
}

impl GpuFunction {
    /// A launch as a node of a graph, with arguments from [`packed`].
    pub(super) fn node(
        &self,
        LaunchShape { blocks, threads, shared_bytes }: LaunchShape,
        arguments: &mut [*mut c_void; 5],
    ) -> sys::CUDA_KERNEL_NODE_PARAMS {
        sys::CUDA_KERNEL_NODE_PARAMS {
            func: self.function,
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: shared_bytes,
            kernelParams: std::ptr::null_mut(),
            extra: arguments.as_mut_ptr(),
            kern: std::ptr::null_mut(),
            ctx: std::ptr::null_mut(),
        }
    }
}

impl Drop for GpuFunction {
    fn drop(&mut self) {
        let _entered = self.gpu.enter();
        // SAFETY: nobody launches it any more; the driver waits for what runs. There is nothing to do about an error.
        let _ = unsafe { result::module::unload(self.module) };
    }
}
