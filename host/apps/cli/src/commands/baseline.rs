//! `passhost baseline LIST|DIR...`

use super::bench::keeper::{Keeper, Keeping};
use super::bench::{finish, sample_entry};
use super::programs::programs;
use crate::arguments::BaselineArguments;
use crate::exit::{Exit, OrStop, Stop};
use crate::files::CommandFiles;
use crate::interrupt;
use crate::output::print;
use crate::progress::EvaluationProgress;
use crate::terminal::Terminal;
use passhost_child::device::{Device, DeviceSetup};
use passhost_supervisor::Supervisor;
use passhost_supervisor::baseline::{BaselineError, Baselines, Wanted, temporary};
use passhost_supervisor::batch::{BatchFile, BatchWork, Checking, Header};
use std::path::Path;
use std::sync::atomic::AtomicBool;

pub fn run(arguments: &BaselineArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let files = || CommandFiles::default().writes("--out", [&arguments.out]).reads_samples(&arguments.paths);
    files().check()?;
    let samples = super::named_samples(&arguments.paths, terminal)?;
    files().reads_samples(samples.iter().map(|sample| &sample.path)).check()?;
    let folder = || temporary().or_stop(Exit::Host);
    let (inputs, outputs) = (folder()?, folder()?);
    let progress = EvaluationProgress::new(terminal, &arguments.progress, samples.len());
    progress.step("starting the device");
    let mut device = open_device(arguments, inputs.path())?;
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

fn open_device(arguments: &BaselineArguments, files: &Path) -> Result<Device, Stop> {
    let setup = super::device_setup(arguments.device.device, arguments.device.threads);
    let confinement = arguments.measure.walls.confinement();
    let setup = DeviceSetup { confinement, files: Some(files.into()), ..setup };
    Device::open(setup).or_stop(Exit::Host)
}

fn baselines(arguments: &BaselineArguments, device: &Device, [inputs, outputs]: [&Path; 2]) -> Result<Baselines, Stop> {
    let wanted = Wanted {
        python: arguments.python.clone(),
        methods: arguments.methods.0.clone(),
        processes: arguments.processes as usize,
        inputs: inputs.into(),
        outputs: outputs.into(),
        timeout: arguments.measure.timeout,
    };
    Baselines::new(wanted, device).map_err(|error| {
        let exit = if matches!(error, BaselineError::NeedsGpu { .. }) { Exit::Usage } else { Exit::Host };
        Stop::new(exit, error)
    })
}
