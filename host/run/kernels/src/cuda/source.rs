//! What kernels will be compiled from, before there are tensors or a GPU.

use super::emit::{body, candidates, emit_joined};
use super::kernel::{CudaError, layouts};
use super::print::lines;
use super::properties::DeviceProperties;
use super::split::RowSplit;
use crate::access::{BoundInput, BoundOutput, KernelLayout};
use passhost_ir::kernel::{Facts, verify};
use passhost_ir::{Kernel, TensorType};

/// The text that kernels are compiled from as one launch, given the types of each one's inputs, where all tensors lie as
/// allocators place them; with `all`, the texts of every schedule that a single one may have. None where there is nothing
/// to compute.
///
/// # Errors
///
/// If one is no kernel, or takes other inputs.
pub fn sources(
    kernels: &[(&Kernel, Vec<TensorType>)],
    properties: DeviceProperties,
    all: bool,
) -> Result<Vec<String>, CudaError> {
    let layouts = placed(kernels)?;
    let facts = kernels.iter().map(|(kernel, _)| verify(kernel)).collect::<Result<Vec<Facts>, _>>()?;
    let written = kernels.iter().zip(&facts).zip(&layouts);
    let written: Vec<(&Kernel, &Facts, &KernelLayout)> =
        written.map(|(((kernel, _), facts), layout)| (*kernel, facts, layout)).collect();
    Ok(match &written[..] {
        _ if kernels.iter().all(|(kernel, _)| kernel.rows() == 0) => vec![],
        [(kernel, facts, layout)] if all => {
            candidates(kernel, facts, layout, &properties).into_iter().map(|source| source.text).collect()
        }
        _ => vec![emit_joined(&written, &properties).text],
    })
}

/// The launch of a kernel, and what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks of the grid.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of its inputs and outputs.
    pub bytes: u64,
    /// Lines of its body.
    pub lines: usize,
    /// Threads that the GPU has room for at a time, of kernels with many registers.
    pub room: u64,
}

/// The shape of a kernel on inputs of these types that lie as allocators place them. `None` where there is nothing to
/// compute, where blocks share rows, which they do in a launch of their own, or where it takes other inputs.
pub fn shape(kernel: &Kernel, inputs: Vec<TensorType>, properties: DeviceProperties) -> Option<LaunchShape> {
    let of_inputs = inputs.iter().map(TensorType::bytes).fold(0, u64::saturating_add);
    let bytes = kernel.output_types().iter().map(TensorType::bytes).fold(of_inputs, u64::saturating_add);
    let facts = verify(kernel).ok()?;
    let layouts = placed(&[(kernel, inputs)]).ok()?;
    let layout = layouts.first().filter(|_| kernel.rows() > 0)?;
    let body = body((kernel, &facts, layout), &properties, true);
    if body.schedule.split != RowSplit::Whole {
        return None;
    }
    let (lines, room) = (lines(&body.function.body, 1).lines().count(), properties.busy_threads());
    Some(LaunchShape { blocks: body.schedule.blocks(), threads: body.schedule.threads(), bytes, lines, room })
}

/// The layouts of tensors of these types that lie as allocators place them.
fn placed(kernels: &[(&Kernel, Vec<TensorType>)]) -> Result<Vec<KernelLayout>, CudaError> {
    // Nothing is read or written there: addresses say how tensors are aligned, and that none overlaps another.
    let mut places = (1..).map(|place| (place * ROOM) as *mut u8);
    let mut place = || places.next().unwrap_or(std::ptr::null_mut());
    let inputs = kernels.iter().flat_map(|(_, types)| types);
    let inputs: Vec<BoundInput<'_>> = inputs
        .map(|TensorType { dtype, shape, strides }| {
            let pointer = place().cast_const();
            BoundInput { pointer, bytes: ROOM, dtype: *dtype, shape, strides }
        })
        .collect();
    let outputs = kernels.iter().flat_map(|(kernel, _)| kernel.output_types());
    let outputs: Vec<BoundOutput> =
        outputs.map(|ty| BoundOutput { pointer: place(), bytes: ty.bytes() as usize }).collect();
    let kernels: Vec<&Kernel> = kernels.iter().map(|(kernel, _)| *kernel).collect();
    layouts(&kernels, &inputs, &outputs)
}

/// Room for any tensor.
const ROOM: usize = 1 << 44;
