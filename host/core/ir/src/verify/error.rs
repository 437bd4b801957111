//! Why a graph is refused: one variant per rule.

use super::MAX_NODE_ID;
use crate::kernel::KernelError;
use crate::{CallError, Graph, InferError, NodeId, RefusedArgument, TensorType, TypeError, ValueId};

/// A value of another type than it should have.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeMismatch {
    /// Its name.
    pub value: String,
    /// The type that it should have.
    pub expected: String,
    /// The type that it has.
    pub found: String,
}

impl TypeMismatch {
    pub(super) fn new(graph: &Graph, value: ValueId, expected: &TensorType) -> TypeMismatch {
        TypeMismatch {
            value: graph.value(value).name.clone(),
            expected: expected.to_string(),
            found: graph.ty(value).to_string(),
        }
    }
}

/// Why a graph, or a rewrite, is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GraphError {
    /// A value id past the end of the list of values.
    #[error("{place} refers to value {id}, but the graph has {count} values")]
    ValueRange {
        /// A node, an input or an output.
        place: String,
        /// The id.
        id: u32,
        /// How many values there are.
        count: usize,
    },
    /// A place that defines a value that another input or node defines.
    #[error("{0} defines `%{1}`, which is defined already; give each result a value of its own")]
    DefinedTwice(String, String),
    /// A place that reads a value before it is defined, or that nothing defines.
    #[error("{0} reads `%{1}`, which no input and no node before it defines; order nodes by their operands")]
    Undefined(String, String),
    /// A name with other characters than letters, digits and `_`, or of the wrong length.
    #[error("`{0}` is no name of a value; expected 1 to 64 letters, digits or `_`")]
    Name(String),
    /// Two values of one name.
    #[error("two values are called `%{0}`; names must be unique")]
    RepeatedName(String),
    /// Two nodes of one id.
    #[error("two nodes have the id {0}; inserted nodes take ids that no other node has")]
    RepeatedNodeId(NodeId),
    /// A node of a program whose id leaves none to those that are added to it.
    #[error("a node has the id {0}; those of a program are at most {MAX_NODE_ID}")]
    LargeNodeId(NodeId),
    /// A value of a type that no tensor can have.
    #[error("the type of `%{0}` is impossible: {1}")]
    Type(String, #[source] TypeError),
    /// A node that breaks a rule.
    #[error("node {0}{1}")]
    Node(NodeId, #[source] NodeRule),
    /// A kernel that breaks a rule of its own.
    #[error("the kernel of node {0} is refused: {1}")]
    Kernel(NodeId, #[source] KernelError),
    /// More than a rewrite of this graph has any use for.
    #[error("the rewrite holds {found} ids, numbers and the like; at most {limit} are looked into")]
    Size {
        /// How many there may be.
        limit: u64,
        /// How many there are.
        found: u64,
    },
    /// Inputs were added or removed.
    #[error("the rewrite has {found} inputs, the original {expected}; inputs must stay as they are, even unused ones")]
    InputCount {
        /// In the original.
        expected: usize,
        /// In the rewrite.
        found: usize,
    },
    /// An input has another type.
    #[error("input {position} is {found} in the rewrite and {expected} in the original; inputs must stay as they are")]
    InputType {
        /// The position.
        position: usize,
        /// In the original.
        expected: String,
        /// In the rewrite.
        found: String,
    },
    /// Outputs were added or removed.
    #[error("the rewrite has {found} outputs, the original {expected}")]
    OutputCount {
        /// In the original.
        expected: usize,
        /// In the rewrite.
        found: usize,
    },
    /// An output has another element type or shape.
    #[error(
        "output {position} is `%{}`, a {}, in the rewrite and {} in the original; element type and shape must agree",
        .ty.value, .ty.found, .ty.expected
    )]
    OutputType {
        /// The position.
        position: usize,
        /// Its type.
        ty: TypeMismatch,
    },
    /// An output lies elsewhere than the original's: what puts it there is work that the original does.
    #[error(
        "output {position} is `%{}`, a {}, in the rewrite and {} in the original; store it in that layout{}",
        .ty.value, .ty.found, .ty.expected,
        if *.dense { "" } else { ", or densely with its dimensions in the same order" }
    )]
    OutputLayout {
        /// The position.
        position: usize,
        /// Whether the original is dense, so that its strides are the only ones allowed.
        dense: bool,
        /// Its type.
        ty: TypeMismatch,
    },
    /// An output shares memory with an input where the original's does not.
    #[error(
        "output {position} (`%{value}`) may share memory with input {input}, which it does not in the original; insert aten::clone"
    )]
    OutputAlias {
        /// The position.
        position: usize,
        /// The value in the rewrite.
        value: String,
        /// The position of the input.
        input: usize,
    },
    /// Too many nodes.
    #[error("the rewrite has {found} nodes; at most {limit} are allowed, 4 times the original's or 64")]
    Nodes {
        /// The most allowed.
        limit: usize,
        /// How many there are.
        found: usize,
    },
    /// Too many kernels.
    #[error("the rewrite has {found} kernels; at most {limit} are allowed, 4 times the original's nodes or 64")]
    Kernels {
        /// The most allowed.
        limit: usize,
        /// How many there are.
        found: usize,
    },
    /// Too much memory for intermediate tensors.
    #[error(
        "the rewrite holds {found} bytes of intermediate tensors at once; at most {limit} are allowed, 4 times the original's or 1 GiB"
    )]
    IntermediateBytes {
        /// The most allowed.
        limit: u64,
        /// The estimate.
        found: u64,
    },
    /// Too much work in what was inserted.
    #[error(
        "inserted nodes take an estimated {found} operations; at most {limit} are allowed, 64 times the original's"
    )]
    Work {
        /// The most allowed.
        limit: u64,
        /// The estimate.
        found: u64,
    },
}

