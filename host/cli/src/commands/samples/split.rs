//! `passhost samples split LIST|DIR... --eval FRACTION --train-out FILE --eval-out FILE`

use super::progress::Progress;
use super::{crew, find, print_if, report_unusable, survey, write_document};
use crate::arguments::SplitArguments;
use crate::terminal::{Terminal, wrap};
use crate::{Exit, Stop};
use anyhow::Context;
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::quantities::count;
use passhost_corpus::split::{Sequence, Sides, sequence, sides};
use passhost_corpus::survey::Each;
use passhost_corpus::write_whole;
use passhost_sample::is_list_entry;
use passhost_supervisor::Memo;
use serde::Serialize;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

const SCHEMA: &str = "passhost.samples.split/1";

#[derive(Serialize)]
struct Summary {
    seed: u64,
    eval_fraction: f64,
    train: u64,
    eval: u64,
    left_out: u64,
    /// Sets of samples that share op sequences.
    groups: u64,
}

pub fn run(arguments: &SplitArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    if arguments.train_out == arguments.eval_out {
        return Err(Stop::usage("--train-out and --eval-out name the same file; give two"));
    }
    let paths = find(&arguments.survey)?;
    let memo = Arc::new(Memo::default());
    let crew = crew(&arguments.survey, &memo);
    let mut progress = Progress::new(terminal, arguments.survey.quiet, paths.len());
    let task = Each(sequence);
    let reports = survey(&paths, &crew, &task, &mut progress, |_| Ok(()))?;

    // A sample with a graph that nobody could read might share that one with the other side.
    let usable: Vec<(&PathBuf, &SampleReport<Sequence>)> =
        paths.iter().zip(&reports).filter(|(_, report)| report.is_whole()).collect();
    let sequences: Vec<Vec<&str>> = usable
        .iter()
        .map(|(_, report)| report.found().map(|sequence| sequence.op_sequence.as_str()).collect())
        .collect();
    let Sides { eval, groups } = sides(&sequences, arguments.eval, arguments.seed);
    let side = |wanted: bool| -> Vec<&Path> {
        let chosen = usable.iter().zip(&eval).filter(|(_, eval)| **eval == wanted);
        chosen.map(|((path, _), _)| path.as_path()).collect()
    };
    let (train, eval) = (side(false), side(true));
    let title =
        |what: &str| format!("{what}: `passhost samples split --eval {} --seed {}`", arguments.eval, arguments.seed);
    write_list(&arguments.train_out, &title("Samples to train on"), &train)?;
    write_list(&arguments.eval_out, &title("Samples to evaluate on"), &eval)?;
    let summary = Summary {
        seed: arguments.seed,
        eval_fraction: arguments.eval,
        train: train.len() as u64,
        eval: eval.len() as u64,
        left_out: (paths.len() - usable.len()) as u64,
        groups,
    };
    let lines = render(&summary, terminal);
    print_if(write_document(&arguments.survey, SCHEMA, summary, &reports)?, lines);
    Ok(report_unusable(&reports, terminal))
}

/// Writes paths relative to the list, as it will be read.
fn write_list(list: &Path, title: &str, samples: &[&Path]) -> Result<(), Stop> {
    let write = || {
        let folder = match list.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let folder = folder.canonicalize().with_context(|| format!("there is no folder `{}`", folder.display()))?;
        let mut text = format!("# {title}\n");
        for sample in samples {
            let target = sample.canonicalize().with_context(|| format!("cannot find `{}`", sample.display()))?;
            let entry = relative(&folder, &target);
            let entry = entry.to_str().filter(|entry| is_list_entry(entry));
            let entry = entry.with_context(|| format!("`{}` has a name that no list can hold", sample.display()))?;
            text.push_str(&format!("{entry}\n"));
        }
        Ok(write_whole(list, &text)?)
    };
    write().map_err(|error| Stop { exit: Exit::Usage, error })
}

/// The way from one folder to another; both absolute and without links.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

fn render(summary: &Summary, terminal: &Terminal) -> Vec<String> {
    let whole = (summary.train + summary.eval).max(1);
    let text = format!(
        "{} samples to train on, {} to evaluate on ({:.1}%, asked for {:.1}%), {} left out; {} groups that share no op sequence",
        count(summary.train),
        count(summary.eval),
        summary.eval as f64 * 100.0 / whole as f64,
        summary.eval_fraction * 100.0,
        count(summary.left_out),
        count(summary.groups),
    );
    wrap(&text, terminal.width(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_a_list_are_relative_to_it() {
        for (from, to, expected) in [
            ("/a/lists", "/a/samples/x", "../samples/x"),
            ("/a", "/a/samples/x", "samples/x"),
            ("/a/b/c", "/d", "../../../d"),
            ("/a", "/a", "."),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(expected), "{from} to {to}");
        }
    }
}
