//! The device child: holds libtorch, answers the supervisor on its standard streams.

use passhost_bench::serve;
use passhost_torch::process;
use std::process::ExitCode;

fn main() -> ExitCode {
    // This process is ours, and runs nothing but what is measured.
    process::install_allocator();
    process::choose_by_rules();
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
