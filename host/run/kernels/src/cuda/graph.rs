//! Launches of our own kernels as one launch of a CUDA graph, built node by node.

use super::device::{DriverError, Entered, Gpu, Stream, failed};
use super::kernel::PreparedLaunch;
use super::recording::RecordedLaunches;
use cudarc::driver::sys;
use std::sync::Arc;

/// Launches, one after the other.
#[derive(Debug)]
pub struct LaunchGraph {
    made: RecordedLaunches,
    /// They hold the machine code.
    _launches: Vec<PreparedLaunch>,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for LaunchGraph {}

impl LaunchGraph {
    /// A graph of launches at these addresses, of kernels that were prepared on this GPU.
    ///
    /// # Safety
    /// As for [`PreparedLaunch::launch`], whenever the graph is launched.
    pub unsafe fn new(gpu: &Arc<Gpu>, launches: &[(PreparedLaunch, Vec<u64>)]) -> Result<LaunchGraph, DriverError> {
        let _entered = gpu.enter()?;
        let mut graph = std::ptr::null_mut();
        // SAFETY: a new graph, which is destroyed when this is dropped.
        unsafe { sys::cuGraphCreate(&raw mut graph, 0) }.result().map_err(failed("make a graph"))?;
        let mut made = RecordedLaunches::of(gpu, graph);
        let mut last: Option<sys::CUgraphNode> = None;
        for (launch, addresses) in launches {
            let mut bytes = 0;
            let mut arguments = super::device::packed(addresses, &mut bytes);
            if let Some(parameters) = launch.parameters(&mut arguments) {
                let mut node = std::ptr::null_mut();
                // SAFETY: the graph lives, and no node before is named. The driver copies the parameters.
                unsafe {
                    sys::cuGraphAddKernelNode_v2(&raw mut node, graph, std::ptr::null(), 0, &raw const parameters)
                }
                .result()
                .map_err(failed("add a kernel to a graph"))?;
                if let Some(before) = &last {
                    let edge = edge_to(launch);
                    // SAFETY: both nodes are the graph's, and an edge that begins early leads to a function that waits.
                    unsafe { sys::cuGraphAddDependencies_v2(graph, before, &raw const node, &raw const edge, 1) }
                        .result()
                        .map_err(failed("put kernels of a graph in order"))?;
                }
                last = Some(node);
            }
        }
        made.make_ready()?;
        Ok(LaunchGraph { made, _launches: launches.iter().map(|(launch, _)| launch.clone()).collect() })
    }

    /// Launches all of it.
    ///
    /// # Safety
    /// As for [`LaunchGraph::new`].
    pub unsafe fn launch(&self, entered: &Entered<'_>, stream: Stream) -> Result<(), DriverError> {
        // SAFETY: by the caller's promise.
        unsafe { self.made.launch(entered, stream) }
    }
}

/// What a launch waits for of the one before it.
fn edge_to(launch: &PreparedLaunch) -> sys::CUgraphEdgeData {
    use sys::CUgraphDependencyType_enum::{CU_GRAPH_DEPENDENCY_TYPE_DEFAULT, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    let (from_port, kind) = match launch.begins_early() {
        // All its blocks run, or have run.
        true => (sys::CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC),
        // It has ended.
        false => (sys::CU_GRAPH_KERNEL_NODE_PORT_DEFAULT, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT),
    };
    sys::CUgraphEdgeData { from_port: from_port as u8, to_port: 0, type_: kind as u8, reserved: [0; 5] }
}
