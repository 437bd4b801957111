//! Points on a context's stream, and gates in front of them.

use crate::context::Context;
use crate::engine::Engine;
use crate::error::{ContextError, LaunchError};
use passhost_kernels::cuda::{Gate, ShutGate, StreamEvent};
use std::time::Duration;

impl<E: Engine> Context<E> {
    /// Marks the end of what the stream has been given so far. `None` on the CPU, which has no stream.
    pub fn mark(&self) -> Result<Option<StreamEvent>, ContextError> {
        self.entered_on_gpu(|(on, entered)| Ok(StreamEvent::record(&on.gpu, entered, on.stream)?))
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
