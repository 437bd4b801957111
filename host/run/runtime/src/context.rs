//! Where programs run: the CPU, or one stream of one GPU.

use crate::engine::{Engine, EngineTensor};
use crate::error::{Cause, ContextError};
use passhost_ir::TensorType;
use passhost_kernels::cuda::{Compiler, Entered, Gpu, Stream};
use std::sync::Arc;

/// A device, and on a GPU a stream of it, with the library that tensors and ops come from. It can be shared by threads.
#[derive(Debug)]
pub struct Context<E> {
    engine: E,
    pub(crate) gpu: Option<GpuContext>,
}

#[derive(Debug)]
pub(crate) struct GpuContext {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) compiler: Arc<Compiler>,
    pub(crate) stream: Stream,
}

impl<E: Engine> Context<E> {
    /// The CPU, with an engine that is on it.
    pub fn cpu(engine: E) -> Context<E> {
        Context { engine, gpu: None }
    }

    /// The stream of a GPU that `engine` takes, given the GPU's number. The compiler makes code for its compute
    /// capability; contexts of several streams share both.
    pub fn gpu<C: Into<Cause>>(
        gpu: &Arc<Gpu>,
        compiler: &Arc<Compiler>,
        engine: impl FnOnce(u32) -> Result<E, C>,
    ) -> Result<Context<E>, ContextError> {
        let entered = gpu.enter()?;
        let engine = engine(gpu.number()).map_err(Into::into)?;
        let stream = engine.stream()?;
        drop(entered);
        Ok(Context { engine, gpu: Some(GpuContext { gpu: gpu.clone(), compiler: compiler.clone(), stream }) })
    }

    /// What tensors for it are made on.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// Waits until everything that was asked for has run. An error of a GPU shows here at the latest.
    pub fn synchronize(&self) -> Result<(), ContextError> {
        match &self.gpu {
            None => Ok(()),
            Some(on) => Ok(on.gpu.enter()?.synchronize(on.stream)?),
        }
    }

    /// Calls `work` with the calling thread prepared for kernels alone.
    pub(crate) fn entered<T>(&self, work: impl FnOnce(&Launching<'_, E>) -> T) -> Result<T, ContextError> {
        let on_gpu = match &self.gpu {
            None => None,
            Some(on) => Some((on, on.gpu.enter()?)),
        };
        Ok(work(&Launching { engine: &self.engine, on_gpu }))
    }

    /// Calls `work` with the calling thread prepared for kernels on its GPU. `None` on the CPU.
    pub(crate) fn entered_on_gpu<T, F: From<ContextError>>(
        &self,
        work: impl FnOnce(&OnGpu<'_>) -> Result<T, F>,
    ) -> Result<Option<T>, F> {
        self.entered(|launching| launching.on_gpu.as_ref().map(work).transpose())?
    }

    /// Calls `work` with the calling thread prepared for kernels and ops. Afterwards its state is what it was.
    pub(crate) fn within<T>(&self, work: impl FnOnce(&Active<'_, E>) -> T) -> Result<T, ContextError> {
        self.entered(|launching| self.engine.within(|scope| work(&Active { scope, launching })))
    }
}

/// The calling thread while it may launch kernels.
pub(crate) struct Launching<'a, E> {
    pub(crate) engine: &'a E,
    pub(crate) on_gpu: Option<OnGpu<'a>>,
}

impl<E: Engine> Launching<'_, E> {
    /// Whether a tensor lies in the memory of this device.
    pub(crate) fn holds(&self, tensor: &E::Tensor) -> bool {
        self.engine.gpu_index() == tensor.gpu_index()
    }
}

/// A GPU, and the proof that its context is the thread's current one.
pub(crate) type OnGpu<'a> = (&'a GpuContext, Entered<'a>);

/// The calling thread while it works for a context.
pub struct Active<'a, E: Engine> {
    pub(crate) scope: &'a E::Scope,
    pub(crate) launching: &'a Launching<'a, E>,
}

impl<E: Engine> Active<'_, E> {
    /// A contiguous tensor with undefined elements: only for a kernel that writes them all.
    pub fn empty(&self, ty: &TensorType) -> Result<E::Tensor, Cause> {
        self.launching.engine.empty(self.scope, ty)
    }

    /// Calls an op.
    pub(crate) fn call(&self, call: &E::Call, tensors: &[&E::Tensor]) -> Result<Vec<E::Tensor>, Cause> {
        self.launching.engine.call(self.scope, call, tensors)
    }
}
