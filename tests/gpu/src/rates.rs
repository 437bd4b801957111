//! Products of matrices and convolutions as kernels of their own, beside what ATen does.

mod convolution;
mod cpu;
mod shapes;

use crate::products::random;
use anyhow::{Context as _, Result, ensure};
use convolution::convolution;
pub(crate) use cpu::run_on_cpu;
use half::{bf16, f16};
use passhost_guest_sdk::lower::{self, Group};
use passhost_ir::{DeviceFacts, DeviceKind, Dtype, Graph, Kernel, NodeKind};
use passhost_runtime::{Compiler, Gpu, Hints, Mode};
use passhost_torch::{Context, Program, Target, Tensor};
use shapes::{BATCHED, CONVOLUTIONS, LINEAR, WINDOWS, Window};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// Runs of which the median counts, and runs that are waited for together. Beyond so many seconds there are fewer.
const RUNS: usize = 101;
const TOGETHER: usize = 30;
const SECONDS: f64 = 1.0;
const FEWEST: usize = 5;

/// A choice is right if the other one takes no more than this part less.
const TIE: f64 = 0.05;
/// An H200 as a pass is told of it.
const DEVICE: DeviceFacts = DeviceFacts {
    kind: DeviceKind::Cuda,
    multiprocessors: 132,
    l2_bytes: 50 << 20,
    bandwidth: 4_800_000_000_000,
    launch_ns: 2_000,
};

/// What ATen does and the kernel that does the same, as graphs of the same operands.
struct Case {
    name: String,
    operands: String,
    calls: String,
    kernel: String,
    /// How many times ATen's time the kernel may take on a CPU.
    bar: f64,
    /// How many products it adds up.
    products: i64,
}

/// The end of a kernel: `v9` and the bias, if there is one, to the output.
fn end(dtype: Dtype, sum: u32, bias: Option<&str>, over: &str, shape: &str) -> String {
    let ty = dtype.to_string();
    let mut text = String::new();
    let mut last = sum;
    if let Some(index) = bias {
        text += &format!("v20: {ty} = load x2[{index}] clamp\n");
        text += if dtype == Dtype::F32 { "" } else { "v21: f32 = cast v20\n" };
        text += &format!("v22: f32 = add v{sum}, v{}\n", if dtype == Dtype::F32 { 20 } else { 21 });
        last = 22;
    }
    text += &format!("v23: f32 = const 0.0\nv24: f32 = max v{last}, v23\n");
    let result = if dtype == Dtype::F32 {
        24
    } else {
        text += &format!("v25: {ty} = cast v24\n");
        25
    };
    format!("{text}out v{result} over [{over}] as [{shape}]\n")
}

/// The text with its values numbered in order, as the parser wants them.
fn numbered(text: &str) -> String {
    let mut known: Vec<&str> = vec![];
    let mut lines = vec![];
    for line in text.lines() {
        known.extend(line.split_once(':').map(|(name, _)| name).filter(|name| name.starts_with('v')));
        let number = |word: &str| known.iter().position(|name| *name == word.trim_end_matches([',', ':']));
        let word = |word: &str| match number(word) {
            Some(number) => format!("v{number}{}", &word[word.trim_end_matches([',', ':']).len()..]),
            None => word.to_owned(),
        };
        lines.push(line.split(' ').map(word).collect::<Vec<String>>().join(" "));
    }
    lines.join("\n")
}

