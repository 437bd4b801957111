//! Kernels of a program that become one launch.

use super::streams::Poison;
use super::{LENGTH, compiled, doubled, input, multiples, on_stream, ty};
use crate::counting::allocations;
use anyhow::{Context as _, Result, ensure};
use passhost_ir::{Graph, NodeKind};
use passhost_runtime::{Compiler, DeviceKernel, Gpu};
use passhost_torch::{Context, Tensor};
use std::sync::Arc;
use std::time::Instant;

const BRANCHES: usize = 8;
const ROUNDS: usize = 2000;

/// Branches of three kernels each, two with an op between them, of which `%x` is read by all: outputs are 2, 4 and 8 times
/// the input, `BRANCHES` times over.
fn branches() -> Result<Graph> {
    let mut nodes = String::new();
    let mut results = vec![];
    for n in 0..BRANCHES {
        nodes += &doubled(&format!("a{n}"), "x");
        nodes += &doubled(&format!("b{n}"), &format!("a{n}"));
        nodes += &format!("%c{n}: f32[{LENGTH}] = aten::relu(%b{n})\n");
        nodes += &doubled(&format!("d{n}"), &format!("c{n}"));
        results.push(format!("%d{n}"));
    }
    let text = format!("graph(%x: f32[{LENGTH}]) {{\n{nodes}return ({})\n}}", results.join(", "));
    Graph::parse(&text).with_context(|| text.clone())
}

/// A program launches its branches side by side, gives what they give, and is prepared anew for another alignment.
pub(super) fn program(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let program = compiled(&branches()?, &context)?;
    let (nodes, launches) = (program.node_count(), program.launch_count());
    ensure!((nodes, launches) == (4 * BRANCHES, 3), "{nodes} nodes, {launches} launches of kernels");
    let aligned = input(&context, 1.0)?;
    let bytes = [vec![0; 4], multiples(1.0)].concat();
    let words = passhost_ir::TensorType::contiguous(passhost_ir::Dtype::U8, [bytes.len() as i64]);
    let unaligned = Tensor::from_bytes(context.engine(), &words, &bytes)?.reinterpret(4, &ty())?;
    let mut poison = Poison::default();
    for x in [&aligned, &aligned, &unaligned, &unaligned, &aligned] {
        let x = [x.clone()];
        for outputs in [program.run_watched(&x, &mut poison)?, program.run(&x)?] {
            let right = outputs.iter().all(|output| output.to_bytes() == multiples(8.0));
            ensure!(outputs.len() == BRANCHES && right, "a joined program is wrong");
        }
    }
    let temporaries = 5 * 2 * BRANCHES as u32;
    ensure!(poison.ended == temporaries && poison.overwritten == 0, "{} zones of {}", poison.overwritten, poison.ended);
    Ok(format!("{nodes} nodes, {launches} launches of kernels"))
}

/// Prints microseconds of kernels as one launch and as one each, with the wait for them.
pub(super) fn times(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let _entered = gpu.enter()?;
    let nodes: Vec<String> = (0..BRANCHES).map(|n| doubled(&format!("a{n}"), "x")).collect();
    let results: Vec<String> = (0..BRANCHES).map(|n| format!("%a{n}")).collect();
    let text = format!("graph(%x: f32[{LENGTH}]) {{\n{}return ({})\n}}", nodes.concat(), results.join(", "));
    let graph = Graph::parse(&text)?;
    let program = compiled(&graph, &context)?;
    ensure!(program.launch_count() == 1, "{} launches", program.launch_count());
    let mut apart = vec![];
    for node in &graph.nodes {
        let NodeKind::Kernel { kernel, .. } = &node.kind else { anyhow::bail!("the node is a kernel") };
        apart.push((DeviceKernel::new(&context, kernel)?, Tensor::empty(context.engine(), &ty())?));
    }
    let x = [input(&context, 1.0)?];
    program.run_timed(&x)?;
    let (outputs, allocated) = allocations(|| program.run(&x));
    outputs?;
    ensure!(allocated == 1, "{allocated} allocations of a run, expected that of the list of outputs");
    let mut taken: [Vec<f64>; 2] = Default::default();
    for round in 0..ROUNDS + 200 {
        let start = Instant::now();
        let outputs = program.run_timed(&x)?;
        let together = start.elapsed();
        drop(outputs);
        let start = Instant::now();
        one_by_one(&context, &mut apart, &x[0])?;
        let one_by_one = start.elapsed();
        if round >= 200 {
            taken[0].push(together.as_secs_f64() * 1e6);
            taken[1].push(one_by_one.as_secs_f64() * 1e6);
        }
    }
    let [together, one_by_one] = taken.each_mut().map(|times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    Ok(format!(
        "{BRANCHES} kernels take {together:.2} us as one launch, outputs included, and {one_by_one:.2} us as one each"
    ))
}

fn one_by_one(context: &Context, kernels: &mut [(DeviceKernel, Tensor)], x: &Tensor) -> Result<()> {
    for (kernel, output) in kernels {
        // SAFETY: the output is of the kernel's type and of its own memory, and nobody else uses the tensors.
        unsafe { kernel.run(context, &[x], &[output])? };
    }
    Ok(context.synchronize()?)
}
