//! A kernel with its machine code, one variant for each layout that it met.

use super::compiler::Compiler;
use super::device::{DriverError, Entered, FunctionStart, Gpu, GpuFunction, LaunchShape, Stream};
use super::emit::{KernelSource, candidates, emit_as, emit_joined};
use super::nvrtc::NvrtcError;
use crate::access::{BindError, BoundInput, BoundOutput, KernelLayout, check, check_apart};
use cudarc::driver::sys;
use passhost_ir::Kernel;
use passhost_ir::kernel::{Facts, KernelError, verify};
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
    Device(#[from] DriverError),
    /// More blocks than a grid has.
    #[error("the kernel needs {blocks} blocks, a grid has at most {}; split the tensor", i32::MAX)]
    Grid {
        /// Blocks needed.
        blocks: u64,
    },
}

/// Machine code for one layout of each kernel.
#[derive(Debug)]
struct LayoutVariant {
    function: GpuFunction,
    shape: LaunchShape,
    form: &'static str,
}

impl LayoutVariant {
    fn load(gpu: &Arc<Gpu>, compiler: &Compiler, source: &KernelSource) -> Result<LayoutVariant, CudaError> {
        let KernelSource { blocks, threads, shared_bytes, form, .. } = *source;
        let blocks = i32::try_from(blocks).map_err(|_| CudaError::Grid { blocks })?.unsigned_abs();
        let function = gpu.load(&compiler.compile(&source.text)?, &source.name, FunctionStart::Waits)?;
        if shared_bytes > 0 {
            function.may_have(&gpu.enter()?, shared_bytes)?;
        }
        Ok(LayoutVariant { function, shape: LaunchShape { blocks, threads, shared_bytes }, form })
    }
}

/// A kernel for a GPU, or several as one launch, in which they run in no order.
#[derive(Debug)]
pub struct CudaKernel {
    /// The kernels of the launch.
    parts: Vec<(Kernel, Facts)>,
    /// What its schedule is called, where that is not to be the default.
    schedule: Option<String>,
    variants: Mutex<HashMap<Vec<KernelLayout>, Arc<LayoutVariant>>>,
}

/// The texts that a kernel may be compiled from for tensors of one layout, the default first.
#[derive(Debug, Clone)]
pub struct Candidates {
    pub(super) sources: Vec<KernelSource>,
    pub(super) alignments: Box<[u64]>,
}

impl Candidates {
    /// The texts, and what the schedule of each is called.
    pub fn sources(&self) -> &[KernelSource] {
        &self.sources
    }
}

impl CudaKernel {
    /// Verifies a kernel. Nothing is compiled before layouts are known.
    pub fn new(kernel: &Kernel) -> Result<CudaKernel, KernelError> {
        CudaKernel::joined(&[kernel])
    }

    /// Verifies kernels that become one launch. Its tensors are the inputs of all of them, then all outputs.
    pub fn joined(kernels: &[&Kernel]) -> Result<CudaKernel, KernelError> {
        let part = |kernel: &&Kernel| Ok(((*kernel).clone(), verify(kernel)?));
        let parts = kernels.iter().map(part).collect::<Result<_, KernelError>>()?;
        Ok(CudaKernel { parts, schedule: None, variants: Mutex::default() })
    }

    /// The same in the schedule of this name, where it is among the [`candidates`] for the tensors; in the default
    /// elsewhere, and where several kernels are one launch.
    #[must_use]
    pub fn scheduled(self, schedule: String) -> CudaKernel {
        CudaKernel { schedule: Some(schedule), variants: Mutex::default(), ..self }
    }

    /// Checks that tensors fit the kernels' declarations, and that no kernel writes what another one uses, and makes
    /// launches on such tensors ready. What is not compiled for their layouts yet is compiled first.
    pub fn prepare(
        &self,
        gpu: &Arc<Gpu>,
        compiler: &Compiler,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
    ) -> Result<PreparedLaunch, CudaError> {
        let kernels: Vec<&Kernel> = self.parts.iter().map(|(kernel, _)| kernel).collect();
        let layouts = layouts(&kernels, inputs, outputs)?;
        let alignments = alignments(&layouts);
        let is_empty = kernels.iter().all(|kernel| kernel.rows() == 0);
        let variant = if is_empty { None } else { Some(self.variant(gpu, compiler, layouts)?) };
        Ok(PreparedLaunch { variant, alignments })
    }

    /// The schedules to choose from on such tensors, which are checked as [`CudaKernel::prepare`] does. `None` where there
    /// is no choice: of several kernels as one launch, where there is nothing to compute, and where there is but one.
    pub fn candidates(
        &self,
        gpu: &Gpu,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
    ) -> Result<Option<Candidates>, CudaError> {
        let [(kernel, facts)] = &self.parts[..] else { return Ok(None) };
        let layouts = layouts(&[kernel], inputs, outputs)?;
        let sources = match &layouts[..] {
            [layout] if kernel.rows() > 0 => candidates(kernel, facts, layout, gpu.properties()),
            _ => vec![],
        };
        let found = Candidates { sources, alignments: alignments(&layouts) };
        Ok(Some(found).filter(|found| found.sources.len() > 1))
    }

    fn variant(
        &self,
        gpu: &Arc<Gpu>,
        compiler: &Compiler,
        layouts: Vec<KernelLayout>,
    ) -> Result<Arc<LayoutVariant>, CudaError> {
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(variant) = variants.get(&layouts) {
            return Ok(variant.clone());
        }
        let source = self.chosen(gpu, &layouts).unwrap_or_else(|| {
            let kernels = self.parts.iter().zip(&layouts);
            let kernels: Vec<_> = kernels.map(|((kernel, facts), layout)| (kernel, facts, layout)).collect();
            emit_joined(&kernels, gpu.properties())
        });
        let variant = Arc::new(LayoutVariant::load(gpu, compiler, &source)?);
        variants.insert(layouts, variant.clone());
        Ok(variant)
    }

