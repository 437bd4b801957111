//! Kernels of a program in each schedule that they may have, measured on the tensors that a run gives them.

use crate::context::Launching;
use crate::error::{Cause, NodeError};
use crate::kernel::{DeviceKernel, Sink};
use crate::program::Program;
use passhost_ir::NodeId;
use passhost_kernels::cuda::Candidates;
use passhost_torch::Tensor;

/// What a kernel takes in each schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TunedKernel {
    /// Its node.
    pub node: NodeId,
    /// Nanoseconds of a launch in each, in the order of the candidates.
    pub times: Vec<u64>,
}

/// A run that measures.
pub(crate) struct Tuning<'a> {
    /// Whether to measure the candidates of a node.
    wanted: &'a mut dyn FnMut(NodeId, &Candidates) -> bool,
    measured: &'a mut Vec<TunedKernel>,
}

impl Program {
    /// Runs once, and measures each kernel in the schedules that it may have, where there are several and `wanted` says so.
    /// What the run gives is dropped. Kernels that are one launch with others, or calculated by the first run alone, have
    /// one schedule; so have all on the CPU.
    pub fn tune(
        &self,
        inputs: &[Tensor],
        wanted: &mut dyn FnMut(NodeId, &Candidates) -> bool,
    ) -> Result<Vec<TunedKernel>, NodeError> {
        let mut measured = vec![];
        self.go_into(&mut Sink::Tune(Tuning { wanted, measured: &mut measured }), inputs, true, &mut ())?;
        self.finish()?;
        Ok(measured)
    }
}

impl Tuning<'_> {
    /// Measures the candidates of a kernel that is about to be launched.
    ///
    /// # Safety
    /// As for [`DeviceKernel::launch`].
    pub(crate) unsafe fn kernel<'t>(
        &mut self,
        node: NodeId,
        kernel: &DeviceKernel,
        launching: &Launching<'_>,
        inputs: impl Iterator<Item = &'t Tensor> + Clone,
        outputs: impl Iterator<Item = u64> + Clone,
    ) -> Result<(), Cause> {
        let wanted = |candidates: &Candidates| (self.wanted)(node, candidates);
        // SAFETY: the caller's promise.
        if let Some(times) = unsafe { kernel.measure(launching, inputs, outputs, wanted)? } {
            self.measured.push(TunedKernel { node, times });
        }
        Ok(())
    }
}
