//! Runs a graph with a kernel in this very process, twice on each device, on tensors that it made itself. Autograd is on
//! before and after. Where there is a GPU, two streams of it are used as well.

use passhost_ir::{Dtype, Graph, TensorType};
use passhost_runtime::{Compiler, Context, Gpu, Hints, Mode, Program, Tensor};
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

/// Runs it on every device.
pub fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::parse(GRAPH)?;
    for context in contexts()? {
        let program = Program::compile(&graph, Mode::Declared, &Hints::default(), &context)?;
        for value in [2.0, 3.0] {
            let device = context.target().gpu_index().map_or(tch::Device::Cpu, |gpu| tch::Device::Cuda(gpu as usize));
            let weight = tch::Tensor::full([4], value, (tch::Kind::Float, device)).set_requires_grad(true);
            let detached = weight.detach();
            if let tch::Device::Cuda(gpu) = device {
                tch::Cuda::synchronize(gpu as i64);
            }
            let ty = TensorType::contiguous(Dtype::F32, [4]);
            let data = detached.data_ptr().cast();
            // SAFETY: the tensor has this type, is written to by nobody, and lives until the closure is dropped.
            let x = unsafe { Tensor::from_foreign(context.target(), data, &ty, move || drop(detached)) }?;
            let outputs = program.run(&[x])?;
            assert_eq!(outputs[0].to_bytes(), [-(value as f32) * value as f32; 4].map(f32::to_le_bytes).concat());
            (&weight * &weight).sum(tch::Kind::Float).backward();
            assert_eq!(weight.grad().double_value(&[0]), 2.0 * value);
            println!("{:?}: -({value})^2 = {}", context.target(), -value * value);
        }
    }
    Ok(())
}

/// The CPU, and two streams of the first GPU if there is one.
fn contexts() -> Result<Vec<Arc<Context>>, Box<dyn Error>> {
    let mut contexts = vec![Arc::new(Context::cpu())];
    if Path::new("/dev/nvidiactl").exists() {
        let gpu = Gpu::open(0)?;
        let nvrtc = Path::new(&std::env::var("LIBTORCH").unwrap_or_default()).join("../nvidia/cu13/lib");
        let compiler = Arc::new(Compiler::new(gpu.capability()?, &[nvrtc])?);
        for _ in 0..2 {
            contexts.push(Arc::new(Context::gpu(&gpu, &compiler)?));
        }
    }
    Ok(contexts)
}
