//! The reader child: reads the sample at the path it is given and answers the supervisor on its standard streams.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("passhost-reader: no path of a sample; `passhost` starts this program");
        return ExitCode::FAILURE;
    };
    match passhost_sample::serve(Path::new(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("passhost-reader: {error}");
            ExitCode::FAILURE
        }
    }
}
