//! Tensors of the process's PyTorch.

use crate::functions::{
    DispatchFunctions, Functions, GpuFunctions, Handle, OpenError, TensorFunctions, ThreadFunctions, find,
};
use passhost_ir::{Dtype, TensorType};
use passhost_runtime::{Cause, EngineTensor};
use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;
use std::slice::from_raw_parts;

/// The process's PyTorch: what it calls the element types and devices, and its functions.
#[derive(Debug)]
pub struct PyTorch {
    pub(crate) tensors: TensorFunctions,
    pub(crate) threads: Option<ThreadFunctions>,
    pub(crate) dispatch: Option<DispatchFunctions>,
    pub(crate) gpu: Option<GpuFunctions>,
    dtypes: Vec<(Dtype, i32)>,
    cpu: i32,
    cuda: i32,
}

impl PyTorch {
    /// The libraries that `import torch` has loaded, by their paths; `cuda` is that of a build with CUDA.
    pub fn open(cpu: &Path, cuda: Option<&Path>) -> Result<PyTorch, OpenError> {
        let Functions { tensors, threads, dispatch, gpu } = find(cpu, cuda)?;
        // SAFETY: they take nothing and return constants.
        unsafe {
            let dtypes = vec![
                (Dtype::F32, (tensors.dtype_f32)()),
                (Dtype::Bf16, (tensors.dtype_bf16)()),
                (Dtype::F16, (tensors.dtype_f16)()),
                (Dtype::I64, (tensors.dtype_i64)()),
                (Dtype::Bool, (tensors.dtype_bool)()),
                (Dtype::I32, (tensors.dtype_i32)()),
                (Dtype::F64, (tensors.dtype_f64)()),
                (Dtype::U8, (tensors.dtype_u8)()),
                (Dtype::I8, (tensors.dtype_i8)()),
                (Dtype::I16, (tensors.dtype_i16)()),
            ];
            let (cpu, cuda) = ((tensors.device_cpu)(), (tensors.device_cuda)());
            Ok(PyTorch { tensors, threads, dispatch, gpu, dtypes, cpu, cuda })
        }
    }

    /// Whether the calling thread records gradients.
    pub fn grad_is_enabled(&self) -> bool {
        // SAFETY: it reads a flag of this thread.
        unsafe { (self.tensors.grad_enabled)() }
    }

    pub(crate) fn number_of(&self, dtype: Dtype) -> Result<i32, Cause> {
        let found = self.dtypes.iter().find(|(known, _)| *known == dtype).map(|(_, number)| *number);
        found.ok_or_else(|| Cause::Failed(format!("tensors of {dtype} are not made here")))
    }

    /// Kind and index of the CPU or a GPU.
    pub(crate) fn device(&self, gpu: Option<u32>) -> (i32, i32) {
        gpu.map_or((self.cpu, 0), |index| (self.cuda, index as i32))
    }

    /// A contiguous tensor with undefined elements.
    pub(crate) fn empty(&'static self, gpu: Option<u32>, ty: &TensorType) -> Result<Tensor, Cause> {
        let dtype = self.number_of(ty.dtype)?;
        let (kind, index) = self.device(gpu);
        let strides = passhost_ir::contiguous_strides(&ty.shape);
        let (rank, sizes) = (ty.shape.len() as i64, ty.shape.as_ptr());
        self.made("make a tensor", |made| {
            // SAFETY: as many sizes and strides as the rank says.
            unsafe { (self.tensors.empty_strided)(rank, sizes, strides.as_ptr(), dtype, kind, index, made) }
        })
    }

    /// The tensor that a function makes.
    fn made(&'static self, what: &str, make: impl FnOnce(*mut Handle) -> i32) -> Result<Tensor, Cause> {
        let mut handle = null_mut();
        if make(&raw mut handle) != 0 || handle.is_null() {
            // What it said is on standard error: these functions pass no words on.
            return Err(Cause::Failed(format!("PyTorch could not {what}; it may be out of memory")));
        }
        // SAFETY: a new handle, which nobody else has.
        unsafe { Tensor::take(self, handle) }
    }
}

/// A tensor of it. Clones share its memory.
#[derive(Debug)]
pub struct Tensor {
    torch: &'static PyTorch,
    handle: Handle,
    dtype: Dtype,
    gpu: Option<u32>,
    data: *mut u8,
}

// SAFETY: PyTorch's tensors are counted atomically, and may be used from any thread.
unsafe impl Send for Tensor {}

impl Tensor {
    /// Takes a handle over.
    ///
    /// # Safety
    /// It is a live one, and the caller's own.
    pub unsafe fn take(torch: &'static PyTorch, handle: Handle) -> Result<Tensor, Cause> {
        let mut tensor = Tensor { torch, handle, dtype: Dtype::F32, gpu: None, data: null_mut() };
        tensor.refresh()?;
        Ok(tensor)
    }

