//! A place of the process's PyTorch as an engine: its CPU, or the current stream of one of its GPUs.

use crate::dispatcher::{Dispatched, Refused};
use crate::tensor::{PyTorch, Tensor, stream_address};
use crate::threads::Threads;
use passhost_ir::{Arg, OpName, OpTable, TensorType};
use passhost_kernels::ThreadPool;
use passhost_kernels::cuda::Stream;
use passhost_runtime::Cause;
use std::fmt;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Calls an op with its tensors, in the order of their places. A returned list is flattened.
pub type LibraryCall = Box<dyn Fn(&[&Tensor]) -> Result<Vec<Tensor>, Cause> + Send>;

/// Who calls ops for programs, where PyTorch's dispatcher does not take their arguments.
pub trait LibraryOps: Send + Sync {
    /// Looks an op up, with arguments in schema order; what stands for a tensor only marks its place.
    fn prepare(&self, op: &OpName, args: &[Arg]) -> Result<LibraryCall, Cause>;
}

/// A place, with who calls ops there.
pub struct Engine {
    torch: &'static PyTorch,
    gpu: Option<u32>,
    threads: Threads,
    ops: Arc<dyn LibraryOps>,
}

impl Engine {
    /// The CPU, where kernels run on the threads of ops, or on so many of their own where PyTorch does not lend those.
    pub fn cpu(torch: &'static PyTorch, threads: usize, ops: Arc<dyn LibraryOps>) -> Engine {
        Engine { torch, gpu: None, threads: Threads::new(threads), ops }
    }

    /// The stream that is current on a GPU.
    pub fn gpu(torch: &'static PyTorch, number: u32, ops: Arc<dyn LibraryOps>) -> Engine {
        Engine { torch, gpu: Some(number), threads: Threads::new(1), ops }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("gpu", &self.gpu).finish_non_exhaustive()
    }
}

impl ThreadPool for Engine {
    fn count(&self) -> usize {
        match &self.torch.threads {
            Some(of_ops) => of_ops.count(),
            None => self.threads.count(),
        }
    }

    fn run(&self, workers: usize, work: &(dyn Fn() + Sync)) {
        match &self.torch.threads {
            Some(of_ops) => of_ops.run(workers, work),
            None => self.threads.run(workers, work),
        }
    }
}

/// The calling thread without gradients, until it is dropped.
struct NoGrad(&'static PyTorch, bool);

impl Drop for NoGrad {
    fn drop(&mut self) {
        // SAFETY: it sets a flag of this thread.
        unsafe { (self.0.tensors.enable_grad)(self.1) };
    }
}

impl passhost_runtime::Engine for Engine {
    type Tensor = Tensor;
    type Scope = ();
    type Call = LibraryCall;
    type CapturePool = std::convert::Infallible;

    fn gpu_index(&self) -> Option<u32> {
        self.gpu
    }

    fn stream(&self) -> Result<Stream, Cause> {
        let Some(number) = self.gpu else { return Ok(Stream(0)) };
        let functions = self.torch.gpu.as_ref();
        let functions = functions.ok_or_else(|| Cause::Failed("this build of PyTorch has no CUDA".into()))?;
        let mut stream = null_mut();
        // SAFETY: there is room for the result.
        match unsafe { (functions.stream)(number as i32, &raw mut stream) } {
            0 => Ok(Stream(stream_address(stream))),
            _ => Err(Cause::Failed(format!("PyTorch has no stream on GPU {number}"))),
        }
    }

    fn within<T>(&self, work: impl FnOnce(&()) -> T) -> T {
        // SAFETY: it reads a flag of this thread.
        let before = unsafe { (self.torch.tensors.grad_enabled)() };
        let _after = NoGrad(self.torch, before);
        // SAFETY: it sets that flag.
        unsafe { (self.torch.tensors.enable_grad)(false) };
        work(&())
    }

    fn empty(&self, (): &(), ty: &TensorType) -> Result<Tensor, Cause> {
        self.torch.empty(self.gpu, ty)
    }

    fn prepare(&self, op: &OpName, args: &[Arg], _products: bool) -> Result<LibraryCall, Cause> {
        let by_name = self.ops.prepare(op, args)?;
        let schema = OpTable::sample().get(op);
        let Some(dispatched) = schema.and_then(|schema| Dispatched::new(self.torch, self.gpu, op, schema, args)) else {
            return Ok(by_name);
        };
        // Why an op refuses is said only by the other way. It is taken from then on if it can do what this one cannot.
        let unable = AtomicBool::new(false);
        Ok(Box::new(move |tensors| {
            if unable.load(Ordering::Relaxed) {
                return by_name(tensors);
            }
            dispatched.call(tensors).or_else(|Refused| {
                let results = by_name(tensors)?;
                unable.store(true, Ordering::Relaxed);
                Ok(results)
            })
        }))
    }

    fn call(&self, (): &(), call: &LibraryCall, tensors: &[&Tensor]) -> Result<Vec<Tensor>, Cause> {
        call(tensors)
    }

    fn captured<T>(&self, _work: impl FnOnce() -> T) -> Result<(T, Self::CapturePool), Cause> {
        Err(Cause::Failed("launches are captured by torch.cuda.graph here".into()))
    }
}
