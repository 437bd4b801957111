//! A tensor of libtorch on a target.

use crate::bridge::ffi;
use crate::error::TorchError;
use crate::target::Target;
use passhost_ir::{Dtype, TensorType};
use passhost_runtime::{Cause, EngineTensor};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

/// A tensor. What is done with it happens on its target. Cloning it shares its memory, as in PyTorch.
#[derive(Debug)]
pub struct Tensor {
    inner: tch::Tensor,
    dtype: Dtype,
    target: Target,
}

/// What a function that returns no error panics with where a device has no memory left for what it makes: the words of libtorch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfMemory(pub String);

/// The result of what fails only where memory does.
#[allow(clippy::panic, reason = "as tch's own functions without `f_` do, with a payload that says why")]
fn or_panic<T>(result: Result<T, TorchError>) -> T {
    result.unwrap_or_else(|error| match error {
        TorchError::OutOfMemory(message) => panic_any(OutOfMemory(message)),
        error => panic_any(error.to_string()),
    })
}

impl Tensor {
    /// A contiguous tensor with these elements, row-major and little-endian.
    pub fn from_bytes(target: &Target, ty: &TensorType, bytes: &[u8]) -> Result<Tensor, TorchError> {
        if bytes.len() as u64 != ty.bytes() {
            let (found, expected) = (bytes.len(), ty.bytes());
            let message = format!("{found} bytes for a tensor of type {ty}, which has {expected}");
            return Err(TorchError::Torch(message));
        }
        target.within(|_| {
            let cpu = if target.gpu_index().is_none() { *target } else { Target::cpu() };
            let tensor = Tensor::empty_within(&cpu, ty)?;
            // SAFETY: a fresh contiguous tensor of this type owns exactly `bytes.len()` bytes at its data pointer.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), tensor.data_ptr(), bytes.len()) };
            if target.gpu_index().is_none() {
                return Ok(tensor);
            }
            // SAFETY: the tensor lives until the end of this function; the copy is a new object.
            Ok(unsafe { Tensor::from_address(ffi::to_device(tensor.address(), target.number())?, ty.dtype, *target) })
        })
    }

    /// A contiguous tensor with undefined elements: only for a kernel that writes them all.
    pub fn empty(target: &Target, ty: &TensorType) -> Result<Tensor, TorchError> {
        target.within(|_| Tensor::empty_within(target, ty))
    }

    /// The same for a thread that is prepared already.
    pub(crate) fn empty_within(target: &Target, ty: &TensorType) -> Result<Tensor, TorchError> {
        let address = ffi::empty(target.number(), scalar_type(ty.dtype), &ty.shape)?;
        // SAFETY: a new object that nobody else owns.
        Ok(unsafe { Tensor::from_address(address, ty.dtype, *target) })
    }

    /// A tensor over memory that belongs to someone else, as DLPack describes one. `release` is called exactly once: when
    /// nobody uses the memory any more, on whatever thread that is, or before this returns an error.
    ///
    /// # Safety
    ///
    /// What shape and strides reach from `data` on is memory of the target's device that holds elements of this type. It
    /// stays, and is written to by nobody else while something reads it here, until `release` is called.
    pub unsafe fn from_foreign(
        target: &Target,
        data: *mut u8,
        ty: &TensorType,
        release: impl FnOnce() + Send + 'static,
    ) -> Result<Tensor, TorchError> {
        type Job = Box<dyn FnOnce() + Send>;
        fn call(context: usize) {
            // SAFETY: `context` is the box made below, and the shim calls this once.
            let job = unsafe { Box::from_raw(context as *mut Job) };
            // A panic must not unwind through libtorch's frames, and there is nobody to hand it to.
            let _ = catch_unwind(AssertUnwindSafe(*job));
        }
        if let Err(error) = ty.check() {
            release();
            return Err(TorchError::Torch(error.to_string()));
        }
        let context = Box::into_raw(Box::new(Box::new(release) as Job)) as usize;
        target.within(|_| {
            let (device, dtype) = (target.number(), scalar_type(ty.dtype));
            // SAFETY: the caller's promise.
            let address = unsafe { ffi::foreign(device, data as usize, dtype, &ty.shape, &ty.strides, call, context) }?;
            // SAFETY: a new object that nobody else owns.
            Ok(unsafe { Tensor::from_address(address, ty.dtype, *target) })
        })
    }

    /// Where the tensor lives, and where what is done with it happens.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Type, shape and strides.
    pub fn ty(&self) -> TensorType {
        TensorType { dtype: self.dtype, shape: self.inner.size(), strides: self.inner.stride() }
    }

    /// Whether autograd can never meet it: see [`Target::inference`].
    pub fn is_inference(&self) -> bool {
        self.inner.is_inference()
    }

