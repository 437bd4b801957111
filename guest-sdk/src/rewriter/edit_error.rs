//! Why a change of a graph is refused.

use passhost_ir::NodeId;

/// Why a change was not made. The graph is as it was before.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EditError {
    /// No node has this id.
    #[error("there is no node {0} in the graph; it may have been replaced or removed before")]
    NoSuchNode(NodeId),
    /// A value id of another graph, or of none, and how many values there are.
    #[error("there is no value {0} in the graph, which has {1}; take ids from `rewriter.graph()`, a match or a change")]
    NoSuchValue(u32, usize),
    /// A node that is to be replaced twice.
    #[error("node {0} is named twice among the nodes to replace; a kernel takes the place of each node once")]
    Twice(NodeId),
    /// A position past the end of the node list, and how many nodes there are.
    #[error("position {0} is past the end of the graph's {1} nodes; {1} means behind the last")]
    NoSuchPosition(usize, usize),
    /// A value is read before it exists, at this position.
    #[error("%{0} would be read at position {1}, before the node that defines it; insert further down")]
    NotYetDefined(String, usize),
    /// Two values do not stand for each other.
    #[error(
        "%{old} is {expected} and cannot be replaced by %{new}, which is {found}; only a value of the same type, shape and strides can"
    )]
    TypeDiffers {
        /// Name of the value to be replaced.
        old: String,
        /// Its type.
        expected: String,
        /// Name of the other value.
        new: String,
        /// Its type.
        found: String,
    },
    /// A kernel declares other inputs than the values that it is given.
    #[error("the kernel declares {0}, but it is given {1}; name one value for each `in`, in order")]
    KernelInput(String, String),
    /// A kernel that the host would refuse.
    #[error("the kernel is refused: {0}")]
    Kernel(#[from] passhost_ir::kernel::KernelError),
    /// The text of a kernel that is none.
    #[error("the text of the kernel is not understood: {0}")]
    KernelText(#[from] passhost_ir::TextError),
    /// The kernel stores so many tensors, but so many values are named for them.
    #[error("the kernel stores {0} tensors, but {1} values are named for them; name one for each `out`, in order")]
    ResultCount(usize, usize),
    /// A value that none of the replaced nodes defines, or that is named twice.
    #[error(
        "%{0} is no result of the replaced nodes, or is named twice; each result of the kernel takes the place of one of theirs"
    )]
    NotAResult(String),
    /// The kernel stores another tensor than the value is.
    #[error("the kernel stores {found} for %{value}, which is {expected}")]
    Stored {
        /// Name of the value.
        value: String,
        /// Its type, and what to do.
        expected: String,
        /// What the kernel stores.
        found: String,
    },
    /// A path leaves the nodes and comes back, so that no single place in the graph can hold them all.
    #[error(
        "the nodes cannot become one: %{0} is read by them and depends on them; take in the nodes between, or leave some out"
    )]
    NotConvex(String),
    /// The replaced nodes define a value that is still read and that the replacement does not.
    #[error("%{0} is read outside the replaced nodes, and the replacement does not define it")]
    StillRead(String),
    /// A kept op has an index that comes from the replaced nodes.
    #[error(
        "an index of {0} comes from the replaced nodes, and the host keeps that op only with the indices it had; leave them out"
    )]
    Index(String),
}
