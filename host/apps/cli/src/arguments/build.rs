//! `passhost build`, `passhost setup-sdk` and `passhost new`.

use super::duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct BuildArguments {
    /// A .rs file, or the directory of a crate, of which only src/ is read
    pub source: PathBuf,
    /// Where the component goes: NAME.wasm in the current directory if absent
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Writes what became of the source here, diagnostics included; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Builds a crate of your own with cargo, without walls: its build scripts and macros may do whatever you may
    #[arg(long)]
    pub cargo: bool,
    /// Goes on where the kernel lacks a wall: for a gVisor or a micro-VM that holds nothing but this build
    #[arg(long, conflicts_with = "cargo")]
    pub inside_sandbox: bool,
    /// Wall clock of the compiler
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, conflicts_with = "cargo")]
    pub limit_build: Duration,
}

#[derive(Debug, Args)]
pub struct SetupSdkArguments {
    /// A clone of passhost, or its installed source; found by itself beside the program and in the current directory
    #[arg(long, value_name = "DIR")]
    pub source: Option<PathBuf>,
    /// Where the compiled SDK goes: where the other commands look for it if absent
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct NewArguments {
    /// The directory to make, whose name is that of the pass
    pub path: PathBuf,
    /// A clone of passhost, or its installed source, which the crate's tests compile
    #[arg(long, value_name = "DIR")]
    pub source: Option<PathBuf>,
}
