//! Kernels of a program in the schedules that they may have.

use super::on_stream;
use anyhow::{Context as _, Result, ensure};
use passhost_ir::{Dtype, Graph, NodeId, TensorType};
use passhost_runtime::{Candidates, Compiler, Gpu, Hints, KernelTimes, Mode};
use passhost_torch::{Program, Tensor};
use std::collections::HashMap;
use std::sync::Arc;

const ROWS: i64 = 4096;
const COLUMNS: i64 = 1000;

/// A softmax, which is left in peace by the op behind it, and the sum of its columns.
fn graph() -> Result<Graph> {
    let ty = format!("f32[{ROWS},{COLUMNS}]");
    let text = format!(
        "graph(%x: {ty}) {{
          %a: {ty} = kernel(%x) {{
            space p0={ROWS}; reduce r0={COLUMNS}
            in x0: {ty}
            i0 = p0
            i1 = r0
            v0: f32 = load x0[i0, i1] clamp
            v1: f32 = reduce max v0
            v2: f32 = sub v0, v1
            v3: f32 = exp v2
            v4: f32 = reduce sum v3
            v5: f32 = div v3, v4
            out v5 over [p0, r0] as [{ROWS},{COLUMNS}]
          }}
          %b: {ty} = aten::relu(%a)
          %c: f32[{COLUMNS}] = kernel(%b) {{
            space p0={COLUMNS}; reduce r0={ROWS}
            in x0: {ty}
            i0 = p0
            i1 = r0
            v0: f32 = load x0[i1, i0] clamp
            v1: f32 = reduce sum v0
            out v1 over [p0] as [{COLUMNS}]
          }}
          return (%a, %c)
        }}"
    );
    Graph::parse(&text).with_context(|| text.clone())
}

/// Every schedule of every kernel gives the same bits; what was measured is not measured again, and says the same of the
/// default twice to within a few percent.
pub(super) fn same_bits(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let (context, graph) = (on_stream(gpu, compiler)?, graph()?);
    let program = |schedules: HashMap<NodeId, String>| {
        let hints = Hints { schedules, ..Hints::default() };
        Ok::<Program, anyhow::Error>(Program::compile(&graph, Mode::Declared, &hints, &context)?)
    };
    let values = (0..ROWS * COLUMNS).flat_map(|at| ((at % 977) as f32 / 100.0).to_le_bytes());
    let ty = TensorType::contiguous(Dtype::F32, [ROWS, COLUMNS]);
    let inputs = [Tensor::from_bytes(context.engine(), &ty, &values.collect::<Vec<u8>>())?];
    let bytes = |program: &Program| -> Result<Vec<Vec<u8>>> {
        Ok(program.run(&inputs)?.iter().map(Tensor::to_bytes).collect())
    };
    let default = program(HashMap::new())?;
    let expected = bytes(&default)?;
    let mut names: HashMap<NodeId, Vec<String>> = HashMap::new();
    let mut all = |node: NodeId, candidates: &Candidates| {
        names.insert(node, candidates.sources().iter().map(|source| source.schedule.clone()).collect());
        true
    };
    let measured = default.tune(&inputs, &mut all)?;
    ensure!(measured.len() == 2 && names.len() == 2, "{} kernels have a choice", measured.len());
    ensure!(default.tune(&inputs, &mut |_, _| false)?.is_empty(), "what nobody wants is not measured");
    ensure!(bytes(&default)? == expected, "a program that was measured gives what it gave");
    let mut runs = 0;
    for (node, names) in &names {
        for name in names {
            ensure!(bytes(&program(HashMap::from([(*node, name.clone())]))?)? == expected, "node {node} as `{name}`");
            runs += 1;
        }
    }
    let unknown = HashMap::from([(measured[0].node, "rows of nothing".to_owned())]);
    ensure!(bytes(&program(unknown)?)? == expected, "an unknown schedule is the default");
    let told = |kernel: &KernelTimes| {
        let best = (0..kernel.times.len()).min_by_key(|at| kernel.times[*at]).unwrap_or(0);
        let us = |at: usize| kernel.times[at] as f64 / 1e3;
        format!("{:.2} us by default, {:.2} as `{}`", us(0), us(best), names[&kernel.node][best])
    };
    Ok(format!("{runs} schedules; {}", measured.iter().map(told).collect::<Vec<_>>().join("; ")))
}