fn product(sizes: [i64; 4], is_linear: bool, dtype: Dtype) -> Case {
    let ([b, m, n, k], ty) = (sizes, dtype.to_string());
    let widened = |value: u32, to: u32| match dtype {
        Dtype::F32 => (String::new(), value),
        _ => (format!("v{to}: f32 = cast v{value}\n"), to),
    };
    let ((first, a), (second, c)) = (widened(0, 2), widened(1, 3));
    let (operands, calls, inputs, places) = if is_linear {
        (
            format!("%a: {ty}[{m},{k}], %b: {ty}[{n},{k}], %c: {ty}[{n}]"),
            format!("%t: {ty}[{m},{n}] = aten::linear(%a, %b, %c)\n%y: {ty}[{m},{n}] = aten::relu(%t)\n"),
            format!("in x0: {ty}[{m},{k}]\nin x1: {ty}[{n},{k}]\nin x2: {ty}[{n}]\n"),
            ["i1, i3", "i2, i3"],
        )
    } else {
        (
            format!("%a: {ty}[{b},{m},{k}], %b: {ty}[{b},{k},{n}], %c: {ty}[{n}]"),
            format!(
                "%t: {ty}[{b},{m},{n}] = aten::matmul(%a, %b)\n%u: {ty}[{b},{m},{n}] = aten::add.Tensor(%t, %c)\n\
                 %y: {ty}[{b},{m},{n}] = aten::relu(%u)\n"
            ),
            format!("in x0: {ty}[{b},{m},{k}]\nin x1: {ty}[{b},{k},{n}]\nin x2: {ty}[{n}]\n"),
            ["i0, i1, i3", "i0, i3, i2"],
        )
    };
    let result = if is_linear { format!("{m},{n}") } else { format!("{b},{m},{n}") };
    let kernel = format!(
        "%y: {ty}[{result}] = kernel(%a, %b, %c) {{\nspace p0={b}, p1={m}, p2={n}; reduce r0={k}\n{inputs}\
         i0 = p0\ni1 = p1\ni2 = p2\ni3 = r0\nv0: {ty} = load x0[{}] clamp\nv1: {ty} = load x1[{}] clamp\n\
         {first}{second}v4: f32 = mul v{a}, v{c}\nv5: f32 = reduce sum v4\n{}}}\n",
        places[0],
        places[1],
        end(dtype, 5, Some("i2"), "p0, p1, p2", &result)
    );
    let name = format!("{} {dtype} {b} x {m} x {n}, {k} terms", if is_linear { "linear" } else { "matmul" });
    let bar = if m.max(n).max(k) <= 64 { 3.0 } else { 10.0 };
    Case { name, operands, calls, kernel: numbered(&kernel), bar, products: b * m * n * k }
}

fn cases(only: &str) -> impl Iterator<Item = (Dtype, Case)> {
    let of = |dtype| {
        let linear = LINEAR.iter().map(move |sizes| product(*sizes, true, dtype));
        let batched = BATCHED.iter().map(move |sizes| product(*sizes, false, dtype));
        let convolutions = CONVOLUTIONS.iter().map(Window::of).chain(WINDOWS.iter().copied());
        let convolutions = convolutions.map(move |window| convolution(&window, dtype));
        linear.chain(batched).chain(convolutions).map(move |case| (dtype, case))
    };
    [Dtype::F32, Dtype::F16, Dtype::Bf16].into_iter().flat_map(of).filter(move |(_, case)| case.name.contains(only))
}

impl Case {
    fn graph(&self, nodes: &str) -> Result<Graph> {
        let text = format!("graph({}) {{\n{nodes}return (%y)\n}}\n", self.operands);
        Graph::parse(&text).context(text)
    }
}

/// The kernels, by what they are called.
pub(crate) fn kernels(only: &str) -> Result<Vec<(String, Kernel)>> {
    let kernel = |(_, case): (Dtype, Case)| {
        let graph = case.graph(&case.kernel)?;
        let kernel = graph.nodes.into_iter().find_map(|node| match node.kind {
            NodeKind::Kernel { kernel, .. } => Some(kernel),
            NodeKind::Aten { .. } => None,
        });
        Ok((case.name.clone(), *kernel.context("a row has no kernel")?))
    };
    cases(only).map(kernel).collect()
}

