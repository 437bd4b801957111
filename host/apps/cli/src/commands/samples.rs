//! `passhost samples ...`: what is done with many samples at once.

mod check;
mod convert;
mod hash;
mod list;
mod lowerings;
mod run;
mod split;
mod stats;
mod strength;
mod vary;

use crate::arguments::{ProgressArguments, duration};
use crate::exit::{Exit, OrStop, Stop};
use crate::files::CommandFiles;
use crate::meant;
use crate::output::write_and_print;
use crate::progress::WorkProgress;
use crate::terminal::{Terminal, Tone};
use clap::{Args, Subcommand};
use passhost_child::Memo;
use passhost_corpus::outcome::{Failure, Outcome, SampleReport};
use passhost_corpus::packing::Form;
use passhost_corpus::survey::{Crew, Each, Heard, Task, cores};
use passhost_corpus::worker::{Worker, Workplace};
use passhost_result::is_among;
use passhost_result::untrusted::one_line;
use passhost_sample::SampleText;
use serde::Serialize;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct SamplesArguments {
    #[command(subcommand)]
    pub command: SamplesCommand,
}

#[derive(Debug, Subcommand)]
pub enum SamplesCommand {
    /// Reads, types and functionalises every graph, and runs it if asked; counts how that ends
    Check(check::CheckSamplesArguments),
    /// Prints a line for each sample: graphs, nodes, inputs, element types
    List(list::ListArguments),
    /// Counts ops, nodes, element types and tensor sizes over all graphs
    Stats(stats::StatsArguments),
    /// Lowers each call of every graph by itself; counts which become kernels, which are views, and why others stay
    Lowerings(lowerings::LoweringsArguments),
    /// Divides samples into a list to train on and one to evaluate on, with no op sequence in both
    Split(split::SplitArguments),
    /// Prints a hash of each graph that names, numbering and dead code do not change
    Hash(hash::HashArguments),
    /// Runs one graph once and writes its inputs and outputs as files
    Run(run::RunArguments),
    /// Tries plausible cheats of every graph against its check: how many are refused, and which kinds are not
    Strength(Box<strength::StrengthArguments>),
    /// Makes variants of one graph, of other sizes and element types, and writes them as a task
    Vary(vary::VaryArguments),
    /// Writes samples as one text file each, in which texts that are equal stand once
    Pack(convert::ConvertArguments),
    /// Writes samples as directories, whose files can be edited
    Unpack(convert::ConvertArguments),
}

/// What all commands over many samples take.
#[derive(Debug, Args)]
pub struct SurveyArguments {
    /// Samples, lists of them, or directories that hold some
    #[arg(required = true, value_name = "LIST|DIR")]
    pub paths: Vec<PathBuf>,
    /// Samples that are worked on at once, each with processes of its own; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Wall clock for reading one graph, and for running it
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    pub timeout: Duration,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
    /// Writes all results here; to standard output for `-`
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Failures that are spelt out on the terminal; `--json` has them all.
const FAILURES_SHOWN: usize = 20;

pub fn run(arguments: &SamplesArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    match &arguments.command {
        SamplesCommand::Check(arguments) => check::run(arguments, terminal),
        SamplesCommand::List(arguments) => list::run(arguments, terminal),
        SamplesCommand::Stats(arguments) => stats::run(arguments, terminal),
        SamplesCommand::Lowerings(arguments) => lowerings::run(arguments, terminal),
        SamplesCommand::Split(arguments) => split::run(arguments, terminal),
        SamplesCommand::Hash(arguments) => hash::run(arguments, terminal),
        SamplesCommand::Run(arguments) => run::run(arguments, terminal),
        SamplesCommand::Strength(arguments) => strength::run(arguments, terminal),
        SamplesCommand::Vary(arguments) => vary::run(arguments, terminal),
        SamplesCommand::Pack(arguments) => convert::run(arguments, Form::Packed, terminal),
        SamplesCommand::Unpack(arguments) => convert::run(arguments, Form::Directory, terminal),
    }
}

/// The paths of all samples that these paths name, each once, where a command writes these files and `--json`.
pub(super) fn find(arguments: &SurveyArguments, files: CommandFiles<'_>) -> Result<Vec<PathBuf>, Stop> {
    let files = files.writes("--json", &arguments.json).reads_samples(&arguments.paths);
    files.check()?;
    meant::check_there(arguments.paths.iter().map(PathBuf::as_path), meant::NO_SAMPLE)?;
    let found: Vec<PathBuf> = each_once(&arguments.paths)?.into_iter().map(|(_, sample)| sample).collect();
    files.reads_samples(&found).check()?;
    Ok(found)
}

/// The samples that these paths name, each once, with the path that names it first.
pub(super) fn each_once(paths: &[PathBuf]) -> Result<Vec<(&PathBuf, PathBuf)>, Stop> {
    let (mut found, mut seen) = (vec![], HashSet::new());
    for path in paths {
        let samples = passhost_sample::find(path).or_stop(Exit::Usage)?.into_iter();
        let new = samples.filter(|sample| seen.insert(passhost_sample::plain_path(sample)));
        found.extend(new.map(|sample| (path, sample)));
    }
    Ok(found)
}

/// The crew for a survey that runs nothing: as many as the user wants, or as there are cores.
pub(super) fn crew<'a>(arguments: &SurveyArguments, memo: &'a Arc<Memo>) -> Crew<'a> {
    let jobs = arguments.jobs.map_or_else(cores, |jobs| jobs as usize);
    Crew { jobs, place: Workplace::for_types(arguments.timeout), memo }
}

