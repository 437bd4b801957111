//! Why a program has no functional form here.

use super::MAX_VIEWS;
use crate::NodeId;

/// Why a program has no functional form here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FunctionalError {
    /// The op is on no list.
    #[error("node {node} calls `{op}`, which is on no list of ops")]
    UnknownOp {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
    },
    /// An in-place op without a functional counterpart of the same arguments.
    #[error("node {node} calls `{op}`, for which no op without the `_` takes the same arguments")]
    NoCounterpart {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
    },
    /// A tensor changes through one value and is read through another, and how the two relate is not known.
    #[error(
        "node {node} (`{op}`) overwrites `%{value}`, whose memory `%{other}` may share and which {reader} reads later; \
         what `{by}` makes of overwritten memory cannot be followed: clone `%{other}` before node {node}"
    )]
    SharedMemory {
        /// The node that writes.
        node: NodeId,
        /// Its op.
        op: String,
        /// What is overwritten.
        value: String,
        /// What shares its memory.
        other: String,
        /// The op that made that.
        by: String,
        /// Who reads that: a node or the outputs.
        reader: String,
    },
    /// Several elements of what changes lie in one place, so that the order of the writes would decide. PyTorch refuses
    /// the obvious cases, too.
    #[error(
        "node {node} (`{op}`) overwrites `%{value}`, a {ty}, several of whose elements may lie in one place; \
         write to a clone of it"
    )]
    Overlap {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
        /// What is overwritten.
        value: String,
        /// Its type.
        ty: String,
    },
    /// What changes and what is read for it overlap, so that the order of reads and writes would decide. PyTorch refuses
    /// the obvious cases, too.
    #[error(
        "node {node} (`{op}`) overwrites `%{value}` while it reads `%{other}`, which may share part of its memory; \
         pass it a clone of `%{other}`"
    )]
    OperandOverlap {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
        /// What is overwritten.
        value: String,
        /// What is read.
        other: String,
    },
    /// A write to a view that cannot be carried over to the memory behind it.
    #[error(
        "node {node} (`{op}`) overwrites `%{value}`, memory that {reader} reads later as `%{other}`; writes through \
         `{through}` are not supported: write to the tensor that it is a view of, or to a clone"
    )]
    NotWritable {
        /// The node that writes.
        node: NodeId,
        /// Its op.
        op: String,
        /// What is overwritten.
        value: String,
        /// What is read later.
        other: String,
        /// The view op in between.
        through: String,
        /// Who reads it: a node or the outputs.
        reader: String,
    },
    /// A chain of views that is too long to be followed at every write.
    #[error(
        "{user} uses `%{value}`, more than {MAX_VIEWS} views away from the tensor that its memory was last read or \
         written as; make views of that tensor, not of its views"
    )]
    TooManyViews {
        /// What is used.
        value: String,
        /// Who uses it: a node or the outputs.
        user: String,
    },
}
