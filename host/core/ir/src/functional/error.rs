//! Why a program has no functional form here.

use crate::NodeId;
use std::fmt;

/// How many views may lie between two tensors of the same memory of which one is written and the other read.
pub(super) const MAX_VIEWS: usize = 64;

/// A node that overwrites a value, for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overwriting {
    /// The node.
    pub node: NodeId,
    /// Its op.
    pub op: String,
    /// What is overwritten.
    pub value: String,
}

impl fmt::Display for Overwriting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} (`{}`) overwrites `%{}`", self.node, self.op, self.value)
    }
}

/// Why a program has no functional form here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FunctionalError {
    /// The op is on no list.
    #[error("node {0} calls `{1}`, which is on no list of ops")]
    UnknownOp(NodeId, String),
    /// An in-place op without a functional counterpart of the same arguments.
    #[error("node {0} calls `{1}`, for which no op without the `_` takes the same arguments")]
    NoCounterpart(NodeId, String),
    /// A tensor changes through one value and is read through another, and how the two relate is not known.
    #[error(
        "{write}, whose memory `%{other}` may share and which {reader} reads later; what `{by}` makes of overwritten memory \
         cannot be followed: clone `%{other}` before node {}", write.node
    )]
    SharedMemory {
        /// The write.
        write: Box<Overwriting>,
        /// What shares its memory.
        other: String,
        /// The op that made that.
        by: String,
        /// Who reads that: a node or the outputs.
        reader: String,
    },
    /// Several elements of what changes, a tensor of this type, lie in one place, so that the order of the writes would
    /// decide. PyTorch refuses the obvious cases, too.
    #[error("{0}, a {1}, several of whose elements may lie in one place; write to a clone of it")]
    Overlap(Box<Overwriting>, String),
    /// What changes and what is read for it overlap, so that the order of reads and writes would decide. PyTorch refuses
    /// the obvious cases, too.
    #[error("{0} while it reads `%{1}`, which may share part of its memory; pass it a clone of `%{1}`")]
    OperandOverlap(Box<Overwriting>, String),
    /// A write to a view that cannot be carried over to the memory behind it.
    #[error(
        "{write}, memory that {reader} reads later as `%{other}`; writes through `{through}` are not supported: write to \
         the tensor that it is a view of, or to a clone"
    )]
    NotWritable {
        /// The write.
        write: Box<Overwriting>,
        /// What is read later.
        other: String,
        /// The view op in between.
        through: String,
        /// Who reads it: a node or the outputs.
        reader: String,
    },
    /// Who, a node or the outputs, uses a value at the end of a chain of views that is too long to be followed at every write.
    #[error(
        "{0} uses `%{1}`, more than {MAX_VIEWS} views away from the tensor that its memory was last read or \
         written as; make views of that tensor, not of its views"
    )]
    TooManyViews(String, String),
}
