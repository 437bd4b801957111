//! `passhost samples list LIST|DIR...`

use super::{SurveyArguments, ask, conclude};
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::{Terminal, TitledCell, Tone, WIDE};
use clap::Args;
use passhost_corpus::list::{Listed, list};
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::quantities::{bytes, count};
use passhost_result::untrusted::one_line;
use std::collections::BTreeSet;

#[derive(Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
}

const SCHEMA: &str = "passhost.samples.list/1";

pub fn run(arguments: &ListArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let (_, reports) = ask(&arguments.survey, CommandFiles::default(), terminal, list)?;
    let lines = render(&reports, terminal);
    conclude(&arguments.survey, SCHEMA, serde_json::Map::new(), &reports, lines, terminal)
}

fn render(reports: &[SampleReport<Listed>], terminal: &Terminal) -> Vec<String> {
    let mut lines = terminal.rows(reports, |report| {
        let (usable, graphs) = (report.found().count(), report.graphs.len());
        let dtypes: BTreeSet<&str> = report.found().flat_map(|found| found.dtypes.iter().copied()).collect();
        let dtypes = if dtypes.is_empty() { "-".to_owned() } else { Vec::from_iter(dtypes).join(" ") };
        let graphs = if usable == graphs { count(graphs as u64) } else { format!("{usable} of {graphs}") };
        [
            TitledCell::new("sample", one_line(&report.sample, 200)),
            TitledCell::new("graphs", graphs),
            TitledCell::new("nodes", range(report, |found| found.nodes, count)),
            TitledCell::new("inputs", range(report, |found| found.inputs, count)).from(WIDE),
            TitledCell::new("input bytes", range(report, |found| found.input_bytes, bytes)).from(WIDE),
            TitledCell::new("types", dtypes),
        ]
    });
    for (line, report) in lines.iter_mut().skip(1).zip(reports) {
        if !report.is_whole() {
            *line = terminal.paint(Tone::Bad, line);
        }
    }
    lines
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
