//! `passhost samples check LIST|DIR...`

mod findings;
mod table;

use super::journal::{Finished, Journal};
use super::memo::Memo;
use super::memory::{available, input_bytes, run_bytes};
use super::outcome::{Failure, GraphReport, Outcome, SampleReport};
use super::progress::Progress;
use super::quantities::bytes;
use super::survey::{Crew, Task, cores, survey};
use super::worker::{Worker, Workplace};
use super::{find, print_if, write_document};
use crate::arguments::CheckSamplesArguments;
use crate::terminal::Terminal;
use crate::{Exit, Stop};
use findings::{Checked, RunReport, RunSettings, Settings, Summary};
use passhost_ir::{OpTable, functionalise};
use passhost_protocol::device::DeviceChoice;
use passhost_sample::{InputMode, Sample, Variant};

const SCHEMA: &str = "passhost.samples.check/1";

pub fn run(arguments: &CheckSamplesArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let paths = find(&arguments.survey)?;
    let memo = Memo::new();
    let mut crew = Crew::new(&arguments.survey, Workplace::for_types(arguments.survey.timeout), &memo);
    let mut check = Check { run: None, finished: Finished::new() };
    if arguments.run {
        let jobs = crew.jobs.min(paths.len());
        let threads = arguments.device.threads.unwrap_or(u32::try_from(cores() / jobs).unwrap_or(1).max(1));
        crew.place = Workplace { device: arguments.device.device, threads: Some(threads), ..crew.place };
        check.run = Some(Run {
            inputs: arguments.inputs.into(),
            seed: arguments.seed,
            memory: memory(arguments.memory, jobs)?,
        });
    }
    let settings = settings(arguments);
    let mut journal = None;
    if let Some(path) = &arguments.resume {
        let keep = |report: &SampleReport<Checked>| !report.graphs.iter().any(|graph| graph.outcome.may_pass());
        let (opened, finished) = Journal::open(path, settings.clone(), keep)?;
        (journal, check.finished) = (Some(opened), finished);
    }
    let mut progress = Progress::new(terminal, arguments.survey.quiet, paths.len());
    let reports = survey(&paths, &crew, &check, &mut progress, |report| match &mut journal {
        Some(journal) if !report.known => journal.add(report),
        _ => Ok(()),
    })?;
    let summary = Summary::of(&reports, settings, progress.elapsed(), memo.counts());
    let lines = table::render(&summary, &reports, terminal);
    let failed = summary.outcomes.keys().any(|outcome| outcome.is_failure());
    print_if(write_document(&arguments.survey, SCHEMA, summary, &reports)?, lines);
    Ok(if failed { Exit::Usage } else { Exit::Success })
}

fn settings(arguments: &CheckSamplesArguments) -> Settings {
    let device = match arguments.device.device {
        DeviceChoice::Auto => "auto".into(),
        DeviceChoice::Cpu => "cpu".into(),
        DeviceChoice::Cuda(index) => format!("cuda:{index}"),
    };
    let run = RunSettings { device, inputs: arguments.inputs.name().into(), seed: arguments.seed };
    Settings { host: env!("CARGO_PKG_VERSION").into(), run: arguments.run.then_some(run) }
}

/// Bytes that one run may take.
fn memory(asked: Option<u64>, jobs: usize) -> Result<u64, Stop> {
    let share = || available().map(|bytes| bytes / 4 * 3 / jobs as u64);
    asked.or_else(share).ok_or_else(|| Stop::usage("how much memory there is cannot be found out; give --memory"))
}

/// Reads, types and functionalises each graph, and runs it if that is asked for.
struct Check {
    run: Option<Run>,
    finished: Finished<Checked>,
}

struct Run {
    inputs: InputMode,
    seed: u64,
    memory: u64,
}

impl Task for Check {
    type Found = Checked;

    fn look(&self, worker: &mut Worker<'_>, sample: &Sample, index: usize) -> GraphReport<Checked> {
        let name = &sample.variants()[index].name;
        let inputs = self.run.as_ref().map_or(InputMode::Fresh, |run| run.inputs);
        let variant = match worker.load(sample, index, inputs) {
            Ok(variant) => variant,
            Err(failure) => return GraphReport::new(name, Err(failure)),
        };
        let mut found = Checked {
            nodes: variant.program.nodes.len() as u64,
            inputs: variant.inputs.len() as u64,
            input_bytes: input_bytes(&variant.inputs),
            run_bytes: run_bytes(&variant.program, &variant.inputs),
            run: None,
        };
        match self.examine(worker, &variant, &mut found) {
            Ok(()) => GraphReport::new(name, Ok(found)),
            Err(failure) => GraphReport { found: Some(found), ..GraphReport::new(name, Err(failure)) },
        }
    }

    fn known(&self, sample: &Sample) -> Option<Vec<GraphReport<Checked>>> {
        self.finished.get(sample.sha256()).cloned()
    }
}

impl Check {
    /// What comes after reading and typing.
    fn examine(&self, worker: &mut Worker<'_>, variant: &Variant, found: &mut Checked) -> Result<(), Failure> {
        functionalise(&variant.program, OpTable::sample())
            .map_err(|error| Failure::new(Outcome::NotFunctional, error))?;
        let Some(run) = &self.run else { return Ok(()) };
        if found.run_bytes > run.memory {
            let (needed, allowed) = (bytes(found.run_bytes), bytes(run.memory));
            return Err(Failure::new(Outcome::TooLarge, format!("it takes {needed}, and --memory is {allowed}")));
        }
        let ran = worker.run(&variant.program, &variant.inputs, run.seed, None)?;
        found.run = Some(RunReport::of(&ran));
        match ran.differences.first() {
            Some(difference) => Err(Failure::new(Outcome::TypesDiffer, difference)),
            None => Ok(()),
        }
    }
}
