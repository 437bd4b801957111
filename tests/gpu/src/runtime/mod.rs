//! The runtime library on a GPU: what a caller finds as it was, what a launch costs, what is recorded.

mod early;
mod gates;
mod joins;
mod launches;
mod record;
mod shared_rows;
mod state;
mod streams;
mod tuning;

use anyhow::{Context as _, Result, ensure};
use passhost_ir::{Dtype, Graph, TensorType};
use passhost_runtime::{Compiler, Gpu, Hints, Mode};
use passhost_torch::{Context, Program, Target, Tensor};
use std::sync::Arc;

const LENGTH: i64 = 1000;

/// What is checked, and how: what was found, in words.
type Check = (&'static str, fn(&Arc<Gpu>, &Arc<Compiler>) -> Result<String>);

/// What programs of ops give where they are recorded.
const RECORDED: [Check; 6] = [
    ("recorded programs of ops and kernels", record::equals_runs),
    ("a program recorded without launches", record::views_alone),
    ("what is not recorded, and the stream afterwards", record::refused),
    ("the thread that recorded", record::leaves_the_thread),
    ("memory of many recordings", record::memory),
    ("a run op by op and a recorded one", record::overhead),
];

/// Runs all checks, each by name, and prints the figures of a launch.
pub(crate) fn run(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<()> {
    let checks: [Check; 11] = [
        ("the caller's thread is as before", state::survives),
        ("two streams, two threads", streams::two),
        ("an arena under poison", streams::poisoned),
        ("allocations", launches::allocations),
        ("blocks that share rows", shared_rows::again),
        ("launches that begin early", early::chains),
        ("a gate that is shut", gates::holds),
        ("a launch and a wait", launches::overhead),
        ("joined kernels", joins::program),
        ("joined kernels and single ones", joins::times),
        ("kernels in all of their schedules", tuning::same_bits),
    ];
    run_all(&[&checks[..], &RECORDED].concat(), gpu, compiler)
}

/// Runs those of recorded programs alone.
pub(crate) fn run_recorded(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<()> {
    run_all(&RECORDED, gpu, compiler)
}

fn run_all(checks: &[Check], gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<()> {
    let mut failed = 0;
    for &(name, check) in checks {
        match check(gpu, compiler) {
            Ok(found) => println!("ok      {name}: {found}"),
            Err(error) => {
                println!("FAILED  {name}: {error:#}");
                failed += 1;
            }
        }
    }
    ensure!(failed == 0, "{failed} of {} checks of the runtime failed", checks.len());
    Ok(())
}

/// `%to = %from + %from` as a kernel.
fn doubled(to: &str, from: &str) -> String {
    let n = LENGTH;
    format!(
        "%{to}: f32[{n}] = kernel(%{from}) {{ space p0={n} in x0: f32[{n}] i0 = p0 v0: f32 = load x0[i0] pad 0.0 \
         v1: f32 = add v0, v0 out v1 over [p0] as [{n}] }}\n"
    )
}

fn graph(nodes: &[String], result: &str) -> Result<Graph> {
    let text = format!("graph(%x: f32[{LENGTH}]) {{\n{}return (%{result})\n}}", nodes.concat());
    Graph::parse(&text).with_context(|| text.clone())
}

/// Kernels with a view and, if wanted, an op between them: 32 times the input.
fn chain(with_op: bool) -> Result<Graph> {
    let between = if with_op {
        format!("%d: f32[{LENGTH}] = aten::relu(%c)\n")
    } else {
        format!("%d: f32[{LENGTH}] = aten::view(%c, [{LENGTH}])\n")
    };
    let nodes =
        [doubled("a", "x"), doubled("b", "a"), doubled("c", "b"), between, doubled("e", "d"), doubled("f", "e")];
    graph(&nodes, "f")
}

fn compiled(graph: &Graph, context: &Arc<Context>) -> Result<Program> {
    Ok(Program::compile(graph, Mode::Declared, &Hints::default(), context)?)
}

fn on_stream(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<Arc<Context>> {
    Ok(Arc::new(Context::gpu(gpu, compiler, Target::gpu)?))
}

fn ty() -> TensorType {
    TensorType::contiguous(Dtype::F32, [LENGTH])
}

/// `0, factor, 2 * factor, ..`.
fn multiples(factor: f32) -> Vec<u8> {
    (0..LENGTH).flat_map(|at| (at as f32 * factor).to_le_bytes()).collect()
}

fn input(context: &Context, factor: f32) -> Result<Tensor> {
    Ok(Tensor::from_bytes(context.engine(), &ty(), &multiples(factor))?)
}
