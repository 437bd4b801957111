//! Points on a stream, and the time between them as the GPU saw it.

use super::device::{DriverError, Entered, Gpu, Stream, failed};
use cudarc::driver::{result, sys};
use std::sync::Arc;

/// A point on a stream: reached when everything before it has run.
#[derive(Debug)]
pub struct StreamEvent {
    gpu: Arc<Gpu>,
    event: sys::CUevent,
}

impl StreamEvent {
    /// The end of what the stream has been given so far.
    pub fn record(gpu: &Arc<Gpu>, _entered: &Entered<'_>, stream: Stream) -> Result<StreamEvent, DriverError> {
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(failed("make an event"))?;
        let made = StreamEvent { gpu: gpu.clone(), event };
        // SAFETY: the event was just made in the context that the thread is in; the driver refuses a foreign stream.
        unsafe { result::event::record(event, stream.raw()) }.map_err(failed("record an event"))?;
        Ok(made)
    }

    /// Nanoseconds from `earlier` to this, which must both be reached.
    pub fn since(&self, earlier: &StreamEvent) -> Result<u64, DriverError> {
        // SAFETY: both events live as long as their owners.
        let elapsed = unsafe { result::event::elapsed(earlier.event, self.event) };
        elapsed.map(|milliseconds| (f64::from(milliseconds) * 1e6) as u64).map_err(failed("compare events"))
    }
}

impl Drop for StreamEvent {
    fn drop(&mut self) {
        let _entered = self.gpu.enter();
        // SAFETY: nobody has the event any more. There is nothing to do about an error.
        let _ = unsafe { result::event::destroy(self.event) };
    }
}
