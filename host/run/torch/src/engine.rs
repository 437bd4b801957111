//! libtorch as an engine of the runtime: programs that call any op, on the CPU or on a stream of a GPU.

use crate::bridge::ffi;
use crate::call::PreparedCall;
use crate::error::TorchError;
use crate::target::{Scope, Target};
use crate::tensor::Tensor;
use crate::threads::run_on_threads;
use cxx::UniquePtr;
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
        ffi::thread_count()
    }

    fn run(&self, workers: usize, work: &(dyn Fn() + Sync)) {
        run_on_threads(workers, work);
    }
}

impl Engine for Target {
    type Tensor = Tensor;
    type Scope = Scope;
    type Call = PreparedCall;
    type CapturePool = UniquePtr<ffi::CapturePool>;

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

    fn prepare(&self, op: &OpName, args: &[Arg], products: bool) -> Result<PreparedCall, Cause> {
        let call = PreparedCall::new(self, op, args)?;
        Ok(if products { call.with_prepared_layouts()? } else { call })
    }

    fn call(&self, scope: &Scope, call: &PreparedCall, tensors: &[&Tensor]) -> Result<Vec<Tensor>, Cause> {
        Ok(call.call(scope, tensors)?)
    }

    fn captured<T>(&self, work: impl FnOnce() -> T) -> Result<(T, Self::CapturePool), Cause> {
        let stream = self.gpu_stream_number();
        let stream = stream.ok_or_else(|| Cause::Failed("there is nothing to capture on the CPU".into()))?;
        let mut pool = ffi::open_capture_pool(self.number(), stream).map_err(TorchError::from)?;
        let result = work();
        // However the capture ended: ops take memory from where they did before.
        pool.pin_mut().close().map_err(TorchError::from)?;
        Ok((result, pool))
    }
}
