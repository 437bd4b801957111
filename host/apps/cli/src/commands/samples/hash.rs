//! `passhost samples hash LIST|DIR...`

use super::{SurveyArguments, ask, conclude};
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::{Terminal, Tone};
use clap::Args;
use passhost_corpus::hash::{Hashed, Summary, hash};
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::quantities::count;
use passhost_result::untrusted::one_line;

#[derive(Debug, Args)]
pub struct HashArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// Only graphs that occur more than once
    #[arg(long)]
    pub duplicates: bool,
}

const SCHEMA: &str = "passhost.samples.hash/1";

pub fn run(arguments: &HashArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let (_, reports) = ask(&arguments.survey, CommandFiles::default(), terminal, hash)?;
    let summary = Summary::of(&reports);
    let lines = if arguments.duplicates { duplicates(&summary, terminal) } else { hashes(&reports) };
    conclude(&arguments.survey, SCHEMA, summary, &reports, lines, terminal)
}

/// A hash and a path a line, as `sha256sum` has them.
fn hashes(reports: &[SampleReport<Hashed>]) -> Vec<String> {
    let lines = reports.iter().flat_map(|report| {
        let graphs = report.graphs.iter().filter_map(|graph| Some((graph, graph.found.as_ref()?)));
        graphs.map(|(graph, Hashed { hash })| format!("{hash}  {}", one_line(&report.name_of(graph), 400)))
    });
    lines.collect()
}

fn duplicates(summary: &Summary, terminal: &Terminal) -> Vec<String> {
    let mut lines = vec![];
    for (hash, names) in &summary.duplicates {
        lines.push(terminal.paint(Tone::Strong, &format!("{hash}: {} graphs", names.len())));
        lines.extend(names.iter().map(|name| format!("  {}", one_line(name, 400))));
    }
    lines.push(format!(
        "{} graphs, {} different, {} of them more than once",
        count(summary.graphs),
        count(summary.different),
        count(summary.duplicates.len() as u64),
    ));
    lines
}
