//! Where programs run, and what is known of it: the CPU, or one GPU for the rest of the process.

use passhost_cache::Cache;
use passhost_ir::kernel::{IndexExpr, IndexId, InputDecl, Inst, Op, Outside, Reg, Store};
use passhost_ir::{Dtype, Kernel, TensorType};
use passhost_kernels::cuda::{Compiler, CudaKernel, Gpu, Stream};
use passhost_kernels::{BoundInput, BoundOutput, CpuKernel, Threads};
use passhost_torch::{Tensor, TensorError, allocator};
use std::cell::{OnceCell, RefCell};
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Instant;

/// Bytes before and after a guarded tensor.
const GUARD: u64 = 256;
const GUARD_BYTE: u8 = 0xa5;
/// Bytes of a tensor that leaves nothing else in the cache of a GPU.
const FLUSH: i64 = 512 << 20;
/// Elements of `f32` that are copied to find out how fast the cache of a GPU is: it holds both tensors.
const CACHED: i64 = 3 << 20;

/// The device.
pub struct Device {
    gpu: Option<GpuDevice>,
}

pub struct GpuDevice {
    gpu: Gpu,
    compiler: Compiler,
    stream: Stream,
    index: u32,
    /// Set while outputs of kernels get guard zones: their memory, and the bytes of each.
    guarded: RefCell<Option<Vec<(Tensor, u64)>>>,
    flush: OnceCell<Option<Tensor>>,
    speed: OnceCell<Speed>,
}

/// What no program on a GPU can beat.
#[derive(Debug, Clone, Copy, Default)]
struct Speed {
    /// An empty launch and a wait for it.
    launch_ns: f64,
    /// Bytes per second through the cache.
    bandwidth: f64,
}

/// A kernel ready for the device.
pub enum Compiled {
    Cpu(Box<CpuKernel>),
    Gpu(Box<CudaKernel>),
}

impl Device {
    /// The CPU.
    pub fn cpu() -> Device {
        Device { gpu: None }
    }

    /// A GPU, by number. The reason why not otherwise.
    pub fn gpu(index: u32) -> Result<Device, String> {
        let failed = |error: &dyn Display| error.to_string();
        passhost_torch::open_gpu(index).map_err(|error| failed(&error))?;
        let gpu = Gpu::open(index).map_err(|error| failed(&error))?;
        let capability = gpu.capability().map_err(|error| failed(&error))?;
        let compiler =
            Compiler::new(capability, &nvrtc_directories(), kernel_cache()).map_err(|error| failed(&error))?;
        let stream = Stream(passhost_torch::stream());
        Ok(Device {
            gpu: Some(GpuDevice {
                gpu,
                compiler,
                stream,
                index,
                guarded: RefCell::default(),
                flush: OnceCell::new(),
                speed: OnceCell::new(),
            }),
        })
    }

    /// `cpu` or `cuda:0`, and the product's name on a GPU.
    pub fn names(&self) -> Option<(String, String)> {
        let gpu = self.gpu.as_ref()?;
        Some((format!("cuda:{}", gpu.index), gpu.gpu.name().unwrap_or_else(|error| error.to_string())))
    }