/// Whether a pass that knows this GPU makes a kernel of the product.
fn takes_kernel(calls: &Graph, facts: &DeviceFacts) -> bool {
    let plan = lower::fuse(calls, facts, Group::ALL);
    plan.kernels.iter().any(|kernel| kernel.lowered.nodes().contains(&calls.nodes[0].id))
}

/// Prints a row of each: microseconds of a run that is waited for, ATen's, with prepared products, and the kernel's; then of
/// one of many runs; how many elements are ATen's bit by bit; whether a pass would take the kernel.
pub(crate) fn run(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>, only: &str) -> Result<()> {
    let context = Arc::new(Context::gpu(gpu, compiler, |number| Target::gpu(number).map(Target::inference))?);
    let (mut logs, mut wrong) = (vec![], 0);
    let (mut choices, mut best) = (0, 0);
    for (dtype, case) in cases(only) {
        let program = |nodes: &str, products| {
            let graph = case.graph(nodes)?;
            let hints = Hints { products, ..Hints::default() };
            Ok::<_, anyhow::Error>((Program::compile(&graph, Mode::Declared, &hints, &context)?, graph))
        };
        let start = Instant::now();
        let (ours, graph) = program(&case.kernel, false)?;
        let ((calls, graph_of_calls), (prepared, _)) = (program(&case.calls, false)?, program(&case.calls, true)?);
        let inputs = inputs_of(&graph, &context)?;
        let first = ours.run(&inputs)?;
        let compiled = start.elapsed().as_secs_f64();
        let expected = calls.run(&inputs)?;
        let [found, expected] = [first, expected].map(|outputs| floats(dtype, &outputs[0].to_bytes()));
        let same = found.iter().zip(&expected).filter(|(a, b)| a.to_bits() == b.to_bits()).count();
        if let Some(reason) = difference(dtype, &found, &expected) {
            wrong += 1;
            println!("WRONG: {reason}");
        }
        (0..4).try_for_each(|_| prepared.run(&inputs).map(drop))?;
        let programs = [&calls, &prepared, &ours];
        let (each, many) = (times(programs, &inputs, RUNS)?, throughput(programs, &inputs)?);
        let ratios = [each[0] / each[2], many[0] / many[2], each[1] / each[2], many[1] / many[2]];
        let takes_kernel = takes_kernel(&graph_of_calls, &DEVICE);
        choices += 1;
        best += u32::from(if takes_kernel { ratios[2] > 1.0 - TIE } else { ratios[2] < 1.0 + TIE });
        println!(
            "{:6.1} {:6.1} {:6.1}  {:6.1} {:6.1} {:6.1}  {:5.2} {:5.2}  {compiled:4.1} s  {:7.3}%  {:6}  {}",
            each[0],
            each[1],
            each[2],
            many[0],
            many[1],
            many[2],
            ratios[2],
            ratios[3],
            same as f64 / found.len() as f64 * 100.0,
            if takes_kernel { "kernel" } else { "call" },
            case.name
        );
        let group = case.name.split(' ').take(2).collect::<Vec<_>>().join(" ");
        logs.push((group, ratios.map(f64::ln)));
    }
    println!("of {choices} choices between kernel and prepared call {best} are the faster one, or within {TIE} of it");
    summarize(&logs);
    ensure!(wrong == 0, "{wrong} rows are wrong");
    Ok(())
}

/// Random inputs of a graph.
fn inputs_of(graph: &Graph, context: &Context) -> Result<Vec<Tensor>> {
    let inputs = graph.inputs.iter().zip(0..);
    inputs.map(|(&input, seed)| random(context.engine(), graph.ty(input), seed)).collect()
}

/// What is wrong with a result, if it is not about what ATen gives.
fn difference(dtype: Dtype, found: &[f32], expected: &[f32]) -> Option<String> {
    let largest = expected.iter().fold(0.0f32, |a, b| a.max(b.abs()));
    let offs = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    let off = offs.fold(0.0f32, |a, b| if b > a || b.is_nan() { b } else { a });
    let bound = if dtype == Dtype::Bf16 { 1.0 / 64.0 } else { 1.0 / 512.0 };
    let is_right = found.len() == expected.len() && off <= largest * bound && largest > 0.0;
    (!is_right).then(|| format!("off by {off} of {largest}"))
}

