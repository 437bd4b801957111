//! The device that programs are measured on, and what is known of it: the CPU, or a stream of one GPU.

use passhost_ir::kernel::{IndexExpr, IndexId, InputDecl, Inst, Op, PaddingMode, Reg, Store};
use passhost_ir::{DeviceFacts, Dtype, Kernel, TensorType};
use passhost_runtime::{
    Active, Compiler, Context, DeviceKernel, GUARD, Gpu, StreamChoice, Target, Temporary, Tensor, TensorError, Watch,
};
use passhost_torch::allocator;
use std::cell::OnceCell;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Instant;

const GUARD_BYTE: u8 = 0xa5;
/// Bytes of a tensor that leaves nothing else in the cache of a GPU.
const FLUSH: i64 = 512 << 20;
/// Elements of `f32` that are copied to find out how fast the cache of a GPU is: it holds both tensors.
const CACHED: i64 = 3 << 20;

/// The source of a kernel that does nothing.
const NOTHING: &str = "extern \"C\" __global__ void nothing() {}";

/// The device.
pub struct Device {
    context: Arc<Context>,
    gpu: Option<OnGpu>,
}

struct OnGpu {
    gpu: Arc<Gpu>,
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

impl Device {
    /// The CPU.
    pub fn cpu() -> Device {
        Device { context: Arc::new(Context::cpu().inference()), gpu: None }
    }

    /// A GPU, by number, with whoever makes machine code for its compute capability. The reason why not otherwise.
    pub fn gpu(index: u32, compiler: impl FnOnce((i32, i32)) -> Compiler) -> Result<Device, String> {
        let failed = |error: &dyn Display| error.to_string();
        let gpu = Gpu::open(index).map_err(|error| failed(&error))?;
        let compiler = compiler(gpu.capability().map_err(|error| failed(&error))?);
        // Without a compiler the GPU is of no use: better to know now.
        compiler.compile(NOTHING).map_err(|error| failed(&error))?;
        let context = Context::gpu(&gpu, &Arc::new(compiler), StreamChoice::Pool).map_err(|error| failed(&error))?;
        Ok(Device {
            context: Arc::new(context.inference()),
            gpu: Some(OnGpu { gpu, flush: OnceCell::new(), speed: OnceCell::new() }),
        })
    }

    /// Where programs run.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// What tensors are made on.
    pub fn target(&self) -> &Target {
        self.context.target()
    }

    /// `cpu` or `cuda:0`, and the product's name on a GPU.
    pub fn names(&self) -> Option<(String, String)> {
        let gpu = &self.gpu.as_ref()?.gpu;
        Some((format!("cuda:{}", gpu.number()), gpu.name().unwrap_or_else(|error| error.to_string())))
    }

    /// What a pass may know of the device, where the CPU runs as many threads.
    pub fn facts(&self, threads: u32) -> Result<DeviceFacts, String> {
        match &self.gpu {
            None => Ok(passhost_runtime::cpu_facts(threads)),
            Some(gpu) => gpu.gpu.facts().map_err(|error| error.to_string()),
        }
    }

    /// How the time of a run is taken.
    pub fn method(&self) -> &'static str {
        match &self.gpu {
            None => "wall clock around one run, pairs in random order",
            Some(_) => "wall clock around one run and a wait for the GPU, pairs in random order",
        }
    }

    /// Medians of eager alone and beside the rewrite that are this far apart are of a machine that changed its speed.
    pub fn drift(&self) -> f64 {
        if self.gpu.is_some() { 1.02 } else { 1.05 }
    }

    /// Whether the device can do no more: an error of a GPU takes its context with it.
    pub fn is_lost(&self) -> bool {
        self.context.synchronize().is_err()
    }

    /// From now on memory is poisoned and guarded, and limited to this many bytes at once. Programs run under it as
    /// [`passhost_runtime::Program::run_watched`].
    pub fn guard(&self, limit: u64) -> Guard {
        let allocations = match &self.gpu {
            None => Allocations::Cpu(allocator::Guarded::start(limit)),
            Some(_) => Allocations::Gpu { outputs: vec![], peak: allocator::Peak::start(self.target()), limit },
        };
        Guard { allocations, overwritten: 0 }
    }

