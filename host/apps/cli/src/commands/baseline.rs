//! `passhost baseline LIST|DIR...`

use super::bench::keeper::{Keeper, Keeping};
use super::bench::{finish, sample_entry};
use super::programs::programs;
use crate::arguments::{DeviceArguments, MeasureArguments, ProgressArguments};
use crate::exit::{Exit, OrStop, Stop};
use crate::files::CommandFiles;
use crate::interrupt;
use crate::output::print;
use crate::progress::WorkProgress;
use crate::terminal::Terminal;
use clap::Args;
use passhost_child::device::{Device, DeviceSetup};
use passhost_supervisor::Supervisor;
use passhost_supervisor::baseline::Method;
use passhost_supervisor::baseline::{BaselineError, Baselines, Wanted, temporary};
use passhost_supervisor::batch::{BatchFile, BatchWork, Checking, Header};
use std::path::Path;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

#[derive(Debug, Args)]
pub struct BaselineArguments {
    /// Samples, lists of samples, or directories that hold some
    #[arg(required = true, value_name = "LIST|DIR")]
    pub paths: Vec<PathBuf>,
    /// What is measured, after one another: eager, inductor, inductor-reduce-overhead, inductor-precision, eager-graph,
    /// inductor-graph
    #[arg(long = "with", value_name = "METHODS", default_value = "eager,inductor", value_parser = methods)]
    pub methods: Methods,
    /// A Python with the torch that libtorch is of; its modules may lie where PYTHONPATH says
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub python: PathBuf,
    /// Processes of Python that the times of a graph are taken in: each compiles it once more
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=3))]
    pub processes: u32,
    /// A graph whose inputs and outputs have more bytes in all is compared in one round, and timed on its inputs
    #[arg(long, value_name = "BYTES", default_value_t = 512 << 20)]
    pub one_round_above: u64,
    /// Keeps each result in this file, a JSON value a line, as soon as it is there
    #[arg(long, value_name = "FILE", default_value = "baseline.jsonl")]
    pub out: PathBuf,
    /// Goes on with the batch in that file: what has ended is not done again
    #[arg(long)]
    pub resume: bool,
    /// Only variants with this in their names: a part of a folder's name, or folders as in float16/s0-1, the last by its
    /// beginning. May be given several times
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// Stops at the first trouble of the host; otherwise the others are measured
    #[arg(long)]
    pub fail_fast: bool,
    #[command(flatten)]
    pub measure: MeasureArguments,
    #[command(flatten)]
    pub progress: ProgressArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Methods(pub Vec<Method>);

/// `eager,inductor`: each once.
fn methods(text: &str) -> Result<Methods, String> {
    let mut methods: Vec<Method> = vec![];
    for name in text.split(',') {
        let known = || Method::ALL.map(Method::name).join(", ");
        let method =
            Method::from_name(name).ok_or_else(|| format!("`{name}` is no baseline; there are {}", known()))?;
        if methods.contains(&method) {
            return Err(format!("`{name}` is named twice"));
        }
        methods.push(method);
    }
    Ok(Methods(methods))
}

pub fn run(arguments: &BaselineArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let files = || CommandFiles::default().writes("--out", [&arguments.out]).reads_samples(&arguments.paths);
    files().check()?;
    let samples = super::named_samples(&arguments.paths, terminal)?;
    files().reads_samples(samples.iter().map(|sample| &sample.path)).check()?;
    let folder = || temporary().or_stop(Exit::Host);
    let (inputs, outputs) = (folder()?, folder()?);
    let progress = WorkProgress::new(terminal, arguments.progress, samples.len());
    progress.step("starting the device");
    let (confinement, files) = (arguments.measure.confinement.mode(), Some(inputs.path().into()));
    let mut device = super::open_device(&arguments.device, |setup| DeviceSetup { confinement, files, ..setup })?;
    progress.step("starting Python");
    let baselines = baselines(arguments, &device, [inputs.path(), outputs.path()])?;
    progress.clear();
    let config = arguments.measure.config(1)?;
    let mut header = Header::new(&config);
    header.plugins = baselines.entries();
    header.programs = programs().or_stop(Exit::Host)?;
    header.variants.clone_from(&arguments.variants);
    header.samples = samples.into_iter().map(sample_entry).collect();
    header.devices = vec![device.info().clone()];
    let line = progress.clone();
    let supervisor = Supervisor::new(config).watched_by(move |event| line.event(event));

    let (file, finished) = BatchFile::open(&arguments.out, &header, arguments.resume)?;
    let stop = AtomicBool::new(false);
    let keeping = Keeping { out: &arguments.out, quiet: arguments.progress.quiet, fail_fast: arguments.fail_fast };
    let mut keeper = Keeper::new(file, &header, keeping, terminal, &progress, &stop);
    keeper.introduce(&finished);
    if !arguments.progress.quiet {
        print([format!("baselines: {}", baselines.description())]);
    }
    interrupt::watch();
    let bench =
        BatchWork { header: &header, plugins: &[], finished: &finished, checking: Checking::Between, stop: &stop };
    supervisor.baselines(&baselines, &bench, &mut device, |heard| keeper.hear(heard))?;
    progress.clear();
    finish(&arguments.out, terminal)
}

fn baselines(arguments: &BaselineArguments, device: &Device, [inputs, outputs]: [&Path; 2]) -> Result<Baselines, Stop> {
    let wanted = Wanted {
        python: arguments.python.clone(),
        methods: arguments.methods.0.clone(),
        processes: arguments.processes as usize,
        inputs: inputs.into(),
        outputs: outputs.into(),
        one_round_above: arguments.one_round_above,
        timeout: arguments.measure.timeout,
    };
    Baselines::new(wanted, device).map_err(|error| {
        let exit = if matches!(error, BaselineError::NeedsGpu { .. }) { Exit::Usage } else { Exit::Host };
        Stop::new(exit, error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_named_each_once() {
        let all = Method::ALL.map(Method::name).join(",");
        assert_eq!(methods(&all), Ok(Methods(Method::ALL.to_vec())));
        for (bad, why) in
            [("eager,eager", "twice"), ("", "`` is no baseline"), ("tensorrt", "there are eager, inductor,")]
        {
            assert!(methods(bad).is_err_and(|error| error.contains(why)), "{bad}");
        }
    }
}
