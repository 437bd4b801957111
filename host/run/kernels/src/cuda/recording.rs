//! What a stream is given, noted down as a CUDA graph in place of being run: ours and that of libraries alike.

use super::device::{DriverError, Entered, Gpu, Stream, failed};
use cudarc::driver::sys;
use std::sync::Arc;

/// A stream whose launches are noted down. Other streams and other threads go on as usual; what this thread may not ask
/// for meanwhile, such as a wait for the device, fails, and the recording with it.
#[derive(Debug)]
pub struct Recording<'a> {
    stream: Stream,
    /// Streams are of a context: it stays current until the recording has ended.
    _entered: &'a Entered<'a>,
    has_ended: bool,
}

/// Launches that were noted down, to be made as one at the same addresses.
#[derive(Debug)]
pub struct RecordedLaunches {
    gpu: Arc<Gpu>,
    graph: sys::CUgraph,
    exec: sys::CUgraphExec,
}

impl<'a> Recording<'a> {
    /// From now on nothing that the stream is given runs.
    pub fn begin(entered: &'a Entered<'a>, stream: Stream) -> Result<Recording<'a>, DriverError> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the driver knows its streams, and refuses those that cannot be captured.
        unsafe { sys::cuStreamBeginCapture_v2(stream.raw(), mode) }.result().map_err(failed("capture the stream"))?;
        Ok(Recording { stream, _entered: entered, has_ended: false })
    }

    /// From now on the stream runs what it is given, whether this is an error or not.
    pub fn end(mut self, gpu: &Arc<Gpu>) -> Result<RecordedLaunches, DriverError> {
        let graph = self.stop().map_err(failed("end the capture of the stream"))?;
        let mut made = RecordedLaunches::of(gpu, graph);
        made.make_ready()?;
        Ok(made)
    }

    fn stop(&mut self) -> Result<sys::CUgraph, cudarc::driver::result::DriverError> {
        self.has_ended = true;
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream is captured since `begin`. Where that failed meanwhile, the driver says so and gives no graph.
        unsafe { sys::cuStreamEndCapture(self.stream.raw(), &raw mut graph) }.result()?;
        Ok(graph)
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        if let Ok(graph) = self.stop() {
            // SAFETY: made just now, and nobody else has it. There is nothing to do about an error.
            let _ = unsafe { sys::cuGraphDestroy(graph) };
        }
    }
}

impl RecordedLaunches {
    /// Those of a graph, which is destroyed with this.
    pub(super) fn of(gpu: &Arc<Gpu>, graph: sys::CUgraph) -> RecordedLaunches {
        RecordedLaunches { gpu: gpu.clone(), graph, exec: std::ptr::null_mut() }
    }

    /// What they need to be made: once, when all are there.
    pub(super) fn make_ready(&mut self) -> Result<(), DriverError> {
        // SAFETY: the graph lives; the result is destroyed with it.
        let status = unsafe { sys::cuGraphInstantiateWithFlags(&raw mut self.exec, self.graph, 0) };
        status.result().map_err(failed("make a graph ready"))
    }

    /// Makes all of them.
    ///
    /// # Safety
    /// All memory that was used while they were recorded is still there, and nobody else uses it until the stream has run
    /// them.
    pub unsafe fn launch(&self, _entered: &Entered<'_>, stream: Stream) -> Result<(), DriverError> {
        // SAFETY: the graph is ready; the rest is the caller's promise.
        unsafe { sys::cuGraphLaunch(self.exec, stream.raw()) }.result().map_err(failed("launch a graph"))
    }
}

impl Drop for RecordedLaunches {
    fn drop(&mut self) {
        let _entered = self.gpu.enter();
        // SAFETY: both are this one's, and what runs of them is finished by the driver. There is nothing to do about an
        // error.
        unsafe {
            if !self.exec.is_null() {
                let _ = sys::cuGraphExecDestroy(self.exec);
            }
            if !self.graph.is_null() {
                let _ = sys::cuGraphDestroy(self.graph);
            }
        }
    }
}
