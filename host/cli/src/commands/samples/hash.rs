//! `passhost samples hash LIST|DIR...`

use super::memo::Memo;
use super::outcome::{Failure, Outcome, SampleReport};
use super::progress::Progress;
use super::quantities::count;
use super::survey::{Crew, Each, survey};
use super::worker::{Worker, Workplace};
use super::{find, print_if, report_unusable, write_document};
use crate::arguments::HashArguments;
use crate::guest::hex;
use crate::terminal::{Terminal, Tone};
use crate::untrusted::one_line;
use crate::{Exit, Stop};
use passhost_ir::{OpTable, canonical_text};
use passhost_sample::Sample;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

const SCHEMA: &str = "passhost.samples.hash/1";

#[derive(Serialize)]
struct Hashed {
    /// SHA-256 of the canonical text of the functional graph, in hexadecimal.
    hash: String,
}

#[derive(Serialize)]
struct Summary {
    graphs: u64,
    different: u64,
    /// The graphs of each hash that occurs more than once.
    duplicates: BTreeMap<String, Vec<String>>,
}

pub fn run(arguments: &HashArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let paths = find(&arguments.survey)?;
    let memo = Memo::new();
    let crew = Crew::new(&arguments.survey, Workplace::for_types(arguments.survey.timeout), &memo);
    let mut progress = Progress::new(terminal, arguments.survey.quiet, paths.len());
    let task = Each(|worker: &mut Worker<'_>, sample: &Sample, index| {
        let graph = worker.load_functional(sample, index)?;
        let text = canonical_text(&graph, OpTable::sample())
            .ok_or_else(|| Failure::new(Outcome::ReaderBug, "a value is used before it is defined"))?;
        Ok(Hashed { hash: hex(&Sha256::digest(text)) })
    });
    let reports = survey(&paths, &crew, &task, &mut progress, |_| Ok(()))?;
    let summary = summary(&reports);
    let lines = if arguments.duplicates { duplicates(&summary, terminal) } else { hashes(&reports) };
    print_if(write_document(&arguments.survey, SCHEMA, summary, &reports)?, lines);
    Ok(report_unusable(&reports, terminal))
}

fn summary(reports: &[SampleReport<Hashed>]) -> Summary {
    let mut graphs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for report in reports {
        for graph in &report.graphs {
            if let Some(Hashed { hash }) = &graph.found {
                graphs.entry(hash.clone()).or_default().push(report.name_of(graph));
            }
        }
    }
    let total = graphs.values().map(|names| names.len() as u64).sum();
    let different = graphs.len() as u64;
    graphs.retain(|_, names| names.len() > 1);
    Summary { graphs: total, different, duplicates: graphs }
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
