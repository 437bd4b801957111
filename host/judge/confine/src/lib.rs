//! The outer sandbox of a child process: what the operating system keeps from it, should a plugin or a sample take it
//! over. The inner one is what the child is made of, wasmtime or a parser.
//!
//! Each kind of child has a file that reads as the list of what it may do, and is enclosed before it sees a byte that
//! nobody trusts:
//!
//! - [`guest`]: memory, time, and messages on two pipes
//! - [`reader`]: the same, and reading the files of one sample
//! - [`types`]: the same as a guest, once libtorch is loaded
//! - [`compiler`]: the same as a guest, once a compiler for GPUs is loaded
//! - [`builder`]: a Rust compiler, its source for reading, one directory for writing, the programs that link
//! - [`device`]: all but a list, because nobody lists what a driver does; files are for reading, keys are hidden
//!
//! [`process`] holds what needs neither seccomp nor Landlock: limits, no new privileges, no core dump. [`attempt`] is
//! native code that tries to escape, which the programs run on demand, confined as they serve.
//!
//! Where the kernel has no seccomp or no Landlock, it is left out, and the [`SandboxProfile`] that is returned says so:
//! the supervisor decides whether that will do. Anything else that fails is an error, and the child must not go on.

pub mod attempt;
pub mod builder;
mod calls;
pub mod compiler;
pub mod device;
mod files;
pub mod guest;
mod hidden;
pub mod process;
pub mod reader;
pub mod types;

pub use passhost_result::SandboxProfile;

/// Why a process could not be confined. It must not go on.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// A step failed that every kernel supports.
    #[error("cannot {step}: {source}")]
    Step {
        /// What was to be done.
        step: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// Landlock is there and refuses the rules.
    #[error("cannot confine files with Landlock: {0}")]
    Files(#[from] landlock::RulesetError),
    /// seccomp is there and refuses the filter.
    #[error("cannot filter system calls: {0}")]
    Calls(#[from] seccompiler::Error),
}
