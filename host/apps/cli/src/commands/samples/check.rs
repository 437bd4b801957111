//! `passhost samples check LIST|DIR...`

use super::{SurveyArguments, crew, failure_lines, find, progress, survey, write};
use crate::arguments::{DeviceArguments, device_name, inputs, inputs_name, size};
use crate::commands::device_setup;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::{Terminal, Tone};
use clap::Args;
use passhost_child::Memo;
use passhost_corpus::check::{Check, Run};
use passhost_corpus::findings::{Checked, RunSettings, Settings, Summary};
use passhost_corpus::journal::{Finished, Journal};
use passhost_corpus::outcome::{Outcome, SampleReport};
use passhost_corpus::quantities::{count, time};
use passhost_corpus::survey::cores;
use passhost_page::number::counted;
use passhost_sample::InputMode;
use passhost_supervisor::memory::available;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct CheckSamplesArguments {
    #[command(flatten)]
    pub survey: SurveyArguments,
    /// Also runs each graph once
    #[arg(long)]
    pub run: bool,
    /// Bytes that one graph may take while it runs, as estimated from its types; three quarters of what is available,
    /// divided by the jobs, if absent
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "run")]
    pub memory: Option<u64>,
    /// How inputs are drawn for a run
    #[arg(long, default_value = "fresh", value_parser = inputs())]
    pub inputs: InputMode,
    /// Seed of the inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Keeps each finished sample in this file, and takes those from it that have not changed since
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub device: DeviceArguments,
}

const SCHEMA: &str = "passhost.samples.check/1";

pub fn run(arguments: &CheckSamplesArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let paths = find(&arguments.survey, CommandFiles::default().goes_on_with("--resume", &arguments.resume))?;
    let memo = Arc::new(Memo::default());
    let mut crew = crew(&arguments.survey, &memo);
    let mut check = Check { run: None, finished: Finished::new() };
    if arguments.run {
        let jobs = crew.jobs.min(paths.len());
        let threads = arguments.device.threads.unwrap_or(u32::try_from(cores() / jobs).unwrap_or(1).max(1));
        crew.place.device = device_setup(arguments.device.device, Some(threads));
        check.run =
            Some(Run { inputs: arguments.inputs, seed: arguments.seed, memory: memory(arguments.memory, jobs)? });
    }
    let settings = settings(arguments);
    let mut journal = None;
    if let Some(path) = &arguments.resume {
        let keep = |report: &SampleReport<Checked>| !report.graphs.iter().any(|graph| graph.outcome.may_pass());
        let (opened, finished) = Journal::open(path, settings.clone(), keep)?;
        (journal, check.finished) = (Some(opened), finished);
    }
    let progress = progress(&arguments.survey, &paths, terminal);
    let reports = survey(&paths, &crew, &check, &progress, |report| match &mut journal {
        Some(journal) if !report.known => Ok(journal.add(report)?),
        _ => Ok(()),
    })?;
    let summary = Summary::of(&reports, settings, progress.elapsed(), memo.counts());
    let lines = render(&summary, &reports, terminal);
    let failed = summary.outcomes.keys().any(|outcome| outcome.is_failure());
    write(&arguments.survey, SCHEMA, summary, &reports, lines)?;
    Ok(if failed { Exit::Usage } else { Exit::Success })
}

fn settings(arguments: &CheckSamplesArguments) -> Settings {
    let device = device_name(arguments.device.device);
    let run = RunSettings { device, inputs: inputs_name(arguments.inputs).into(), seed: arguments.seed };
    Settings { host: env!("CARGO_PKG_VERSION").into(), run: arguments.run.then_some(run) }
}

/// Bytes that one run may take.
fn memory(asked: Option<u64>, jobs: usize) -> Result<u64, Stop> {
    let share = || available().map(|bytes| bytes / 4 * 3 / jobs as u64);
    asked.or_else(share).ok_or_else(|| Stop::usage("how much memory there is cannot be found out; give --memory"))
}

/// The counts by outcome, what they are of, and the failures.
fn render(summary: &Summary, reports: &[SampleReport<Checked>], terminal: &Terminal) -> Vec<String> {
    let outcomes: Vec<(Outcome, u64)> =
        Outcome::ALL.into_iter().filter_map(|outcome| Some((outcome, *summary.outcomes.get(&outcome)?))).collect();
    let rows: Vec<Vec<String>> = outcomes
        .iter()
        .map(|(outcome, graphs)| vec![outcome.to_string(), count(*graphs), share(*graphs, summary.graphs)])
        .collect();
    let mut lines = terminal.headed(&["outcome", "graphs", "share"], &rows);
    for (line, (outcome, _)) in lines.iter_mut().skip(1).zip(&outcomes) {
        let tone = match outcome {
            Outcome::Ok => Tone::Good,
            outcome if outcome.is_failure() => Tone::Bad,
            _ => Tone::Warn,
        };
        *line = terminal.paint(tone, line);
    }
    lines.extend(terminal.wrap(&totals(summary, reports.len() as u64), ""));
    if summary.outputs_that_tell_little > 0 {
        let graphs = count(summary.outputs_that_tell_little);
        let text =
            format!("note: {graphs} graphs have an output that is constant or not finite; `eval` would refuse them");
        lines.extend(terminal.painted(Tone::Dim, &text, ""));
    }
    lines.extend(failure_lines(reports, terminal));
    lines
}

/// `2,490 graphs of 2,490 samples (12 from the journal), 1,390,112 nodes, 8m 12s, 5.1 samples/s`.
fn totals(summary: &Summary, samples: u64) -> String {
    let known = summary.samples_from_journal;
    let journal = if known > 0 { format!(" ({} from the journal)", count(known)) } else { String::new() };
    let rate = samples.saturating_sub(known) as f64 / summary.seconds.max(1e-3);
    format!(
        "{} of {}{journal}, {} nodes, {}, {rate:.1} samples/s",
        counted(summary.graphs as usize, "graph"),
        counted(samples as usize, "sample"),
        count(summary.nodes),
        time(Duration::from_secs_f64(summary.seconds)),
    )
}

/// A share in per cent that is 100 only where it is all.
fn share(part: u64, whole: u64) -> String {
    let tenths = part.saturating_mul(1000).checked_div(whole).unwrap_or(0);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_share_is_rounded_down_so_that_only_all_is_100() {
        assert_eq!([share(3, 3), share(2489, 2490), share(1, 2490), share(0, 0)], ["100.0%", "99.9%", "0.0%", "0.0%"]);
    }
}
