//! Points on a context's stream, the time that the device took from one to the other, and gates in front of them.

use crate::context::Context;
use crate::engine::Engine;
use crate::error::{ContextError, LaunchError};
use passhost_kernels::cuda::{Gate, ShutGate, StreamEvent};
use std::time::Duration;

/// A point on the stream of a GPU.
#[derive(Debug)]
pub struct Mark(StreamEvent);

impl<E: Engine> Context<E> {
    /// Marks the end of what the stream has been given so far. `None` on the CPU, which has no stream.
    pub fn mark(&self) -> Result<Option<Mark>, ContextError> {
        self.entered_on_gpu(|(on, entered)| Ok(Mark(StreamEvent::record(&on.gpu, entered, on.stream)?)))
    }

    /// A gate for its stream. `None` on the CPU.
    pub fn gate(&self) -> Result<Option<Gate>, LaunchError> {
        self.entered_on_gpu(|(on, _)| Ok(Gate::new(&on.gpu, &on.compiler)?))
    }

    /// Shuts a gate of its: nothing that is asked for from now on runs before that is opened, or `limit` has passed. What
    /// was asked for before should have run.
    pub fn shut<'a>(&self, gate: &'a mut Gate, limit: Duration) -> Result<Option<ShutGate<'a>>, ContextError> {
        self.entered_on_gpu(|(on, entered)| Ok(gate.shut(entered, on.stream, limit)?))
    }
}

impl Mark {
    /// Nanoseconds that the device took from `earlier` to this. Both must be reached.
    pub fn since(&self, earlier: &Mark) -> Result<u64, ContextError> {
        Ok(self.0.since(&earlier.0)?)
    }
}
