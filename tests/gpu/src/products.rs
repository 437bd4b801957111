//! Products of matrices and convolutions, prepared for the layout of their operands, beside ATen's own calls of the library.

use anyhow::{Context as _, Result, ensure};
use passhost_ir::{Dtype, Graph, TensorType};
use passhost_runtime::{Compiler, Gpu, Hints, Mode};
use passhost_torch::{Context, Program, Target, Tensor};
use std::sync::Arc;
use std::time::Instant;

/// Runs of which the median counts.
const RUNS: usize = 201;
/// A prepared product takes less than this part of ATen's time where the library does little.
const FASTER: f64 = 0.95;

/// Operands and the node, of element type `T`.
const PRODUCTS: [(&str, &str); 36] = [
    ("%a: T[197,768], %b: T[768,768]", "T[197,768] = aten::mm(%a, %b)"),
    ("%a: T[64,64], %b: T[64,64]", "T[64,64] = aten::mm(%a, %b)"),
    ("%a: T[1,768], %b: T[768,3072]", "T[1,3072] = aten::mm(%a, %b)"),
    ("%a: T[33,70]{1,33}, %b: T[70,45]", "T[33,45] = aten::mm(%a, %b)"),
    ("%a: T[33,70], %b: T[70,45]{1,70}", "T[33,45] = aten::mm(%a, %b)"),
    ("%a: T[33,70]{80,1}, %b: T[70,45]{1,96}", "T[33,45] = aten::mm(%a, %b)"),
    ("%a: T[2048,2048], %b: T[2048,2048]", "T[2048,2048] = aten::mm(%a, %b)"),
    ("%a: T[12,197,64], %b: T[12,64,197]", "T[12,197,197] = aten::bmm(%a, %b)"),
    ("%a: T[12,197,64], %b: T[12,64,197]{12608,1,64}", "T[12,197,197] = aten::bmm(%a, %b)"),
    ("%a: T[1,50,64], %b: T[1,64,50]", "T[1,50,50] = aten::bmm(%a, %b)"),
    ("%a: T[2,12,128,64], %b: T[2,12,64,128]{98304,8192,1,64}", "T[2,12,128,128] = aten::matmul(%a, %b)"),
    (
        "%a: T[2,12,128,64]{98304,64,768,1}, %b: T[2,12,64,128]{98304,64,1,768}",
        "T[2,12,128,128] = aten::matmul(%a, %b)",
    ),
    ("%a: T[2,128,768], %b: T[768,64]", "T[2,128,64] = aten::matmul(%a, %b)"),
    ("%a: T[128,768], %b: T[768,64]{1,768}", "T[128,64] = aten::matmul(%a, %b)"),
    ("%a: T[197,768], %b: T[3072,768]", "T[197,3072] = aten::linear(%a, %b)"),
    ("%a: T[2,197,768], %b: T[768,768]", "T[2,197,768] = aten::linear(%a, %b)"),
    ("%a: T[1,768], %b: T[1000,768], %c: T[1000]", "T[1,1000] = aten::linear(%a, %b, %c)"),
    ("%a: T[8,768], %b: T[768,768], %c: T[768]", "T[8,768] = aten::linear(%a, %b, %c)"),
    ("%a: T[197,768], %b: T[768,768], %c: T[768]", "T[197,768] = aten::linear(%a, %b, %c)"),
    ("%a: T[2,197,768], %b: T[3072,768], %c: T[3072]", "T[2,197,3072] = aten::linear(%a, %b, %c)"),
    ("%a: T[4,16,16,96], %b: T[384,96], %c: T[384]", "T[4,16,16,384] = aten::linear(%a, %b, %c)"),
    ("%a: T[2,197,768]{151296,1,197}, %b: T[64,768], %c: T[64]", "T[2,197,64] = aten::linear(%a, %b, %c)"),
    ("%a: T[77,53], %b: T[31,53], %c: T[31]", "T[77,31] = aten::linear(%a, %b, %c)"),
    ("%c: T[768], %a: T[128,768], %b: T[768,768]", "T[128,768] = aten::addmm(%c, %a, %b)"),
    ("%c: T[128,768], %a: T[128,768], %b: T[768,768]", "T[128,768] = aten::addmm(%c, %a, %b)"),
    ("%c: T[768], %a: T[128,768], %b: T[768,768]", "T[128,768] = aten::addmm(%c, %a, %b, beta=1, alpha=0.5)"),
    ("%a: T[2,64,14,14], %b: T[64,64,1,1]", "T[2,64,14,14] = aten::conv2d(%a, %b)"),
    ("%a: T[2,32,14,14], %b: T[48,32,3,3]", "T[2,48,7,7] = aten::conv2d(%a, %b, none, [2, 2], [1, 1])"),
    ("%a: T[2,3,64,64], %b: T[32,3,7,7]", "T[2,32,32,32] = aten::conv2d(%a, %b, none, [2, 2], [3, 3])"),
    ("%a: T[2,64,14,14], %b: T[64,32,3,3]", "T[2,64,14,14] = aten::conv2d(%a, %b, none, [1], [1], [1], 2)"),
    ("%a: T[2,64,14,14], %b: T[64,64,3,1]", "T[2,64,10,14] = aten::conv2d(%a, %b, none, [1, 1], [0, 0], [2, 1])"),
    (
        "%a: T[2,64,14,14]{12544,1,896,64}, %b: T[64,64,3,3]{576,1,192,64}",
        "T[2,64,14,14]{12544,1,896,64} = aten::conv2d(%a, %b, none, [1, 1], [1, 1])",
    ),
    ("%a: T[2,64,14,14]{12544,1,896,64}, %b: T[64,64,1,1]", "T[2,64,14,14]{12544,1,896,64} = aten::conv2d(%a, %b)"),
    ("%a: T[2,64,96], %b: T[128,64,3]", "T[2,128,96] = aten::conv1d(%a, %b, none, [1], [1])"),
    ("%a: T[2,16,8,12,12], %b: T[32,16,3,3,3]", "T[2,32,6,10,10] = aten::conv3d(%a, %b)"),
    ("%a: T[1,256,7,7], %b: T[512,256,3,3], %c: T[512]", "T[1,512,5,5] = aten::conv2d(%a, %b, %c)"),
];

