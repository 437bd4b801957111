//! The reader child: reads the sample at the path it is given and answers the supervisor on its standard streams. With
//! `attempt` after the path it tries to get out instead.

use passhost_confine::{attempt, reader};
use passhost_sample::ReaderServeError;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let end = match arguments.as_slice() {
        [path] => serve(Path::new(path)),
        [path, role, rest @ ..] if role == attempt::ROLE => passhost_sample::attempt(Path::new(path), rest),
        _ => {
            eprintln!("passhost-reader: expected the path of a sample; `passhost` starts this program");
            return ExitCode::FAILURE;
        }
    };
    end.unwrap_or_else(|error| {
        eprintln!("passhost-reader: {error}");
        ExitCode::FAILURE
    })
}

fn serve(path: &Path) -> Result<ExitCode, ReaderServeError> {
    // SAFETY: no thread was started and nothing is open since `main` began.
    let profile = unsafe { reader::before_anything(passhost_sample::places(path)) }?;
    passhost_sample::serve(path, profile)?;
    Ok(ExitCode::SUCCESS)
}
