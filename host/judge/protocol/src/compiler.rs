//! Between the supervisor and the child that makes machine code for GPUs.
//!
//! The child says what it is, gets one [`CompilerSource`], answers with one [`FromCompiler::Made`] and ends: what it makes for one
//! source was touched by no other.

use passhost_result::SandboxProfile;
use serde::{Deserialize, Serialize};

/// Bytes that the text of a source may have. That of the largest kernel has a fraction of them.
pub const MAX_SOURCE: usize = 4 << 20;
/// Bytes that the machine code of one source may have.
pub const MAX_CODE: usize = 16 << 20;

/// What machine code is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerSource {
    /// CUDA C++.
    pub text: String,
    /// Of the GPU that is to run it, major and minor.
    pub capability: (i32, i32),
}

/// Messages of the compiler child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromCompiler {
    /// The first: it waits for a source.
    Ready {
        /// What machine code depends on besides the source: version and options of the compiler.
        identity: String,
        /// What keeps the child in.
        profile: SandboxProfile,
    },
    /// The first, and the last, where there is no compiler on this machine: why.
    Unusable(String),
    /// The answer to a [`CompilerSource`]: machine code, or what the compiler says.
    Made(Result<Vec<u8>, String>),
}
