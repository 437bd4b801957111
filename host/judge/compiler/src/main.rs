//! The compiler child: makes machine code of one source text for the supervisor at its standard input and output, and
//! ends. With the argument `attempt` it tries to get out instead.

mod serve;

use passhost_confine::attempt::{ROLE, UNCONFINED, make};
use passhost_confine::compiler as confinement;
use serve::{CompilerServeError, load, serve};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let end = match arguments.split_first() {
        Some((role, rest)) if role == ROLE => attempt(rest),
        _ => serve().map(|()| ExitCode::SUCCESS),
    };
    end.unwrap_or_else(|error| {
        eprintln!("passhost-compiler: {error}");
        ExitCode::FAILURE
    })
}

/// Makes an attempt, confined as while serving: a stage, an attempt and its target.
fn attempt(arguments: &[OsString]) -> Result<ExitCode, CompilerServeError> {
    let [stage, name, target] = arguments else { return Err(CompilerServeError::Arguments) };
    // Where there is none, the process is confined all the same.
    let _ = load();
    if stage != UNCONFINED {
        confinement::before_source()?;
    }
    Ok(make(name, target))
}
