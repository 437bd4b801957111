//! Random groups of random kernels as one launch, against the same kernels one after the other.

use crate::memory::Arena;
use crate::random::{Stored, bound, sizes};
use anyhow::{Result, ensure};
use passhost_ir::Kernel;
use passhost_kernels::cuda::{Compiler, CudaKernel, Gpu, Stream};
use passhost_kernels::{BoundInput, BoundOutput};
use passhost_random_kernels::RandomKernel;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that the tensors of one group may take.
const ROOM: usize = 64 << 20;

/// Points of the smallest kernel whose rows blocks share.
const FEWEST_SHARED: i64 = 32768;

/// A kernel with its inputs.
struct Member {
    kernel: Kernel,
    inputs: Vec<Stored>,
}

/// Runs the groups of these seeds, each of 2 to 8 kernels; returns how many kernels there were.
pub(crate) fn run(gpu: &Arc<Gpu>, compiler: &Compiler, seeds: Range<u64>) -> Result<usize> {
    let _entered = gpu.enter()?;
    let mut arena = Arena::new(ROOM)?;
    let mut kernels = 0;
    for seed in seeds {
        let group = group(seed);
        kernels += group.len();
        let together = launched(gpu, compiler, &mut arena, &group.iter().collect::<Vec<_>>())?;
        let mut apart = vec![];
        for member in &group {
            apart.extend(launched(gpu, compiler, &mut arena, &[member])?);
        }
        let different = together.iter().zip(&apart).position(|(together, apart)| together != apart);
        ensure!(together.len() == apart.len() && different.is_none(), "group {seed}: output {different:?} differs");
    }
    Ok(kernels)
}

fn group(seed: u64) -> Vec<Member> {
    let mut members = vec![];
    // Every group has kernels of its own, some of them twice.
    for number in 0..2 + seed % 7 {
        let of = seed * 8 + if number % 3 == 2 { number - 1 } else { number };
        let (kernel, tensors) = RandomKernel::generate(of);
        // By itself it may be shared by blocks, which add up in another order.
        let points: i64 = kernel.parallel.iter().chain(&kernel.reduce).product();
        if points >= FEWEST_SHARED && !kernel.reduce.is_empty() {
            continue;
        }
        let inputs = tensors.iter().map(|tensor| Stored::of(tensor, of)).collect();
        members.push(Member { kernel, inputs });
    }
    members
}

/// The outputs of kernels as one launch, over memory that held poison.
fn launched(gpu: &Arc<Gpu>, compiler: &Compiler, arena: &mut Arena, group: &[&Member]) -> Result<Vec<Vec<u8>>> {
    arena.clear();
    let (mut places, mut outputs) = (vec![], vec![]);
    for member in group {
        places.push(member.inputs.iter().map(|input| arena.place(&input.bytes, input.alignment)).collect::<Vec<_>>());
        outputs.extend(sizes(&member.kernel).into_iter().map(|size| (arena.reserve(size), size)));
    }
    arena.upload()?;
    let mut inputs: Vec<BoundInput<'_>> = vec![];
    for (member, places) in group.iter().zip(&places) {
        inputs.extend(bound(&member.kernel, &member.inputs, |input| arena.address(places[input])));
    }
    let bound_outputs: Vec<BoundOutput> = outputs
        .iter()
        .map(|(start, bytes)| BoundOutput { pointer: arena.address(*start) as *mut u8, bytes: *bytes })
        .collect();
    let kernels: Vec<&Kernel> = group.iter().map(|member| &member.kernel).collect();
    let launch = CudaKernel::joined(&kernels)?.prepare(gpu, compiler, &inputs, &bound_outputs)?;
    let addresses = inputs.iter().map(|input| input.pointer as u64);
    let addresses: Vec<u64> = addresses.chain(bound_outputs.iter().map(|output| output.pointer as u64)).collect();
    // SAFETY: the arena holds all tensors, apart from each other, and nobody else uses it before it is downloaded.
    ensure!(unsafe { launch.launch(&gpu.enter()?, Stream(0), &addresses)? }, "a prepared launch refuses its tensors");
    arena.download(&outputs)
}