    /// The elements, row-major and little-endian, whatever the strides.
    ///
    /// # Panics
    ///
    /// With [`OutOfMemory`], where there is none for a copy; so do others here that return no error.
    pub fn to_bytes(&self) -> Vec<u8> {
        let cpu = Target::cpu().number();
        // SAFETY: the tensor is alive for the duration of the call.
        let dense = self.made(self.dtype, |tensor| unsafe { ffi::contiguous(tensor) });
        // SAFETY: so is this one.
        let dense = dense.and_then(|dense| dense.made(self.dtype, |tensor| unsafe { ffi::to_device(tensor, cpu) }));
        let dense = or_panic(dense);
        let mut bytes = vec![0; dense.inner.numel() * dense.inner.kind().elt_size_in_bytes()];
        if !bytes.is_empty() {
            // SAFETY: a contiguous tensor of the CPU holds as many bytes at its data pointer; the vector is its own memory.
            unsafe { std::ptr::copy_nonoverlapping(dense.data_ptr().cast_const(), bytes.as_mut_ptr(), bytes.len()) };
        }
        bytes
    }

    /// A copy with memory of its own and the same strides.
    #[must_use]
    pub fn deep_clone(&self) -> Tensor {
        // SAFETY: the tensor is alive for the duration of the call.
        or_panic(self.made(self.dtype, |tensor| unsafe { ffi::clone(tensor) }))
    }

    /// The bytes `start .. start + ty.bytes()` of a tensor of bytes, as a contiguous tensor of another type that shares
    /// its memory. `start` must be a multiple of the element size.
    pub fn reinterpret(&self, start: u64, ty: &TensorType) -> Result<Tensor, TorchError> {
        let is_inside = start.saturating_add(ty.bytes()) <= self.bytes_from_data() as u64;
        if !is_inside || !start.is_multiple_of(ty.dtype.size()) || !ty.is_contiguous() {
            return Err(TorchError::Torch(format!("there is no {ty} at byte {start} of {}", self.ty())));
        }
        // SAFETY: the bytes lie in the memory of this tensor, and their owner is whoever writes to it.
        unsafe { self.beginning_at(start, ty) }
    }

    /// The elements, row-major, as a tensor of bytes: the same memory where the tensor is contiguous. For tensors of one
    /// dimension or more.
    pub fn as_bytes(&self) -> Result<Tensor, TorchError> {
        // SAFETY: the tensor is alive for the duration of the call.
        let dense = self.made(self.dtype, |tensor| unsafe { ffi::contiguous(tensor) })?;
        dense.reinterpret(0, &TensorType::contiguous(Dtype::U8, [dense.ty().bytes() as i64]))
    }

    /// Overwrites the elements with those of a tensor of the same type, whose shape broadcasts to this one.
    pub fn copy_from(&mut self, source: &Tensor) -> Result<(), TorchError> {
        // SAFETY: both tensors are alive for the duration of the call.
        self.target.within(|_| Ok(unsafe { ffi::copy_into(self.address(), source.address()) }?))
    }

    /// A contiguous copy with memory of its own.
    pub fn copied(&self) -> Result<Tensor, TorchError> {
        let ty = self.ty();
        let mut copy = Tensor::empty(&self.target, &TensorType::contiguous(ty.dtype, ty.shape))?;
        copy.copy_from(self)?;
        Ok(copy)
    }

    /// Whether two tensors of bytes hold the same.
    pub fn same_bytes(&self, other: &Tensor) -> Result<bool, TorchError> {
        let (words, others) = (self.as_words(), other.as_words());
        let (one, other) = words.as_ref().zip(others.as_ref()).unwrap_or((self, other));
        // SAFETY: both tensors are alive for the duration of the call.
        self.target.within(|_| Ok(unsafe { ffi::is_equal(one.address(), other.address()) }?))
    }

    /// A tensor of bytes as one of an eighth as many words, if it is one of words.
    fn as_words(&self) -> Option<Tensor> {
        let bytes = self.ty().bytes();
        let is_whole = self.dtype == Dtype::U8 && (self.data_ptr() as u64 | bytes).is_multiple_of(8);
        is_whole.then(|| self.reinterpret(0, &TensorType::contiguous(Dtype::I64, [bytes as i64 / 8])).ok()).flatten()
    }

    /// Whether no element is infinite or NaN.
    pub fn is_finite(&self) -> Result<bool, TorchError> {
        // SAFETY: the tensor is alive for the duration of the call.
        self.target.within(|_| Ok(unsafe { ffi::is_finite(self.address()) }?))
    }

    /// Whether any element is NaN.
    pub fn has_nan(&self) -> Result<bool, TorchError> {
        // SAFETY: the tensor is alive for the duration of the call.
        self.target.within(|_| Ok(unsafe { ffi::has_nan(self.address()) }?))
    }

    /// The mean of floats, summed in double precision.
    pub fn mean(&self) -> Result<f64, TorchError> {
        // SAFETY: the tensor is alive for the duration of the call.
        self.target.within(|_| Ok(unsafe { ffi::mean_of(self.address()) }?))
    }

