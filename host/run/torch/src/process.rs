//! What is set for the whole process. A library calls none of these: they are for the `main` of a program that owns its
//! process.

use crate::bridge::ffi;

/// Puts [`crate::allocator`] in front of libtorch's own allocator of the CPU, for good. Idempotent.
pub fn install_allocator() {
    ffi::install_allocator();
}

/// Sets the number of threads that ops use.
pub fn set_threads(threads: u32) {
    tch::set_num_threads(i32::try_from(threads).unwrap_or(i32::MAX));
}

/// Lets cuDNN choose its algorithms by rules, not by trying them out, so that two runs choose alike.
pub fn choose_by_rules() {
    ffi::choose_by_rules();
}
