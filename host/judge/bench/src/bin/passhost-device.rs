//! The device child: holds libtorch, answers the supervisor on its standard streams. With the argument `types` it is the
//! types child, which opens no device; with `attempt` after the paths of hidden files it tries to get out instead of either.

use passhost_bench::{DeviceServeError, attempt, serve, serve_types};
use passhost_confine::attempt::ROLE as ATTEMPT;
use passhost_protocol::types::ROLE as TYPES;
use passhost_torch::process;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let end = match arguments.iter().position(|argument| argument == ATTEMPT) {
        Some(position) => attempt(&arguments[..position], &arguments[position + 1..]),
        None if arguments.first().is_some_and(|role| role == TYPES) => serve_types().map(|()| ExitCode::SUCCESS),
        None => measure().map(|()| ExitCode::SUCCESS),
    };
    end.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

fn measure() -> Result<(), DeviceServeError> {
    // This process is ours, and runs nothing but what is measured.
    process::install_allocator();
    process::choose_by_rules();
    serve()
}
