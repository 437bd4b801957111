//! Launches that may begin before the one before them has ended: each finds all that was written before, and writes over
//! nothing that is still read.

use super::{compiled, on_stream};
use anyhow::{Result, ensure};
use passhost_ir::{Dtype, Graph, TensorType};
use passhost_runtime::{Compiler, Gpu};
use passhost_torch::Tensor;
use std::sync::Arc;

/// Kernels behind each other.
const KERNELS: i64 = 200;
const ROUNDS: usize = 10;
/// Elements: of one block, of a launch that leaves room for the next, of one that fills the GPU, of several times as many.
const LENGTHS: [i64; 4] = [1000, 60_000, 300_000, 1_500_001];
/// How far from its own place a point reads: what another block wrote, mostly on another multiprocessor.
const DISTANCE: i64 = 48_611;

/// Each kernel adds 1 to what the one before wrote at another place. Temporaries lie where those of two kernels before lay.
fn chain(length: i64) -> Result<Graph> {
    let kernel = |number: i64| {
        let (from, to) = (number, number + 1);
        format!(
            "%v{to}: i32[{length}] = kernel(%v{from}) {{ space p0={length} in x0: i32[{length}] i0 = p0 \
             i1 = {} i2 = i0 + i1 i3 = i2 % {length} v0: i32 = load x0[i3] clamp v1: i32 = const 1 \
             v2: i32 = add v0, v1 out v2 over [p0] as [{length}] }}\n",
            DISTANCE % length
        )
    };
    let kernels: String = (0..KERNELS).map(kernel).collect();
    Ok(Graph::parse(&format!("graph(%v0: i32[{length}]) {{\n{kernels}return (%v{KERNELS})\n}}"))?)
}

/// Runs and recordings of chains give what they should, each time.
pub(super) fn chains(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    for length in LENGTHS {
        let program = compiled(&chain(length)?, &context)?;
        let bytes = |value: &dyn Fn(i64) -> i64| -> Vec<u8> {
            (0..length).flat_map(|at| (value(at) as i32).to_le_bytes()).collect()
        };
        let ty = TensorType::contiguous(Dtype::I32, [length]);
        let x = [Tensor::from_bytes(context.engine(), &ty, &bytes(&|at| at))?];
        let expected = bytes(&|at| (at + KERNELS * DISTANCE) % length + KERNELS);
        let recorded = program.record(&x)?;
        for round in 0..ROUNDS {
            recorded.launch()?;
            let found = [program.run(&x)?[0].to_bytes(), recorded.outputs()[0].to_bytes()];
            for (way, found) in ["run", "recording"].iter().zip(&found) {
                ensure!(*found == expected, "{way} {round} of {KERNELS} kernels on {length} elements is wrong");
            }
        }
    }
    Ok(format!("{ROUNDS} rounds of {KERNELS} kernels on up to {} elements", LENGTHS[LENGTHS.len() - 1]))
}
