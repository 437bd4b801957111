//! `passhost samples stats LIST|DIR...`

use super::{SurveyArguments, ask, conclude};
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::Terminal;
use clap::Args;
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::quantities::count;
use passhost_corpus::stats::{Counted, Summary, count_graph};
use passhost_page::number::counted;

#[derive(Debug, Args)]
pub struct StatsArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// Ops that are shown, the most frequent ones
    #[arg(long, value_name = "N", default_value_t = 25)]
    pub top: usize,
}

const SCHEMA: &str = "passhost.samples.stats/1";

pub fn run(arguments: &StatsArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let (_, reports) = ask(&arguments.survey, CommandFiles::default(), terminal, count_graph)?;
    let summary = Summary::of(&reports);
    let lines = render(&summary, &reports, arguments.top, terminal);
    conclude(&arguments.survey, SCHEMA, summary, &reports, lines, terminal)
}

fn render(summary: &Summary, reports: &[SampleReport<Counted>], top: usize, terminal: &Terminal) -> Vec<String> {
    let row = |(name, number): (&str, u64)| vec![name.to_owned(), count(number)];
    let mut ops: Vec<(&str, u64)> = summary.ops.iter().map(|(op, counted)| (op.as_str(), counted.calls)).collect();
    // Those with the same count in the order of their names.
    ops.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    let (shown, rest) = ops.split_at(top.min(ops.len()));
    let mut lines = terminal.headed(&["op", "calls"], &shown.iter().copied().map(row).collect::<Vec<_>>());
    lines.push(String::new());
    let dtypes: Vec<_> = summary.dtypes.iter().map(|(dtype, values)| row((*dtype, *values))).collect();
    lines.extend(terminal.headed(&["element type", "tensors"], &dtypes));
    lines.push(String::new());
    let total = format!(
        "{} of {}, {} nodes (median {}, most {}), {} ops, {} calls of ops not shown",
        counted(summary.graphs as usize, "graph"),
        counted(reports.len(), "sample"),
        count(summary.nodes),
        count(summary.nodes_median),
        count(summary.nodes_most),
        count(summary.ops.len() as u64),
        count(rest.iter().map(|(_, calls)| calls).sum()),
    );
    lines.extend(terminal.wrap(&total, ""));
    lines
}
