//! `passhost bench PLUGIN... LIST|DIR...`

mod fleet;
pub(super) mod given;
pub(super) mod keeper;

use super::programs::programs;
use super::signing::SignArguments;
use super::signing::{Signer, Signing};
use crate::arguments::{Devices, LaunchArguments, MeasureArguments, ProgressArguments, devices};
use crate::exit::{Exit, OrStop, Stop};
use crate::files::CommandFiles;
use crate::interrupt;
use crate::meant;
use crate::output::print;
use crate::progress::WorkProgress;
use crate::terminal::Terminal;
use clap::Args;
use fleet::{FleetWork, QueueRunner};
use given::BatchInputs;
use keeper::{Keeper, Keeping};
use passhost_child::Plugin;
use passhost_report::{Apart, GraphFilter, Summary, entries, summarise};
use passhost_result::document::{Blame, Document};
use passhost_sign::{BatchId, JobId};
use passhost_supervisor::Supervisor;
use passhost_supervisor::batch::{self, Batch, BatchFile, BatchWork, Checking, Header, PluginEntry, SampleEntry};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

#[derive(Debug, Args)]
pub struct BenchArguments {
    /// Plugins, which are .wasm components or names of reference passes, and samples, lists of samples, or directories that
    /// hold some, in any order
    #[arg(required = true, value_name = "PLUGIN... LIST|DIR", value_parser = meant::plugin_parser())]
    pub paths: Vec<PathBuf>,
    /// Keeps each result in this file, a JSON value a line, as soon as it is there
    #[arg(long, value_name = "FILE", default_value = "bench.jsonl")]
    pub out: PathBuf,
    /// Goes on with the batch in that file: what has ended is not done again
    #[arg(long)]
    pub resume: bool,
    /// Only variants with this in their names: a part of a folder's name, or folders as in float16/s0-1, the last by its
    /// beginning. May be given several times
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// How many submissions of one author share the error of a verdict; as many as there are plugins if absent
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub submissions: Option<u32>,
    /// Stops at the first trouble of the host; otherwise the others are evaluated
    #[arg(long)]
    pub fail_fast: bool,
    #[command(flatten)]
    pub fleet: FleetWork,
    #[command(flatten)]
    pub sign: SignArguments,
    #[command(flatten)]
    pub launch: LaunchArguments,
    #[command(flatten)]
    pub measure: MeasureArguments,
    #[command(flatten)]
    pub progress: ProgressArguments,
    /// auto, cpu, cuda, cuda:N, or several GPUs that work side by side, cuda:0,1
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices)]
    pub device: Devices,
    /// Threads for CPU work, all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

/// Those who check for one device, where there are cores that time nothing.
const CHECKERS: usize = 4;

pub fn run(arguments: &BenchArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let signed = arguments.sign.sign.as_ref().map(|_| signed_file(&arguments.out));
    let files = || CommandFiles::default().writes("--out", [&arguments.out]).writes("--sign", &signed);
    files().reads("the key", &arguments.sign.sign).reads_samples(&arguments.paths).check()?;
    let signer = signer(arguments)?;
    let BatchInputs { plugins, samples } =
        given::read(&arguments.paths, arguments.measure.limits.limits().wasm, terminal)?;
    files().reads_samples(samples.iter().map(|sample| &sample.path)).check()?;
    if let Some(signer) = &signer {
        signer.apart_from(samples.iter().map(|sample| sample.path.as_path()))?;
    }
    let submissions = arguments.submissions.unwrap_or(u32::try_from(plugins.len()).unwrap_or(u32::MAX));
    let config = arguments.launch.config(arguments.measure.config(submissions)?, &arguments.device.0)?;
    let progress = WorkProgress::new(terminal, arguments.progress, samples.len());
    let fleet = arguments.fleet.open(&config, &samples, terminal)?;
    let mut header = Header::new(&config);
    let line = progress.clone();
    let supervisor = super::supervisor(config, terminal).watched_by(move |event| line.event(event));
    progress.step("loading the plugins");
    header.plugins = plugins.iter().map(|plugin| entry(&supervisor, plugin)).collect::<Result<_, _>>()?;
    header.programs = programs().or_stop(Exit::Host)?;
    header.variants.clone_from(&arguments.variants);
    header.id = Some(BatchId::random().map_err(Stop::host)?.to_string());
    header.samples = samples.into_iter().map(sample_entry).collect();
    header.external = fleet.is_some();
    progress.step("starting the device");
    let (launch, confinement) = (arguments.launch.launch, arguments.measure.confinement.mode());
    let choices = if header.external { &[] } else { &*arguments.device.0 };
    let keys = signer.iter().map(Signer::key_path);
    let mut devices = super::open_devices(choices, arguments.threads, launch, confinement, keys)?;
    devices.iter().try_for_each(|device| arguments.launch.allowed_on(device.info()))?;
    header.devices = devices.iter().map(|device| device.info().clone()).collect();
    progress.clear();
    print(header.devices.first().and_then(|device| arguments.launch.note(device)).map(str::to_owned));

    let (file, finished) = BatchFile::open(&arguments.out, &header, arguments.resume)?;
    // Of a batch that goes on, they are those of its file.
    let (id, known) = (file.header().id.clone().unwrap_or_default(), file.header().devices.clone());
    let stop = AtomicBool::new(false);
    let keeping = Keeping { out: &arguments.out, quiet: arguments.progress.quiet, fail_fast: arguments.fail_fast };
    let mut keeper = Keeper::new(file, &header, keeping, terminal, &progress, &stop);
    keeper.introduce(&finished);
    interrupt::watch();
    let checking = Checking::Beside(CHECKERS);
    let bench = BatchWork { header: &header, plugins: &plugins, finished: &finished, checking, stop: &stop };
    match fleet {
        None => supervisor.bench(&bench, &mut devices, |heard| keeper.hear(heard))?,
        Some(fleet) => {
            let mut runner = QueueRunner::new(fleet, &plugins, &id, &stop, terminal);
            supervisor.bench_by(&bench, &mut runner, known, |heard| keeper.hear(heard))?;
            runner.clear();
        }
    }
    progress.clear();
    let exit = finish(&arguments.out, terminal)?;
    if let Some(signer) = &signer {
        sign(signer, &arguments.out, terminal)?;
    }
    Ok(exit)
}

