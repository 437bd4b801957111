//! `passhost samples lowerings LIST|DIR...`

use super::{SurveyArguments, ask, conclude};
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::{Terminal, Tone};
use clap::Args;
use passhost_corpus::lowerings::{Calls, Lowerings, lowerings, total, write};
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::quantities::count;
use passhost_corpus::write_whole;
use passhost_result::untrusted::one_line;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct LoweringsArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// Writes the counts here, a line for each op; `passhost ops` is built with those of GraphNet
    #[arg(long, value_name = "FILE")]
    pub counts: Option<PathBuf>,
}

const SCHEMA: &str = "passhost.samples.lowerings/1";

#[derive(Serialize)]
struct LoweringsSummary<'a> {
    ops: &'a Lowerings,
}

pub fn run(arguments: &LoweringsArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let files = CommandFiles::default().writes("--counts", &arguments.counts);
    let (_, reports) = ask(&arguments.survey, files, terminal, lowerings)?;
    let ops = total(&reports);
    let graphs = reports.iter().flat_map(SampleReport::found).count() as u64;
    if let Some(path) = &arguments.counts {
        let about = format!("{} graphs: op, calls, graphs with some, kernels, views; why others stay", count(graphs));
        write_whole(path, write(&about, &ops))?;
    }
    let lines = render(&ops, graphs, terminal);
    conclude(&arguments.survey, SCHEMA, LoweringsSummary { ops: &ops }, &reports, lines, terminal)
}

/// The ops that stay somewhere, those with most such calls first, and why.
fn render(ops: &Lowerings, graphs: u64, terminal: &Terminal) -> Vec<String> {
    let stay = |calls: &Calls| calls.refused.values().sum::<u64>();
    let mut rows: Vec<(&String, &Calls)> = ops.iter().filter(|(_, calls)| stay(calls) > 0).collect();
    rows.sort_by_key(|(_, calls)| std::cmp::Reverse(stay(calls)));
    let mut lines = vec![];
    for (op, calls) in rows {
        let title = format!("{}: {} of {} calls stay", one_line(op, 80), count(stay(calls)), count(calls.calls));
        lines.push(terminal.paint(Tone::Strong, &title));
        for (reason, number) in &calls.refused {
            lines.extend(terminal.wrap(&format!("{} {}", count(*number), one_line(reason, 300)), "  "));
        }
    }
    let sum = |of: fn(&Calls) -> u64| count(ops.values().map(of).sum());
    let calls = format!("{} calls of {} graphs", sum(|calls| calls.calls), count(graphs));
    let kernels = format!("{} kernels, {} views", sum(|calls| calls.kernels), sum(|calls| calls.views));
    lines.push(format!("{calls}: {kernels}, {} stay", count(ops.values().map(stay).sum())));
    lines
}
