//! What a prepared launch costs: time, and allocations.

use super::{compiled, doubled, graph, input, on_stream, ty};
use crate::counting::allocations as counted;
use anyhow::{Result, ensure};
use cudarc::driver::{result, sys};
use passhost_ir::NodeKind;
use passhost_runtime::{Compiler, DeviceKernel, Engine, Gpu};
use passhost_torch::{Context, Tensor};
use std::ffi::CString;
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 3000;
/// Microseconds above an empty launch that a run may take.
const ABOVE: f64 = 1.5;

fn kernel(context: &Context) -> Result<DeviceKernel> {
    let graph = graph(&[doubled("a", "x")], "a")?;
    let NodeKind::Kernel { kernel, .. } = &graph.nodes[0].kind else { anyhow::bail!("the node is a kernel") };
    Ok(DeviceKernel::new(context, kernel)?)
}

/// None of a launch whose output is given; of a run the list of its outputs.
pub(super) fn allocations(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let (mut kernel, x) = (kernel(&context)?, input(&context, 1.0)?);
    let output = Tensor::empty(context.engine(), &ty())?;
    // SAFETY: the output is of the kernel's type and of its own memory, and nobody else uses the tensors.
    let mut launch = || unsafe { kernel.run(&context, &[&x], &[&output]) };
    launch()?;
    let (launched, of_launch) = counted(&mut launch);
    launched?;
    let nodes = [doubled("a", "x"), doubled("b", "a"), doubled("c", "b")];
    let program = compiled(&graph(&nodes, "c")?, &context)?;
    program.run(std::slice::from_ref(&x))?;
    let (outputs, of_run) = counted(|| program.run(std::slice::from_ref(&x)));
    outputs?;
    context.synchronize()?;
    ensure!((of_launch, of_run) == (0, 1), "{of_launch} of a launch, {of_run} of a run; expected 0 and 1");
    Ok(format!("{of_launch} of a launch, {of_run} of a run of 3 kernels"))
}

/// A kernel that does nothing, launched by the driver alone.
struct Empty(sys::CUfunction);

impl Empty {
    fn load(compiler: &Compiler) -> Result<Empty> {
        let cubin = compiler.compile("extern \"C\" __global__ void empty() {}\n")?;
        // SAFETY: a cubin says itself how long it is; the module stays loaded.
        unsafe {
            let module = result::module::load_data(cubin.0.as_ptr().cast())?;
            Ok(Empty(result::module::get_function(module, CString::new("empty")?)?))
        }
    }

    fn launch_and_wait(&self, stream: usize) -> Result<()> {
        // SAFETY: the function takes no arguments, and the stream lives.
        unsafe {
            result::launch_kernel(self.0, (1, 1, 1), (32, 1, 1), 0, stream as sys::CUstream, &mut [])?;
            result::stream::synchronize(stream as sys::CUstream)?;
        }
        Ok(())
    }
}

/// Least and median microseconds.
fn summary(times: &mut [f64]) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

/// Prints microseconds of an empty launch and a wait for it, of a launch whose output is given, and of a whole program.
pub(super) fn overhead(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    // As a process that runs nothing else would: the context is current throughout.
    let _entered = gpu.enter()?;
    let empty = Empty::load(compiler)?;
    let stream = context.engine().stream()?.0;
    let (mut kernel, x) = (kernel(&context)?, [input(&context, 1.0)?]);
    let output = Tensor::empty(context.engine(), &ty())?;
    let program = compiled(&graph(&[doubled("a", "x")], "a")?, &context)?;
    let recorded = program.record(&x)?;
    let mut times: [Vec<f64>; 4] = Default::default();
    for round in 0..ROUNDS + 200 {
        let mut taken = [0.0; 4];
        for (which, taken) in taken.iter_mut().enumerate() {
            let start = Instant::now();
            // Freed after the clock has stopped, as evaluations do.
            let mut outputs = vec![];
            match which {
                0 => empty.launch_and_wait(stream)?,
                1 => {
                    // SAFETY: the output is of the kernel's type and of its own memory, and nobody else uses the tensors.
                    unsafe { kernel.run(&context, &[&x[0]], &[&output])? };
                    context.synchronize()?;
                }
                2 => outputs = program.run_timed(&x)?,
                _ => recorded.launch_timed()?,
            }
            *taken = start.elapsed().as_secs_f64() * 1e6;
            drop(outputs);
        }
        if round >= 200 {
            times.iter_mut().zip(taken).for_each(|(times, taken)| times.push(taken));
        }
    }
    let names = ["an empty launch", "a kernel, output given", "a program of one kernel", "the same, recorded"];
    let summaries = times.each_mut().map(|times| summary(times));
    let (least, median) = summaries[0];
    println!("        {:26} {:>8} {:>8} {:>8} {:>8}", "us, with the wait", "min", "median", "above", "above");
    for (name, (min, middle)) in names.iter().zip(summaries) {
        println!("        {name:26} {min:8.2} {middle:8.2} {:8.2} {:8.2}", min - least, middle - median);
    }
    let above = summaries[2].1 - median;
    let verdict = if above <= ABOVE { "within" } else { "MORE THAN" };
    Ok(format!("a program of one kernel takes {above:.2} us more than an empty launch, {verdict} {ABOVE} us"))
}