/// Prints by how much kernels are faster in the geometric mean, of each kind of op and type and of all: than ATen's calls, as
/// one run and as one of many, then than prepared calls. `logs` has the logarithms.
fn summarize(logs: &[(String, [f64; 4])]) {
    let groups: BTreeSet<&str> = logs.iter().map(|(group, _)| group.as_str()).chain([""]).collect();
    for group in groups {
        let of: Vec<&[f64; 4]> =
            logs.iter().filter(|(name, _)| group.is_empty() || name == group).map(|(_, logs)| logs).collect();
        let means = [0, 1, 2, 3].map(|at| (of.iter().map(|logs| logs[at]).sum::<f64>() / of.len().max(1) as f64).exp());
        let [aten, aten_of_many, prepared, prepared_of_many] = means;
        let name = if group.is_empty() { "all" } else { group };
        println!(
            "{name}, {} rows: {aten:.2}, {aten_of_many:.2} times as fast as ATen's calls; {prepared:.2}, \
             {prepared_of_many:.2} times as fast as prepared calls",
            of.len()
        );
    }
}

fn floats(dtype: Dtype, bytes: &[u8]) -> Vec<f32> {
    let halves = || bytes.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
    match dtype {
        Dtype::F32 => bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        Dtype::F16 => halves().map(|bits| f16::from_bits(bits).to_f32()).collect(),
        _ => halves().map(|bits| bf16::from_bits(bits).to_f32()).collect(),
    }
}

/// Microseconds of a run and a wait, of each program, in turns.
fn times<const N: usize>(programs: [&Program; N], inputs: &[Tensor], runs: usize) -> Result<[f64; N]> {
    let (mut all, begin) = ([const { vec![] }; N], Instant::now());
    for run in 0..runs {
        if run >= FEWEST && begin.elapsed().as_secs_f64() > SECONDS {
            break;
        }
        for (program, times) in programs.iter().zip(&mut all) {
            let start = Instant::now();
            program.run_timed(inputs)?;
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(all.map(median))
}

/// Microseconds of one of many runs that are waited for together.
fn throughput<const N: usize>(programs: [&Program; N], inputs: &[Tensor]) -> Result<[f64; N]> {
    let (mut all, begin) = ([const { vec![] }; N], Instant::now());
    for run in 0..9 {
        if run > 0 && begin.elapsed().as_secs_f64() > SECONDS {
            break;
        }
        for (program, times) in programs.iter().zip(&mut all) {
            program.run_timed(inputs)?;
            let start = Instant::now();
            for _ in 1..TOGETHER {
                program.run(inputs)?;
            }
            program.run_timed(inputs)?;
            times.push(start.elapsed().as_secs_f64() * 1e6 / TOGETHER as f64);
        }
    }
    Ok(all.map(median))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::kernel::verify;
    use passhost_kernels::KernelLayout;
    use passhost_kernels::cuda::{DeviceProperties, emit};
    use std::collections::BTreeMap;

    #[test]
    fn rows_add_up_products_by_tiles_or_along_windows_unless_they_are_vectors_or_small() {
        let mut forms = BTreeMap::new();
        for (_, kernel) in kernels("").unwrap() {
            let facts = verify(&kernel).unwrap();
            let source = emit(&kernel, &facts, &KernelLayout::contiguous(&kernel), &DeviceProperties::H200);
            *forms.entry(source.form).or_insert(0) += 1;
        }
        let expected = [("columns", 9), ("products in tiles", 103), ("products on tensor cores", 206), ("rows", 9)];
        assert_eq!(forms.into_iter().collect::<Vec<_>>(), expected);
    }
}
