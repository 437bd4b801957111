//! libtorch, as far as the device child needs it: any ATen op by name, result types without running, tensors as bytes on
//! the CPU or a GPU, and an allocator that can poison and guard.
//!
//! Nothing here decides what may be called: the op lists of `passhost_ir` do, and the verifier applies them.

pub mod allocator;
mod bridge;
mod call;
mod device;
mod infer;
mod meta_table;
mod tensor;
mod threads;

pub use call::{OpError, PreparedCall};
pub use device::{empty_gpu_cache, gpu_settings, open_gpu, stream, synchronize};
pub use infer::MetaInfer;
pub use tensor::{Tensor, TensorError};
pub use threads::{run_on_threads, thread_count};

/// The version of the libtorch in use.
pub fn version() -> String {
    bridge::ffi::version()
}

/// Sets the number of threads that ops use, and prepares the calling thread: inference mode, no gradients.
pub fn start(threads: u32) {
    bridge::ffi::install_allocator();
    bridge::ffi::enter_inference_mode();
    tch::set_num_threads(i32::try_from(threads).unwrap_or(i32::MAX));
}
