//! `passhost samples hash LIST|DIR...`

use super::{ask, print_if, report_unusable, write_document};
use crate::arguments::HashArguments;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::{Terminal, Tone};
use passhost_corpus::hash::{Hashed, Summary, hash};
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::quantities::count;
use passhost_result::untrusted::one_line;

const SCHEMA: &str = "passhost.samples.hash/1";

pub fn run(arguments: &HashArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let (_, reports) = ask(&arguments.survey, CommandFiles::default(), terminal, hash)?;
    let summary = Summary::of(&reports);
    let lines = if arguments.duplicates { duplicates(&summary, terminal) } else { hashes(&reports) };
    print_if(write_document(&arguments.survey, SCHEMA, summary, &reports)?, lines);
    Ok(report_unusable(&reports, terminal))
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
