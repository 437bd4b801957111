//! A program of kernels as one launch.

use crate::context::ContextError;
use crate::error::NodeError;
use crate::kernel::Sink;
use crate::program::Program;
use passhost_ir::{NodeId, TensorType};
use passhost_kernels::cuda::{DriverError, LaunchGraph, PreparedLaunch};
use passhost_torch::Tensor;

/// Why a program is not one launch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The CPU has no such thing.
    #[error("a program on the CPU cannot be captured; it needs a GPU")]
    Cpu,
    /// An op of a library launches what it likes, and its memory is its own.
    #[error("node {node} ({op}) is neither a kernel nor a view, and only these can be captured")]
    Op {
        /// Which node.
        node: NodeId,
        /// Its op.
        op: String,
    },
    /// It failed while it was captured.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The device cannot be used.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The GPU refused.
    #[error(transparent)]
    Device(#[from] DriverError),
}

/// How often a captured program did what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaptureCounts {
    /// Graphs made: the first, and one for every other layout of the inputs.
    pub captured: u64,
    /// Times that the addresses in a graph were changed, as inputs lay elsewhere.
    pub updated: u64,
    /// Launches.
    pub replayed: u64,
}

/// A program whose nodes are kernels and views, as one launch of a graph for inputs at fixed addresses. Inputs that lie
/// elsewhere are allowed, and cost about as much as running the program once.
pub struct Captured {
    program: Program,
    graph: Option<LaunchGraph>,
    /// The inputs that the graph reads, with their types; they stay for as long as it may read them.
    inputs: Vec<(Tensor, TensorType)>,
    outputs: Vec<Tensor>,
    counts: CaptureCounts,
}

impl Program {
    /// Makes it one launch, if its nodes allow it. Nothing runs yet.
    pub fn capture(self) -> Result<Captured, CaptureError> {
        if !self.context().is_gpu() {
            return Err(CaptureError::Cpu);
        }
        if let Some((node, op)) = self.first_op() {
            return Err(CaptureError::Op { node, op });
        }
        let counts = CaptureCounts::default();
        Ok(Captured { program: self, graph: None, inputs: vec![], outputs: vec![], counts })
    }
}

impl Captured {
    /// How often it did what.
    pub fn counts(&self) -> CaptureCounts {
        self.counts
    }

    /// Runs once. The outputs are written when the stream gets there, and lie where they lay before, unless the inputs do
    /// not: the next run overwrites them.
    pub fn replay(&mut self, inputs: &[Tensor]) -> Result<&[Tensor], CaptureError> {
        if !self.reads(inputs) {
            self.record(inputs)?;
        }
        let context = self.program.context();
        if let Some(graph) = &self.graph {
            let launched = context.entered(|launching| match &launching.on_gpu {
                // SAFETY: `self` holds the inputs, the outputs and the program with its arena, at the addresses of the
                // graph.
                Some(on) => unsafe { graph.launch(on.entered, on.stream) },
                None => Ok(()),
            });
            launched??;
            self.counts.replayed += 1;
        }
        Ok(&self.outputs)
    }

    /// Whether the graph reads these very tensors.
    fn reads(&self, inputs: &[Tensor]) -> bool {
        let same = |(tensor, (known, ty)): (&Tensor, &(Tensor, TensorType))| {
            tensor.address_if(ty) == Some(known.data_ptr() as usize)
                && tensor.target().gpu_index() == known.target().gpu_index()
        };
        self.graph.is_some() && inputs.len() == self.inputs.len() && inputs.iter().zip(&self.inputs).all(same)
    }

    fn record(&mut self, inputs: &[Tensor]) -> Result<(), CaptureError> {
        let mut launches: Vec<(PreparedLaunch, Vec<u64>)> = vec![];
        let outputs = self.program.go_into(&mut Sink::Record(&mut launches), inputs, true, &mut ())?;
        // Kept only if all of it reads these inputs.
        let mut graph = self.graph.take();
        let updated = match &mut graph {
            // SAFETY: the launches were recorded for these inputs, these outputs and the program's arena, all of which
            // `self` holds from here on.
            Some(graph) => unsafe { graph.update(&launches)? },
            None => false,
        };
        if updated {
            self.counts.updated += 1;
        } else if let Some(gpu) = self.program.context().on_gpu() {
            // SAFETY: as above.
            graph = Some(unsafe { LaunchGraph::new(gpu, &launches)? });
            self.counts.captured += 1;
        }
        self.inputs = inputs.iter().map(|tensor| (tensor.shallow_clone(), tensor.ty())).collect();
        self.outputs = outputs;
        self.graph = graph;
        Ok(())
    }
}
