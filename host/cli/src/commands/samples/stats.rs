//! `passhost samples stats LIST|DIR...`

use super::histogram::{bars, by_powers};
use super::memo::Memo;
use super::memory::input_bytes;
use super::outcome::SampleReport;
use super::progress::Progress;
use super::quantities::{bytes, count};
use super::survey::{Crew, Each, survey};
use super::worker::{Worker, Workplace};
use super::{find, print_if, report_unusable, write_document};
use crate::arguments::StatsArguments;
use crate::terminal::{Terminal, Tone, wrap};
use crate::{Exit, Stop};
use passhost_ir::{Graph, NodeKind};
use passhost_sample::{InputMode, Sample};
use serde::Serialize;
use std::collections::BTreeMap;

const SCHEMA: &str = "passhost.samples.stats/1";

/// Nodes are counted between powers of this.
const NODES_BASE: u64 = 2;
/// Bytes are counted between powers of this.
const BYTES_BASE: u64 = 16;

/// What is counted of one graph, as the sample has it: with in-place ops and dead code.
#[derive(Debug, PartialEq, Serialize)]
struct Counted {
    nodes: u64,
    /// Calls by op.
    ops: BTreeMap<String, u64>,
    /// Values, inputs included, by element type.
    dtypes: BTreeMap<&'static str, u64>,
    input_bytes: u64,
    largest_tensor: String,
    largest_tensor_bytes: u64,
}

/// The same over all graphs.
#[derive(Debug, Default, Serialize)]
struct Summary {
    graphs: u64,
    nodes: u64,
    nodes_median: u64,
    nodes_most: u64,
    ops: BTreeMap<String, OpCount>,
    dtypes: BTreeMap<&'static str, u64>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
struct OpCount {
    calls: u64,
    /// Graphs that call it.
    graphs: u64,
}

pub fn run(arguments: &StatsArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let paths = find(&arguments.survey)?;
    let memo = Memo::new();
    let crew = Crew::new(&arguments.survey, Workplace::for_types(arguments.survey.timeout), &memo);
    let mut progress = Progress::new(terminal, arguments.survey.quiet, paths.len());
    let task = Each(|worker: &mut Worker<'_>, sample: &Sample, index| {
        let variant = worker.load(sample, index, InputMode::Fresh)?;
        Ok(Counted { input_bytes: input_bytes(&variant.inputs), ..counted(&variant.program) })
    });
    let reports = survey(&paths, &crew, &task, &mut progress, |_| Ok(()))?;
    let summary = summary(&reports);
    let lines = render(&summary, &reports, arguments.top, terminal);
    print_if(write_document(&arguments.survey, SCHEMA, summary, &reports)?, lines);
    Ok(report_unusable(&reports, terminal))
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

fn summary(reports: &[SampleReport<Counted>]) -> Summary {
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

fn render(summary: &Summary, reports: &[SampleReport<Counted>], top: usize, terminal: &Terminal) -> Vec<String> {
    let width = terminal.width();
    let mut lines = vec![];
    let mut section = |title: String, rows: &[(String, u64)]| {
        lines.push(terminal.paint(Tone::Strong, &title));
        lines.extend(bars(rows, width));
        lines.push(String::new());
    };
    let mut ops: Vec<(String, u64)> = summary.ops.iter().map(|(op, n)| (op.clone(), n.calls)).collect();
    // Those with the same count in the order of their names.
    ops.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    let (shown, rest) = ops.split_at(top.min(ops.len()));
    section(format!("calls by op, {} of {}", shown.len(), ops.len()), shown);
    let rest: u64 = rest.iter().map(|(_, calls)| calls).sum();

    let graphs = || reports.iter().flat_map(SampleReport::found);
    let label = |(low, number): (u64, u64), base: u64, show: fn(u64) -> String| match low {
        0 => ("0".to_owned(), number),
        low => (format!("from {} below {}", show(low), show(low.saturating_mul(base))), number),
    };
    let nodes = by_powers(graphs().map(|graph| graph.nodes), NODES_BASE);
    let rows: Vec<_> = nodes.into_iter().map(|bucket| label(bucket, NODES_BASE, count)).collect();
    section("graphs by nodes".into(), &rows);
    let sizes = by_powers(graphs().map(|graph| graph.largest_tensor_bytes), BYTES_BASE);
    let rows: Vec<_> = sizes.into_iter().map(|bucket| label(bucket, BYTES_BASE, bytes)).collect();
    section("graphs by their largest tensor".into(), &rows);
    let rows: Vec<_> = summary.dtypes.iter().map(|(dtype, values)| ((*dtype).to_owned(), *values)).collect();
    section("tensors by element type".into(), &rows);

    let total = format!(
        "{} graphs of {} samples, {} nodes (median {}, most {}), {} ops, {} calls of ops not shown",
        count(summary.graphs),
        count(reports.len() as u64),
        count(summary.nodes),
        count(summary.nodes_median),
        count(summary.nodes_most),
        count(summary.ops.len() as u64),
        count(rest),
    );
    lines.extend(wrap(&total, width, ""));
    lines
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
