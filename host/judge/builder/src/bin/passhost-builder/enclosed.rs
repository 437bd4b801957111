//! The process that becomes the compiler.

use crate::error::WardenError;
use passhost_confine::builder::{Enclosed, before_compiling};
use passhost_protocol::builder::{BuildOrder, FromBuilder};
use passhost_protocol::{MAX_FRAME, read_frame, write_frame};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

/// The argument of the program for this process.
pub const ROLE: &str = "enclosed";

/// Takes the order from standard input, confines itself, says how on standard output and, if that will do, becomes the
/// compiler, whose standard output goes nowhere.
pub fn become_compiler() -> Result<ExitCode, WardenError> {
    let order: BuildOrder = read_frame(&mut std::io::stdin().lock(), MAX_FRAME)?;
    let mut compiler = Command::new(&order.program);
    compiler.args(&order.arguments).env_clear().envs(order.variables).current_dir(&order.directory);
    let (input, output) = (Stdio::null(), Stdio::null());
    // SAFETY: this is the only thread, and what is open besides the three pipes is not used again.
    let Enclosed { profile, tokens } = match unsafe { before_compiling(&order.reach, &order.limits) } {
        Ok(enclosed) => enclosed,
        Err(error) => return say(&FromBuilder::Unusable(error.to_string())),
    };
    say(&FromBuilder::Ready(profile))?;
    if order.confinement_required && profile.missing().is_some() {
        return Ok(ExitCode::FAILURE);
    }
    let error = compiler.envs([tokens]).stdin(input).stdout(output).exec();
    say(&FromBuilder::Unusable(format!("{} does not start: {error}", order.program.display())))
}

fn say(message: &FromBuilder) -> Result<ExitCode, WardenError> {
    write_frame(&mut std::io::stdout().lock(), message)?;
    Ok(ExitCode::FAILURE)
}
