//! What the CUDA generator takes for granted, held against what kernels mean: for random kernels, layouts and devices
//! each claim is evaluated at every point. No GPU takes part.

mod check;
mod lanes;
mod meaning;

pub use check::check;
pub use meaning::Meaning;

use crate::random::Random;
use crate::storage::strides;
use crate::target::{Outcome, Target};
use passhost_ir::kernel::{Tensor, verify};
use passhost_ir::{Kernel, contiguous_strides};
use passhost_kernels::KernelLayout;
use passhost_kernels::cuda::{Claim, Claims as Claimed, DeviceProperties, candidates};
use passhost_random_kernels::RandomKernel;

/// Threads of a launch whose claims are evaluated; where there are more, so many are drawn.
const THREADS: u64 = 30_000;

/// The target.
pub struct Claims;

/// A kernel for tensors of a layout and a device.
pub struct Case {
    kernel: Kernel,
    /// Its inputs, where they matter: gathers and values that lanes share depend on them.
    tensors: Option<Vec<Tensor>>,
    layout: KernelLayout,
    device: DeviceProperties,
    /// Threads are drawn from it.
    random: Random,
}

impl Target for Claims {
    type Case = Case;

    fn make(&mut self, random: &mut Random) -> Case {
        let (kernel, tensors) = match random.below(100) {
            0..25 => {
                let seed = random.bits();
                let is_contraction = seed.is_multiple_of(3);
                let draw = if is_contraction { RandomKernel::contraction } else { RandomKernel::generate };
                let (kernel, tensors) = draw(seed);
                (kernel, Some(tensors))
            }
            25..30 => (RandomKernel::transposed(random.bits()).0, None),
            30..35 => (RandomKernel::concatenated(random.bits()).0, None),
            _ => (lanes::kernel(random), None),
        };
        let layout = layout(&kernel, random);
        let tensors = tensors.map(|tensors| tensors.iter().zip(&layout.strides).map(repeated).collect());
        // Few threads keep a small device busy, so that small kernels get as many lanes as large ones have on a GPU.
        let device = DeviceProperties {
            multiprocessors: *random.pick(&[1, 1, 1, 4, 132]),
            threads_per_multiprocessor: *random.pick(&[2, 2, 2, 16, 64, 2048]),
            shared_bytes_per_multiprocessor: *random.pick(&[16 << 10, 228 << 10]),
            cluster_blocks: *random.pick(&[1, 8]),
            warpgroup_shared_bytes: *random.pick(&[0, 227 << 10]),
        };
        Case { kernel, tensors, layout, device, random: random.clone() }
    }

    fn run(&mut self, case: &Case) -> Outcome {
        let facts = verify(&case.kernel).map_err(|error| format!("no kernel was drawn: {error}"))?;
        if case.kernel.rows() == 0 {
            return Ok("empty".into());
        }
        let candidates = candidates(&case.kernel, &facts, &case.layout, &case.device);
        let source = case.random.clone().pick(&candidates).clone();
        let meaning = Meaning::new(&case.kernel, &facts, &case.layout, &source.claims, case.tensors.as_deref());
        for claims in &source.claims {
            check(&meaning, claims, THREADS, &mut case.random.clone())?;
        }
        Ok(if source.claims.len() > 1 { source.form.into() } else { kind(&source.claims[0]) })
    }

    fn written(&self, case: &Case) -> Vec<u8> {
        format!("{}\n{:?}\n{:?}\n", case.kernel, case.layout, case.device).into_bytes()
    }
}

/// Cases are counted by what is claimed of lanes: a run in which nothing is claimed shows nothing.
fn kind(claims: &Claimed) -> String {
    let any = |wanted: fn(&Claim) -> bool| claims.list.iter().any(wanted);
    let mut kinds = vec![];
    if any(|claim| matches!(claim, Claim::Neighbours(_))) {
        kinds.push("neighbours");
    }
    if any(|claim| matches!(claim, Claim::OneElement(_))) {
        kinds.push("one element");
    }
    if any(|claim| matches!(claim, Claim::OneValue(_))) {
        kinds.push("one value");
    }
    if kinds.is_empty() {
        return if claims.lanes == 1 { "one lane".into() } else { "lanes apart".into() };
    }
    format!("lanes: {}", kinds.join(", "))
}

/// Strides of any kind, and alignments that are mostly those of an allocator.
fn layout(kernel: &Kernel, random: &mut Random) -> KernelLayout {
    let alignment = |size: u64, random: &mut Random| {
        if random.chance(85) { 16 } else { (*random.pick(&[1usize, 2, 4, 8])).max(size as usize) }
    };
    KernelLayout {
        strides: kernel.inputs.iter().map(|input| with_repeats(strides(&input.shape, random), random)).collect(),
        alignments: kernel.inputs.iter().map(|input| alignment(input.dtype.size(), random)).collect(),
        outputs: kernel.output_types().iter().map(|ty| alignment(ty.dtype.size(), random)).collect(),
    }
}

/// A tensor as it is where strides of 0 repeat its first elements.
fn repeated((tensor, strides): (&Tensor, &Vec<i64>)) -> Tensor {
    let dense = contiguous_strides(&tensor.shape);
    Tensor::from_fn(tensor.dtype, tensor.shape.clone(), |position| {
        let at = |dim: usize| position as i64 / dense[dim] % tensor.shape[dim] * dense[dim];
        let source: i64 = (0..dense.len()).filter(|dim| strides[*dim] != 0).map(at).sum();
        tensor.get(source as usize)
    })
}

/// Now and then one dimension repeats a single element.
fn with_repeats(mut strides: Vec<i64>, random: &mut Random) -> Vec<i64> {
    if !strides.is_empty() && random.chance(10) {
        let dim = random.below(strides.len());
        strides[dim] = 0;
    }
    strides
}
