//! Runs what needs a GPU where there is one. Elsewhere it is skipped by name.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

/// The program with these arguments, and whether it ended well; `None` without a GPU.
fn on_gpu(name: &str, arguments: &[&str]) -> Option<bool> {
    if !Path::new("/dev/nvidiactl").exists() {
        println!("{name}: skipped, as there is no GPU");
        return None;
    }
    let torch = std::env::var("LIBTORCH").unwrap_or_default();
    let nvrtc = Path::new(&torch).join("../nvidia/cu13/lib");
    let mut command = Command::new(env!("CARGO_BIN_EXE_passhost-gpu-tests"));
    Some(command.arg("--nvrtc").arg(nvrtc).args(arguments).status().unwrap().success())
}

#[test]
fn random_kernels_on_the_gpu_equal_the_interpreter_and_the_cpu() {
    assert_ne!(on_gpu("random kernels", &["random", "2000"]), Some(false));
}

#[test]
fn device_times_of_common_kernels() {
    assert_ne!(on_gpu("device times", &["figures"]), Some(false));
}

#[test]
fn the_runtime_leaves_its_caller_as_it_was_and_captures_what_it_runs() {
    assert_ne!(on_gpu("the runtime", &["runtime"]), Some(false));
}
