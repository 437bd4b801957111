//! The device that programs are measured on, and what is known of it: the CPU, or a stream of one GPU.

mod queue;

pub use queue::{QueuedProgram, QueuedTimes, Spacing};

use crate::gpu_state::GpuState;
use crate::on_device::{LEAST, OwnKernels, copying, digest::digests};
use passhost_ir::{DeviceFacts, Dtype, TensorType};
use passhost_protocol::Stopwatch;
use passhost_protocol::device::GpuProperties;
use passhost_result::{Launch, Spent, Work};
use passhost_runtime::{Active, Cause, Compiler, DeviceKernel, GUARD, Gate, Gpu, Temporary, Watch};
use passhost_torch::{Context, Target, Tensor, TorchError, allocator};
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt::Display;
use std::sync::Arc;
use std::time::Instant;

const GUARD_BYTE: u8 = 0xa5;
/// Bytes that no GPU has.
const TOO_MANY: u64 = 1 << 50;
/// Bytes of a tensor that leaves nothing else in the cache of a GPU.
const FLUSH: i64 = 512 << 20;
/// Elements of `f32` that are copied to find out how fast a cache is, of a GPU and of a core: it holds both tensors.
const CACHED: i64 = 3 << 20;
const CACHED_BY_A_CORE: i64 = 1 << 15;
/// Longer than a launch on a GPU and a wait for it take where no other process has a turn in between.
const LAUNCH_NS: f64 = 10_000.0;

/// The device.
pub struct BenchDevice {
    context: Arc<Context>,
    gpu: Option<GpuParts>,
    stopwatch: RefCell<Stopwatch>,
    speed: Cell<Option<Speed>>,
    /// For tensors that the device draws and compares itself.
    kernels: Option<OwnKernels>,
}

struct GpuParts {
    gpu: Arc<Gpu>,
    gate: RefCell<Gate>,
    flush: OnceCell<Option<Tensor>>,
    probe: OnceCell<Option<Probe>>,
    state: Option<GpuState>,
}

/// A copy of one element, ready to be launched.
struct Probe {
    kernel: RefCell<DeviceKernel>,
    input: Tensor,
    output: Tensor,
}

/// The least times of copies, launch and wait included.
#[derive(Debug, Clone, Copy)]
struct Speed {
    /// Of one element.
    small_ns: f64,
    /// Of as many as the caches hold.
    large_ns: f64,
}

impl BenchDevice {
    /// The CPU.
    pub fn cpu() -> BenchDevice {
        BenchDevice::new(Context::cpu(Target::cpu().inference()), None)
    }

    /// The CPU, which does what a GPU would do by itself: so that this can be tested.
    #[cfg(test)]
    pub fn cpu_like_a_gpu() -> BenchDevice {
        BenchDevice { kernels: Some(OwnKernels::default()), ..BenchDevice::cpu() }
    }

    /// A GPU, by number, with whoever makes machine code for its compute capability. The reason why not otherwise. Its context
    /// stays that of the calling thread, which times programs.
    pub fn gpu(index: u32, compiler: impl FnOnce((i32, i32)) -> Compiler) -> Result<BenchDevice, String> {
        let failed = |error: &dyn Display| error.to_string();
        let gpu = Gpu::open(index).map_err(|error| failed(&error))?;
        gpu.stay().map_err(|error| failed(&error))?;
        let compiler = compiler(gpu.capability().map_err(|error| failed(&error))?);
        let engine = |number| Target::gpu(number).map(Target::inference);
        let context = Context::gpu(&gpu, &Arc::new(compiler), engine).map_err(|error| failed(&error))?;
        // Without a compiler the GPU is of no use: it is known from here on.
        let gate = context.gate().map_err(|error| failed(&error))?.ok_or("a GPU without a stream")?;
        let state = gpu.uuid().ok().and_then(|uuid| GpuState::open(&uuid));
        let (flush, probe) = Default::default();
        Ok(BenchDevice::new(context, Some(GpuParts { gpu, gate: RefCell::new(gate), flush, probe, state })))
    }

    /// The same device, that leaves all drawing and comparing to the CPU, which is the reference for it.
    pub fn checked_by_cpu(self) -> BenchDevice {
        BenchDevice { kernels: None, ..self }
    }

