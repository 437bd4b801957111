//! `passhost decompose LIST|DIR... --out DIR`

mod summary;

use super::samples::progress::Progress;
use super::samples::{crew, find, print_if, report_unusable, survey, write_document};
use crate::arguments::DecomposeArguments;
use crate::terminal::Terminal;
use crate::{Exit, Stop};
use passhost_corpus::decompose::{Kind, Model, repeated};
use passhost_corpus::pieces::{Collector, Selection, Tree, Typical};
use passhost_corpus::survey::{Crew, Each};
use passhost_corpus::worker::Worker;
use passhost_sample::Sample;
use passhost_supervisor::Memo;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use summary::Summary;

const SCHEMA: &str = "passhost.decompose/1";

pub fn run(arguments: &DecomposeArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let kinds: BTreeSet<Kind> = arguments.kind.iter().map(|&kind| kind.into()).collect();
    let paths = find(&arguments.survey)?;
    let tree = Tree::create(&arguments.out)?;
    let started = Instant::now();
    let memo = Arc::new(Memo::default());
    let crew = crew(&arguments.survey, &memo);
    let mut progress = Progress::new(terminal, arguments.survey.quiet, paths.len());
    let typical = if kinds.contains(&Kind::Typical) { typical(&paths, &crew, &mut progress)? } else { Typical::new() };

    let collector = Collector::new(kinds, &paths, typical);
    let mut progress = Progress::new(terminal, arguments.survey.quiet, paths.len());
    let task = Each(|worker: &mut Worker, sample: &Sample, index| collector.cut(worker, sample, index));
    let reports = survey(&paths, &crew, &task, &mut progress, |_| Ok(()))?;
    let (kinds, models) = collector.finish(arguments.variants as usize);
    let mut summary = Summary::of(&reports, started.elapsed());
    let selection = Selection { names: arguments.name.clone(), most: arguments.max.map(|most| most as usize) };
    for (kind, tasks) in kinds {
        let written = tree.write(kind, &tasks, &models, &selection)?;
        summary.add(kind, &tasks, written);
    }
    let lines = summary.render(terminal);
    print_if(write_document(&arguments.survey, SCHEMA, summary, &reports)?, lines);
    Ok(report_unusable(&reports, terminal))
}

/// Looks for op sequences that occur more than once. A model that cannot be read has none; the second look at it, for
/// cutting, says why.
fn typical(paths: &[PathBuf], crew: &Crew<'_>, progress: &mut Progress) -> Result<Typical, Stop> {
    let task = Each(|worker: &mut Worker, sample: &Sample, index| {
        worker.read(sample, index, |reading, _| Model::of(&reading).ops())
    });
    let reports = survey(paths, crew, &task, progress, |_| Ok(()))?;
    // Ops become numbers. Each sequence keeps which variant of which sample it is.
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let (mut places, mut sequences) = (vec![], vec![]);
    for (sample, report) in reports.iter().enumerate() {
        for (variant, graph) in report.graphs.iter().enumerate() {
            let Some(ops) = &graph.found else { continue };
            let mut sequence = vec![];
            for op in ops {
                let next = numbers.len() as u32;
                sequence.push(op.as_deref().map(|op| *numbers.entry(op).or_insert(next)));
            }
            sequences.push(sequence);
            places.push((sample, variant));
        }
    }
    Ok(places.into_iter().zip(repeated(&sequences)).collect())
}
