//! Why a graph is refused: one variant per rule.

use super::MAX_NODE_ID;
use crate::kernel::KernelError;
use crate::{CallError, InferError, NodeId, RefusedArgument, TypeError};

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
    /// A value that two inputs or nodes define.
    #[error("{place} defines `%{value}`, which is defined already; give each result a value of its own")]
    DefinedTwice {
        /// The second definition.
        place: String,
        /// The value.
        value: String,
    },
    /// A value that is read before it is defined, or that nothing defines.
    #[error("{place} reads `%{value}`, which no input and no node before it defines; order nodes by their operands")]
    Undefined {
        /// The reader.
        place: String,
        /// The value.
        value: String,
    },
    /// A name with other characters than letters, digits and `_`, or of the wrong length.
    #[error("`{name}` is no name of a value; expected 1 to 64 letters, digits or `_`")]
    Name {
        /// The name.
        name: String,
    },
    /// Two values of one name.
    #[error("two values are called `%{name}`; names must be unique")]
    RepeatedName {
        /// The name.
        name: String,
    },
    /// Two nodes of one id.
    #[error("two nodes have the id {node}; inserted nodes take ids that no other node has")]
    RepeatedNodeId {
        /// The id.
        node: NodeId,
    },
    /// A node of a program whose id leaves none to those that are added to it.
    #[error("a node has the id {node}; those of a program are at most {MAX_NODE_ID}")]
    LargeNodeId {
        /// The id.
        node: NodeId,
    },
    /// A type that no tensor can have.
    #[error("the type of `%{value}` is impossible: {source}")]
    Type {
        /// The value.
        value: String,
        /// What is wrong.
        source: TypeError,
    },
    /// An op on no list.
    #[error(
        "node {node} calls `{op}`, which is not an op that may be used; {}",
        if near.is_empty() { "use one of the listed ops or a kernel node".to_owned() } else { format!("there is {}", near.join(", ")) }
    )]
    UnknownOp {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
        /// Ops that may be meant: with the namespace that is missing, or another overload.
        near: Vec<String>,
    },
    /// Arguments that do not fit the schema.
    #[error("node {node}: {source}; arguments stand in schema order with defaults filled in")]
    Call {
        /// The node.
        node: NodeId,
        /// What does not fit.
        source: CallError,
    },
    /// An argument that makes an allowed op random, or lets it write to its operands.
    #[error("node {node}: {source}")]
    Argument {
        /// The node.
        node: NodeId,
        /// Which.
        source: RefusedArgument,
    },
    /// Not one value per result.
    #[error("node {node} defines {found} values, but {what} has {expected} results")]
    ResultCount {
        /// The node.
        node: NodeId,
        /// The op, or the kernel.
        what: String,
        /// How many results there are.
        expected: String,
        /// How many values the node defines.
        found: usize,
    },
    /// A kernel that breaks a rule of its own.
    #[error("the kernel of node {node} is refused: {source}")]
    Kernel {
        /// The node.
        node: NodeId,
        /// The rule.
        source: KernelError,
    },
    /// Not one tensor per input of the kernel.
    #[error("node {node} gives its kernel {found} tensors, but the kernel declares {expected} inputs")]
    KernelInputCount {
        /// The node.
        node: NodeId,
        /// How many inputs are declared.
        expected: usize,
        /// How many tensors are given.
        found: usize,
    },
    /// A tensor of another type or shape than its kernel declares.
    #[error(
        "node {node} gives `%{value}`, a {found}, for input x{position} of its kernel, which is declared as {expected}"
    )]
    KernelInput {
        /// The node.
        node: NodeId,
        /// The position of the input.
        position: usize,
        /// The tensor.
        value: String,
        /// The declared type.
        expected: String,
        /// The tensor's type.
        found: String,
    },
    /// A result of a kernel declared with another type.
    #[error("node {node} declares `%{value}` as {found}, but its kernel stores {expected}")]
    KernelOutput {
        /// The node.
        node: NodeId,
        /// The value.
        value: String,
        /// What the kernel stores.
        expected: String,
        /// What is declared.
        found: String,
    },
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
        "output {position} is `%{value}`, a {found}, in the rewrite and {expected} in the original; element type and shape must agree"
    )]
    OutputType {
        /// The position.
        position: usize,
        /// The value in the rewrite.
        value: String,
        /// In the original.
        expected: String,
        /// In the rewrite.
        found: String,
    },
    /// An output lies elsewhere than the original's: what puts it there is work that the original does.
    #[error(
        "output {position} is `%{value}`, a {found}, in the rewrite and {expected} in the original; store it in that layout{}",
        if *.dense { "" } else { ", or densely with its dimensions in the same order" }
    )]
    OutputLayout {
        /// The position.
        position: usize,
        /// The value in the rewrite.
        value: String,
        /// In the original.
        expected: String,
        /// Whether the original is dense, so that its strides are the only ones allowed.
        dense: bool,
        /// In the rewrite.
        found: String,
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
    /// A node has the id of an original node that does something else.
    #[error(
        "node {node} has the id of `{original}` in the original, but is {found}; inserted nodes take ids that the original does not use"
    )]
    ReusedId {
        /// The id.
        node: NodeId,
        /// What the original node is.
        original: String,
        /// What the node is.
        found: String,
    },
    /// An op that occurs in samples, but that a rewrite may not insert.
    #[error("node {node} inserts `{op}`, which a rewrite may not; use an op of the insert list or a kernel node")]
    NotInsertable {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
    },
    /// A call that the original does not have, where only kernels and views may be inserted.
    #[error(
        "node {node} calls `{op}`{}; only kernels may be inserted, and views that never copy: write it as a kernel node, or keep the original's own call on tensors of the types that it had",
        if *.own == 0 { ", which the original does not call on tensors of these types".to_owned() }
        else { format!(" once more than the original, which has {own}") }
    )]
    LibraryCall {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
        /// How often the original has this very call.
        own: usize,
    },
    /// An op that gathers or scatters, kept with other indices than the original's, or with something of another size
    /// to index.
    #[error(
        "node {node} keeps `{op}` but with another `{argument}` than the original, or one of another shape; leave it as it was, or gather in a kernel node, where indices are guarded"
    )]
    Index {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
        /// The argument that differs.
        argument: String,
    },
    /// A kept node declares another type than it had, although its operands have the types they had.
    #[error("node {node} declares `%{value}` as {found}, which in the original is {expected}")]
    KeptType {
        /// The node.
        node: NodeId,
        /// The value.
        value: String,
        /// In the original.
        expected: String,
        /// In the rewrite.
        found: String,
    },
    /// The types of an op's results are not known.
    #[error("node {node}: {source}")]
    Infer {
        /// The node.
        node: NodeId,
        /// Why.
        source: InferError,
    },
    /// A node declares another type than its op returns.
    #[error(
        "node {node} declares `%{value}` as {found}, but `{op}` returns {expected}; ask `infer` for the types of inserted ops"
    )]
    InferredType {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
        /// The value.
        value: String,
        /// What the op returns.
        expected: String,
        /// What is declared.
        found: String,
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
