//! What is set for the whole process. A library calls none of these: they are for the `main` of a program that owns its
//! process.

pub use crate::bridge::ffi::{choose_by_rules, install_allocator};

/// Sets the number of threads that ops use.
pub fn set_threads(threads: u32) {
    tch::set_num_threads(i32::try_from(threads).unwrap_or(i32::MAX));
}
