//! Runs what needs a GPU where there is one. Elsewhere it is skipped by name. What needs NVRTC alone is skipped only where
//! `scripts/setup` found none, and never in CI.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The program with these arguments, and whether it ended well; `None` without a GPU.
fn on_gpu(name: &str, arguments: &[&str]) -> Option<bool> {
    if !Path::new("/dev/nvidiactl").exists() {
        println!("{name}: skipped, as there is no GPU");
        return None;
    }
    Some(ends_well(arguments))
}

/// Whether the program ends well with these arguments.
fn ends_well(arguments: &[&str]) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_passhost-gpu-tests"));
    command.arg("--nvrtc").arg(nvrtc()).args(arguments).status().unwrap().success()
}

/// Where `scripts/setup` puts NVRTC.
fn nvrtc() -> PathBuf {
    Path::new(&std::env::var("LIBTORCH").unwrap_or_default()).join("../nvidia/cu13/lib")
}

#[test]
fn kernels_that_draw_compare_and_are_timed_compile_for_sm_90() {
    let [known, ci] = ["PASSHOST_WITHOUT_NVRTC", "CI"].map(std::env::var_os);
    if !nvrtc().join("libnvrtc.so.13").exists() && known.is_some() && ci.is_none() {
        println!("skipped, as scripts/setup found no NVRTC");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    assert!(ends_well(&["dump", directory.path().to_str().unwrap()]));
    assert!(directory.path().join("compare_f16.cubin").exists() && directory.path().join("draw_mask_i64.cu").exists());
}

#[test]
fn random_kernels_on_the_gpu_equal_the_interpreter_and_the_cpu() {
    assert_ne!(on_gpu("random kernels", &["random", "2000"]), Some(false));
}

#[test]
fn random_contractions_on_the_gpu_equal_the_interpreter_and_the_cpu() {
    assert_ne!(on_gpu("random contractions", &["contractions", "400"]), Some(false));
}

#[test]
fn random_kernels_of_one_launch_equal_themselves_alone() {
    assert_ne!(on_gpu("joined kernels", &["joined", "100"]), Some(false));
}

#[test]
fn random_kernels_write_the_same_in_every_schedule() {
    assert_ne!(on_gpu("schedules", &["schedules", "300", "--untimed"]), Some(false));
}

#[test]
fn the_gpu_draws_compares_and_judges_as_the_cpu_does() {
    assert_ne!(on_gpu("draws", &["draws", "40"]), Some(false));
}

#[test]
fn what_is_overwritten_is_restored_in_the_queue_and_a_launch_behind_a_long_program_is_no_slower() {
    assert_ne!(on_gpu("the queue", &["queue"]), Some(false));
}

#[test]
fn a_product_on_tensor_cores_is_exact() {
    assert_ne!(on_gpu("the product", &["product"]), Some(false));
}

#[test]
fn device_times_of_common_kernels() {
    assert_ne!(on_gpu("device times", &["figures"]), Some(false));
}

#[test]
fn the_runtime_leaves_its_caller_as_it_was_and_captures_what_it_runs() {
    assert_ne!(on_gpu("the runtime", &["runtime"]), Some(false));
}
