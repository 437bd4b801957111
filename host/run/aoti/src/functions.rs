//! The functions, by name: those that PyTorch keeps for models that AOTInductor compiled, which it promises not to change.

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use std::ffi::{c_int, c_void};
use std::path::Path;

/// Of `dlopen`: a library that is loaded already, or none.
const NOLOAD: c_int = 4;

/// What points to an `at::Tensor`.
pub type Handle = *mut c_void;

/// Why the process's PyTorch cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The library is not loaded, or there is none.
    #[error("`{path}` is not loaded in this process: {reason}; import torch first")]
    NotLoaded {
        /// Where it was looked for.
        path: String,
        /// What the loader said.
        reason: String,
    },
    /// It has no function of a name.
    #[error("PyTorch has no function `{0}`; passhost works with 2.9 to 2.15")]
    Missing(&'static str),
}

/// Declares a table of functions, each under its name without `aoti_torch_`.
macro_rules! functions {
    ($(#[$about:meta])* $table:ident { $($name:ident = $symbol:literal: fn($($arg:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $table { $(pub(crate) $name: unsafe extern "C" fn($($arg),*) $(-> $result)?,)* }

        impl $table {
            /// # Safety
            /// The library is PyTorch's, and stays loaded.
            unsafe fn find(library: &Library) -> Result<$table, OpenError> {
                // SAFETY: the functions have had these types since they were added.
                Ok(unsafe { $table { $($name: *library.get($symbol).map_err(|_| OpenError::Missing($symbol))?,)* } })
            }
        }
    };
}

functions! {
    /// Of tensors. What returns a number returns 0 if it went well.
    TensorFunctions {
        device_cpu = "aoti_torch_device_type_cpu": fn() -> i32;
        device_cuda = "aoti_torch_device_type_cuda": fn() -> i32;
        dtype_f64 = "aoti_torch_dtype_float64": fn() -> i32;
        dtype_f32 = "aoti_torch_dtype_float32": fn() -> i32;
        dtype_f16 = "aoti_torch_dtype_float16": fn() -> i32;
        dtype_bf16 = "aoti_torch_dtype_bfloat16": fn() -> i32;
        dtype_i64 = "aoti_torch_dtype_int64": fn() -> i32;
        dtype_i32 = "aoti_torch_dtype_int32": fn() -> i32;
        dtype_i16 = "aoti_torch_dtype_int16": fn() -> i32;
        dtype_i8 = "aoti_torch_dtype_int8": fn() -> i32;
        dtype_u8 = "aoti_torch_dtype_uint8": fn() -> i32;
        dtype_bool = "aoti_torch_dtype_bool": fn() -> i32;
        empty_strided = "aoti_torch_empty_strided": fn(i64, *const i64, *const i64, i32, i32, i32, *mut Handle) -> i32;
        part = "aoti_torch__alloc_from_pool": fn(Handle, i64, i32, i64, *const i64, *const i64, *mut Handle) -> i32;
        copy = "aoti_torch_clone_preserve_strides": fn(Handle, *mut Handle) -> i32;
        share = "aoti_torch_new_tensor_handle": fn(Handle, *mut Handle) -> i32;
        delete = "aoti_torch_delete_tensor_object": fn(Handle) -> i32;
        data = "aoti_torch_get_data_ptr": fn(Handle, *mut *mut c_void) -> i32;
        rank = "aoti_torch_get_dim": fn(Handle, *mut i64) -> i32;
        sizes = "aoti_torch_get_sizes": fn(Handle, *mut *const i64) -> i32;
        strides = "aoti_torch_get_strides": fn(Handle, *mut *const i64) -> i32;
        dtype = "aoti_torch_get_dtype": fn(Handle, *mut i32) -> i32;
        device_type = "aoti_torch_get_device_type": fn(Handle, *mut i32) -> i32;
        device_index = "aoti_torch_get_device_index": fn(Handle, *mut i32) -> i32;
        offset = "aoti_torch_get_storage_offset": fn(Handle, *mut i64) -> i32;
        storage = "aoti_torch_get_storage_size": fn(Handle, *mut i64) -> i32;
        grad_enabled = "aoti_torch_grad_mode_is_enabled": fn() -> bool;
        enable_grad = "aoti_torch_grad_mode_set_enabled": fn(bool);
    }
}

functions! {
    /// Of GPUs.
    GpuFunctions {
        stream = "aoti_torch_get_current_cuda_stream": fn(i32, *mut *mut c_void) -> i32;
    }
}

/// Somebody's work on a part of a range.
pub(crate) type RangeWork = unsafe extern "C" fn(i64, i64, *mut c_void);

functions! {
    /// Of the threads that run ops, from 2.10 on.
    ThreadFunctions {
        parallel_for = "torch_parallel_for": fn(i64, i64, i64, RangeWork, *mut c_void) -> i32;
        count = "torch_get_num_threads": fn(*mut u32) -> i32;
    }
}

/// All of them.
pub(crate) type Functions = (TensorFunctions, Option<ThreadFunctions>, Option<GpuFunctions>);

/// Finds the functions of tensors in `libtorch_cpu`, and those of GPUs in `libtorch_cuda` if there is one.
pub(crate) fn find(cpu: &Path, cuda: Option<&Path>) -> Result<Functions, OpenError> {
    // SAFETY: both are PyTorch's, and loaded: no code runs.
    unsafe {
        let library = loaded(cpu)?;
        let (tensors, threads) = (TensorFunctions::find(&library)?, ThreadFunctions::find(&library).ok());
        let gpu = cuda.map(|cuda| GpuFunctions::find(&loaded(cuda)?)).transpose()?;
        Ok((tensors, threads, gpu))
    }
}

/// A library that is loaded. It stays so: Python unloads none.
///
/// # Safety
/// As of `dlopen`.
unsafe fn loaded(path: &Path) -> Result<Library, OpenError> {
    // SAFETY: by this function's contract.
    unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL | NOLOAD) }
        .map_err(|error| OpenError::NotLoaded { path: path.display().to_string(), reason: error.to_string() })
}
