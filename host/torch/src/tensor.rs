//! A tensor of libtorch on the device: the CPU, or the GPU that was opened.

use crate::bridge::ffi;
use crate::device::device;
use passhost_ir::{Dtype, TensorType};

/// A tensor. Cloning it shares its memory, as in PyTorch.
#[derive(Debug)]
pub struct Tensor(tch::Tensor);

/// Why a tensor could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    /// The bytes are not those of the type.
    #[error("{found} bytes for a tensor of type {ty}, which has {expected}")]
    Size {
        /// The type.
        ty: String,
        /// Bytes given.
        found: usize,
        /// Bytes needed.
        expected: u64,
    },
    /// libtorch refused.
    #[error("{0}")]
    Torch(String),
}

impl Tensor {
    /// A contiguous tensor with these elements, row-major and little-endian.
    pub fn from_bytes(ty: &TensorType, bytes: &[u8]) -> Result<Tensor, TensorError> {
        if bytes.len() as u64 != ty.bytes() {
            return Err(TensorError::Size { ty: ty.to_string(), found: bytes.len(), expected: ty.bytes() });
        }
        let tensor = Tensor::empty_on(ty, tch::Device::Cpu)?;
        // SAFETY: a fresh contiguous tensor of this type owns exactly `bytes.len()` bytes at its data pointer.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), tensor.data_ptr(), bytes.len()) };
        if device() == tch::Device::Cpu {
            return Ok(tensor);
        }
        let there = tensor.0.f_to_device(device());
        there.map(Tensor).map_err(|error| TensorError::Torch(first_line(&error.to_string())))
    }

    /// A contiguous tensor with undefined elements: only for a kernel that writes them all.
    pub fn empty(ty: &TensorType) -> Result<Tensor, TensorError> {
        Tensor::empty_on(ty, device())
    }

    fn empty_on(ty: &TensorType, device: tch::Device) -> Result<Tensor, TensorError> {
        tch::Tensor::f_empty(&ty.shape, (kind(ty.dtype), device))
            .map(Tensor)
            .map_err(|error| TensorError::Torch(first_line(&error.to_string())))
    }

    /// Type, shape and strides.
    pub fn ty(&self) -> TensorType {
        TensorType { dtype: dtype(self.0.kind()), shape: self.0.size(), strides: self.0.stride() }
    }

    /// The address of the first element, in the memory of the device.
    pub fn data_ptr(&self) -> *mut u8 {
        self.0.data_ptr().cast()
    }

    /// Bytes from the first element to the end of the memory it lies in.
    pub fn bytes_from_data(&self) -> usize {
        // SAFETY: the tensor is alive for the duration of the call.
        unsafe { ffi::tensor_bytes_from_data(self.address()) }
    }

    /// The elements, row-major and little-endian, whatever the strides.
    pub fn to_bytes(&self) -> Vec<u8> {
        let dense = self.0.contiguous().to_device(tch::Device::Cpu);
        let size = dense.numel() * dense.kind().elt_size_in_bytes();
        let mut bytes = vec![0; size];
        if size > 0 {
            // SAFETY: a contiguous tensor holds `size` bytes at its data pointer; the vector is its own memory.
            unsafe { std::ptr::copy_nonoverlapping(dense.data_ptr().cast::<u8>(), bytes.as_mut_ptr(), size) };
        }
        bytes
    }

    /// Another handle on the same memory.
    #[must_use]
    pub fn shallow_clone(&self) -> Tensor {
        Tensor(self.0.shallow_clone())
    }

    /// A copy with memory of its own and the same strides.
    #[must_use]
    pub fn deep_clone(&self) -> Tensor {
        Tensor(self.0.copy())
    }

