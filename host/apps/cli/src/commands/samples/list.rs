//! `passhost samples list LIST|DIR...`

use super::{ask, print_if, report_unusable, write_document};
use crate::arguments::ListArguments;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::{Terminal, Tone};
use passhost_corpus::list::{Listed, list};
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::quantities::{bytes, count};
use passhost_result::untrusted::one_line;
use std::collections::BTreeSet;

const SCHEMA: &str = "passhost.samples.list/1";

/// Columns that a narrow terminal keeps: name, graphs, nodes and element types.
const NARROW: [usize; 4] = [0, 1, 2, 5];

pub fn run(arguments: &ListArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let (_, reports) = ask(&arguments.survey, CommandFiles::default(), terminal, list)?;
    let lines = render(&reports, terminal);
    print_if(write_document(&arguments.survey, SCHEMA, serde_json::Map::new(), &reports)?, lines);
    Ok(report_unusable(&reports, terminal))
}

fn render(reports: &[SampleReport<Listed>], terminal: &Terminal) -> Vec<String> {
    let head = ["sample", "graphs", "nodes", "inputs", "input bytes", "types"];
    let keep: Vec<usize> = if terminal.width() < 90 { NARROW.to_vec() } else { (0..head.len()).collect() };
    let rows: Vec<Vec<String>> = reports.iter().map(|report| row(report).to_vec()).collect();
    let mut lines = terminal.columns(&head, &rows, &keep);
    for (line, report) in lines.iter_mut().skip(1).zip(reports) {
        if !report.is_whole() {
            *line = terminal.paint(Tone::Bad, line);
        }
    }
    lines
}

fn row(report: &SampleReport<Listed>) -> [String; 6] {
    let graphs = report.graphs.len();
    let usable = report.found().count();
    let dtypes: BTreeSet<&str> = report.found().flat_map(|found| found.dtypes.iter().copied()).collect();
    [
        one_line(&report.sample, 200),
        if usable == graphs { count(graphs as u64) } else { format!("{usable} of {graphs}") },
        range(report, |found| found.nodes, count),
        range(report, |found| found.inputs, count),
        range(report, |found| found.input_bytes, bytes),
        if dtypes.is_empty() { "-".into() } else { dtypes.into_iter().collect::<Vec<_>>().join(" ") },
    ]
}

/// `12`, or `12 to 40` where the graphs of a sample differ.
fn range(report: &SampleReport<Listed>, of: impl Fn(&Listed) -> u64, show: impl Fn(u64) -> String) -> String {
    let numbers = || report.found().map(&of);
    match (numbers().min(), numbers().max()) {
        (Some(least), Some(most)) if least == most => show(least),
        (Some(least), Some(most)) => format!("{} to {}", show(least), show(most)),
        _ => "-".into(),
    }
}