/// Runs each of them in three element types, and prints a row of each.
pub(crate) fn run(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<()> {
    let context = Arc::new(Context::gpu(gpu, compiler, |number| Target::gpu(number).map(Target::inference))?);
    let mut logs = vec![];
    for (operands, node) in PRODUCTS {
        for dtype in [Dtype::F32, Dtype::F16, Dtype::Bf16] {
            let name = dtype.to_string();
            let (operands, node) = (operands.replace('T', &name), node.replace('T', &name));
            let text = format!("graph({operands}) {{\n  %y: {node}\n  return (%y)\n}}\n");
            let graph = Graph::parse(&text).with_context(|| text.clone())?;
            let program =
                |products| Program::compile(&graph, Mode::Declared, &Hints { products, ..Hints::default() }, &context);
            let (aten, prepared) = (program(false)?, program(true)?);
            for seed in 0..5 {
                let inputs = graph
                    .inputs
                    .iter()
                    .enumerate()
                    .map(|(at, &input)| random(context.engine(), graph.ty(input), seed * 8 + at as u64));
                let inputs: Vec<Tensor> = inputs.collect::<Result<_>>()?;
                let [expected, found] =
                    [aten.run(&inputs)?, prepared.run(&inputs)?].map(|outputs| outputs[0].to_bytes());
                ensure!(expected == found, "the result of run {seed} is not ATen's: {node} of {operands}");
                ensure!(expected.iter().any(|&byte| byte != 0), "the result is 0 everywhere: {node}");
                if seed == 4 {
                    let [before, after] = times([&aten, &prepared], &inputs)?;
                    println!("{before:>8.1} us  {after:>8.1} us  {:>5.2}  {node} of {operands}", before / after);
                    logs.push((before / after).ln());
                }
            }
        }
    }
    let faster = logs.iter().filter(|log| log.exp() * FASTER > 1.0).count();
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    println!(
        "{} products give ATen's bits, {faster} are faster, {mean:.2} times as fast in the geometric mean",
        logs.len()
    );
    ensure!(faster * 2 > logs.len(), "most products are ATen's calls still");
    Ok(())
}

/// A tensor of numbers between -1 and 1.
pub(crate) fn random(target: &Target, ty: &TensorType, seed: u64) -> Result<Tensor> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = vec![];
    for _ in 0..ty.numel() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = (state >> 40) as f32 / (1 << 23) as f32 - 1.0;
        match ty.dtype {
            Dtype::F32 => bytes.extend(number.to_le_bytes()),
            // A sign, an exponent from 1/8 to 1, and ten bits.
            Dtype::F16 => bytes.extend(
                (((state >> 48) as u16 & 0x83ff) | (0x3000 + ((state >> 30) as u16 & 3) * 0x400)).to_le_bytes(),
            ),
            _ => bytes.extend(((number.to_bits() >> 16) as u16).to_le_bytes()),
        }
    }
    Ok(Tensor::from_bytes(target, ty, &bytes)?)
}

/// Microseconds of a run and a wait, of each program, in turns.
fn times(programs: [&Program; 2], inputs: &[Tensor]) -> Result<[f64; 2]> {
    let mut all = [vec![], vec![]];
    for _ in 0..RUNS {
        for (program, times) in programs.iter().zip(&mut all) {
            let start = Instant::now();
            program.run_timed(inputs)?;
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(all.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    }))
}
