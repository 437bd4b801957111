//! The guest child: compiles and runs one plugin for the supervisor at its standard input and output.

use std::process::ExitCode;

fn main() -> ExitCode {
    // SAFETY: this is the first statement of a program that opens nothing and starts no thread before `main`.
    let confined = unsafe { passhost_sandbox::confine::at_start() };
    let served = confined.map_err(Into::into).and_then(|()| passhost_sandbox::serve::serve());
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("passhost-guest: {error}");
            ExitCode::FAILURE
        }
    }
}
