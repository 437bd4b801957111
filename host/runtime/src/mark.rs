//! Points on a context's stream, and the time that the device took from one to the other.

use crate::context::{Context, ContextError};
use passhost_kernels::cuda::Event;

/// A point on the stream of a GPU.
#[derive(Debug)]
pub struct Mark(Event);

impl Context {
    /// Marks the end of what the stream has been given so far. `None` on the CPU, which has no stream.
    pub fn mark(&self) -> Result<Option<Mark>, ContextError> {
        self.entered(|launching| {
            let on = launching.on_gpu.as_ref();
            on.map(|on| Event::record(on.gpu, on.entered, on.stream).map(Mark)).transpose().map_err(ContextError::from)
        })?
    }
}

impl Mark {
    /// Whether the device is past it.
    pub fn is_reached(&self) -> Result<bool, ContextError> {
        Ok(self.0.is_reached()?)
    }

    /// Nanoseconds that the device took from `earlier` to this. Both must be reached.
    pub fn since(&self, earlier: &Mark) -> Result<u64, ContextError> {
        Ok(self.0.since(&earlier.0)?)
    }
}