    fn new(context: Context, gpu: Option<GpuParts>) -> BenchDevice {
        let kernels = gpu.as_ref().map(|_| OwnKernels::default());
        let (context, stopwatch) = (Arc::new(context), RefCell::new(Stopwatch::start()));
        BenchDevice { context, gpu, stopwatch, speed: Cell::new(None), kernels }
    }

    /// Our kernels, if tensors of this type are drawn and compared on the device: large ones on a GPU. Others are brought to
    /// the CPU, which has them all at hand.
    pub fn on_device(&self, ty: &TensorType) -> Option<&OwnKernels> {
        self.kernels.as_ref().filter(|_| ty.numel() >= LEAST as u64)
    }

    /// Digests under a key of tensors of bytes that a program on the device could write to; none where that fails.
    pub fn digests(&self, key: u64, tensors: &[Tensor]) -> Vec<Vec<u8>> {
        let kernels = self.kernels.as_ref().filter(|_| !tensors.is_empty());
        kernels.and_then(|kernels| digests(&self.context, kernels, key, tensors).ok()).unwrap_or_default()
    }

    /// The time since the last call went into `work`, until the device is done with it.
    pub fn charge(&self, work: Work) {
        // What is wrong with the device, the next who asks something of it will say.
        let _ = self.context.synchronize();
        self.stopwatch.borrow_mut().charge(work);
    }

    /// Where the time went since the last call of this.
    pub fn restart(&self) -> Spent {
        self.stopwatch.borrow_mut().restart()
    }

    /// Where programs run.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// What tensors are made on.
    pub fn target(&self) -> &Target {
        self.context.engine()
    }

    /// Of a GPU: its number as `cuda:0`, the product's name, and what names this very one.
    pub fn names(&self) -> Option<[String; 3]> {
        let gpu = &self.gpu.as_ref()?.gpu;
        let number = format!("cuda:{}", gpu.number());
        let id = gpu.uuid().unwrap_or_else(|_| number.clone());
        Some([number, gpu.name().unwrap_or_else(|error| error.to_string()), id])
    }

    /// What a pass may know of the device, where the CPU runs as many threads, and rewrites are launched so.
    pub fn facts(&self, threads: u32, launch: Launch) -> Result<DeviceFacts, String> {
        match &self.gpu {
            None => Ok(passhost_runtime::cpu_facts(threads)),
            Some(gpu) => gpu.gpu.facts(launch == Launch::Graph).map_err(|error| error.to_string()),
        }
    }

    /// What kernels for it are written by, of a GPU.
    pub fn properties(&self) -> Option<GpuProperties> {
        let gpu = &self.gpu.as_ref()?.gpu;
        let properties = gpu.properties();
        Some(GpuProperties {
            capability: gpu.capability().ok()?,
            multiprocessors: properties.multiprocessors,
            threads_per_multiprocessor: properties.threads_per_multiprocessor,
            shared_bytes_per_multiprocessor: properties.shared_bytes_per_multiprocessor,
        })
    }

