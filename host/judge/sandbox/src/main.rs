//! The guest child: compiles and runs one plugin for the supervisor at its standard input and output. With the argument
//! `attempt` it tries to get out instead.

use passhost_confine::{attempt, guest};
use passhost_sandbox::serve::GuestServeError;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let end = match arguments.split_first() {
        Some((role, rest)) if role == attempt::ROLE => passhost_sandbox::attempt::attempt(rest),
        _ => serve(),
    };
    end.unwrap_or_else(|error| {
        eprintln!("passhost-guest: {error}");
        ExitCode::FAILURE
    })
}

fn serve() -> Result<ExitCode, GuestServeError> {
    // SAFETY: no thread was started and nothing was opened since `main` began.
    let profile = unsafe { guest::before_anything() }?;
    passhost_sandbox::serve::serve(profile)?;
    Ok(ExitCode::SUCCESS)
}
