//! A kernel with its machine code, one variant for each layout that it met.

use super::device::{DeviceError, Function, Gpu, Stream};
use super::emit::{ENTRY, emit};
use super::nvrtc::{Compiler, NvrtcError};
use crate::access::{BindError, BoundInput, BoundOutput, Layout, check};
use passhost_ir::Kernel;
use passhost_ir::kernel::{Facts, KernelError, verify};
use std::collections::HashMap;
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
}

/// A kernel for a GPU.
#[derive(Debug)]
pub struct CudaKernel {
    kernel: Kernel,
    facts: Facts,
    variants: Mutex<HashMap<Layout, Arc<Variant>>>,
    /// The one that ran last.
    last: Mutex<Option<(Layout, Arc<Variant>)>>,
}

impl CudaKernel {
    /// Verifies a kernel. Nothing is compiled before layouts are known.
    pub fn new(kernel: &Kernel) -> Result<CudaKernel, KernelError> {
        let facts = verify(kernel)?;
        Ok(CudaKernel { kernel: kernel.clone(), facts, variants: Mutex::default(), last: Mutex::default() })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Checks that tensors fit the kernel's declarations and launches it. What is not compiled for their layout yet is
    /// compiled first.
    ///
    /// # Safety
    /// Pointers are addresses of `gpu`'s memory. Until the stream has run the launch, each input's storage can be read
    /// and is written to by nobody, and each output's can be written and is accessed by nobody else.
    pub unsafe fn launch(
        &self,
        gpu: &Gpu,
        compiler: &Compiler,
        stream: Stream,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
    ) -> Result<(), CudaError> {
        check(&self.kernel, inputs, outputs)?;
        if self.kernel.rows() == 0 {
            return Ok(());
        }
        let variant = self.variant(gpu, compiler, Layout::of(inputs, outputs))?;
        let addresses: Vec<u64> = inputs
            .iter()
            .map(|input| input.pointer as u64)
            .chain(outputs.iter().map(|output| output.pointer as u64))
            .collect();
        // SAFETY: the text has one parameter for each input and output. `check` found that the kernel's declarations
        // hold for them, and the variant was emitted for their layout, so it stays inside; the rest is the caller's
        // promise.
        unsafe { variant.function.launch(stream, variant.blocks, variant.threads, &addresses)? };
        Ok(())
    }

    fn variant(&self, gpu: &Gpu, compiler: &Compiler, layout: Layout) -> Result<Arc<Variant>, CudaError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, variant)) = &*last
            && *known == layout
        {
            return Ok(variant.clone());
        }
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        let variant = match variants.get(&layout) {
            Some(variant) => variant.clone(),
            None => {
                let source = emit(&self.kernel, &self.facts, &layout, gpu.properties());
                let blocks = i32::try_from(source.blocks).map_err(|_| CudaError::Grid { blocks: source.blocks })?;
                let function = gpu.load(&compiler.compile(&source.text)?, ENTRY)?;
                let variant = Arc::new(Variant { function, blocks: blocks.unsigned_abs(), threads: source.threads });
                variants.insert(layout.clone(), variant.clone());
                variant
            }
        };
        *last = Some((layout, variant.clone()));
        Ok(variant)
    }
}
