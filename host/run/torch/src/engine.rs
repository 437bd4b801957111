//! libtorch as an engine of the runtime: programs that call any op, on the CPU or on a stream of a GPU.

use crate::bridge::ffi;
use crate::call::PreparedCall;
use crate::error::TorchError;
use crate::pool::CapturePool;
use crate::target::{Scope, Target};
use crate::tensor::Tensor;
use crate::threads::{run_on_threads, thread_count};
use passhost_ir::{Arg, OpName, TensorType};
use passhost_kernels::ThreadPool;
use passhost_kernels::cuda::Stream;
use passhost_runtime::{Cause, Engine};

/// Where programs of libtorch's ops run.
pub type Context = passhost_runtime::Context<Target>;

/// A program of libtorch's ops.
pub type Program = passhost_runtime::Program<Target>;

impl From<TorchError> for Cause {
    fn from(error: TorchError) -> Cause {
        match error {
            TorchError::OutOfMemory(message) => Cause::OutOfMemory(message),
            other => Cause::Failed(other.to_string()),
        }
    }
}

impl ThreadPool for Target {
    fn count(&self) -> usize {
        thread_count()
    }

    fn run(&self, workers: usize, work: &(dyn Fn() + Sync)) {
        run_on_threads(workers, work);
    }
}

impl Engine for Target {
    type Tensor = Tensor;
    type Scope = Scope;
    type Call = PreparedCall;
    type CapturePool = CapturePool;

    fn gpu_index(&self) -> Option<u32> {
        self.gpu_index()
    }

    fn stream(&self) -> Result<Stream, Cause> {
        let handle = self.gpu_stream_number().map_or(Ok(0), |stream| ffi::stream_handle(self.number(), stream));
        Ok(Stream(handle.map_err(TorchError::from)?))
    }

    fn within<T>(&self, work: impl FnOnce(&Scope) -> T) -> T {
        self.prepared(true, work)
    }

    fn empty(&self, _scope: &Scope, ty: &TensorType) -> Result<Tensor, Cause> {
        Ok(Tensor::empty_within(self, ty)?)
    }

    fn prepare(&self, op: &OpName, args: &[Arg]) -> Result<PreparedCall, Cause> {
        Ok(PreparedCall::new(self, op, args)?)
    }

    fn call(&self, scope: &Scope, call: &PreparedCall, tensors: &[&Tensor]) -> Result<Vec<Tensor>, Cause> {
        Ok(call.call(scope, tensors)?)
    }

    fn captured<T>(&self, work: impl FnOnce() -> T) -> Result<(T, CapturePool), Cause> {
        let mut pool = CapturePool::open(self)?;
        let result = work();
        pool.close()?;
        Ok((result, pool))
    }
}
