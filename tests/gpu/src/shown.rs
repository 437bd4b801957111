//! The kernels of graphs that `passhost show --after` printed, on drawn inputs that lie as the graph says.

use crate::memory::Arena;
use crate::random::{Stored, held, on_gpu};
use anyhow::{Context, Result, ensure};
use passhost_guest_sdk::testing::draw;
use passhost_ir::kernel::Tensor;
use passhost_ir::{Graph, Kernel, NodeKind, TensorType};
use passhost_kernels::cuda::{Compiler, Gpu};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes that the tensors of one kernel may take.
const ROOM: usize = 2 << 30;
/// Instructions, over all points, that the interpreter is asked for.
const INTERPRETED: i64 = 1 << 23;
/// What stands before the graph that the plugin made.
const AFTER: &str = "# after\n";

/// What a run saw.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) kernels: usize,
    /// Those that were held against the interpreter; of the others only what they write to is known to be right.
    pub(crate) interpreted: usize,
    /// How many kernels of each form ran.
    pub(crate) forms: BTreeMap<&'static str, usize>,
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Totals { kernels, interpreted, forms } = self;
        write!(f, "{kernels} kernels ran, and {interpreted} of them give what the interpreter does")?;
        forms.iter().try_for_each(|(form, count)| write!(f, "\n{count:6} {form}"))
    }
}

/// Runs the kernels of each file.
pub(crate) fn run(gpu: &Arc<Gpu>, compiler: &Compiler, files: &[PathBuf]) -> Result<Totals> {
    let _entered = gpu.enter()?;
    let mut arena = Arena::new(ROOM)?;
    let mut totals = Totals::default();
    for file in files {
        let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        for (number, graph) in graphs(&text)?.iter().enumerate() {
            let place = || format!("graph {number} of {}", file.display());
            of_graph(gpu, compiler, &mut arena, graph, &mut totals).with_context(place)?;
        }
    }
    ensure!(totals.kernels > 0, "no file has a graph with kernels behind `{}`", AFTER.trim());
    Ok(totals)
}

/// The graphs after a plugin.
fn graphs(text: &str) -> Result<Vec<Graph>> {
    let shown = text.split(AFTER).skip(1);
    let parsed = shown.map(|shown| {
        let end = shown.find("\n}").context("a graph has no end")?;
        Graph::parse(&shown[..end + 2]).map_err(anyhow::Error::msg)
    });
    parsed.collect()
}

fn of_graph(gpu: &Arc<Gpu>, compiler: &Compiler, arena: &mut Arena, graph: &Graph, totals: &mut Totals) -> Result<()> {
    for node in &graph.nodes {
        let NodeKind::Kernel { kernel, inputs } = &node.kind else { continue };
        let types: Vec<&TensorType> = inputs.iter().map(|&input| graph.ty(input)).collect();
        let tensors: Vec<Tensor> = types.iter().zip(1..).map(|(ty, salt)| draw(ty, salt)).collect();
        let stored = tensors.iter().zip(&types).map(|(tensor, ty)| Stored::with(tensor, ty.strides.clone(), 16));
        let stored: Vec<Stored> = stored.collect();
        let form = if effort(kernel) <= INTERPRETED {
            totals.interpreted += 1;
            held(gpu, compiler, arena, kernel, &tensors, &stored).map(|found| found.form)
        } else {
            on_gpu(gpu, compiler, arena, kernel, &stored).map(|(_, form)| form.unwrap_or("empty"))
        };
        *totals.forms.entry(form.with_context(|| format!("node {}", node.id.0))?).or_default() += 1;
        totals.kernels += 1;
    }
    Ok(())
}

/// Instructions over all points.
fn effort(kernel: &Kernel) -> i64 {
    kernel.parallel.iter().chain(&kernel.reduce).product::<i64>() * kernel.body.len() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_graphs_after_a_plugin_are_taken() {
        let graph = |op: &str| format!("graph(%x: f32[4]) {{\n  %y: f32[4] = aten::{op}(%x)\n  return (%y)\n}}\n");
        let text = format!(
            "# a sample\n{}\n# after\n{}# verified; fuel 1\n# after\n{}",
            graph("relu"),
            graph("exp"),
            graph("abs")
        );
        let ops: Vec<String> =
            graphs(&text).map_or_else(|_| vec![], |graphs| graphs.iter().map(|graph| graph.to_string()).collect());
        assert!(ops.len() == 2 && ops[0].contains("aten::exp") && ops[1].contains("aten::abs"), "{ops:?}");
        assert!(graphs("# after\ngraph(").is_err());
    }
}