/// Says how far a survey of these samples is, unless nobody wants to know.
pub(super) fn progress(arguments: &SurveyArguments, paths: &[PathBuf], terminal: &Terminal) -> WorkProgress {
    WorkProgress::new(terminal, ProgressArguments { quiet: arguments.quiet, verbose: false }, paths.len())
}

/// Looks at every graph and shows how far that is. `done` hears of each sample as soon as it is finished.
pub(super) fn survey<T: Task>(
    paths: &[PathBuf],
    crew: &Crew<'_>,
    task: &T,
    progress: &WorkProgress,
    mut done: impl FnMut(&SampleReport<T::Found>) -> Result<(), Stop>,
) -> Result<Vec<SampleReport<T::Found>>, Stop> {
    let reports = passhost_corpus::survey::survey(paths, crew, task, |heard| match heard {
        Heard::Nothing => {
            progress.tick();
            Ok(())
        }
        Heard::Finished(report) => {
            progress.sample(usize::from(!report.known));
            done(report)
        }
    });
    progress.clear();
    reports
}

/// Asks one thing of every graph that the paths name, for a command that writes these files and `--json`. The samples, and
/// what is found of each.
fn ask<T: Send>(
    arguments: &SurveyArguments,
    files: CommandFiles<'_>,
    terminal: &Terminal,
    question: impl Fn(&mut Worker, &SampleText, usize) -> Result<T, Failure> + Sync,
) -> Result<(Vec<PathBuf>, Vec<SampleReport<T>>), Stop> {
    let paths = find(arguments, files)?;
    let memo = Arc::new(Memo::default());
    let progress = progress(arguments, &paths, terminal);
    let reports = survey(&paths, &crew(arguments, &memo), &Each(question), &progress, |_| Ok(()))?;
    Ok((paths, reports))
}

/// The first graph of a sample whose name has one of these texts; the first one if there are none.
fn one_graph(sample: &SampleText, texts: &[String]) -> Result<usize, Stop> {
    let index = sample.variants().iter().position(|variant| is_among(&variant.name, texts));
    index.ok_or_else(|| {
        let hint = meant::variant(&texts[0], sample.variants().iter().map(|variant| variant.name.as_str()));
        Stop::usage(format!("no graph has `{}` in its name; {hint}", one_line(&texts.join("` or `"), 80)))
    })
}

/// What a command found, as `--json` writes it.
#[derive(Serialize)]
struct SurveyDocument<'a, Summary, T> {
    /// Names the form of the document.
    schema: &'static str,
    /// Version of this program.
    host: &'static str,
    #[serde(flatten)]
    summary: Summary,
    samples: &'a [SampleReport<T>],
}

/// Writes the document that `--json` asks for, and prints the lines unless standard output belongs to the document.
fn write<T: Serialize>(
    arguments: &SurveyArguments,
    schema: &'static str,
    summary: impl Serialize,
    samples: &[SampleReport<T>],
    lines: Vec<String>,
) -> Result<(), Stop> {
    let document = SurveyDocument { schema, host: env!("CARGO_PKG_VERSION"), summary, samples };
    write_and_print(&arguments.json, &document, lines)
}

/// The end of a command that takes every graph that can be read: what it found, and on standard error those that cannot.
pub(super) fn conclude<T: Serialize>(
    arguments: &SurveyArguments,
    schema: &'static str,
    summary: impl Serialize,
    reports: &[SampleReport<T>],
    lines: Vec<String>,
    terminal: &Terminal,
) -> Result<Exit, Stop> {
    write(arguments, schema, summary, reports, lines)?;
    let graphs = || reports.iter().flat_map(|report| &report.graphs);
    let failed = graphs().filter(|graph| graph.outcome.is_failure()).count();
    if failed == 0 {
        return Ok(Exit::Success);
    }
    terminal.complain(&format!("{failed} of {} graphs cannot be used and are left out", graphs().count()));
    for line in failure_lines(reports, terminal) {
        terminal.complain(&line);
    }
    Ok(Exit::Usage)
}

/// The lines for graphs that did not pass: which, what and where.
fn failure_lines<T>(reports: &[SampleReport<T>], terminal: &Terminal) -> Vec<String> {
    let mut failures: Vec<_> = reports
        .iter()
        .flat_map(|report| report.graphs.iter().map(move |graph| (report, graph)))
        .filter(|(_, graph)| graph.outcome != Outcome::Ok)
        .collect();
    failures.sort_by_key(|(_, graph)| graph.outcome);
    let mut lines = vec![];
    for (report, graph) in failures.iter().take(FAILURES_SHOWN) {
        let tone = if graph.outcome.is_failure() { Tone::Bad } else { Tone::Warn };
        let name = one_line(&report.name_of(graph), 200);
        lines.push(format!("{} {name}", terminal.paint(tone, &format!("{}:", graph.outcome))));
        let place = graph.place.as_ref().map_or(String::new(), |place| format!(" (at {})", one_line(place, 300)));
        let what = one_line(graph.what.as_deref().unwrap_or("no reason is known"), 600);
        lines.extend(terminal.wrap(&format!("{what}{place}"), "  "));
    }
    if failures.len() > FAILURES_SHOWN {
        lines.push(format!("and {} others, see --json", failures.len() - FAILURES_SHOWN));
    }
    lines
}
