//! Why a program that was to be timed has no times.

use super::RewriteError;
use passhost_ir::NodeId;
use serde::{Deserialize, Serialize};

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
    #[error("captured in a CUDA graph, {program} gives another output {output} than one launch after the other")]
    Differs {
        /// Which program.
        program: TimedProgram,
        /// Position of the output.
        output: u32,
    },
    /// No program can be.
    #[error("programs cannot be captured in CUDA graphs here: {message}")]
    Nothing {
        /// Why.
        message: String,
    },
}

/// One of two programs that are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimedProgram {
    /// The sample's own.
    Reference,
    /// What a pass made of it.
    Rewrite,
}

impl std::fmt::Display for TimedProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TimedProgram::Reference => "the reference",
            TimedProgram::Rewrite => "the rewrite",
        })
    }
}
