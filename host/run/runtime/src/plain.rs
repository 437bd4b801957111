//! An engine without a library, for programs of kernels on the CPU: memory of the host, and threads that are started for
//! each run of a kernel that is worth them. It has no ops, and no memory of a GPU.

use crate::engine::{Engine, EngineTensor};
use crate::error::Cause;
use passhost_ir::{Arg, OpName, TensorType};
use passhost_kernels::cuda::Stream;
use passhost_kernels::{NewThreads, ThreadPool};
use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::ptr::copy_nonoverlapping;
use std::slice::from_raw_parts;
use std::sync::Arc;

/// The CPU, where a kernel runs on so many threads at most.
#[derive(Debug, Clone, Copy)]
pub struct Plain(pub usize);

/// A tensor in memory of the host.
#[derive(Debug, Clone)]
pub struct PlainTensor {
    memory: Arc<Vec<CacheLine>>,
    /// The byte that the first element starts at.
    start: usize,
    ty: Arc<TensorType>,
}

const LINE: usize = 64;

/// Memory that kernels write to through pointers, by the promises of whoever launches them.
#[derive(Debug)]
#[repr(C, align(64))]
struct CacheLine(UnsafeCell<[u8; LINE]>);

// SAFETY: it is accessed through pointers alone, for which somebody vouches.
unsafe impl Sync for CacheLine {}

impl PlainTensor {
    /// Memory of zeros for what a type reaches, at a multiple of 64 bytes.
    fn zeros(ty: TensorType) -> Result<PlainTensor, Cause> {
        let lines = (ty.reach_bytes() as usize).div_ceil(LINE);
        let mut memory = vec![];
        memory.try_reserve_exact(lines).map_err(|error| Cause::OutOfMemory(error.to_string()))?;
        memory.resize_with(lines, || CacheLine(UnsafeCell::new([0; LINE])));
        Ok(PlainTensor { memory: Arc::new(memory), start: 0, ty: Arc::new(ty) })
    }

    /// A contiguous tensor with these elements, row-major and little-endian.
    pub fn from_bytes(ty: &TensorType, bytes: &[u8]) -> Result<PlainTensor, Cause> {
        if bytes.len() as u64 != ty.bytes() {
            return Err(Cause::Failed(format!("{} bytes for a tensor of type {ty}", bytes.len())));
        }
        let tensor = PlainTensor::zeros(TensorType::contiguous(ty.dtype, ty.shape.clone()))?;
        // SAFETY: the tensor is fresh, contiguous, and of as many bytes.
        unsafe { copy_nonoverlapping(bytes.as_ptr(), tensor.data_ptr(), bytes.len()) };
        Ok(tensor)
    }

    /// The elements, row-major and little-endian, whatever the strides. Nobody writes to them meanwhile.
    pub fn to_bytes(&self) -> Vec<u8> {
        let TensorType { dtype, shape, strides } = &*self.ty;
        let mut places = vec![0];
        for (&extent, &stride) in shape.iter().zip(strides) {
            places = places.iter().flat_map(|place| (0..extent).map(move |index| place + index * stride)).collect();
        }
        let size = dtype.size() as usize;
        // SAFETY: the place is that of an element, which the memory of the tensor holds.
        let element = |place: i64| unsafe { from_raw_parts(self.data_ptr().add(place as usize * size), size) };
        places.into_iter().flat_map(element).copied().collect()
    }
}

impl EngineTensor for PlainTensor {
    fn gpu_index(&self) -> Option<u32> {
        None
    }

    fn ty(&self) -> TensorType {
        TensorType::clone(&self.ty)
    }

    fn data_ptr(&self) -> *mut u8 {
        self.memory.as_ptr().cast::<u8>().cast_mut().wrapping_add(self.start)
    }

    fn address_if(&self, ty: &TensorType) -> Option<usize> {
        (*self.ty == *ty).then(|| self.data_ptr() as usize)
    }

    fn bytes_from_data(&self) -> usize {
        self.ty.reach_bytes() as usize
    }

    fn copy(&self) -> Result<PlainTensor, Cause> {
        let copy = PlainTensor::zeros(self.ty())?;
        // SAFETY: both reach as many bytes, and the copy is fresh.
        unsafe { copy_nonoverlapping(self.data_ptr(), copy.data_ptr(), self.bytes_from_data()) };
        Ok(copy)
    }

    unsafe fn part(&self, start: u64, ty: &TensorType) -> Result<PlainTensor, Cause> {
        let start = self.start + start as usize;
        Ok(PlainTensor { memory: self.memory.clone(), start, ty: Arc::new(ty.clone()) })
    }
}

impl ThreadPool for Plain {
    fn count(&self) -> usize {
        NewThreads(self.0).count()
    }

    fn run(&self, workers: usize, work: &(dyn Fn() + Sync)) {
        NewThreads(self.0).run(workers, work);
    }
}

impl Engine for Plain {
    type Tensor = PlainTensor;
    type Scope = ();
    type Call = Infallible;
    type CapturePool = Infallible;

    fn gpu_index(&self) -> Option<u32> {
        None
    }

    fn stream(&self) -> Result<Stream, Cause> {
        Ok(Stream(0))
    }

    fn within<T>(&self, work: impl FnOnce(&()) -> T) -> T {
        work(&())
    }

    fn empty(&self, (): &(), ty: &TensorType) -> Result<PlainTensor, Cause> {
        PlainTensor::zeros(TensorType::contiguous(ty.dtype, ty.shape.clone()))
    }

    fn prepare(&self, op: &OpName, _args: &[Arg], _products: bool) -> Result<Infallible, Cause> {
        Err(Cause::Failed(format!("this engine runs kernels alone; `{op}` needs one with a library of ops")))
    }

    fn call(&self, (): &(), call: &Infallible, _tensors: &[&PlainTensor]) -> Result<Vec<PlainTensor>, Cause> {
        match *call {}
    }

    fn captured<T>(&self, _work: impl FnOnce() -> T) -> Result<(T, Infallible), Cause> {
        Err(Cause::Failed("there is nothing to capture on the CPU".into()))
    }
}
