//! `passhost samples check LIST|DIR...`

mod table;

use super::progress::SurveyProgress;
use super::{crew, find, print_if, survey, write_document};
use crate::arguments::{CheckSamplesArguments, device_name, inputs_name};
use crate::commands::device_setup;
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::terminal::Terminal;
use passhost_child::Memo;
use passhost_corpus::check::{Check, Run};
use passhost_corpus::findings::{Checked, RunSettings, Settings, Summary};
use passhost_corpus::journal::{Finished, Journal};
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::survey::cores;
use passhost_supervisor::memory::available;
use std::sync::Arc;

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
    let mut progress = SurveyProgress::new(terminal, arguments.survey.quiet, paths.len());
    let reports = survey(&paths, &crew, &check, &mut progress, |report| match &mut journal {
        Some(journal) if !report.known => Ok(journal.add(report)?),
        _ => Ok(()),
    })?;
    let summary = Summary::of(&reports, settings, progress.elapsed(), memo.counts());
    let lines = table::render(&summary, &reports, terminal);
    let failed = summary.outcomes.keys().any(|outcome| outcome.is_failure());
    print_if(write_document(&arguments.survey, SCHEMA, summary, &reports)?, lines);
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
