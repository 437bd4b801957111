//! `passhost decompose LIST|DIR... --out DIR`

mod collect;
mod graph_net;
pub mod names;
mod summary;
mod tree;

use super::samples::memo::Memo;
use super::samples::progress::Progress;
use super::samples::survey::{Crew, Each, survey};
use super::samples::worker::{Worker, Workplace};
use super::samples::{find, print_if, report_unusable, write_document};
use crate::arguments::DecomposeArguments;
use crate::terminal::Terminal;
use crate::{Exit, Stop};
use collect::Collector;
use passhost_sample::Sample;
use passhost_sample::decompose::{Kind, Model, repeated};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::Summary;
use tree::Tree;

const SCHEMA: &str = "passhost.decompose/1";

/// The ranges of typical pieces, by the position of the sample and that of its variant.
type Typical = HashMap<(usize, usize), Vec<Range<usize>>>;

pub fn run(arguments: &DecomposeArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let kinds: BTreeSet<Kind> = arguments.kind.iter().map(|&kind| kind.into()).collect();
    let paths = find(&arguments.survey)?;
    let tree = Tree::create(&arguments.out)?;
    let started = Instant::now();
    let memo = Memo::new();
    let crew = Crew::new(&arguments.survey, Workplace::for_types(arguments.survey.timeout), &memo);
    let mut progress = Progress::new(terminal, arguments.survey.quiet, paths.len());
    let typical = if kinds.contains(&Kind::Typical) { typical(&paths, &crew, &mut progress)? } else { Typical::new() };

    let collector = Collector::new(kinds, &paths, typical);
    let mut progress = Progress::new(terminal, arguments.survey.quiet, paths.len());
    let task = Each(|worker: &mut Worker<'_>, sample: &Sample, index| collector.cut(worker, sample, index));
    let reports = survey(&paths, &crew, &task, &mut progress, |_| Ok(()))?;
    let (kinds, models) = collector.finish(arguments.variants as usize);
    let mut summary = Summary::of(&reports, started.elapsed());
    for (kind, tasks) in kinds {
        let written = tree.write(kind, &tasks, &models, arguments)?;
        summary.add(kind, &tasks, written);
    }
    let lines = summary.render(terminal);
    print_if(write_document(&arguments.survey, SCHEMA, summary, &reports)?, lines);
    Ok(report_unusable(&reports, terminal))
}

/// Looks for op sequences that occur more than once. A model that cannot be read has none; the second look at it, for
/// cutting, says why.
fn typical(paths: &[PathBuf], crew: &Crew<'_>, progress: &mut Progress) -> Result<Typical, Stop> {
    let task = Each(|worker: &mut Worker<'_>, sample: &Sample, index| {
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

/// A path as errors show it.
fn shown(path: &Path) -> String {
    crate::untrusted::one_line(&path.display().to_string(), 400)
}
