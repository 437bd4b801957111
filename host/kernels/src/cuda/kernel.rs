//! A kernel with its machine code, one variant for each layout that it met.

use super::compiler::Compiler;
use super::device::{DeviceError, Entered, Function, Gpu, Stream};
use super::emit::{ENTRY, emit};
use super::nvrtc::NvrtcError;
use super::properties::DeviceProperties;
use crate::access::{BindError, BoundInput, BoundOutput, Layout, check};
use cudarc::driver::sys;
use passhost_ir::kernel::{Facts, KernelError, verify};
use passhost_ir::{Kernel, TensorType};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

/// Why a kernel did not run.
#[derive(Debug, thiserror::Error)]
pub enum CudaError {
    /// It is no kernel.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The tensors are not those that it declares.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// It was not compiled.
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
    /// The GPU refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// More blocks than a grid has.
    #[error("the kernel needs {blocks} blocks, a grid has at most {}; split the tensor", i32::MAX)]
    Grid {
        /// Blocks needed.
        blocks: u64,
    },
}

/// Machine code for one layout.
#[derive(Debug)]
struct Variant {
    function: Function,
    blocks: u32,
    threads: u32,
    form: &'static str,
}

/// A kernel for a GPU.
#[derive(Debug)]
pub struct CudaKernel {
    kernel: Kernel,
    facts: Facts,
    variants: Mutex<HashMap<Layout, Arc<Variant>>>,
}

impl CudaKernel {
    /// Verifies a kernel. Nothing is compiled before layouts are known.
    pub fn new(kernel: &Kernel) -> Result<CudaKernel, KernelError> {
        let facts = verify(kernel)?;
        Ok(CudaKernel { kernel: kernel.clone(), facts, variants: Mutex::default() })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Checks that tensors fit the kernel's declarations, and makes launches on such tensors ready. What is not compiled
    /// for their layout yet is compiled first.
    pub fn prepare(
        &self,
        gpu: &Arc<Gpu>,
        compiler: &Compiler,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
    ) -> Result<PreparedLaunch, CudaError> {
        check(&self.kernel, inputs, outputs)?;
        let layout = Layout::of(inputs, outputs);
        let alignments = layout.alignments.iter().chain(&layout.outputs).map(|alignment| *alignment as u64).collect();
        let variant = if self.kernel.rows() == 0 { None } else { Some(self.variant(gpu, compiler, layout)?) };
        Ok(PreparedLaunch { variant, alignments })
    }

    fn variant(&self, gpu: &Arc<Gpu>, compiler: &Compiler, layout: Layout) -> Result<Arc<Variant>, CudaError> {
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(variant) = variants.get(&layout) {
            return Ok(variant.clone());
        }
        let source = emit(&self.kernel, &self.facts, &layout, gpu.properties());
        let blocks = i32::try_from(source.blocks).map_err(|_| CudaError::Grid { blocks: source.blocks })?;
        let function = gpu.load(&compiler.compile(&source.text)?, ENTRY)?;
        let (threads, form) = (source.threads, source.form);
        let variant = Arc::new(Variant { function, blocks: blocks.unsigned_abs(), threads, form });
        variants.insert(layout, variant.clone());
        Ok(variant)
    }
}

/// The text that a kernel is compiled from for inputs of these types, where all tensors lie as allocators place them. `None`
/// where there is nothing to compute.
///
/// # Errors
///
/// If it is no kernel, or takes other inputs.
pub fn source(
    kernel: &Kernel,
    inputs: &[TensorType],
    properties: DeviceProperties,
) -> Result<Option<String>, CudaError> {
    let facts = verify(kernel)?;
    // Nothing is read or written there: addresses say how tensors are aligned, and that none overlaps another.
    let mut places = (1..).map(|place| (place * ROOM) as *mut u8);
    let mut place = || places.next().unwrap_or(std::ptr::null_mut());
    let bound: Vec<BoundInput<'_>> = inputs
        .iter()
        .map(|TensorType { dtype, shape, strides }| {
            let pointer = place().cast_const();
            BoundInput { pointer, bytes: ROOM, dtype: *dtype, shape, strides }
        })
        .collect();
    let types = kernel.output_types();
    let outputs: Vec<BoundOutput> =
        types.iter().map(|ty| BoundOutput { pointer: place(), bytes: ty.bytes() as usize }).collect();
    check(kernel, &bound, &outputs)?;
    let text = || emit(kernel, &facts, &Layout::of(&bound, &outputs), &properties).text;
    Ok((kernel.rows() > 0).then(text))
}

/// Room for any tensor.
const ROOM: usize = 1 << 44;

/// A kernel ready for tensors of one layout, wherever they lie. It can go to another thread.
#[derive(Debug, Clone)]
pub struct PreparedLaunch {
    /// None where there is nothing to compute.
    variant: Option<Arc<Variant>>,
    /// That of each input, then of each output: the largest power of two up to 16 that divides its address.
    alignments: Box<[u64]>,
}

impl PreparedLaunch {
    /// Launches on the tensors at these addresses, inputs first. False, and nothing is launched, if they are aligned in
    /// another way than those that it was prepared for. Takes no lock and allocates nothing.
    ///
    /// # Safety
    /// The tensors have the types that it was prepared for, strides included, and lie in memory of the GPU. Outputs overlap
    /// nothing. Until the stream has run the launch, inputs can be read and are written to by nobody, and outputs can be
    /// written and are accessed by nobody else. No two launches prepared by one [`CudaKernel`] run at once: where blocks
    /// share rows, they do so through memory that belongs to the machine code.
    pub unsafe fn launch(&self, entered: &Entered<'_>, stream: Stream, addresses: &[u64]) -> Result<bool, DeviceError> {
        if !self.fits(addresses) {
            return Ok(false);
        }
        if let Some(variant) = &self.variant {
            // SAFETY: the text has one parameter for each input and output. When this was prepared, the kernel's
            // declarations were found to hold for tensors of these types, and the variant was emitted for their layout,
            // so that it stays inside; the rest is the caller's promise.
            unsafe { variant.function.launch(entered, stream, variant.blocks, variant.threads, addresses)? };
        }
        Ok(true)
    }

    /// Which threads compute what, one of [`FORMS`](super::FORMS); none where there is nothing to compute.
    pub fn form(&self) -> Option<&'static str> {
        self.variant.as_ref().map(|variant| variant.form)
    }

    /// The launch as a node of a graph, with packed arguments; none where there is nothing to compute.
    pub(super) fn parameters(&self, arguments: &mut [*mut c_void; 5]) -> Option<sys::CUDA_KERNEL_NODE_PARAMS> {
        self.variant.as_ref().map(|variant| variant.function.node(variant.blocks, variant.threads, arguments))
    }

    /// Whether both launch the same machine code.
    pub(super) fn is_same(&self, other: &PreparedLaunch) -> bool {
        match (&self.variant, &other.variant) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Whether tensors at these addresses are aligned as those that it was prepared for.
    pub fn fits(&self, addresses: &[u64]) -> bool {
        let alignment = |address: u64| 1u64 << (address.trailing_zeros().min(4));
        addresses.len() == self.alignments.len()
            && addresses.iter().zip(&self.alignments).all(|(address, known)| alignment(*address) == *known)
    }
}
