//! Between whoever builds a pass from its source and the child that has the compiler run.
//!
//! The child gets one [`BuildOrder`], says how it is confined, and at the end how the compiler ended. Whatever the
//! compiler prints comes out of the child's standard error. That its standard input is closed tells the child to stop.

use passhost_result::SandboxProfile;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is to be run, and what it may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildOrder {
    /// The compiler.
    pub program: PathBuf,
    /// What it is called with.
    pub arguments: Vec<String>,
    /// Its environment.
    pub variables: Vec<(String, String)>,
    /// The directory that it starts in.
    pub directory: PathBuf,
    /// A directory that is removed where nobody waits for the end any more.
    pub whole: PathBuf,
    /// What it may open.
    pub reach: Reach,
    /// What it may use.
    pub limits: BuildLimits,
    /// Whether it runs only where the kernel confines it fully.
    pub confinement_required: bool,
}

/// The files of a compiler and of the programs that it starts. There are no others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reach {
    /// Programs that may be started, and read.
    pub programs: Vec<PathBuf>,
    /// What may be read.
    pub readable: Vec<PathBuf>,
    /// The directory that may be written to.
    pub scratch: PathBuf,
}

/// What a compiler may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildLimits {
    /// Wall clock, in milliseconds.
    pub wall_ms: u64,
    /// Bytes of memory of all processes together. The address space of each has four times as many.
    pub memory: u64,
    /// Bytes of all files in the scratch directory, and of each.
    pub scratch: u64,
    /// Processes and threads.
    pub tasks: u64,
}

impl Default for BuildLimits {
    fn default() -> BuildLimits {
        BuildLimits { wall_ms: 60_000, memory: 2 << 30, scratch: 256 << 20, tasks: 64 }
    }
}

/// Messages of the child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromBuilder {
    /// The compiler starts next, confined so, if that will do.
    Ready(SandboxProfile),
    /// The compiler could not be enclosed or started: why.
    Unusable(String),
    /// Nothing of the compiler runs any more.
    Ended(CompilerEnd),
}

/// How a compiler ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CompilerEnd {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It was stopped for using more than a limit allows.
    Limit(BuildLimit),
    /// It was stopped because whoever ordered it wanted so.
    Stopped,
}

/// A limit that can be exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuildLimit {
    /// Wall clock.
    Wall,
    /// Memory.
    Memory,
    /// Files.
    Scratch,
    /// Processes and threads.
    Tasks,
}