    /// Sets every element of a tensor of bytes.
    pub fn fill(&mut self, byte: u8) {
        // SAFETY: the tensor is alive for the duration of the call.
        or_panic(self.target.within(|_| Ok(unsafe { ffi::fill_bytes(self.address(), byte) }?)));
    }

    /// The sum of all elements of a tensor of integers, by which every byte is read.
    pub fn read_all(&self) -> i64 {
        // SAFETY: the tensor is alive for the duration of the call.
        or_panic(self.target.within(|_| Ok(unsafe { ffi::sum_of(self.address()) }?)))
    }

    /// Floats in double precision; other types as they are.
    #[must_use]
    pub fn upcast(&self) -> Tensor {
        if !self.dtype.is_float() {
            return self.clone();
        }
        // SAFETY: the tensor is alive for the duration of the call.
        or_panic(self.made(Dtype::F64, |tensor| unsafe { ffi::to_double(tensor) }))
    }

    /// # Safety
    /// As for [`EngineTensor::part`].
    unsafe fn beginning_at(&self, start: u64, ty: &TensorType) -> Result<Tensor, TorchError> {
        let (data, owner) = (self.data_ptr().wrapping_add(start as usize), self.clone());
        // SAFETY: the caller's promise; `owner` keeps the memory for as long as the tensor.
        unsafe { Tensor::from_foreign(&self.target, data, ty, move || drop(owner)) }
    }

    /// A tensor of this element type, which a function of the bridge makes of this one.
    fn made(
        &self,
        dtype: Dtype,
        make: impl FnOnce(usize) -> Result<usize, cxx::Exception>,
    ) -> Result<Tensor, TorchError> {
        // SAFETY: a new object that nobody else owns.
        self.target.within(|_| Ok(unsafe { Tensor::from_address(make(self.address())?, dtype, self.target) }))
    }

    /// The address of the `at::Tensor` behind this handle.
    pub(crate) fn address(&self) -> usize {
        self.inner.as_ptr() as usize
    }

    /// Takes over an `at::Tensor`.
    ///
    /// # Safety
    ///
    /// `address` is that of an `at::Tensor` on the heap that nobody else frees, with elements of this type.
    pub(crate) unsafe fn from_address(address: usize, dtype: Dtype, target: Target) -> Tensor {
        // SAFETY: by this function's contract.
        Tensor { inner: unsafe { tch::Tensor::from_ptr(address as *mut _) }, dtype, target }
    }

    /// Takes over what an op made. An element type that no graph has is an error.
    ///
    /// # Safety
    ///
    /// `address` is that of an `at::Tensor` on the heap that nobody else frees.
    pub(crate) unsafe fn from_op(address: usize, target: Target) -> Result<Tensor, TorchError> {
        // SAFETY: by this function's contract.
        let number = unsafe { ffi::tensor_dtype(address) };
        let dtype = number.as_ref().ok().and_then(|&number| from_scalar_type(number));
        // SAFETY: as above. A tensor of another type than this says is freed below.
        let tensor = unsafe { Tensor::from_address(address, dtype.unwrap_or(Dtype::U8), target) };
        dtype.map(|_| tensor).ok_or_else(|| TorchError::ElementType(number.unwrap_or(-1)))
    }
}

impl EngineTensor for Tensor {
    fn gpu_index(&self) -> Option<u32> {
        self.target.gpu_index()
    }

    fn ty(&self) -> TensorType {
        self.ty()
    }

    fn data_ptr(&self) -> *mut u8 {
        self.inner.data_ptr().cast()
    }

    fn address_if(&self, ty: &TensorType) -> Option<usize> {
        // SAFETY: the tensor is alive for the duration of the calls.
        unsafe {
            ffi::tensor_is(self.address(), scalar_type(ty.dtype), &ty.shape, &ty.strides)
                .then(|| ffi::tensor_address(self.address()))
        }
    }

    fn bytes_from_data(&self) -> usize {
        // SAFETY: the tensor is alive for the duration of the call.
        unsafe { ffi::tensor_bytes_from_data(self.address()) }
    }

    fn copy(&self) -> Result<Tensor, Cause> {
        Ok(self.deep_clone())
    }

    unsafe fn part(&self, start: u64, ty: &TensorType) -> Result<Tensor, Cause> {
        // SAFETY: the caller's promise.
        Ok(unsafe { self.beginning_at(start, ty) }?)
    }
}

/// Another handle on the same memory.
impl Clone for Tensor {
    fn clone(&self) -> Tensor {
        Tensor { inner: self.inner.shallow_clone(), dtype: self.dtype, target: self.target }
    }
}

/// The number that c10 gives an element type.
pub(crate) fn scalar_type(dtype: Dtype) -> i8 {
    dtype.torch_code() as i8
}

/// The element type with this number, if graphs may hold it.
pub(crate) fn from_scalar_type(number: i8) -> Option<Dtype> {
    Dtype::ALL.into_iter().find(|&dtype| scalar_type(dtype) == number)
}