    /// The bytes `start .. start + ty.bytes()` of a tensor of bytes, as a contiguous tensor of another type that shares
    /// its memory. `start` must be a multiple of the element size.
    pub fn reinterpret(&self, start: u64, ty: &TensorType) -> Result<Tensor, TensorError> {
        let failed = |error: tch::TchError| TensorError::Torch(first_line(&error.to_string()));
        let part = self.0.f_narrow(0, start as i64, ty.bytes() as i64).map_err(failed)?;
        let typed = part.f_view_dtype(kind(ty.dtype)).map_err(failed)?;
        typed.f_view(ty.shape.as_slice()).map(Tensor).map_err(failed)
    }

    /// Sets every element of a tensor of bytes.
    pub fn fill(&mut self, byte: u8) {
        let _ = self.0.fill_(i64::from(byte));
    }

    /// The sum of all elements of a tensor of bytes, by which every byte is read.
    pub fn read_all(&self) -> i64 {
        self.0.sum(tch::Kind::Int64).int64_value(&[])
    }

    /// Floats in double precision; other types as they are.
    #[must_use]
    pub fn upcast(&self) -> Tensor {
        if self.ty().dtype.is_float() { Tensor(self.0.to_kind(tch::Kind::Double)) } else { self.shallow_clone() }
    }

    /// The address of the `at::Tensor` behind this handle.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Takes over an `at::Tensor`.
    ///
    /// # Safety
    ///
    /// `address` is that of an `at::Tensor` on the heap that nobody else frees.
    pub(crate) unsafe fn from_address(address: usize) -> Tensor {
        // SAFETY: by this function's contract.
        Tensor(unsafe { tch::Tensor::from_ptr(address as *mut _) })
    }
}

/// libtorch's messages carry a C++ backtrace after the first line.
pub(crate) fn first_line(message: &str) -> String {
    let text = message.split("\nException raised from").next().unwrap_or(message);
    text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect::<Vec<_>>().join(" ")
}

fn kind(dtype: Dtype) -> tch::Kind {
    match dtype {
        Dtype::Bool => tch::Kind::Bool,
        Dtype::U8 => tch::Kind::Uint8,
        Dtype::I8 => tch::Kind::Int8,
        Dtype::I16 => tch::Kind::Int16,
        Dtype::I32 => tch::Kind::Int,
        Dtype::I64 => tch::Kind::Int64,
        Dtype::F16 => tch::Kind::Half,
        Dtype::Bf16 => tch::Kind::BFloat16,
        Dtype::F32 => tch::Kind::Float,
        Dtype::F64 => tch::Kind::Double,
        Dtype::C64 => tch::Kind::ComplexFloat,
        Dtype::C128 => tch::Kind::ComplexDouble,
    }
}

fn dtype(kind: tch::Kind) -> Dtype {
    match kind {
        tch::Kind::Bool => Dtype::Bool,
        tch::Kind::Uint8 => Dtype::U8,
        tch::Kind::Int8 => Dtype::I8,
        tch::Kind::Int16 => Dtype::I16,
        tch::Kind::Int => Dtype::I32,
        tch::Kind::Half => Dtype::F16,
        tch::Kind::BFloat16 => Dtype::Bf16,
        tch::Kind::Float => Dtype::F32,
        tch::Kind::Double => Dtype::F64,
        tch::Kind::ComplexFloat => Dtype::C64,
        tch::Kind::ComplexDouble => Dtype::C128,
        _ => Dtype::I64,
    }
}

/// The number that c10 gives an element type.
pub(crate) fn scalar_type(dtype: Dtype) -> i8 {
    match dtype {
        Dtype::U8 => 0,
        Dtype::I8 => 1,
        Dtype::I16 => 2,
        Dtype::I32 => 3,
        Dtype::I64 => 4,
        Dtype::F16 => 5,
        Dtype::F32 => 6,
        Dtype::F64 => 7,
        Dtype::C64 => 9,
        Dtype::C128 => 10,
        Dtype::Bool => 11,
        Dtype::Bf16 => 15,
    }
}

/// The element type with this number, if graphs may hold it.
pub(crate) fn from_scalar_type(number: i8) -> Option<Dtype> {
    Dtype::ALL.into_iter().find(|&dtype| scalar_type(dtype) == number)
}
