//! Why nodes do not become a kernel.

use passhost_ir::kernel::{KernelError, limits};
use passhost_ir::{Graph, NodeId, ValueId};

/// A value with its type, for a message.
pub(super) fn typed(graph: &Graph, id: ValueId) -> String {
    format!("%{} is {}", graph.value(id).name, graph.ty(id))
}

/// Why nodes cannot become a kernel.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LowerError {
    /// No node has this id.
    #[error("there is no node {0} in the graph; it may have been replaced or removed before")]
    NoSuchNode(NodeId),
    /// The node is a kernel, or an op that none of the pass's groups has.
    #[error("{0} has no lowering among those that the pass names")]
    NoLowering(String),
    /// The node is a matrix product or convolution for which libraries have faster kernels.
    #[error("{0} adds up so many products that a library's kernel is faster")]
    Large(String),
    /// What the node calculates is an index of a kept op.
    #[error("an index of {0} comes from it, and the host keeps that op only with the indices it had")]
    Index(String),
    /// There is a rule for the op, but it does not cover this call: a clause that follows its name.
    #[error("{0} {1}")]
    NotCovered(String, String),
    /// Results are read outside of which not each has an element for every point, or for every row, of one space.
    #[error("one kernel writes results of one shape, but {0} and {1}")]
    Shapes(String, String),
    /// A result has not one element for each point, or for each row, of the space of the kernel's reduction.
    #[error("{result}, which a kernel over rows {parallel:?} of {reduce:?} elements cannot write")]
    Space {
        /// The result, with its type.
        result: String,
        /// Extents of the parallel axes.
        parallel: Vec<i64>,
        /// Extents of the reduce axes.
        reduce: Vec<i64>,
    },
    /// A result has gaps or overlaps in memory, which a kernel cannot write.
    #[error("{0}, which no kernel can write: it has gaps or overlaps")]
    Layout(String),
    /// A result without elements: there is nothing to gain.
    #[error("%{0} has no elements")]
    Empty(String),
    /// A result of more dimensions than a kernel has axes.
    #[error("%{0} has {1} dimensions, a kernel at most {limit}", limit = limits::PARALLEL_AXES)]
    Rank(String, usize),
    /// A reduction goes over other extents than the reduce axes of the kernel.
    #[error("{op} reduces {found:?} at a time, but the kernel {expected:?}")]
    Window {
        /// The op.
        op: String,
        /// What it reduces.
        found: Vec<i64>,
        /// The reduce axes.
        expected: Vec<i64>,
    },
    /// A reduced value is needed at a place that changes within a row of the kernel.
    #[error("{0} is needed for other rows than that of the element")]
    OtherRow(String),
    /// Products that a kernel would add up in tiles, of which there are none: a clause that follows.
    #[error("products in tiles {0}")]
    Tile(&'static str),
    /// Nothing outside reads any result.
    #[error("nothing reads a result of these nodes")]
    Unread,
    /// The kernel breaks a limit or rule.
    #[error("the kernel is refused: {0}")]
    Kernel(#[from] KernelError),
}
