//! Counts of ops, nodes, element types and tensor sizes.

use crate::memory::input_bytes;
use crate::outcome::{Failure, SampleReport};
use crate::worker::Worker;
use passhost_ir::{Graph, NodeKind};
use passhost_sample::{InputMode, SampleText};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is counted of one graph, as the sample has it: with in-place ops and dead code.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counted {
    /// Nodes.
    pub nodes: u64,
    /// Calls by op.
    pub ops: BTreeMap<String, u64>,
    /// Values, inputs included, by element type.
    pub dtypes: BTreeMap<&'static str, u64>,
    /// Bytes of all inputs.
    pub input_bytes: u64,
    /// Type of the largest value.
    pub largest_tensor: String,
    /// Its bytes.
    pub largest_tensor_bytes: u64,
}

/// The same over all graphs.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// Graphs that could be read.
    pub graphs: u64,
    /// Nodes of all of them.
    pub nodes: u64,
    /// Nodes of the middle one.
    pub nodes_median: u64,
    /// Nodes of the largest.
    pub nodes_most: u64,
    /// Calls by op.
    pub ops: BTreeMap<String, OpCount>,
    /// Values by element type.
    pub dtypes: BTreeMap<&'static str, u64>,
}

/// How often an op is called.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct OpCount {
    /// Calls over all graphs.
    pub calls: u64,
    /// Graphs that call it.
    pub graphs: u64,
}

/// Counts variant `index` of a sample.
///
/// # Errors
///
/// If it cannot be read.
pub fn count_graph(worker: &mut Worker, sample: &SampleText, index: usize) -> Result<Counted, Failure> {
    let variant = worker.load(sample, index, InputMode::Fresh)?;
    Ok(Counted { input_bytes: input_bytes(&variant.inputs), ..counted(&variant.program) })
}

fn counted(program: &Graph) -> Counted {
    let mut ops = BTreeMap::new();
    for node in &program.nodes {
        if let NodeKind::Aten { op, .. } = &node.kind {
            *ops.entry(op.to_string()).or_insert(0) += 1;
        }
    }
    let mut dtypes = BTreeMap::new();
    for value in &program.values {
        *dtypes.entry(value.ty.dtype.name()).or_insert(0) += 1;
    }
    let largest = program.values.iter().map(|value| &value.ty).max_by_key(|ty| ty.bytes());
    Counted {
        nodes: program.nodes.len() as u64,
        ops,
        dtypes,
        input_bytes: 0,
        largest_tensor: largest.map_or_else(String::new, ToString::to_string),
        largest_tensor_bytes: largest.map_or(0, |ty| ty.bytes()),
    }
}

impl Summary {
    /// Of all graphs that were counted.
    pub fn of(reports: &[SampleReport<Counted>]) -> Summary {
        let mut summary = Summary::default();
        let mut nodes = vec![];
        for graph in reports.iter().flat_map(SampleReport::found) {
            summary.graphs += 1;
            nodes.push(graph.nodes);
            for (op, calls) in &graph.ops {
                let entry = summary.ops.entry(op.clone()).or_default();
                entry.calls += calls;
                entry.graphs += 1;
            }
            for (dtype, values) in &graph.dtypes {
                *summary.dtypes.entry(dtype).or_insert(0) += values;
            }
        }
        nodes.sort_unstable();
        summary.nodes = nodes.iter().sum();
        summary.nodes_median = nodes.get(nodes.len() / 2).copied().unwrap_or(0);
        summary.nodes_most = nodes.last().copied().unwrap_or(0);
        summary
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn ops_types_and_sizes_of_a_graph_are_counted() {
        let text = "graph(%x: f32[4], %y: i64[2]) {
  %a: f32[4] = aten::relu(%x)
  %b: f32[4] = aten::relu(%a)
  %c: f64[4] = aten::to.dtype(%b, f64)
  return (%c)
}
";
        let counted = counted(&Graph::parse(text).unwrap());
        assert_eq!(counted.ops, BTreeMap::from([("aten::relu".into(), 2), ("aten::to.dtype".into(), 1)]));
        assert_eq!(counted.dtypes, BTreeMap::from([("f32", 3), ("f64", 1), ("i64", 1)]));
        assert_eq!((counted.nodes, counted.largest_tensor.as_str(), counted.largest_tensor_bytes), (3, "f64[4]", 32));
    }
}
