//! The functions, by name: those that PyTorch keeps for models that AOTInductor compiled, which it promises not to change.

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use std::ffi::{c_char, c_int, c_void};
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
        format_contiguous = "aoti_torch_memory_format_contiguous_format": fn() -> i32;
        format_preserve = "aoti_torch_memory_format_preserve_format": fn() -> i32;
        format_channels_last = "aoti_torch_memory_format_channels_last": fn() -> i32;
        format_channels_last_3d = "aoti_torch_memory_format_channels_last_3d": fn() -> i32;
        layout_strided = "aoti_torch_layout_strided": fn() -> i32;
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

functions! {
    /// That call an op by its name and overload.
    PlainCall {
        call = "aoti_torch_call_dispatcher": fn(*const c_char, *const c_char, *mut u64) -> i32;
        version = "aoti_torch_abi_version": fn() -> u64;
    }
}

functions! {
    /// The same from 2.10 on, with the version whose schemas the caller knows.
    VersionedCall {
        call = "torch_call_dispatcher": fn(*const c_char, *const c_char, *mut u64, u64) -> i32;
    }
}

functions! {
    /// Of arguments that are lists or text, from 2.10 on.
    ListFunctions {
        new = "torch_new_list_reserve_size": fn(usize, *mut Handle) -> i32;
        push = "torch_list_push_back": fn(Handle, u64) -> i32;
        text = "torch_new_string_handle": fn(*const c_char, usize, *mut Handle) -> i32;
    }
}

functions! {
    /// C++'s `new`, of the library that PyTorch is linked with.
    Allocation {
        new = "_Znwm": fn(usize) -> *mut c_void;
    }
}

/// What calls ops.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DispatchFunctions {
    pub(crate) plain: PlainCall,
    pub(crate) versioned: Option<VersionedCall>,
    pub(crate) lists: Option<ListFunctions>,
    pub(crate) allocation: Allocation,
    /// Of the PyTorch that is loaded.
    pub(crate) version: u64,
}

/// All of them.
pub(crate) struct Functions {
    pub(crate) tensors: TensorFunctions,
    pub(crate) threads: Option<ThreadFunctions>,
    pub(crate) dispatch: Option<DispatchFunctions>,
    pub(crate) gpu: Option<GpuFunctions>,
}

/// Finds the functions of tensors in `libtorch_cpu`, and those of GPUs in `libtorch_cuda` if there is one.
pub(crate) fn find(cpu: &Path, cuda: Option<&Path>) -> Result<Functions, OpenError> {
    // SAFETY: both are PyTorch's, and loaded: no code runs but of a function that returns a constant.
    unsafe {
        let library = loaded(cpu)?;
        let dispatch = || {
            let plain = PlainCall::find(&library).ok()?;
            Some(DispatchFunctions {
                plain,
                versioned: VersionedCall::find(&library).ok(),
                lists: ListFunctions::find(&library).ok(),
                allocation: Allocation::find(&library).ok()?,
                version: (plain.version)(),
            })
        };
        Ok(Functions {
            tensors: TensorFunctions::find(&library)?,
            threads: ThreadFunctions::find(&library).ok(),
            dispatch: dispatch(),
            gpu: cuda.map(|cuda| GpuFunctions::find(&loaded(cuda)?)).transpose()?,
        })
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
