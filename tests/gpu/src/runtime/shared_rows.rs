//! Kernels whose blocks share rows: what blocks tell each other in one launch is forgotten before the next, and a graph
//! launches them as a stream does.

use super::{compiled, on_stream};
use anyhow::{Result, ensure};
use passhost_ir::{Dtype, Graph, TensorType};
use passhost_runtime::{Compiler, Gpu};
use passhost_torch::Tensor;
use std::sync::Arc;

const ROUNDS: usize = 100;
const ELEMENTS: i64 = 1 << 20;

/// The sum of all elements, by many blocks, each of 16 rows less its largest element, by a cluster each, and the sums and
/// the largest of these so far, by many blocks that wait for each other.
const GRAPH: &str = "graph(%x: f32[16,65536]) {
  %sum: f32[1] = kernel(%x) {
    space p0=1; reduce r0=16, r1=65536
    in x0: f32[16,65536]
    i0 = r0
    i1 = r1
    v0: f32 = load x0[i0, i1] clamp
    v1: f32 = reduce sum v0
    out v1 over [p0] as [1]
  }
  %less: f32[16,65536] = kernel(%x) {
    space p0=16; reduce r0=65536
    in x0: f32[16,65536]
    i0 = p0
    i1 = r0
    v0: f32 = load x0[i0, i1] clamp
    v1: f32 = reduce max v0
    v2: f32 = sub v0, v1
    out v2 over [p0, r0] as [16,65536]
  }
  %sums: f32[16,65536], %last: f32[16,65536] = kernel(%x) {
    space p0=16; reduce r0=65536
    in x0: f32[16,65536]
    i0 = p0
    i1 = r0
    v0: f32 = load x0[i0, i1] clamp
    v1: f32 = scan cumsum v0
    v2: f32 = scan cummax v1
    out v1 over [p0, r0] as [16,65536]
    out v2 over [p0, r0] as [16,65536]
  }
  return (%sum, %less, %sums, %last)
}";

fn bytes(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(f32::to_le_bytes).collect()
}

/// Runs and replays give what they should, each time.
pub(super) fn again(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let graph = Graph::parse(GRAPH)?;
    let program = compiled(&graph, &context)?;
    let ty = TensorType::contiguous(Dtype::F32, [16, ELEMENTS / 16]);
    let digits = || (0..ELEMENTS).map(|at| (at % 5) as f32);
    let x = [Tensor::from_bytes(context.engine(), &ty, &bytes(digits()))?];
    let row = (ELEMENTS / 16) as usize;
    let all: Vec<f32> = digits().collect();
    let sums = || {
        all.chunks(row).flat_map(|row| {
            row.iter().scan(0.0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
        })
    };
    let expected = [
        bytes(std::iter::once(digits().map(f64::from).sum::<f64>() as f32)),
        bytes(digits().map(|x| x - 4.0)),
        bytes(sums()),
        bytes(sums()),
    ];
    let recorded = program.record(&x)?;
    for round in 0..ROUNDS {
        let run: Vec<Vec<u8>> = program.run(&x)?.iter().map(Tensor::to_bytes).collect();
        recorded.launch()?;
        let replay: Vec<Vec<u8>> = recorded.outputs().iter().map(Tensor::to_bytes).collect();
        ensure!(run == expected, "run {round} is wrong");
        ensure!(replay == expected, "replay {round} is wrong");
    }
    Ok(format!("{ROUNDS} runs and replays"))
}
