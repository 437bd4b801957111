//! `passhost samples stats LIST|DIR...`

use super::histogram::{bars, by_powers};
use super::{ask, print_if, report_unusable, write_document};
use crate::arguments::StatsArguments;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::{Terminal, Tone, wrap};
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::quantities::{bytes, count};
use passhost_corpus::stats::{Counted, Summary, count_graph};

const SCHEMA: &str = "passhost.samples.stats/1";

/// Nodes are counted between powers of this.
const NODES_BASE: u64 = 2;
/// Bytes are counted between powers of this.
const BYTES_BASE: u64 = 16;

pub fn run(arguments: &StatsArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let (_, reports) = ask(&arguments.survey, CommandFiles::default(), terminal, count_graph)?;
    let summary = Summary::of(&reports);
    let lines = render(&summary, &reports, arguments.top, terminal);
    print_if(write_document(&arguments.survey, SCHEMA, summary, &reports)?, lines);
    Ok(report_unusable(&reports, terminal))
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
