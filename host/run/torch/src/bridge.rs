//! The border to C++. Tensors cross it as addresses of `at::Tensor` objects.

#[cxx::bridge(namespace = "passhost")]
pub(crate) mod ffi {
    unsafe extern "C++" {
        include!("passhost-torch/cpp/exceptions.h");
        include!("passhost-torch/cpp/dispatch.h");
        include!("passhost-torch/cpp/allocator.h");
        include!("passhost-torch/cpp/gpu.h");
        include!("passhost-torch/cpp/parallel.h");
        include!("passhost-torch/cpp/pool.h");
        include!("passhost-torch/cpp/scope.h");
        include!("passhost-torch/cpp/tensor.h");

        type Call;

        fn prepare(name: &str, overload: &str, device: i32) -> Result<UniquePtr<Call>>;
        fn push_none(self: Pin<&mut Call>) -> Result<()>;
        fn push_bool(self: Pin<&mut Call>, value: bool) -> Result<()>;
        fn push_int(self: Pin<&mut Call>, value: i64) -> Result<()>;
        fn push_float(self: Pin<&mut Call>, value: f64) -> Result<()>;
        fn push_string(self: Pin<&mut Call>, value: &str) -> Result<()>;
        fn push_ints(self: Pin<&mut Call>, values: &[i64]) -> Result<()>;
        fn push_floats(self: Pin<&mut Call>, values: &[f64]) -> Result<()>;
        fn push_bools(self: Pin<&mut Call>, values: &[bool]) -> Result<()>;
        fn push_device(self: Pin<&mut Call>) -> Result<()>;
        fn push_tensor(self: Pin<&mut Call>) -> Result<()>;
        fn push_tensors(self: Pin<&mut Call>, count: usize) -> Result<()>;
        fn push_optional_tensors(self: Pin<&mut Call>, present: &[bool]) -> Result<()>;
        fn finish(self: &Call) -> Result<()>;
        fn prepare_layouts(self: Pin<&mut Call>) -> Result<()>;

        /// # Safety
        ///
        /// Every element is the address of a live `at::Tensor`.
        unsafe fn invoke(self: &Call, tensors: &[usize]) -> Result<Vec<usize>>;

        fn meta_tensor(dtype: i8, sizes: &[i64], strides: &[i64]) -> Result<usize>;
        fn empty(device: i32, dtype: i8, sizes: &[i64]) -> Result<usize>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn to_device(tensor: usize, device: i32) -> Result<usize>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn contiguous(tensor: usize) -> Result<usize>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn clone(tensor: usize) -> Result<usize>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn to_double(tensor: usize) -> Result<usize>;

        /// # Safety
        ///
        /// Each address is that of a live `at::Tensor`.
        unsafe fn copy_into(to: usize, from: usize) -> Result<()>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn fill_bytes(tensor: usize, byte: u8) -> Result<()>;

        /// # Safety
        ///
        /// Each address is that of a live `at::Tensor`.
        unsafe fn is_equal(tensor: usize, other: usize) -> Result<bool>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn is_finite(tensor: usize) -> Result<bool>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn has_nan(tensor: usize) -> Result<bool>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn mean_of(tensor: usize) -> Result<f64>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn sum_of(tensor: usize) -> Result<i64>;

        /// # Safety
        ///
        /// What shape and strides reach from `data` on is memory of that device, and stays until `release` is called.
        unsafe fn foreign(
            device: i32,
            data: usize,
            dtype: i8,
            sizes: &[i64],
            strides: &[i64],
            release: fn(usize),
            context: usize,
        ) -> Result<usize>;

        /// # Safety
        ///
        /// The address is that of an `at::Tensor` that a function here made, and is used no more.
        unsafe fn free_tensor(tensor: usize);

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn tensor_dtype(tensor: usize) -> Result<i8>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn tensor_sizes(tensor: usize) -> Result<Vec<i64>>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn tensor_strides(tensor: usize) -> Result<Vec<i64>>;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn tensor_bytes_from_data(tensor: usize) -> usize;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn tensor_is(tensor: usize, dtype: i8, sizes: &[i64], strides: &[i64]) -> bool;

        /// # Safety
        ///
        /// The address is that of a live `at::Tensor`.
        unsafe fn tensor_address(tensor: usize) -> usize;

        type Scope;

        fn enter(device: i32, stream: i64, inference: bool, on_device: bool) -> UniquePtr<Scope>;
        /// Whether autograd records what is called on this thread now.
        fn gradients_enabled() -> bool;
        /// Whether this thread is in inference mode now.
        fn inference_enabled() -> bool;
        /// The version of the libtorch in use.
        fn version() -> String;

        /// Puts [`crate::allocator`] in front of libtorch's own allocator of the CPU, for good. Idempotent.
        fn install_allocator();
        fn start_guarding(limit: usize);
        fn stop_guarding() -> u64;
        fn overwritten_guards() -> u64;
        fn start_peak();
        fn peak_bytes() -> usize;

        fn load_gpus() -> Result<()>;
        fn gpu_count() -> i64;
        fn pool_stream(gpu: i32) -> Result<i64>;
        fn current_stream(gpu: i32) -> Result<i64>;
        fn current_gpu() -> Result<i32>;
        fn stream_handle(gpu: i32, stream: i64) -> Result<usize>;
        fn gpu_bytes(gpu: i32) -> Result<usize>;
        fn start_gpu_peak(gpu: i32) -> Result<()>;
        fn gpu_peak_bytes(gpu: i32) -> Result<usize>;
        /// Lets cuDNN choose its algorithms by rules, not by trying them out, so that two runs choose alike.
        fn choose_by_rules();
        /// The settings of libtorch that change what GPU ops compute, in words.
        fn gpu_settings() -> String;

        type CapturePool;

        fn open_capture_pool(gpu: i32, stream: i64) -> Result<UniquePtr<CapturePool>>;
        fn close(self: Pin<&mut CapturePool>) -> Result<()>;

        /// How many threads ops use.
        fn thread_count() -> usize;
        fn parallel(workers: usize, work: fn(usize), context: usize);
    }
}