    /// How the time of a run is taken, where queued ones follow each other so.
    pub fn method(&self, spacing: Spacing) -> &'static str {
        match (&self.gpu, spacing) {
            (None, _) => "wall clock around one run; device: the calling thread's time on a core",
            (Some(_), Spacing::Close) => {
                "wall clock around one run and a wait for the GPU; device: events around queued runs"
            }
            (Some(_), Spacing::Apart) => {
                "wall clock around one run and a wait for the GPU; device: events around each queued run, behind what \
                 restores its inputs"
            }
        }
    }

    /// What the driver says of the state of a GPU.
    pub fn state(&self) -> Option<&GpuState> {
        self.gpu.as_ref()?.state.as_ref()
    }

    /// Whether runs can be asked for ahead of the device.
    pub fn has_queue(&self) -> bool {
        self.gpu.is_some()
    }

    /// Nanoseconds of an empty launch and a wait for it; `None` on the CPU. The first one behind a program takes longer the
    /// longer that ran, as the core has done nothing but wait meanwhile: the second one counts.
    pub fn probe_ns(&self) -> Option<u64> {
        let probe = self.gpu.as_ref()?.probe.get_or_init(|| self.copy(1)).as_ref()?;
        self.time_launch(probe)?;
        let time = self.time_launch(probe)?;
        Some((time as u64).max(1))
    }

    /// Whether the device can do no more: an error of a GPU takes its context with it.
    pub fn is_lost(&self) -> bool {
        self.context.synchronize().is_err()
    }

    /// Whether so many bytes of its memory can be had at once.
    pub fn can_give(&self, bytes: u64) -> bool {
        Tensor::empty(self.target(), &bytes_type(bytes)).is_ok()
    }

    /// Gives a GPU what libtorch keeps of its memory for later, as it does where it finds too little.
    pub fn give_back(&self) {
        let _ = self.gpu.is_some() && self.can_give(TOO_MANY);
    }

    /// How many bytes a GPU has left, if these are more; `None` where there is room for them, or on the CPU.
    pub fn lacks(&self, bytes: u64) -> Option<u64> {
        let free = || self.gpu.as_ref()?.gpu.free_bytes().ok();
        // What libtorch keeps for later is given back where it is needed.
        let is_short = free()? < bytes && !self.can_give(bytes);
        free().filter(|_| is_short)
    }

    /// From now on memory is poisoned and guarded, and limited to this many bytes at once. Programs run under it as
    /// [`passhost_runtime::Program::run_watched`].
    pub fn guard(&self, limit: u64) -> MemoryGuard {
        let allocations = match &self.gpu {
            None => Allocations::Cpu(allocator::Guarded::start(limit)),
            Some(_) => Allocations::Gpu { outputs: vec![], peak: allocator::Peak::start(self.target()), limit },
        };
        MemoryGuard { allocations, overwritten: 0 }
    }

    /// Empties the caches by reading memory larger than them.
    pub fn flush_caches(&self) {
        match self.flush_tensor() {
            Some(tensor) => {
                // In words: a sum of as many bytes takes ten times as long.
                let words = TensorType::contiguous(Dtype::I64, [FLUSH / 8]);
                let _ = tensor.reinterpret(0, &words).map(|words| words.read_all());
            }
            None => crate::integrity::flush_caches(),
        }
    }

    /// A tensor that leaves nothing else in the cache of a GPU.
    fn flush_tensor(&self) -> Option<Tensor> {
        let make = || Tensor::empty(self.target(), &TensorType::contiguous(Dtype::U8, [FLUSH])).ok();
        self.gpu.as_ref()?.flush.get_or_init(make).clone()
    }

    /// The least time that any program can take that moves so many bytes, in nanoseconds.
    pub fn floor_ns(&self, bytes: u64) -> u64 {
        if self.speed.get().is_none() {
            self.measure_floor();
        }
        self.speed.get().map_or(0, |speed| self.floor_at(speed, bytes))
    }

    /// Not all of a launch is the device's doing; half of it is no program's to save. On a CPU there is none, and the speed is
    /// the faster of a copy by a kernel, which has the widest vectors, and of loads on every core. What a GPU is known to do
    /// counts where a copy took longer: other processes had their turns meanwhile.
    fn floor_at(&self, speed: Speed, bytes: u64) -> u64 {
        let copied = (2 * 4 * self.copied()) as f64 / (speed.large_ns - speed.small_ns).max(1.0);
        let (launch_ns, bandwidth) = match self.gpu.as_ref().and_then(|parts| parts.gpu.facts(false).ok()) {
            Some(facts) => (speed.small_ns.min(LAUNCH_NS), copied.max(facts.bandwidth as f64 / 1e9)),
            None => (0.0, copied.max(crate::integrity::cache_bandwidth() / 1e9)),
        };
        (launch_ns / 2.0 + bytes as f64 / (2.0 * bandwidth)) as u64
    }

    /// Times copies, and keeps the least of each that was ever timed here: what else ran on the device meanwhile must not raise
    /// the floor of anybody.
    pub fn measure_floor(&self) {
        let (Some(small), Some(large)) = (self.time_copy(1), self.time_copy(self.copied())) else { return };
        let kept = self.speed.get().unwrap_or(Speed { small_ns: small, large_ns: large });
        self.speed.set(Some(Speed { small_ns: kept.small_ns.min(small), large_ns: kept.large_ns.min(large) }));
    }

    /// Elements of a copy that the caches hold.
    fn copied(&self) -> i64 {
        match &self.gpu {
            Some(_) => CACHED,
            None => CACHED_BY_A_CORE * passhost_torch::thread_count() as i64,
        }
    }

    /// The least time of a copy of so many elements of `f32`, launch and wait included, in nanoseconds.
    fn time_copy(&self, elements: i64) -> Option<f64> {
        let probe = self.copy(elements)?;
        (0..100).map(|_| self.time_launch(&probe)).try_fold(f64::INFINITY, |least, time| Some(least.min(time?)))
    }

    /// A copy of so many elements of `f32`. Its output is made once: what takes longer than a launch and a wait must not raise
    /// the floor of a program that does without.
    fn copy(&self, elements: i64) -> Option<Probe> {
        let kernel = copying(elements);
        let ty = TensorType::contiguous(Dtype::F32, [elements]);
        Some(Probe {
            kernel: RefCell::new(DeviceKernel::new(&self.context, &kernel).ok()?),
            input: Tensor::from_bytes(self.target(), &ty, &vec![0; ty.bytes() as usize]).ok()?,
            output: Tensor::empty(self.target(), &ty).ok()?,
        })
    }

    /// Nanoseconds of a launch and a wait for it.
    fn time_launch(&self, probe: &Probe) -> Option<f64> {
        self.context.synchronize().ok()?;
        let start = Instant::now();
        let mut kernel = probe.kernel.try_borrow_mut().ok()?;
        // SAFETY: the output is of the kernel's type and in memory of its own, and nobody else has either tensor before
        // the device is waited for.
        unsafe { kernel.run(&self.context, &[&probe.input], &[&probe.output]) }.ok()?;
        self.context.synchronize().ok()?;
        Some(start.elapsed().as_nanos() as f64)
    }
}

