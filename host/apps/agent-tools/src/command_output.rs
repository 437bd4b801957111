//! What a command of passhost left.

use crate::error::AgentToolsError;
use passhost_result::untrusted::one_line;
use std::process::ExitStatus;
use std::time::Duration;

/// What a command left.
#[derive(Debug)]
pub struct CommandOutput {
    pub(crate) command: String,
    pub(crate) status: ExitStatus,
    /// The beginning of its standard output.
    pub out: String,
    /// The beginning of its standard error.
    pub err: String,
    /// Wall clock.
    pub took: Duration,
}

impl CommandOutput {
    /// Whether the command took what a model made, or refused it.
    ///
    /// # Errors
    ///
    /// If it did neither.
    pub(crate) fn passes(&self) -> Result<bool, AgentToolsError> {
        match self.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.trouble()),
        }
    }

    /// Its exit code, where it ended by itself.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// That it failed, and not the model.
    pub(crate) fn trouble(&self) -> AgentToolsError {
        let said = self.err.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        let said = one_line(said, 400);
        match self.code() {
            Some(2) => AgentToolsError::Sample(said),
            _ => AgentToolsError::Host { command: self.command.clone(), status: self.status, said },
        }
    }
}
