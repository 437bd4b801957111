//! Who does what the tools do not do themselves: run commands, and evaluate.

use crate::command_output::CommandOutput;
use crate::error::AgentToolsError;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Who does what the tools do not do themselves. [`CliRunner`](crate::CliRunner) does it with child processes alone; whoever
/// has an evaluator of his own, or must keep commands apart, stands between.
pub trait ToolExecutor: fmt::Debug + Send + Sync {
    /// Runs a command of passhost to its end: its words, and whether it runs a pass, for which there are options.
    ///
    /// # Errors
    ///
    /// If it does not start, or somebody asked to stop.
    fn run(&self, words: Vec<OsString>, runs_pass: bool) -> Result<CommandOutput, AgentToolsError>;

    /// Evaluates a pass.
    ///
    /// # Errors
    ///
    /// If there is no result. What the pass does wrong is a result.
    fn evaluate(&self, pass: &BuiltPass<'_>) -> Result<Evaluated, AgentToolsError>;
}

/// A pass that was built.
#[derive(Debug, Clone, Copy)]
pub struct BuiltPass<'a> {
    /// Hash of its source.
    pub source: &'a str,
    /// The file of its component, in a folder of its own.
    pub component: &'a Path,
    /// What it is evaluated on.
    pub sample: &'a Path,
}

/// What came of an evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// The result document, in JSON.
    pub document: String,
    /// Wall clock during which the device was held.
    pub device: Duration,
}
