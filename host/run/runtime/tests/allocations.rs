//! What a launch and a run allocate, counted on this thread by the allocator of the program.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../../tests/gpu/src/counting.rs"]
mod counting;

use counting::allocations;
use passhost_ir::{Dtype, Graph, NodeKind, TensorType};
use passhost_runtime::{Context, DeviceKernel, EngineTensor, Hints, Mode, Plain, PlainTensor, Program};
use std::sync::Arc;

/// Three kernels, of which one gathers and one reduces.
const GRAPH: &str = "graph(%x: f32[64,32], %i: i64[64]) {
  %a: f32[64,32] = kernel(%x) {
    space p0=64, p1=32 in x0: f32[64,32] i0 = p0 i1 = p1
    v0: f32 = load x0[i0, i1] pad 0.0 v1: f32 = add v0, v0 out v1 over [p0, p1] as [64,32]
  }
  %b: f32[64,32] = kernel(%a, %i) {
    space p0=64, p1=32 in x0: f32[64,32] in x1: i64[64] i0 = p0 i1 = p1
    v0: i64 = load x1[i0] pad 0 i2 = v0
    v1: f32 = load x0[i2, i1] pad 0.0 out v1 over [p0, p1] as [64,32]
  }
  %c: f32[64] = kernel(%b) {
    space p0=64; reduce r0=32 in x0: f32[64,32] i0 = p0 i1 = r0
    v0: f32 = load x0[i0, i1] pad 0.0 v1: f32 = reduce sum v0 out v1 over [p0] as [64]
  }
  return (%c)
}";

fn inputs() -> Vec<PlainTensor> {
    let x = TensorType::contiguous(Dtype::F32, [64, 32]);
    let i = TensorType::contiguous(Dtype::I64, [64]);
    let numbers: Vec<u8> = (0..64i64).rev().flat_map(i64::to_le_bytes).collect();
    let floats: Vec<u8> = (0..64 * 32).flat_map(|at| (at as f32).to_le_bytes()).collect();
    vec![PlainTensor::from_bytes(&x, &floats).unwrap(), PlainTensor::from_bytes(&i, &numbers).unwrap()]
}

#[test]
fn a_run_allocates_its_outputs_and_the_list_of_them_and_nothing_else() {
    let context = Arc::new(Context::cpu(Plain(1)));
    let program = Program::compile(&Graph::parse(GRAPH).unwrap(), Mode::Declared, &Hints::default(), &context).unwrap();
    let inputs = inputs();
    let first = program.run(&inputs).unwrap();
    let output = allocations(|| first[0].copy().unwrap()).1;
    for _ in 0..3 {
        let mut outputs = vec![];
        assert_eq!(allocations(|| outputs = program.run(&inputs).unwrap()).1, 1 + output);
        assert_eq!(outputs[0].to_bytes(), first[0].to_bytes());
    }
    // Row 63 of `%x`, doubled and summed.
    let sum: f32 = (63 * 32..64 * 32).map(|at| 2.0 * at as f32).sum();
    assert_eq!(first[0].to_bytes()[..4], sum.to_le_bytes());
}

#[test]
fn a_launch_with_its_outputs_given_allocates_nothing() {
    let context = Context::cpu(Plain(1));
    let graph = Graph::parse(GRAPH).unwrap();
    let inputs = inputs();
    for (node, inputs) in [(0, vec![&inputs[0]]), (1, vec![&inputs[0], &inputs[1]]), (2, vec![&inputs[0]])] {
        let NodeKind::Kernel { kernel, .. } = &graph.nodes[node].kind else { unreachable!("all nodes are kernels") };
        let mut kernel = DeviceKernel::new(&context, kernel).unwrap();
        let ty = &kernel.output_types()[0];
        let output = PlainTensor::from_bytes(ty, &vec![0; ty.bytes() as usize]).unwrap();
        // SAFETY: the output is of the kernel's type and of its own memory, and nobody else uses the tensors.
        let mut launch = || unsafe { kernel.run(&context, &inputs, &[&output]) }.unwrap();
        launch();
        assert_eq!(allocations(&mut launch).1, 0, "node {node}");
        assert_eq!(kernel.preparations(), 1);
    }
}
