//! What a caller of the library finds as it was.

use super::{chain, compiled, doubled, graph, input, multiples, on_stream};
use anyhow::{Context as _, Result, ensure};
use cudarc::driver::result;
use passhost_ir::{Dtype, TensorType};
use passhost_runtime::{Compiler, Gpu};
use passhost_torch::{Target, Tensor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What a thread's owner would miss.
#[derive(Debug, PartialEq, Eq)]
struct State {
    /// The current stream of the current device, as libtorch sees it.
    stream: Target,
    driver_context: Option<usize>,
    gradients: bool,
    inference: bool,
}

impl State {
    fn now() -> Result<State> {
        // Asked first: libtorch's questions may make a context current.
        let driver_context = result::ctx::get_current()?.map(|context| context as usize);
        Ok(State {
            stream: Target::current_gpu()?,
            driver_context,
            gradients: passhost_torch::gradients_enabled(),
            inference: passhost_torch::inference_enabled(),
        })
    }
}

/// On a thread of its own without a driver context, on one with libtorch's, under another current stream, and with
/// another device current if there is one.
pub(super) fn survives(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let mut situations = 0;
    let on_thread = |work: &(dyn Fn() -> Result<()> + Sync)| -> Result<()> {
        std::thread::scope(|scope| scope.spawn(work).join().map_err(|_| anyhow::anyhow!("a check panicked"))?)
    };
    on_thread(&|| {
        // Nothing was asked of libtorch on this thread: the driver's view alone.
        let before = result::ctx::get_current()?;
        calls(gpu, compiler, &|_| Ok(()))?;
        let after = result::ctx::get_current()?;
        ensure!(before.is_none() && after.is_none(), "a thread without a context has {after:?} afterwards");
        Ok(())
    })?;
    situations += 1;
    let watched = || {
        let before = State::now()?;
        calls(gpu, compiler, &|what| {
            let after = State::now()?;
            ensure!(after == before, "after {what}: {after:?}, before: {before:?}");
            Ok(())
        })
    };
    on_thread(&|| {
        let _current = gpu.enter()?;
        watched()
    })?;
    situations += 1;
    for target in [Target::gpu(gpu.number())?, Target::gpu(gpu.number())?.inference()] {
        on_thread(&|| {
            let _current = gpu.enter()?;
            target.within(|_| watched())
        })?;
        situations += 1;
    }
    if let Ok(other) = Gpu::open(gpu.number() + 1) {
        let target = Target::gpu(other.number())?;
        on_thread(&|| {
            let _current = other.enter()?;
            target.within(|_| watched())
        })?;
        situations += 1;
    }
    Ok(format!("{situations} situations"))
}

/// Every kind of call, those that fail among them, and a look at the state after each.
fn calls(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>, same: &dyn Fn(&str) -> Result<()>) -> Result<()> {
    let context = on_stream(gpu, compiler)?;
    same("making a context")?;
    let program = compiled(&chain(true)?, &context)?;
    same("compiling")?;
    let x = input(&context, 1.0)?;
    same("making a tensor")?;
    for _ in 0..2 {
        let outputs = program.run(std::slice::from_ref(&x))?;
        same("a run")?;
        ensure!(outputs[0].to_bytes() == multiples(32.0), "a wrong result");
        same("reading a tensor")?;
    }
    let short = Tensor::from_bytes(context.engine(), &TensorType::contiguous(Dtype::F32, [3]), &[0; 12])?;
    ensure!(program.run(&[short]).is_err(), "a short input is refused");
    same("a kernel that refuses its input")?;
    let fails = compiled(&graph(&[format!("%a: f32[{}] = aten::view(%x, [7])\n", super::LENGTH)], "a")?, &context)?;
    ensure!(fails.run(std::slice::from_ref(&x)).is_err(), "an impossible view is refused");
    same("an op that fails")?;
    let huge = TensorType::contiguous(Dtype::U8, [1 << 45]);
    let full = Tensor::empty(context.engine(), &huge);
    ensure!(matches!(full, Err(passhost_torch::TorchError::OutOfMemory(_))), "32 TiB: {full:?}");
    same("a full GPU")?;
    let wide = format!("%a: f32[134217728,{n}]{{0,1}} = aten::expand(%x, [134217728, {n}])\n", n = super::LENGTH);
    let wide = compiled(&graph(&[wide], "a")?, &context)?.run(std::slice::from_ref(&x))?;
    let panic = catch_unwind(AssertUnwindSafe(|| wide[0].to_bytes())).err().context("500 GB have room")?;
    ensure!(panic.is::<passhost_torch::OutOfMemory>(), "a copy of 500 GB ends in another panic");
    same("a copy that the GPU has no room for")?;
    drop(wide);
    let doubled = compiled(&graph(&[doubled("a", "x")], "a")?, &context)?;
    let recorded = doubled.record(std::slice::from_ref(&x))?;
    recorded.launch()?;
    same("a recorded launch")?;
    context.synchronize()?;
    same("a wait")?;
    drop(recorded);
    drop((doubled, program, x, context));
    same("dropping everything")
}