    /// How the time of a run is taken.
    pub fn method(&self) -> &'static str {
        match self.gpu {
            None => "wall clock around one run, pairs in random order",
            Some(_) => "wall clock around one run and a wait for the GPU, pairs in random order",
        }
    }

    /// Medians of eager alone and beside the rewrite that are this far apart are of a machine that changed its speed.
    pub fn drift(&self) -> f64 {
        if self.gpu.is_some() { 1.02 } else { 1.05 }
    }

    /// Waits until everything that was asked for has run.
    pub fn synchronize(&self) -> Result<(), String> {
        match self.gpu {
            None => Ok(()),
            Some(_) => passhost_torch::synchronize().map_err(|error| error.to_string()),
        }
    }

    /// Whether the device can do no more: an error of a GPU takes its context with it.
    pub fn is_lost(&self) -> bool {
        self.synchronize().is_err()
    }

    /// Makes a kernel ready.
    pub fn compile(&self, kernel: &Kernel) -> Result<Compiled, String> {
        match self.gpu {
            None => Ok(Compiled::Cpu(Box::new(CpuKernel::compile(kernel).map_err(|error| error.to_string())?))),
            Some(_) => Ok(Compiled::Gpu(Box::new(CudaKernel::new(kernel).map_err(|error| error.to_string())?))),
        }
    }

    /// Runs a kernel on tensors; returns its outputs, which have these types. On a GPU they are written when the stream
    /// gets there.
    pub fn run(&self, kernel: &Compiled, inputs: &[&Tensor], types: &[TensorType]) -> Result<Vec<Tensor>, String> {
        let failed = |error: TensorError| error.to_string();
        let outputs: Vec<Tensor> =
            types.iter().map(|ty| self.allocate(ty)).collect::<Result<_, _>>().map_err(failed)?;
        let input_types: Vec<TensorType> = inputs.iter().map(|tensor| tensor.ty()).collect();
        let inputs: Vec<BoundInput<'_>> =
            inputs.iter().zip(&input_types).map(|(tensor, ty)| bound_input(tensor, ty)).collect();
        let bound: Vec<BoundOutput> = outputs.iter().zip(types).map(|(tensor, ty)| bound_output(tensor, ty)).collect();
        match (kernel, &self.gpu) {
            (Compiled::Cpu(kernel), _) => {
                // SAFETY: the tensors live until the end of this function and nobody else runs meanwhile; outputs are
                // fresh and overlap nothing.
                unsafe { kernel.bind(&inputs, &bound) }.map_err(|error| error.to_string())?.run(&OpThreads);
            }
            (Compiled::Gpu(kernel), Some(gpu)) => {
                // SAFETY: these are tensors of this GPU, fresh outputs among them. Their memory is given away only to
                // what runs later on the same stream.
                unsafe { kernel.launch(&gpu.gpu, &gpu.compiler, gpu.stream, &inputs, &bound) }
                    .map_err(|error| error.to_string())?;
            }
            (Compiled::Gpu(_), None) => return Err("a GPU kernel on the CPU; this is a bug of passhost".into()),
        }
        Ok(outputs)
    }

    /// Memory for an output that a kernel writes.
    fn allocate(&self, ty: &TensorType) -> Result<Tensor, TensorError> {
        let Some(gpu) = &self.gpu else { return Tensor::empty(ty) };
        let mut guarded = gpu.guarded.borrow_mut();
        let Some(guarded) = guarded.as_mut().filter(|_| ty.numel() > 0) else { return Tensor::empty(ty) };
        let bytes = ty.bytes();
        let mut memory = Tensor::empty(&bytes_type(GUARD + bytes + GUARD))?;
        memory.fill(GUARD_BYTE);
        memory.reinterpret(GUARD, &bytes_type(bytes))?.fill(allocator::POISON);
        let tensor = memory.reinterpret(GUARD, ty)?;
        guarded.push((memory, bytes));
        Ok(tensor)
    }

    /// From now on memory is poisoned and guarded, and limited to this many bytes at once.
    pub fn guard(&self, limit: u64) -> Guard<'_> {
        match &self.gpu {
            None => Guard::Cpu(allocator::Guarded::start(limit)),
            Some(gpu) => {
                *gpu.guarded.borrow_mut() = Some(vec![]);
                Guard::Gpu { gpu, peak: allocator::Peak::start(), limit }
            }
        }
    }

    /// Empties the caches by reading memory larger than them.
    pub fn flush_caches(&self) {
        match &self.gpu {
            None => crate::integrity::flush_caches(),
            Some(gpu) => {
                let make = || Tensor::empty(&TensorType::contiguous(Dtype::U8, [FLUSH])).ok();
                if let Some(tensor) = gpu.flush.get_or_init(make) {
                    tensor.read_all();
                }
            }
        }
    }

    /// The least time that any program can take that moves so many bytes, in nanoseconds.
    pub fn floor_ns(&self, bytes: u64) -> u64 {
        let Some(gpu) = &self.gpu else {
            return (bytes as f64 / (2.0 * crate::integrity::cache_bandwidth()) * 1e9) as u64;
        };
        let speed = gpu.speed.get_or_init(|| self.measure_speed().unwrap_or_default());
        if speed.bandwidth == 0.0 {
            return 0;
        }
        // Not all of a launch is the device's doing; half of it is no program's to save.
        (speed.launch_ns / 2.0 + bytes as f64 / (2.0 * speed.bandwidth) * 1e9) as u64
    }

    fn measure_speed(&self) -> Option<Speed> {
        let small = self.time_copy(1)?;
        let large = self.time_copy(CACHED)?;
        let bytes = (2 * 4 * CACHED) as f64;
        Some(Speed { launch_ns: small, bandwidth: bytes / ((large - small).max(1.0) / 1e9) })
    }

    /// The least time of a copy of so many elements of `f32`, launch and wait included, in nanoseconds.
    fn time_copy(&self, elements: i64) -> Option<f64> {
        let kernel = Kernel {
            parallel: vec![elements],
            inputs: vec![InputDecl { dtype: Dtype::F32, shape: vec![elements] }],
            index: vec![IndexExpr::Axis(0)],
            body: vec![Inst {
                dtype: Dtype::F32,
                op: Op::Load { input: 0, index: vec![IndexId(0)], outside: Outside::Clamp },
            }],
            stores: vec![Store { value: Reg(0), order: vec![0], shape: vec![elements] }],
            ..Kernel::default()
        };
        let compiled = self.compile(&kernel).ok()?;
        let ty = TensorType::contiguous(Dtype::F32, [elements]);
        let input = Tensor::from_bytes(&ty, &vec![0; ty.bytes() as usize]).ok()?;
        let mut least = f64::INFINITY;
        for _ in 0..100 {
            self.synchronize().ok()?;
            let start = Instant::now();
            self.run(&compiled, &[&input], std::slice::from_ref(&ty)).ok()?;
            self.synchronize().ok()?;
            least = least.min(start.elapsed().as_nanos() as f64);
        }
        Some(least)
    }
}

