//! Who does what a workshop does not do itself: run commands, and evaluate.

use crate::error::WorkshopError;
use crate::ran::Ran;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Who does what a workshop does not do itself. [`Machinery`](crate::Machinery) does it with child processes alone; whoever
/// has an evaluator of his own, or must keep commands apart, stands between.
pub trait Hands: fmt::Debug + Send + Sync {
    /// Runs a command of passhost to its end: its words, and whether it runs a pass, for which there are options.
    ///
    /// # Errors
    ///
    /// If it does not start, or somebody asked to stop.
    fn run(&self, words: Vec<OsString>, runs_pass: bool) -> Result<Ran, WorkshopError>;

    /// Evaluates a pass.
    ///
    /// # Errors
    ///
    /// If there is no result. What the pass does wrong is a result.
    fn evaluate(&self, pass: &Pass<'_>) -> Result<Evaluated, WorkshopError>;
}

/// A pass that was built.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a> {
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