    /// The text of the schedule that was chosen, if it was and is there.
    fn chosen(&self, gpu: &Gpu, layouts: &[KernelLayout]) -> Option<KernelSource> {
        let ([(kernel, facts)], [layout]) = (&self.parts[..], layouts) else { return None };
        emit_as((kernel, facts), layout, gpu.properties(), self.schedule.as_ref()?)
    }
}

/// Alignments of all inputs, then of all outputs.
fn alignments(layouts: &[KernelLayout]) -> Box<[u64]> {
    let of = |alignments: fn(&KernelLayout) -> &[usize]| layouts.iter().flat_map(alignments);
    let all = of(|layout| &layout.alignments).chain(of(|layout| &layout.outputs));
    all.map(|alignment| *alignment as u64).collect()
}

/// The layout of each kernel's tensors, which are held against its declarations, and the outputs of each against the
/// tensors of all.
pub(super) fn layouts(
    kernels: &[&Kernel],
    inputs: &[BoundInput<'_>],
    outputs: &[BoundOutput],
) -> Result<Vec<KernelLayout>, CudaError> {
    let (mut rest, mut rest_of_outputs) = (inputs, outputs);
    let mut layouts = Vec::with_capacity(kernels.len());
    for (number, kernel) in kernels.iter().enumerate() {
        // The last one is held against all that is left, so that what is too much is an error.
        let last = number + 1 == kernels.len();
        let count = |wanted: usize, left: usize| if last { left } else { wanted.min(left) };
        let (own, others) = rest.split_at(count(kernel.inputs.len(), rest.len()));
        let (own_outputs, other_outputs) = rest_of_outputs.split_at(count(kernel.stores.len(), rest_of_outputs.len()));
        check(kernel, own, own_outputs)?;
        layouts.push(KernelLayout::of(own, own_outputs));
        (rest, rest_of_outputs) = (others, other_outputs);
    }
    if kernels.len() > 1 {
        check_apart(inputs, outputs)?;
    }
    Ok(layouts)
}

/// A kernel ready for tensors of one layout, wherever they lie. It can go to another thread.
#[derive(Debug, Clone)]
pub struct PreparedLaunch {
    /// None where there is nothing to compute.
    variant: Option<Arc<LayoutVariant>>,
    /// That of each input, then of each output: the largest power of two up to 16 that divides its address.
    alignments: Box<[u64]>,
}

impl PreparedLaunch {
    /// A launch of one of a kernel's candidates, on tensors that are aligned so.
    pub(super) fn of(
        gpu: &Arc<Gpu>,
        compiler: &Compiler,
        source: &KernelSource,
        alignments: Box<[u64]>,
    ) -> Result<PreparedLaunch, CudaError> {
        let variant = LayoutVariant::load(gpu, compiler, source)?;
        Ok(PreparedLaunch { variant: Some(Arc::new(variant)), alignments })
    }

    /// Launches on the tensors at these addresses, all inputs first. False, and nothing is launched, if they are aligned in
    /// another way than those that it was prepared for. Takes no lock and allocates nothing.
    ///
    /// # Safety
    /// The tensors have the types that it was prepared for, strides included, and lie in memory of the GPU. Outputs overlap
    /// nothing. Until the stream has run the launch, inputs can be read and are written to by nobody, and outputs can be
    /// written and are accessed by nobody else. All launches prepared by one [`CudaKernel`] are made on one stream: where
    /// blocks share rows, they do so through memory that belongs to the machine code.
    pub unsafe fn launch(&self, entered: &Entered<'_>, stream: Stream, addresses: &[u64]) -> Result<bool, DriverError> {
        if !self.fits(addresses) {
            return Ok(false);
        }
        if let Some(variant) = &self.variant {
            // SAFETY: the text has one parameter for each input and output. When this was prepared, the kernels'
            // declarations were found to hold for tensors of these types, and the variant was emitted for their layouts,
            // so that it stays inside; the rest is the caller's promise.
            unsafe { variant.function.launch(entered, stream, variant.shape, addresses)? };
        }
        Ok(true)
    }

    /// Which threads compute what, one of [`FORMS`](super::FORMS); none where there is nothing to compute.
    pub fn form(&self) -> Option<&'static str> {
        self.variant.as_ref().map(|variant| variant.form)
    }

    /// The launch as a node of a graph, with packed arguments; none where there is nothing to compute.
    pub(super) fn parameters(&self, arguments: &mut [*mut c_void; 5]) -> Option<sys::CUDA_KERNEL_NODE_PARAMS> {
        self.variant.as_ref().map(|variant| variant.function.node(variant.shape, arguments))
    }

    /// Whether it may begin while the launch before it still runs.
    pub(super) fn begins_early(&self) -> bool {
        self.variant.as_ref().is_some_and(|variant| variant.function.begins_early())
    }

    /// Whether tensors at these addresses are aligned as those that it was prepared for.
    fn fits(&self, addresses: &[u64]) -> bool {
        let alignment = |address: u64| 1u64 << (address.trailing_zeros().min(4));
        addresses.len() == self.alignments.len()
            && addresses.iter().zip(&self.alignments).all(|(address, known)| alignment(*address) == *known)
    }
}