    /// Empties the caches by reading memory larger than them.
    pub fn flush_caches(&self) {
        match &self.gpu {
            None => crate::integrity::flush_caches(),
            Some(gpu) => {
                let make = || Tensor::empty(self.target(), &TensorType::contiguous(Dtype::U8, [FLUSH])).ok();
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
                op: Op::Load { input: 0, index: vec![IndexId(0)], padding: PaddingMode::Clamp },
            }],
            stores: vec![Store { value: Reg(0), order: vec![0], shape: vec![elements] }],
            ..Kernel::default()
        };
        let mut ready = DeviceKernel::new(&self.context, &kernel).ok()?;
        let ty = TensorType::contiguous(Dtype::F32, [elements]);
        let input = Tensor::from_bytes(self.target(), &ty, &vec![0; ty.bytes() as usize]).ok()?;
        // Made once: what takes longer than a launch and a wait must not raise the floor of a program that does without.
        let output = Tensor::empty(self.target(), &ty).ok()?;
        let mut least = f64::INFINITY;
        for _ in 0..100 {
            self.context.synchronize().ok()?;
            let start = Instant::now();
            // SAFETY: the output is of the kernel's type and in memory of its own, and nobody else has either tensor before
            // the device is waited for.
            unsafe { ready.run(&self.context, &[&input], &[&output]) }.ok()?;
            self.context.synchronize().ok()?;
            least = least.min(start.elapsed().as_nanos() as f64);
        }
        Some(least)
    }
}

/// Poison, guards and a limit, for as long as this lives. It looks on while the rewrite runs.
pub struct Guard {
    allocations: Allocations,
    /// Guard zones of temporaries that were found overwritten.
    overwritten: u64,
}

enum Allocations {
    /// The allocator does all of it, but for temporaries.
    Cpu(allocator::Guarded),
    Gpu {
        /// Memory of outputs that got guard zones, and the bytes of each.
        outputs: Vec<(Tensor, u64)>,
        peak: allocator::Peak,
        limit: u64,
    },
}

impl Guard {
    /// Guard zones overwritten so far.
    pub fn overwritten(&self) -> Result<u64, TensorError> {
        let mut count = self.overwritten;
        match &self.allocations {
            Allocations::Cpu(guard) => count += guard.overwritten_guards(),
            Allocations::Gpu { outputs, .. } => {
                for (memory, bytes) in outputs {
                    count += overwritten_zones(memory, *bytes)?;
                }
            }
        }
        Ok(count)
    }

    /// Highest number of bytes allocated at once since the start; an error if that is over the limit.
    pub fn peak_bytes(&self) -> Result<u64, String> {
        match &self.allocations {
            Allocations::Cpu(guard) => Ok(guard.peak_bytes()),
            Allocations::Gpu { peak, limit, .. } => match peak.bytes() {
                bytes if bytes > *limit => Err(format!("out of memory: {bytes} bytes at once, the limit is {limit}")),
                bytes => Ok(bytes),
            },
        }
    }
}

impl Watch for Guard {
    const TEMPORARIES: bool = true;

    fn output(&mut self, active: &Active<'_>, ty: &TensorType) -> Result<Tensor, TensorError> {
        match &mut self.allocations {
            Allocations::Gpu { outputs, .. } if ty.numel() > 0 => {
                let bytes = ty.bytes();
                let mut memory = Tensor::empty_in(active.scope(), &bytes_type(GUARD + bytes + GUARD))?;
                poison(&mut memory, bytes)?;
                let tensor = memory.reinterpret(GUARD, ty)?;
                outputs.push((memory, bytes));
                Ok(tensor)
            }
            _ => Tensor::empty_in(active.scope(), ty),
        }
    }

    fn begin(&mut self, mut temporary: Temporary) -> Result<(), TensorError> {
        poison(&mut temporary.memory, temporary.bytes)
    }

    fn end(&mut self, temporary: Temporary) -> Result<(), TensorError> {
        self.overwritten += overwritten_zones(&temporary.memory, temporary.bytes)?;
        Ok(())
    }
}

/// Fills memory with poison, and the zones before and behind it with what must stay there.
fn poison(memory: &mut Tensor, bytes: u64) -> Result<(), TensorError> {
    memory.fill(GUARD_BYTE);
    memory.reinterpret(GUARD, &bytes_type(bytes))?.fill(allocator::POISON);
    Ok(())
}

/// How many of the two zones around so many bytes were overwritten.
fn overwritten_zones(memory: &Tensor, bytes: u64) -> Result<u64, TensorError> {
    let mut count = 0;
    for start in [0, GUARD + bytes] {
        let zone = memory.reinterpret(start, &bytes_type(GUARD))?;
        count += u64::from(zone.to_bytes().iter().any(|byte| *byte != GUARD_BYTE));
    }
    Ok(count)
}

fn bytes_type(bytes: u64) -> TensorType {
    TensorType::contiguous(Dtype::U8, [bytes as i64])
}
