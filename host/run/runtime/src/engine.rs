//! What a program needs of the library around it: memory, tensors, ops and threads.

use crate::error::Cause;
use passhost_ir::{Arg, OpName, TensorType};
use passhost_kernels::ThreadPool;
use passhost_kernels::cuda::Stream;
use std::fmt::Debug;

/// A library in one place: on the CPU, or on one stream of one GPU. Kernels run on the threads of its ops, and on its stream.
pub trait Engine: ThreadPool + Debug + Send {
    /// A tensor in this place.
    type Tensor: EngineTensor;
    /// Proof that the calling thread is prepared for the library.
    type Scope;
    /// An op, looked up, with every argument but its tensors.
    type Call: Send + 'static;
    /// Memory that captured launches use. Dropping it frees what no tensor holds.
    type CapturePool;

    /// The index of the GPU; `None` on the CPU.
    fn gpu_index(&self) -> Option<u32>;

    /// The stream as the driver knows it; 0 on the CPU.
    fn stream(&self) -> Result<Stream, Cause>;

    /// Calls `work` with the calling thread prepared for tensors and ops; a GPU's context is its current one already.
    /// Afterwards the thread's state is what it was, errors and panics included.
    fn within<T>(&self, work: impl FnOnce(&Self::Scope) -> T) -> T;

    /// A contiguous tensor with undefined elements.
    fn empty(&self, scope: &Self::Scope, ty: &TensorType) -> Result<Self::Tensor, Cause>;

    /// Looks an op up. Arguments stand in schema order; what stands for a tensor only marks its place. With `products`,
    /// products of matrices and convolutions may be called otherwise than the library calls them, if the bits are the same.
    fn prepare(&self, op: &OpName, args: &[Arg], products: bool) -> Result<Self::Call, Cause>;

    /// Calls an op with tensors in the order of their places. A returned list is flattened.
    fn call(
        &self,
        scope: &Self::Scope,
        call: &Self::Call,
        tensors: &[&Self::Tensor],
    ) -> Result<Vec<Self::Tensor>, Cause>;

    /// Calls `work`, which captures launches, while what is allocated on the stream comes from a pool: there it stays.
    fn captured<T>(&self, work: impl FnOnce() -> T) -> Result<(T, Self::CapturePool), Cause>;
}

/// A handle on a tensor. Clones share its memory.
pub trait EngineTensor: Clone + Send + 'static {
    /// The index of the GPU that it lies in the memory of; `None` on the CPU.
    fn gpu_index(&self) -> Option<u32>;

    /// Type, shape and strides.
    fn ty(&self) -> TensorType;

    /// The address of the first element.
    fn data_ptr(&self) -> *mut u8;

    /// The same if the tensor has this type, strides included, but for those of dimensions of one element: any may do.
    /// Allocates nothing.
    fn address_if(&self, ty: &TensorType) -> Option<usize>;

    /// Bytes from the first element to the end of the memory it lies in.
    fn bytes_from_data(&self) -> usize;

    /// A copy with memory of its own and the same strides.
    fn copy(&self) -> Result<Self, Cause>;

    /// A tensor of any type in the memory of this one, `start` bytes behind its first element. For whoever gets it, its
    /// memory ends where it does.
    ///
    /// # Safety
    /// What the type reaches lies in the memory of this tensor, and nobody else writes to it while it is read.
    unsafe fn part(&self, start: u64, ty: &TensorType) -> Result<Self, Cause>;
}
