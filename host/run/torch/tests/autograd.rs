//! A graph with a kernel, run twice on each device in a process that has tensors of its own and autograd on. Where there is
//! a GPU, two streams of it are used as well.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_ir::{Dtype, Graph, TensorType};
use passhost_runtime::{Compiler, Gpu, Hints, Mode};
use passhost_torch::{Context, Program, Target, Tensor};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

const GRAPH: &str = "graph(%x: f32[4]) {
  %y: f32[4] = kernel(%x) {
    space p0=4 in x0: f32[4] i0 = p0
    v0: f32 = load x0[i0] pad 0.0 v1: f32 = mul v0, v0 out v1 over [p0] as [4]
  }
  %z: f32[4] = aten::neg(%y)
  return (%z)
}";

#[test]
fn a_graph_runs_twice_in_a_process_with_autograd_on() {
    let graph = Graph::parse(GRAPH).unwrap();
    for context in contexts().unwrap() {
        let program = Program::compile(&graph, Mode::Declared, &Hints::default(), &context).unwrap();
        for value in [2.0, 3.0] {
            let device = context.engine().gpu_index().map_or(tch::Device::Cpu, |gpu| tch::Device::Cuda(gpu as usize));
            let weight = tch::Tensor::full([4], value, (tch::Kind::Float, device)).set_requires_grad(true);
            let detached = weight.detach();
            if let tch::Device::Cuda(gpu) = device {
                tch::Cuda::synchronize(gpu as i64);
            }
            let ty = TensorType::contiguous(Dtype::F32, [4]);
            let data = detached.data_ptr().cast();
            // SAFETY: the tensor has this type, is written to by nobody, and lives until the closure is dropped.
            let x = unsafe { Tensor::from_foreign(context.engine(), data, &ty, move || drop(detached)) }.unwrap();
            let outputs = program.run(&[x]).unwrap();
            assert_eq!(outputs[0].to_bytes(), [-(value as f32) * value as f32; 4].map(f32::to_le_bytes).concat());
            (&weight * &weight).sum(tch::Kind::Float).backward();
            assert_eq!(weight.grad().double_value(&[0]), 2.0 * value);
        }
    }
}

/// The CPU, and two streams of the first GPU if there is one.
fn contexts() -> Result<Vec<Arc<Context>>, Box<dyn Error>> {
    let mut contexts = vec![Arc::new(Context::cpu(Target::cpu()))];
    if Path::new("/dev/nvidiactl").exists() {
        let gpu = Gpu::open(0)?;
        let nvrtc = Path::new(&std::env::var("LIBTORCH").unwrap_or_default()).join("../nvidia/cu13/lib");
        let compiler = Arc::new(Compiler::new(gpu.capability()?, &[nvrtc])?);
        for _ in 0..2 {
            contexts.push(Arc::new(Context::gpu(&gpu, &compiler, Target::gpu)?));
        }
    }
    Ok(contexts)
}
