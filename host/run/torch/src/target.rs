//! Where tensors live and ops run: the CPU, or a stream of one GPU.

use crate::bridge::ffi;
use crate::error::TorchError;
use cxx::UniquePtr;

/// The CPU, or a stream of one GPU. Several may be in use in one process, from several threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The index of a GPU, and the number that libtorch gives the stream; the CPU without.
    gpu: Option<(u32, i64)>,
    inference: bool,
}

/// The number that the shim gives the CPU.
const CPU: i32 = -1;
/// And tensors without data.
pub(crate) const META: i32 = -2;

impl Target {
    /// The CPU.
    pub fn cpu() -> Target {
        Target { gpu: None, inference: false }
    }

    /// A stream of libtorch's pool on the GPU of this index. Which one is next in turn.
    pub fn gpu(index: u32) -> Result<Target, TorchError> {
        ffi::load_gpus()?;
        match ffi::gpu_count() {
            count if i64::from(index) < count => {
                Ok(Target { gpu: Some((index, ffi::pool_stream(number(index))?)), ..Target::cpu() })
            }
            count => Err(TorchError::Torch(format!("there are {count} GPUs"))),
        }
    }

    /// What libtorch would use now on this thread: the current stream of the current GPU.
    pub fn current_gpu() -> Result<Target, TorchError> {
        ffi::load_gpus()?;
        let gpu = ffi::current_gpu()?;
        Ok(Target { gpu: Some((gpu.unsigned_abs(), ffi::current_stream(gpu)?)), ..Target::cpu() })
    }

    /// The same, for tensors that never meet autograd: ops skip its bookkeeping. Otherwise what they make is like any
    /// tensor made without gradients.
    #[must_use]
    pub fn inference(self) -> Target {
        Target { inference: true, ..self }
    }

    /// The index of the GPU, if it is one.
    pub fn gpu_index(&self) -> Option<u32> {
        self.gpu.map(|(index, _)| index)
    }

    /// The number that libtorch gives the stream of a GPU.
    pub(crate) fn gpu_stream_number(&self) -> Option<i64> {
        self.gpu.map(|(_, stream)| stream)
    }

    /// The number by which the device crosses the border to C++.
    pub(crate) fn number(&self) -> i32 {
        self.gpu.map_or(CPU, |(index, _)| number(index))
    }

    /// Calls `work` with the calling thread prepared for ops on this target: no gradients, no autocast, its device and
    /// stream the current ones. Afterwards the thread's state is what it was, errors and panics included.
    pub fn within<T>(&self, work: impl FnOnce(&Scope) -> T) -> T {
        self.prepared(false, work)
    }

    /// The same. If the caller has made the GPU's context the thread's current one, and sees to it that the one before
    /// comes back, it is `on_device`, and this is a few calls of the driver shorter.
    pub(crate) fn prepared<T>(&self, on_device: bool, work: impl FnOnce(&Scope) -> T) -> T {
        let stream = self.gpu_stream_number().unwrap_or(0);
        let guard = ffi::enter(self.number(), stream, self.inference, on_device);
        let scope = Scope { target: *self, guard };
        let result = work(&scope);
        drop(scope.guard);
        result
    }
}

/// Proof that the calling thread is prepared for ops on a target.
pub struct Scope {
    pub(crate) target: Target,
    /// Restores the thread's state. It is no thread's but this one's: it cannot be sent.
    guard: UniquePtr<ffi::Scope>,
}

fn number(index: u32) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}