/// Poison, guards and a limit, for as long as this lives. It looks on while the rewrite runs.
pub struct MemoryGuard {
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

impl MemoryGuard {
    /// Guard zones overwritten so far.
    pub fn overwritten(&self) -> Result<u64, TorchError> {
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

impl Watch<Target> for MemoryGuard {
    const TEMPORARIES: bool = true;

    fn output(&mut self, active: &Active<'_, Target>, ty: &TensorType) -> Result<Tensor, Cause> {
        match &mut self.allocations {
            Allocations::Gpu { outputs, .. } if ty.numel() > 0 => {
                let bytes = ty.bytes();
                let mut memory = active.empty(&bytes_type(GUARD + bytes + GUARD))?;
                poison(&mut memory, bytes)?;
                let tensor = memory.reinterpret(GUARD, ty)?;
                outputs.push((memory, bytes));
                Ok(tensor)
            }
            _ => active.empty(ty),
        }
    }

    fn begin(&mut self, mut temporary: Temporary<Tensor>) -> Result<(), Cause> {
        Ok(poison(&mut temporary.memory, temporary.bytes)?)
    }

    fn end(&mut self, temporary: Temporary<Tensor>) -> Result<(), Cause> {
        self.overwritten += overwritten_zones(&temporary.memory, temporary.bytes)?;
        Ok(())
    }
}

/// Fills memory with poison, and the zones before and behind it with what must stay there.
fn poison(memory: &mut Tensor, bytes: u64) -> Result<(), TorchError> {
    memory.fill(GUARD_BYTE);
    memory.reinterpret(GUARD, &bytes_type(bytes))?.fill(allocator::POISON);
    Ok(())
}

/// How many of the two zones around so many bytes were overwritten.
fn overwritten_zones(memory: &Tensor, bytes: u64) -> Result<u64, TorchError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_was_timed_while_the_machine_was_busy_raises_no_floor() {
        let device = BenchDevice::cpu();
        device.speed.set(Some(Speed { small_ns: 1e6, large_ns: 1e9 }));
        device.measure_floor();
        let first = device.speed.get().map_or(0.0, |speed| speed.large_ns);
        assert!(0.0 < first && first < 1e8, "{first} ns are kept");
        device.speed.set(Some(Speed { small_ns: 1.0, large_ns: 2.0 }));
        device.measure_floor();
        assert_eq!(device.speed.get().map(|speed| speed.large_ns), Some(2.0), "the least is kept");
    }
}
