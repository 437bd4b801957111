//! Large tensors are drawn, compared and judged on the device that holds them: by kernels of our own, in chunks of a few
//! sizes whatever the tensor's, and by ops of PyTorch, part by part. What is left over after whole chunks is the CPU's, and so are small
//! tensors. The results are those of the CPU, which is the reference.

pub mod compare;
pub mod contested;
pub mod digest;
pub mod draws;
mod formula;
mod ops;
pub mod precision;
pub mod sides;

use formula::Formula;
use passhost_ir::{Dtype, Kernel, TensorType};
use passhost_runtime::{DeviceKernel, LaunchError};
use passhost_torch::{Context, Tensor, TorchError};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

/// Elements that one launch draws or compares: so many that the host keeps up with the device, as many as fill it, and fewer
/// of what is left over.
pub const CHUNKS: [usize; 4] = [1 << 24, FULL, 1 << 18, LEAST];
/// Elements that fill the device.
pub const FULL: usize = 1 << 20;
/// Elements of the smallest tensors that are drawn and compared on the device. Bringing fewer to the CPU takes no longer than
/// a few launches.
pub const LEAST: usize = 1 << 16;

/// Why the device did not do it. The CPU can.
#[derive(Debug, thiserror::Error)]
pub enum OnDeviceError {
    /// A tensor could not be made, or an op did not run.
    #[error(transparent)]
    Torch(#[from] TorchError),
    /// A kernel did not run.
    #[error(transparent)]
    Kernel(#[from] LaunchError),
    /// Only the CPU knows how.
    #[error("{0}")]
    Unsuited(&'static str),
}

/// How an element follows from its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DrawRule {
    /// [`passhost_ir::Draw::Normal`].
    Normal,
    /// [`passhost_ir::Draw::LogNormal`].
    LogNormal,
    /// [`passhost_ir::Draw::Uniform`].
    Uniform,
    /// [`passhost_ir::Draw::Mask`].
    Mask,
    /// [`passhost_ir::Draw::FloatMask`].
    FloatMask,
}

/// What a kernel is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Purpose {
    Draw(DrawRule, Dtype),
    Compare(Dtype),
    Digest,
}

/// A kernel: what it is for, and the elements of a chunk.
type KernelKey = (Purpose, usize);

impl Purpose {
    fn name(self) -> String {
        match self {
            Purpose::Draw(rule, dtype) => format!("draw_{rule:?}_{dtype}").to_lowercase(),
            Purpose::Compare(dtype) => format!("compare_{dtype}"),
            Purpose::Digest => "digest".into(),
        }
    }

    fn kernel(self, chunk: usize) -> Kernel {
        match self {
            Purpose::Draw(rule, dtype) => draws::kernel(rule, dtype, chunk),
            Purpose::Compare(dtype) => compare::kernel(dtype, chunk),
            Purpose::Digest => digest::kernel(chunk),
        }
    }
}

/// Chunks of so many elements, and where what is left over begins.
fn chunks(count: usize, sizes: [usize; 4]) -> (Vec<Range<usize>>, usize) {
    let (mut chunks, mut first) = (vec![], 0);
    for size in sizes {
        while count - first >= size {
            chunks.push(first..first + size);
            first += size;
        }
    }
    (chunks, first)
}

/// The kernels there are, by names that say what they are for.
pub fn kernels() -> Vec<(String, Kernel)> {
    let floats = [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64];
    let integers = [Dtype::Bool, Dtype::U8, Dtype::I8, Dtype::I16, Dtype::I32, Dtype::I64];
    let all = integers.into_iter().chain(floats);
    let drawn = |rules: &'static [DrawRule], dtype| rules.iter().map(move |&rule| Purpose::Draw(rule, dtype));
    let of_floats = floats
        .into_iter()
        .flat_map(|dtype| drawn(&[DrawRule::Normal, DrawRule::LogNormal, DrawRule::FloatMask], dtype));
    let of_all = all.clone().flat_map(|dtype| drawn(&[DrawRule::Uniform, DrawRule::Mask], dtype));
    let compared = all.filter(|&dtype| dtype != Dtype::Bool).map(Purpose::Compare);
    let all = of_floats.chain(of_all).chain(compared).chain([Purpose::Digest]);
    let size = |purpose| if purpose == Purpose::Digest { digest::FULL } else { FULL };
    all.map(|purpose| (purpose.name(), purpose.kernel(size(purpose)))).collect()
}

/// Copies so many elements of `f32`.
pub fn copying(elements: i64) -> Kernel {
    let f = Formula::over(&[elements], &[]);
    f.element(Dtype::F32).output();
    f.into_kernel()
}

/// Our own kernels, each made when it is first needed.
#[derive(Default)]
pub struct OwnKernels {
    made: RefCell<HashMap<KernelKey, DeviceKernel>>,
    tables: draws::Tables,
}

impl OwnKernels {
    /// Asks for a run.
    ///
    /// # Safety
    /// Outputs have the types that the kernel of this purpose gives, overlap neither each other nor an input, and nobody
    /// else uses them before the device has run the kernel.
    unsafe fn run(
        &self,
        context: &Context,
        (purpose, chunk): KernelKey,
        inputs: &[&Tensor],
        outputs: &[&Tensor],
    ) -> Result<(), OnDeviceError> {
        let mut kernels = self.made.borrow_mut();
        let kernel = match kernels.entry((purpose, chunk)) {
            std::collections::hash_map::Entry::Occupied(made) => made.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(DeviceKernel::new(context, &purpose.kernel(chunk))?)
            }
        };
        // SAFETY: the caller's promise.
        Ok(unsafe { kernel.run(context, inputs, outputs) }?)
    }
}

/// A tensor of these elements in one dimension.
fn uploaded<const SIZE: usize, T: Copy>(
    context: &Context,
    dtype: Dtype,
    values: &[T],
    bytes: impl Fn(T) -> [u8; SIZE],
) -> Result<Tensor, TorchError> {
    let bytes: Vec<u8> = values.iter().flat_map(|&value| bytes(value)).collect();
    Tensor::from_bytes(context.engine(), &TensorType::contiguous(dtype, [values.len() as i64]), &bytes)
}

/// Memory for so many elements, as bytes.
fn memory(context: &Context, dtype: Dtype, elements: usize) -> Result<Tensor, TorchError> {
    Tensor::empty(context.engine(), &TensorType::contiguous(Dtype::U8, [elements as i64 * dtype.size() as i64]))
}

/// Elements of one type that lie in memory that is a tensor of bytes, in this shape.
fn part<const RANK: usize>(
    memory: &Tensor,
    dtype: Dtype,
    first: usize,
    shape: [i64; RANK],
) -> Result<Tensor, TorchError> {
    memory.reinterpret(first as u64 * dtype.size(), &TensorType::contiguous(dtype, shape))
}

#[cfg(test)]
mod tests;