    /// Reads again what somebody may have changed: element type, device and memory.
    pub fn refresh(&mut self) -> Result<(), Cause> {
        let (torch, of) = (self.torch, &self.torch.tensors);
        let (mut number, mut kind, mut data) = (0, 0, null_mut());
        // SAFETY: the handle is live, and each result has room.
        let failed = unsafe {
            (of.dtype)(self.handle, &raw mut number)
                | (of.device_type)(self.handle, &raw mut kind)
                | (of.data)(self.handle, &raw mut data)
        };
        let dtype = torch.dtypes.iter().find(|(_, known)| *known == number);
        let Some(&(dtype, _)) = dtype.filter(|_| failed == 0 && (kind == torch.cpu || kind == torch.cuda)) else {
            return Err(Cause::Failed("a tensor of a type or on a device that passhost does not know".into()));
        };
        (self.dtype, self.data) = (dtype, data.cast());
        self.gpu = if kind == torch.cuda { Some(self.number(of.device_index)? as u32) } else { None };
        Ok(())
    }

    /// A new handle on the same tensor, which is the caller's.
    pub fn share(&self) -> Result<Handle, Cause> {
        let mut handle: Handle = null_mut();
        // SAFETY: this handle is live.
        match unsafe { (self.torch.tensors.share)(self.handle, &raw mut handle) } {
            0 => Ok(handle),
            _ => Err(Cause::Failed("PyTorch could not share a tensor".into())),
        }
    }

    /// A number that a function says of it.
    fn number<T: Default>(&self, function: unsafe extern "C" fn(Handle, *mut T) -> i32) -> Result<T, Cause> {
        let mut number = T::default();
        // SAFETY: the handle is live.
        match unsafe { function(self.handle, &raw mut number) } {
            0 => Ok(number),
            _ => Err(Cause::Failed("PyTorch does not know a tensor any more".into())),
        }
    }

    /// Its shape and strides, as long as it is not changed. None of a tensor that has none, such as a nested one.
    fn dims(&self) -> Option<(&[i64], &[i64])> {
        let of = &self.torch.tensors;
        let (mut rank, mut sizes, mut strides): (i64, *const i64, *const i64) = (0, null_mut(), null_mut());
        // SAFETY: the handle is live. What it lends lives as long as the tensor's metadata, which nobody changes meanwhile.
        unsafe {
            let failed = (of.rank)(self.handle, &raw mut rank)
                | (of.sizes)(self.handle, &raw mut sizes)
                | (of.strides)(self.handle, &raw mut strides);
            let (rank, is_there) = (usize::try_from(rank).ok()?, !sizes.is_null() && !strides.is_null());
            match (failed, rank) {
                (0, 0) => Some((&[], &[])),
                (0, _) if is_there => Some((from_raw_parts(sizes, rank), from_raw_parts(strides, rank))),
                _ => None,
            }
        }
    }
}

impl Clone for Tensor {
    #[allow(clippy::expect_used, reason = "sharing counts up a number: it fails where PyTorch itself is broken")]
    fn clone(&self) -> Tensor {
        let handle = self.share().expect("a live tensor can be shared");
        Tensor { handle, ..*self }
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's own.
        unsafe { (self.torch.tensors.delete)(self.handle) };
    }
}

impl EngineTensor for Tensor {
    fn gpu_index(&self) -> Option<u32> {
        self.gpu
    }

    fn ty(&self) -> TensorType {
        let (shape, strides) = self.dims().unwrap_or_default();
        TensorType { dtype: self.dtype, shape: shape.into(), strides: strides.into() }
    }

    fn data_ptr(&self) -> *mut u8 {
        self.data
    }

    fn address_if(&self, ty: &TensorType) -> Option<usize> {
        let same = self.dtype == ty.dtype && self.dims().is_some_and(|(shape, strides)| is_layout(ty, shape, strides));
        // Tensors that stand for zeros, or whose memory was given back, have elements and no memory.
        (same && (!self.data.is_null() || ty.shape.contains(&0))).then_some(self.data as usize)
    }

    fn bytes_from_data(&self) -> usize {
        let of = &self.torch.tensors;
        let (storage, offset) = (self.number(of.storage).unwrap_or(0), self.number(of.offset).unwrap_or(0));
        (storage - offset * self.dtype.size() as i64).max(0) as usize
    }

    fn copy(&self) -> Result<Tensor, Cause> {
        // SAFETY: this handle is live.
        self.torch.made("copy a tensor", |made| unsafe { (self.torch.tensors.copy)(self.handle, made) })
    }

    unsafe fn part(&self, start: u64, ty: &TensorType) -> Result<Tensor, Cause> {
        let of = &self.torch.tensors;
        // It counts from the start of the storage.
        let start = start as i64 + self.number(of.offset)? * self.dtype.size() as i64;
        let (dtype, rank) = (self.torch.number_of(ty.dtype)?, ty.shape.len() as i64);
        self.torch.made("make a tensor in the memory of another", |made| {
            // SAFETY: by this function's contract the part lies in the memory of this tensor.
            unsafe { (of.part)(self.handle, start, dtype, rank, ty.shape.as_ptr(), ty.strides.as_ptr(), made) }
        })
    }
}

/// Whether a type has a shape and strides. Along a dimension of one element no stride means anything.
fn is_layout(ty: &TensorType, shape: &[i64], strides: &[i64]) -> bool {
    let mut steps = ty.shape.iter().zip(&ty.strides).zip(strides);
    shape == ty.shape
        && strides.len() == ty.strides.len()
        && steps.all(|((extent, one), other)| *extent == 1 || one == other)
}

/// Where an address that a function gives lies.
pub(crate) fn stream_address(address: *mut c_void) -> usize {
    address as usize
}
