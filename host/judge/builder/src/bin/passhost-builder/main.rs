//! The builder child: runs a sandboxed compiler, for whoever gives it an order at its standard input, and sees to it
//! that nothing of the compiler is left. With the argument `json` order and answers are lines of JSON, with `enclosed` it
//! is the process that becomes the compiler, with `attempt` one that tries to get out in its place.

mod enclosed;
mod error;
mod usage;
mod warden;
mod wire;

use error::WardenError;
use passhost_confine::attempt::{ROLE, UNCONFINED, WRITING, make};
use passhost_protocol::builder::{BuildLimits, Reach};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use wire::{JSON, Wire};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let end = match arguments.split_first() {
        None => warden::serve(Wire::Frames).map(|()| ExitCode::SUCCESS),
        Some((role, [])) if role == JSON => warden::serve(Wire::Lines).map(|()| ExitCode::SUCCESS),
        Some((role, [])) if role == enclosed::ROLE => enclosed::become_compiler(),
        Some((role, rest)) if role == ROLE => attempt(rest),
        Some(_) => Err(WardenError::Arguments),
    };
    end.unwrap_or_else(|error| {
        eprintln!("passhost-builder: {error}");
        ExitCode::FAILURE
    })
}

/// Makes an attempt, confined as a compiler that may open nothing, or in the stage [`WRITING`] of one whose own
/// directory is that of the target: a stage, an attempt and its target.
fn attempt(arguments: &[OsString]) -> Result<ExitCode, WardenError> {
    let [stage, name, target] = arguments else { return Err(WardenError::Arguments) };
    let own = Path::new(target).parent().filter(|_| stage == WRITING);
    let reach = Reach { scratch: own.map(Path::to_path_buf).unwrap_or_default(), ..Reach::default() };
    if stage != UNCONFINED {
        // SAFETY: one thread, and no descriptor is open but the three.
        unsafe { passhost_confine::builder::before_compiling(&reach, &BuildLimits::default()) }?;
    }
    Ok(make(name, target))
}