/// Poison, guards and a limit, for as long as this lives.
pub enum Guard<'a> {
    Cpu(allocator::Guarded),
    Gpu { gpu: &'a GpuDevice, peak: allocator::Peak, limit: u64 },
}

impl Guard<'_> {
    /// Guard zones overwritten so far.
    pub fn overwritten(&self) -> Result<u64, String> {
        match self {
            Guard::Cpu(guard) => Ok(guard.overwritten_guards()),
            Guard::Gpu { gpu, .. } => {
                let guarded = gpu.guarded.borrow();
                let zones = guarded.iter().flatten().flat_map(|(memory, bytes)| [(memory, 0), (memory, GUARD + bytes)]);
                let mut count = 0;
                for (memory, start) in zones {
                    let zone = memory.reinterpret(start, &bytes_type(GUARD)).map_err(|error| error.to_string())?;
                    count += u64::from(zone.to_bytes().iter().any(|byte| *byte != GUARD_BYTE));
                }
                Ok(count)
            }
        }
    }

    /// Highest number of bytes allocated at once since the start; an error if that is over the limit.
    pub fn peak_bytes(&self) -> Result<u64, String> {
        match self {
            Guard::Cpu(guard) => Ok(guard.peak_bytes()),
            Guard::Gpu { peak, limit, .. } => match peak.bytes() {
                bytes if bytes > *limit => Err(format!("out of memory: {bytes} bytes at once, the limit is {limit}")),
                bytes => Ok(bytes),
            },
        }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if let Guard::Gpu { gpu, .. } = self {
            *gpu.guarded.borrow_mut() = None;
        }
    }
}

fn bytes_type(bytes: u64) -> TensorType {
    TensorType::contiguous(Dtype::U8, [bytes as i64])
}

fn bound_input<'a>(tensor: &Tensor, ty: &'a TensorType) -> BoundInput<'a> {
    BoundInput {
        pointer: tensor.data_ptr().cast_const(),
        bytes: tensor.bytes_from_data(),
        dtype: ty.dtype,
        shape: &ty.shape,
        strides: &ty.strides,
    }
}

fn bound_output(tensor: &Tensor, ty: &TensorType) -> BoundOutput {
    BoundOutput { pointer: tensor.data_ptr(), bytes: ty.bytes() as usize }
}

/// libtorch's threads.
struct OpThreads;

impl Threads for OpThreads {
    fn count(&self) -> usize {
        passhost_torch::thread_count()
    }

    fn run(&self, workers: usize, work: &(dyn Fn() + Sync)) {
        passhost_torch::run_on_threads(workers, work);
    }
}

/// Where NVRTC lies beside the libtorch in use, then where CUDA is installed as a rule.
fn nvrtc_directories() -> Vec<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let library =
        maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|path| path.ends_with("/libtorch_cpu.so"));
    let beside = library.and_then(|path| Some(PathBuf::from(path).parent()?.join("../../nvidia/cu13/lib")));
    beside.into_iter().chain([PathBuf::from("/usr/local/cuda/lib64")]).collect()
}

/// The cache of compiled kernels; none where the user's cache directory cannot be used.
fn kernel_cache() -> Option<Cache> {
    let base = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let base = base.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Cache::open(&base.join("passhost").join("kernels")).ok()
}
