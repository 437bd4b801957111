//! The process that becomes the compiler.

use crate::error::WardenError;
use passhost_confine::builder::{Enclosed, before_compiling};
use passhost_protocol::builder::{BuildOrder, FromBuilder};
use passhost_protocol::{MAX_FRAME, read_frame, write_frame};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

/// The argument of the program for this process.
pub const ROLE: &str = "enclosed";

/// Takes the order from standard input, puts up the walls, says so on standard output and, if those stand that must, becomes
/// the compiler, whose standard output goes nowhere.
pub fn become_compiler() -> Result<ExitCode, WardenError> {
    let order: BuildOrder = read_frame(&mut std::io::stdin().lock(), MAX_FRAME)?;
    let mut compiler = Command::new(&order.program);
    compiler.args(&order.arguments).env_clear().envs(order.variables).current_dir(&order.directory);
    let (input, output) = (Stdio::null(), Stdio::null());
    // SAFETY: this is the only thread, and what is open besides the three pipes is not used again.
    let Enclosed { walls, tokens } = match unsafe { before_compiling(&order.reach, &order.limits) } {
        Ok(enclosed) => enclosed,
        Err(error) => return say(&FromBuilder::Unusable(error.to_string())),
    };
    say(&FromBuilder::Ready(walls))?;
    if order.walls_required && walls.missing().is_some() {
        return Ok(ExitCode::FAILURE);
    }
    let error = compiler.envs([tokens]).stdin(input).stdout(output).exec();
    say(&FromBuilder::Unusable(format!("{} does not start: {error}", order.program.display())))
}

fn say(message: &FromBuilder) -> Result<ExitCode, WardenError> {
    write_frame(&mut std::io::stdout().lock(), message)?;
    Ok(ExitCode::FAILURE)
}