/// A rule that a node breaks. The text of each goes on behind the node's id.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NodeRule {
    /// An op on no list, and ops that may be meant: with the namespace that is missing, or another overload.
    #[error(
        " calls `{}`, which is not an op that may be used; {}",
        .0,
        if .1.is_empty() { "use one of the listed ops or a kernel node".to_owned() } else { format!("there is {}", .1.join(", ")) }
    )]
    UnknownOp(String, Vec<String>),
    /// Arguments that do not fit the schema.
    #[error(": {0}; arguments stand in schema order with defaults filled in")]
    Call(#[from] CallError),
    /// An argument that makes an allowed op random, or lets it write to its operands.
    #[error(": {0}")]
    Argument(#[from] RefusedArgument),
    /// Not one value per result.
    #[error(" defines {found} values, but {what} has {expected} results")]
    ResultCount {
        /// The op, or the kernel.
        what: String,
        /// How many results there are.
        expected: String,
        /// How many values the node defines.
        found: usize,
    },
    /// Not one tensor per input that the kernel declares.
    #[error(" gives its kernel {found} tensors, but the kernel declares {expected} inputs")]
    KernelInputCount {
        /// How many inputs are declared.
        expected: usize,
        /// How many tensors are given.
        found: usize,
    },
    /// A tensor of another type or shape than its kernel declares for the input of this position.
    #[error(
        " gives `%{}`, a {}, for input x{} of its kernel, which is declared as {}",
        .1.value, .1.found, .0, .1.expected
    )]
    KernelInput(usize, TypeMismatch),
    /// A result of a kernel declared with another type.
    #[error(" declares `%{}` as {}, but its kernel stores {}", .0.value, .0.found, .0.expected)]
    KernelOutput(TypeMismatch),
    /// The id of an original node that does something else: the original's, and what the node is.
    #[error(" has the id of `{0}` in the original, but is {1}; inserted nodes take ids that the original does not use")]
    ReusedId(String, String),
    /// An op that occurs in samples, but that a rewrite may not insert.
    #[error(" inserts `{0}`, which a rewrite may not; use an op of the insert list or a kernel node")]
    NotInsertable(String),
    /// A call of this op more than the original has of it, where only kernels and views may be inserted.
    #[error(
        " calls `{}`{}; only kernels may be inserted, and views that never copy: write it as a kernel node, or keep the original's own call on tensors of the types that it had",
        .0,
        if *.1 == 0 { ", which the original does not call on tensors of these types".to_owned() }
        else { format!(" once more than the original, which has {}", .1) }
    )]
    LibraryCall(String, usize),
    /// An op that gathers or scatters, kept with another argument than the original's, one of its indices, or with
    /// something of another size to index.
    #[error(
        " keeps `{0}` but with another `{1}` than the original, or one of another shape; leave it as it was, or gather in a kernel node, where indices are guarded"
    )]
    Index(String, String),
    /// A kept node declares another type than it had, although its operands have the types they had.
    #[error(" declares `%{}` as {}, which in the original is {}", .0.value, .0.found, .0.expected)]
    KeptType(TypeMismatch),
    /// The types of an op's results are not known.
    #[error(": {0}")]
    Infer(#[from] InferError),
    /// A node declares another type than its op returns.
    #[error(
        " declares `%{}` as {}, but `{}` returns {}; ask `infer` for the types of inserted ops",
        .1.value, .1.found, .0, .1.expected
    )]
    InferredType(String, TypeMismatch),
}

impl NodeRule {
    /// The error of a node that breaks it.
    pub(super) fn broken_by(self, node: NodeId) -> GraphError {
        GraphError::Node(node, self)
    }
}
