//! The device child: holds libtorch, answers the supervisor on its standard streams. With the argument `types` it is the
//! types child, which opens no device.

use passhost_bench::{serve, serve_types};
use passhost_protocol::types::ROLE;
use passhost_torch::process;
use std::process::ExitCode;

fn main() -> ExitCode {
    let types = std::env::args().nth(1).is_some_and(|role| role == ROLE);
    let served = if types {
        serve_types()
    } else {
        // This process is ours, and runs nothing but what is measured.
        process::install_allocator();
        process::choose_by_rules();
        serve()
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
