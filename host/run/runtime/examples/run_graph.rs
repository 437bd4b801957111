//! Runs a graph of kernels in this very process, twice, with no library beside: on the plain engine, which has memory of the
//! host and threads. `passhost_torch::Target` in its place brings ops and GPUs.

use passhost_ir::{Dtype, Graph, TensorType};
use passhost_runtime::{Context, Hints, Mode, Plain, PlainTensor, Program};
use std::error::Error;
use std::sync::Arc;

/// Rows that are squared, and the sum of each.
const GRAPH: &str = "graph(%x: f32[2,3]) {
  %y: f32[2,3] = kernel(%x) {
    space p0=2, p1=3 in x0: f32[2,3] i0 = p0 i1 = p1
    v0: f32 = load x0[i0, i1] pad 0.0 v1: f32 = mul v0, v0 out v1 over [p0, p1] as [2,3]
  }
  %z: f32[2] = kernel(%y) {
    space p0=2; reduce r0=3 in x0: f32[2,3] i0 = p0 i1 = r0
    v0: f32 = load x0[i0, i1] pad 0.0 v1: f32 = reduce sum v0 out v1 over [p0] as [2]
  }
  return (%z)
}";

/// Runs it on two threads at most.
pub fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::parse(GRAPH)?;
    let context = Arc::new(Context::cpu(Plain(2)));
    let program = Program::compile(&graph, Mode::Declared, &Hints::default(), &context)?;
    for (x, sums) in
        [([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [14.0f32, 77.0]), ([0.0, 0.0, 2.0, 1.0, 1.0, 1.0], [4.0, 3.0])]
    {
        let input =
            PlainTensor::from_bytes(&TensorType::contiguous(Dtype::F32, [2, 3]), &x.map(f32::to_le_bytes).concat())?;
        let outputs = program.run(&[input])?;
        assert_eq!(outputs[0].to_bytes(), sums.map(f32::to_le_bytes).concat());
        println!("squares of {x:?}: {sums:?} a row");
    }
    Ok(())
}
