//! Why a program, or a rewrite of it, gave nothing.

use passhost_ir::NodeId;
use serde::{Deserialize, Serialize};

/// Why a reference program is of no use. The sample's fault, unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ReferenceError {
    /// An op failed.
    #[error("node {node} ({op}) fails: {message}")]
    Op {
        /// Which node.
        node: NodeId,
        /// Its op.
        op: String,
        /// What libtorch said.
        message: String,
    },
    /// The device has no memory for it. The host's trouble.
    #[error("the GPU has too little memory left: {0}")]
    Memory(String),
    /// The device has no memory for its checks, by its types; it did not run. The host's trouble.
    #[error(
        "the sample's tensors take about {needed} bytes where it is checked, and the GPU has {available} left: it is not run"
    )]
    TooLarge {
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
    /// An output tells nothing.
    #[error("output {output} is {what} for two different draws of the inputs, so that nothing could be checked")]
    Degenerate {
        /// Position of the output.
        output: u32,
        /// `constant` or `not finite`.
        what: String,
    },
    /// An input could not be drawn.
    #[error("input `{}` cannot be drawn: {message}", passhost_ir::parameter_name(input))]
    Input {
        /// Name of the input.
        input: String,
        /// Why.
        message: String,
    },
}

/// Why a rewrite gave nothing to compare, or what is wrong with what it gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum RewriteError {
    /// An op failed.
    #[error("node {node} ({op}) fails: {message}")]
    Op {
        /// Which node.
        node: NodeId,
        /// Its op, or `kernel`.
        op: String,
        /// What was said.
        message: String,
    },
    /// The device has less memory left than a rewrite may take. The host's trouble.
    #[error("node {node} ({op}) finds too little memory left: {message}")]
    Memory {
        /// Which node.
        node: NodeId,
        /// Its op, or `kernel`.
        op: String,
        /// What libtorch said.
        message: String,
    },
    /// A verified node made the device fault. No plugin can be blamed for that.
    #[error("node {node} ({op}) fails on the device: {message}")]
    Fault {
        /// Which node, or the last one before it showed.
        node: NodeId,
        /// Its op, or `kernel`.
        op: String,
        /// What was said.
        message: String,
    },
    /// A node gave a tensor of another type than the rewrite declares.
    #[error("node {node} ({op}) gives {found} where the rewrite declares {declared}")]
    WrongType {
        /// Which node.
        node: NodeId,
        /// Its op.
        op: String,
        /// Declared type.
        declared: String,
        /// Type found.
        found: String,
    },
    /// Eager fails on inputs that a rewrite would be checked on. No plugin can be blamed for that.
    #[error("the sample's own program fails on other inputs of the same records: {0}")]
    Reference(ReferenceError),
}

/// Why there are no times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum TimingError {
    /// A program failed.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// One cannot be launched as it was to be.
    #[error(transparent)]
    NotCaptured(#[from] NotCaptured),
}

/// Why a program was not captured. What was found before holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NotCaptured {
    /// An op asks for what cannot be captured, such as an answer of the device.
    #[error("node {node} ({op}) of {program} cannot be captured in a CUDA graph: {message}")]
    Op {
        /// Whose node.
        program: TimedProgram,
        /// Which node.
        node: NodeId,
        /// Its op.
        op: String,
        /// What was said.
        message: String,
    },
    /// Something in it is left out of a graph, or kept as it was when it was captured.
    #[error("captured in a CUDA graph, {program} gives another output {output} than by stream launch")]
    Differs {
        /// Which program.
        program: TimedProgram,
        /// Position of the output.
        output: u32,
    },
    /// No program can be.
    #[error("programs cannot be captured in CUDA graphs here: {0}")]
    Nothing(String),
}

/// One of two programs that are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum TimedProgram {
    /// The sample's own.
    #[error("the reference")]
    Reference,
    /// What a pass made of it.
    #[error("the rewrite")]
    Rewrite,
}
