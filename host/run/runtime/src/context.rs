//! Where programs run: the CPU, or one stream of one GPU.

use passhost_kernels::cuda::{Compiler, DriverError, Entered, Gpu, Stream};
use passhost_torch::{OpError, Scope, Target};
use std::sync::Arc;

/// A device, and on a GPU a stream of it. It can be shared by threads.
#[derive(Debug)]
pub struct Context {
    target: Target,
    gpu: Option<GpuContext>,
}

#[derive(Debug)]
struct GpuContext {
    gpu: Arc<Gpu>,
    compiler: Arc<Compiler>,
    stream: Stream,
}

/// Why a device cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// The driver refused.
    #[error(transparent)]
    Device(#[from] DriverError),
    /// libtorch refused.
    #[error(transparent)]
    Torch(#[from] OpError),
}

impl Context {
    /// The CPU.
    pub fn cpu() -> Context {
        Context { target: Target::cpu(), gpu: None }
    }

    /// A stream of libtorch's pool on a GPU. The compiler makes code for its compute capability; contexts of several
    /// streams share both.
    pub fn gpu(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<Context, ContextError> {
        let entered = gpu.enter()?;
        let target = Target::gpu(gpu.number())?;
        let stream = Stream(target.stream_handle()?);
        drop(entered);
        Ok(Context { target, gpu: Some(GpuContext { gpu: gpu.clone(), compiler: compiler.clone(), stream }) })
    }

    /// The same, for tensors that never meet autograd: see [`Target::inference`].
    #[must_use]
    pub fn inference(self) -> Context {
        Context { target: self.target.inference(), ..self }
    }

    /// What tensors for it are made on.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Waits until everything that was asked for has run. An error of a GPU shows here at the latest.
    pub fn synchronize(&self) -> Result<(), ContextError> {
        match &self.gpu {
            None => Ok(()),
            Some(on) => Ok(on.gpu.enter()?.synchronize(on.stream)?),
        }
    }

    /// Calls `work` with the calling thread prepared for kernels alone.
    pub(crate) fn entered<T>(&self, work: impl FnOnce(&Launching<'_>) -> T) -> Result<T, ContextError> {
        let on_gpu = match &self.gpu {
            None => None,
            Some(on) => Some((on.gpu.enter()?, on)),
        };
        let on_gpu = on_gpu.as_ref().map(|(entered, on)| LaunchingOnGpu {
            gpu: &on.gpu,
            compiler: &on.compiler,
            stream: on.stream,
            entered,
        });
        Ok(work(&Launching { on_gpu }))
    }

    /// Calls `work` with the calling thread prepared for kernels on its GPU. `None` on the CPU.
    pub(crate) fn entered_on_gpu<T, E: From<ContextError>>(
        &self,
        work: impl FnOnce(&LaunchingOnGpu<'_>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        self.entered(|launching| launching.on_gpu.as_ref().map(work).transpose())?
    }

    /// Calls `work` with the calling thread prepared for kernels and ops. Afterwards its state is what it was.
    pub(crate) fn within<T>(&self, work: impl FnOnce(&Active<'_>) -> T) -> Result<T, ContextError> {
        self.entered(|launching| {
            self.target.within_context(|scope| work(&Active { target: &self.target, scope, launching }))
        })
    }

    /// Whether a tensor lies in the memory of this device.
    pub(crate) fn holds(&self, target: &Target) -> bool {
        self.target.gpu_index() == target.gpu_index()
    }

    pub(crate) fn is_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// The GPU, if it is one.
    pub(crate) fn on_gpu(&self) -> Option<&Arc<Gpu>> {
        self.gpu.as_ref().map(|on| &on.gpu)
    }
}

/// The calling thread while it may launch kernels.
pub(crate) struct Launching<'a> {
    pub(crate) on_gpu: Option<LaunchingOnGpu<'a>>,
}

pub(crate) struct LaunchingOnGpu<'a> {
    pub(crate) gpu: &'a Arc<Gpu>,
    pub(crate) compiler: &'a Compiler,
    pub(crate) stream: Stream,
    pub(crate) entered: &'a Entered<'a>,
}

/// The calling thread while it works for a context.
pub struct Active<'a> {
    pub(crate) target: &'a Target,
    pub(crate) scope: &'a Scope,
    pub(crate) launching: &'a Launching<'a>,
}

impl Active<'_> {
    /// What tensors are made on.
    pub fn target(&self) -> &Target {
        self.target
    }

    /// What ops are called in.
    pub fn scope(&self) -> &Scope {
        self.scope
    }
}
