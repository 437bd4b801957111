//! A gate on a stream: what is asked for behind it waits until the host opens it, so that a GPU never waits for a host that
//! is still asking.

use super::compiler::Compiler;
use super::device::{DriverError, Entered, FunctionStart, Gpu, GpuFunction, LaunchShape, Stream, failed};
use super::kernel::CudaError;
use cudarc::driver::{result, sys};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// One thread that waits for the first word; where that takes longer than it may, it says so in the second, and goes on. A
/// program that waits for the GPU before the host opens the gate would otherwise wait for ever.
const SOURCE: &str = r#"
static __device__ unsigned long long now() {
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
}

extern "C" __global__ void gate(volatile unsigned *words, unsigned long long limit) {
    const unsigned long long start = now();
    while (words[0] == 0) {
        if (now() - start > limit) {
            words[1] = 1;
            __threadfence_system();
            return;
        }
    }
}
"#;
const ENTRY: &str = "gate";

/// Words that the kernel and the host both see: whether the gate is open, and whether the kernel went on before it was.
const OPEN: usize = 0;
const GAVE_UP: usize = 1;

/// A gate that can be shut on a stream again and again.
#[derive(Debug)]
pub struct Gate {
    function: GpuFunction,
    words: Words,
}

/// A gate that is shut, until this is dropped.
#[derive(Debug)]
pub struct ShutGate<'a>(&'a Words);

impl Gate {
    /// One for a GPU.
    pub fn new(gpu: &Arc<Gpu>, compiler: &Compiler) -> Result<Gate, CudaError> {
        let function = gpu.load(&compiler.compile(SOURCE)?, ENTRY, FunctionStart::Anyhow)?;
        Ok(Gate { function, words: Words::new(gpu)? })
    }

    /// Shuts it. The stream must be past the last time.
    pub fn shut(
        &mut self,
        entered: &Entered<'_>,
        stream: Stream,
        limit: Duration,
    ) -> Result<ShutGate<'_>, DriverError> {
        self.words.get(OPEN).store(0, Ordering::SeqCst);
        self.words.get(GAVE_UP).store(0, Ordering::SeqCst);
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let shape = LaunchShape { blocks: 1, threads: 1, shared_bytes: 0 };
        // SAFETY: the function takes an address and 64 bits; the words are given back when no kernel runs any more.
        unsafe { self.function.launch(entered, stream, shape, &[self.words.address as u64, limit]) }?;
        Ok(ShutGate(&self.words))
    }

    /// Whether the limit had passed when the gate was opened, once the stream is past it.
    pub fn gave_up(&self) -> bool {
        self.words.get(GAVE_UP).load(Ordering::SeqCst) != 0
    }
}

impl Drop for ShutGate<'_> {
    fn drop(&mut self) {
        self.0.get(OPEN).store(1, Ordering::SeqCst);
    }
}

/// Two words of the host's memory that the GPU reads and writes at the same address.
#[derive(Debug)]
struct Words {
    gpu: Arc<Gpu>,
    address: *mut AtomicU32,
}

impl Words {
    fn new(gpu: &Arc<Gpu>) -> Result<Words, DriverError> {
        let _entered = gpu.enter()?;
        let size = 2 * size_of::<AtomicU32>();
        // SAFETY: asks for memory; it is given back once, in `drop`.
        let memory = unsafe { result::malloc_host(size, sys::CU_MEMHOSTALLOC_DEVICEMAP) };
        Ok(Words { gpu: gpu.clone(), address: memory.map_err(failed("share memory with the GPU"))?.cast() })
    }

    fn get(&self, which: usize) -> &AtomicU32 {
        assert!(which < 2, "there are two words");
        // SAFETY: there are two words in memory that lives as long as `self` and is aligned to a page; the host only uses
        // them as atomics.
        unsafe { &*self.address.add(which) }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        let Ok(_entered) = self.gpu.enter() else { return };
        // SAFETY: the context is current, and after the wait no kernel has the words any more. There is nothing to do
        // about an error.
        let _ = unsafe { sys::cuCtxSynchronize().result().and_then(|()| result::free_host(self.address.cast())) };
    }
}