/// Who signs the results, if that is asked for.
fn signer(arguments: &BenchArguments) -> Result<Option<Signer>, Stop> {
    let unfit = [(!arguments.variants.is_empty(), "--variant"), (arguments.measure.seed.is_some(), "--seed")];
    Signer::new(&arguments.sign, &unfit)
}

/// Where the signed results of a batch stand: beside its file.
fn signed_file(out: &Path) -> PathBuf {
    out.with_extension("signed.jsonl")
}

/// Signs what has ended of a batch. However often that is done, a result keeps the name of its job.
fn sign(signer: &Signer, out: &Path, terminal: &Terminal) -> Result<(), Stop> {
    let Batch { header, documents, whole, .. } = batch::read(out)?;
    let Some(id) = header.id else {
        return Err(Stop::usage(format!(
            "`{}` was begun by a passhost that could not sign: its results have no job; begin another batch",
            out.display()
        )));
    };
    let mut signing = Signing::new(signer, BatchId::of(&id));
    for document in documents.iter().zip(whole).filter_map(|(document, whole)| whole.then_some(document)) {
        let job = &document.job;
        let job = JobId::within(&id, &[&job.plugin_sha256, &job.sample, &job.sample_sha256]);
        signing.add(document, job, terminal)?;
    }
    let path = signed_file(out);
    signing.write(&path)?;
    print([format!("{} results are signed, in {}", signing.count(), path.display())]);
    Ok(())
}

/// What a batch says of a sample that nobody has opened yet.
pub(super) fn sample_entry(named: passhost_sample::Named) -> SampleEntry {
    SampleEntry { path: named.path.display().to_string(), groups: named.groups, place: named.place }
}

/// Prints what has come of a batch, and says how it ended.
pub(super) fn finish(out: &Path, terminal: &Terminal) -> Result<Exit, Stop> {
    let mut kept = batch::read(out)?;
    let exit = exit(&kept);
    let last = end(&kept, out, terminal);
    print(summaries(std::mem::take(&mut kept.documents), out, terminal).into_iter().chain(last));
    Ok(exit)
}

/// What a batch says of a plugin. One that does not load fails on every variant, unless the host is to blame.
fn entry(supervisor: &Supervisor, plugin: &Plugin) -> Result<PluginEntry, Stop> {
    let mut loaded = supervisor.load(plugin.clone());
    let failure = loaded.guest().err().cloned();
    if let Some(failure) = failure.as_ref().filter(|failure| failure.blame == Blame::Host) {
        return Err(failure.into());
    }
    let info = loaded.info().cloned();
    Ok(PluginEntry { path: plugin.path.clone(), sha256: plugin.sha256.clone(), info, failure, baseline: None })
}

/// What has come of it: what `passhost report` says of the file.
fn summaries(documents: Vec<Document>, out: &Path, terminal: &Terminal) -> Vec<String> {
    let sourced = super::documents::sourced(out, documents);
    let entries = entries(&sourced, Apart::Plugins, &GraphFilter::default());
    let summaries: Vec<Summary> = entries.iter().filter(|entry| !entry.is_empty()).map(summarise).collect();
    let mut lines = crate::summary::render(&summaries, terminal);
    lines.insert(0, String::new());
    lines.push(String::new());
    lines
}

/// How much has ended, and what to do about what has not.
fn end(kept: &Batch, out: &Path, terminal: &Terminal) -> Vec<String> {
    let mut lines = vec![];
    let mut say = |text: String| lines.extend(terminal.wrap(&text, ""));
    let (finished, all, out) = (kept.finished_samples, kept.header.samples.len(), out.display());
    say(format!("{finished} of {all} samples have ended; all results are in {out}"));
    if finished < all || kept.documents.iter().any(is_hosts_trouble) {
        say(format!("what is missing or was not measured: {}", given::resume_command()));
    }
    lines
}

fn is_hosts_trouble(document: &Document) -> bool {
    let of_variants = document.variants.iter().filter_map(|variant| variant.failure.as_ref());
    of_variants.chain(&document.failure).any(|failure| failure.blame == Blame::Host)
}

fn exit(kept: &Batch) -> Exit {
    let is_samples = |document: &Document| document.blame == Some(Blame::Sample);
    if interrupt::count() > 0 {
        Exit::Interrupted(interrupt::last())
    } else if kept.documents.iter().any(is_hosts_trouble) {
        Exit::Host
    } else if kept.documents.iter().any(is_samples) {
        Exit::Usage
    } else if kept.header.plugins.iter().all(|plugin| plugin.failure.is_some()) {
        Exit::Plugin
    } else {
        Exit::Success
    }
}
