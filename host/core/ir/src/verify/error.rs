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
    /// A place that refers to a value past the end of so many.
    #[error("{0} refers to value {1}, but the graph has {2} values")]
    ValueRange(String, u32, usize),
    /// A place that defines a value that another input or node defines.
    #[error("{0} defines `%{1}`, which is defined already; give each result a value of its own")]
    DefinedTwice(String, String),
    /// A place that reads a value before it is defined, or that nothing defines.
    #[error("{0} reads `%{1}`, which no input and no node before it defines; order nodes by their operands")]
    Undefined(String, String),
    /// A name with other characters than letters, digits and `_` with dots between them, or of the wrong length.
    #[error("`{0}` is no name of a value; expected 1 to 64 letters, digits or `_`, with dots between them at most")]
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
    /// More of this than a rewrite of the graph may have: how much, how much there may be, and what that depends on.
    #[error("the rewrite has {1} {0}; at most {2} are allowed, {3}")]
    Limit(&'static str, u64, u64, &'static str),
    /// Inputs or outputs were added or removed: how many there are, and were.
    #[error("the rewrite has {1} {0}, the original {2}; {0} must stay as they are, even unused ones")]
    Count(&'static str, usize, usize),
    /// The input of this position is of another type than in the original.
    #[error("input {0} is {1} in the rewrite and {2} in the original; inputs must stay as they are")]
    InputType(usize, String, String),
    /// The output of this position has another element type or shape.
    #[error(
        "output {} is `%{}`, a {}, in the rewrite and {} in the original; element type and shape must agree",
        .0, .1.value, .1.found, .1.expected
    )]
    OutputType(usize, TypeMismatch),
    /// The output of this position lies elsewhere than the original's: what puts it there is work that the original does. Last
    /// whether the original is dense, so that its strides are the only ones allowed.
    #[error(
        "output {} is `%{}`, a {}, in the rewrite and {} in the original; store it in that layout{}",
        .0, .1.value, .1.found, .1.expected,
        if *.2 { "" } else { ", or densely with its dimensions in the same order" }
    )]
    OutputLayout(usize, TypeMismatch, bool),
    /// The output of this position, a value of the rewrite, shares memory with an input where the original's does not.
    #[error(
        "output {0} (`%{1}`) may share memory with input {2}, which it does not in the original; insert aten::clone"
    )]
    OutputAlias(usize, String, usize),
    /// The outputs of these positions share memory with each other in the rewrite and not in the original.
    #[error(
        "outputs {0} and {1} (`%{2}`) share memory, which they do not in the original; insert aten::clone, or compute each"
    )]
    OutputsShare(usize, usize, String),
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
    /// The values that a node defines are not one per result: what has how many, and how many there are.
    #[error(" defines {2} values, but {0} has {1} results")]
    ResultCount(String, String, usize),
    /// Not one tensor per input that the kernel declares.
    #[error(" gives its kernel {0} tensors, but the kernel declares {1} inputs")]
    KernelInputCount(usize, usize),
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
    /// A kept op of a training step has an operand of another type: it would read and write as if it were the old one.
    #[error(
        " keeps `{0}` but with operands of other types than the original, which it does not check; leave them as they were"
    )]
    TrustedOperands(String),
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
