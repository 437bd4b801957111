//! The same on the CPU: kernels beside libtorch, on as many threads.

use super::{Case, Window, cases, convolution, difference, floats, inputs_of, product, times};
use anyhow::{Result, ensure};
use passhost_ir::Dtype;
use passhost_runtime::{Hints, Mode};
use passhost_torch::process::set_threads;
use passhost_torch::{Context, Program, Target};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Seconds that the runs of a row take together, about, and most runs. The fastest counts: others share the processor.
const SECONDS: f64 = 1.0;
const MOST_RUNS: f64 = 1000.0;

/// Rows of the GPU with more products take too long here.
const MOST_PRODUCTS: i64 = 1 << 30;

/// Rows, columns and terms of small products, and depthwise convolutions besides those of models.
const SMALL: [i64; 4] = [8, 16, 32, 64];
static DEPTHWISE: [[i64; 9]; 2] = [[2, 96, 40, 40, 96, 3, 1, 1, 96], [2, 32, 112, 112, 32, 7, 1, 3, 32]];

fn small(dtype: Dtype) -> impl Iterator<Item = (Dtype, Case)> {
    let products =
        SMALL.into_iter().flat_map(move |n| [true, false].map(|linear| product([1, n, n, n], linear, dtype)));
    products
        .chain(DEPTHWISE.iter().map(move |sizes| convolution(&Window::of(sizes), dtype)))
        .map(move |case| (dtype, case))
}

/// Prints a row of each: microseconds of libtorch and of the kernel, how many times as long that is, and its bar.
pub(crate) fn run_on_cpu(threads: u32, only: &str) -> Result<()> {
    set_threads(threads);
    let context = Arc::new(Context::cpu(Target::cpu().inference()));
    let (mut groups, mut wrong) = (BTreeMap::<_, (Vec<f64>, usize)>::new(), 0);
    let small = [Dtype::F32, Dtype::F16, Dtype::Bf16].into_iter().flat_map(small);
    let of_models = cases(only).filter(|(_, case)| case.products <= MOST_PRODUCTS);
    for (dtype, case) in small.filter(|(_, case)| case.name.contains(only)).chain(of_models) {
        let program = |nodes| {
            let graph = case.graph(nodes)?;
            Ok::<_, anyhow::Error>((Program::compile(&graph, Mode::Declared, &Hints::default(), &context)?, graph))
        };
        let ((calls, graph), (ours, _)) = (program(&case.calls)?, program(&case.kernel)?);
        let inputs = inputs_of(&graph, &context)?;
        let [found, expected] = [ours.run(&inputs)?, calls.run(&inputs)?].map(|out| floats(dtype, &out[0].to_bytes()));
        if let Some(reason) = difference(dtype, &found, &expected) {
            wrong += 1;
            println!("WRONG: {reason}");
        }
        let start = Instant::now();
        times([&calls, &ours], &inputs, 1)?;
        let runs = (SECONDS / start.elapsed().as_secs_f64()).clamp(1.0, MOST_RUNS) as usize;
        let mut best = [f64::INFINITY; 2];
        for _ in 0..runs {
            let times = times([&calls, &ours], &inputs, 1)?;
            best = [best[0].min(times[0]), best[1].min(times[1])];
        }
        let ([calls, ours], ratio, bar) = (best, best[1] / best[0], case.bar);
        let note = if ratio > bar { "MISSES" } else { "" };
        println!("{calls:10.1} {ours:10.1}  {ratio:6.2} of {bar:2} {note:6}  {}", case.name);
        for name in [case.name.split(' ').take(2).collect::<Vec<_>>().join(" "), "all".to_owned()] {
            let (logs, misses) = groups.entry(name).or_default();
            logs.push(ratio.ln());
            *misses += usize::from(ratio > bar);
        }
    }
    for (group, (logs, misses)) in groups {
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        println!("{group}, {} rows: {mean:.2} times libtorch's time, {misses} above their bar", logs.len());
    }
    ensure!(wrong == 0, "{wrong} rows are wrong");
    Ok(())
}
