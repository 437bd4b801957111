//! `passhost eval PLUGIN SAMPLE...`

use super::signing::SignArguments;
use super::signing::{Signer, Signing, kept_from_key};
use super::source::{self, GivenPlugin};
use crate::arguments::{DeviceArguments, LaunchArguments, MeasureArguments, ProgressArguments, number};
use crate::exit::{Exit, OrStop, Stop};
use crate::files::CommandFiles;
use crate::meant;
use crate::output::{print, write_json};
use crate::progress::WorkProgress;
use crate::rows::VariantRows;
use crate::terminal::{Terminal, Tone};
use clap::Args;
use passhost_child::device::DeviceSetup;
use passhost_result::document::{Blame, Document};
use passhost_result::untrusted::one_line;
use passhost_sample::Named;
use passhost_sign::{BatchId, JobId};
use passhost_supervisor::Sample;
use std::path::Path;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct EvalArguments {
    /// The plugin: a WebAssembly component, its source (a .rs file or the directory of a crate), or the name of a reference pass
    #[arg(value_parser = meant::plugin_parser())]
    pub plugin: PathBuf,
    /// Samples (ours, PassNet's, GraphNet's) or lists of them
    #[arg(required = true)]
    pub samples: Vec<PathBuf>,
    /// Writes the result document here; with several samples, a list of documents
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// How many submissions of one author to this sample share the error of the verdict
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub submissions: u32,
    /// Exits with 1 if the headline of the policy, AS or AS strict, is below this
    #[arg(long, value_name = "AS", value_parser = number)]
    pub fail_under: Option<f64>,
    /// Tries things out in seconds: the smallest variant of each element type, one round of inputs, times that other
    /// programs may have disturbed. The result says so; it is not one to rank
    #[arg(long)]
    pub quick: bool,
    /// Evaluates only the variants of this name, or with this in their names: a part of a folder's name, or folders as in
    /// float16/s0-1, the last by its beginning. May be given several times. The result says how many others there are; it
    /// is not one to rank
    #[arg(long = "variant", value_name = "NAME")]
    pub variants: Vec<String>,
    /// Shows what the pass said: its log, what it left alone and why, and the attempts of patterns that came nearest
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub sign: SignArguments,
    #[command(flatten)]
    pub launch: LaunchArguments,
    #[command(flatten)]
    pub measure: MeasureArguments,
    #[command(flatten)]
    pub progress: ProgressArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
}

/// What times on a CPU are not.
const ON_CPU: &str = "times on a CPU say little about a GPU";

/// Samples that have a table each. More of them have a row for each variant.
const TABLES: usize = 12;

pub fn run(arguments: &EvalArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    meant::check_order(&arguments.plugin, &arguments.samples)?;
    let files = || CommandFiles::default().writes("--json", &arguments.json);
    let read = source::files(&arguments.plugin);
    files().reads("the plugin", &read).reads("the key", &arguments.sign.sign).check()?;
    let signer = signer(arguments)?;
    let plugin = GivenPlugin::read(&arguments.plugin, arguments.measure.limits.limits().wasm, terminal)?;
    let config = arguments.measure.config(arguments.submissions)?;
    let mut config = arguments.launch.config(config, &[arguments.device.device])?;
    if arguments.quick {
        config.settings = config.settings.quickly();
    }
    let named = super::named_samples(&arguments.samples, terminal)?;
    files().reads_samples(&arguments.samples).reads_samples(named.iter().map(|named| &named.path)).check()?;
    if let Some(signer) = &signer {
        signer.apart_from(named.iter().map(|named| named.path.as_path()).chain([arguments.plugin.as_path()]))?;
    }
    let progress = WorkProgress::new(terminal, arguments.progress, named.len());
    // The only one is opened before anything else is started.
    let mut only = None;
    if let [one] = named.as_slice() {
        progress.step(&format!("reading {}", one.path.display()));
        only = Some(Sample::open(&one.path, arguments.measure.confinement.mode())?);
    }
    let signing = signer.as_ref().map(signing).transpose()?;
    let names = named.iter().filter_map(|named| named.path.file_name()?.to_str());
    let rows = (named.len() > TABLES).then(|| VariantRows::new(terminal, std::iter::once(""), names));
    let mut results = Results { arguments, terminal, progress: &progress, rows, documents: vec![], signing };
    let line = progress.clone();
    let supervisor = super::supervisor(config, terminal).watched_by(move |event| line.event(event));
    progress.step("loading the plugin");
    let mut plugin = plugin.load(&supervisor);
    let refusal = plugin.guest().err().cloned();
    if let Some(failure) = refusal.as_ref().filter(|failure| failure.blame == Blame::Host) {
        return Err(failure.into());
    }
    if let Some(failure) = refusal {
        progress.clear();
        print(["device: none used, the plugin does not load".to_owned()]);
        for named in &named {
            results.add(supervisor.refused(&plugin, &failure, &opened(named, only.take(), arguments)?))?;
        }
        return Ok(results.exit());
    }

    // libtorch starts in both children at once.
    let mut types = supervisor.types();
    let _ = types.start();
    progress.step("starting the device");
    let confinement = arguments.measure.confinement.mode();
    let mut device = super::open_device(&arguments.device, |setup| {
        kept_from_key(DeviceSetup { launch: arguments.launch.launch, confinement, ..setup }, signer.as_ref())
    })?;
    arguments.launch.allowed_on(device.info())?;
    let mut checker = supervisor.checker(device.info().facts).with_types(types);
    progress.clear();
    print([super::device_line(device.info())]);
    print(arguments.launch.note(device.info()).map(str::to_owned));
    print((device.info().device == "cpu").then(|| terminal.paint(Tone::Dim, ON_CPU)));
    for named in &named {
        let sample = opened(named, only.take(), arguments)?;
        results.add(supervisor.evaluate(&mut checker, &mut plugin, sample, &mut device))?;
    }
    if results.documents.len() > 1 {
        print([String::new()]);
        print(terminal.wrap(&crate::table::total(results.documents.iter()), ""));
    }
    Ok(results.exit())
}

/// Who signs the results, if that is asked for.
fn signer(arguments: &EvalArguments) -> Result<Option<Signer>, Stop> {
    let unfit = [
        (arguments.quick, "--quick"),
        (!arguments.variants.is_empty(), "--variant"),
        (arguments.measure.seed.is_some(), "--seed"),
    ];
    let signer = Signer::new(&arguments.sign, &unfit)?;
    match (&signer, &arguments.json) {
        (Some(_), None) => Err(Stop::usage("--sign has nothing to write to; name a file with --json FILE")),
        (Some(_), Some(path)) if path == Path::new("-") => {
            Err(Stop::usage("--sign writes a line for each result, to a file: name one with --json FILE"))
        }
        _ => Ok(signer),
    }
}

/// The results of one call are one batch.
fn signing(signer: &Signer) -> Result<Signing<'_>, Stop> {
    Ok(Signing::new(signer, BatchId::random().map_err(Stop::host)?))
}

/// A sample, opened when it is its turn: a process for each of many is too many. A path where none is, one of many, is a
/// sample that says so.
fn opened(
    Named { path, groups, place }: &Named,
    only: Option<Sample>,
    arguments: &EvalArguments,
) -> Result<Sample, Stop> {
    let open = || Sample::open_or_lost(path, place.as_deref(), arguments.measure.confinement.mode());
    let mut sample = only.map_or_else(open, Ok).or_stop(Exit::Host)?;
    sample.groups.clone_from(groups);
    if let Err(text) = sample.choose(&arguments.variants) {
        let hint = meant::variant(&text, sample.variants().iter().map(String::as_str));
        let (text, name) = (one_line(&text, 80), sample.name());
        return Err(Stop::usage(format!("no variant of {name} has `{text}` in its name; {hint}")));
    }
    Ok(sample)
}

/// What has come so far.
struct Results<'a> {
    arguments: &'a EvalArguments,
    terminal: &'a Terminal,
    progress: &'a WorkProgress,
    /// Where there are too many samples for a table each.
    rows: Option<VariantRows>,
    documents: Vec<Document>,
    signing: Option<Signing<'a>>,
}

impl Results<'_> {
    /// Prints a document and writes all so far, so that an interrupted run keeps what it has.
    fn add(&mut self, document: Document) -> Result<(), Stop> {
        self.progress.clear();
        match &self.rows {
            Some(rows) => print(rows.document(&document)),
            None => {
                if !self.documents.is_empty() {
                    print([String::new()]);
                }
                print(crate::table::render(&document, self.terminal));
            }
        }
        if self.arguments.explain {
            print(crate::explain::render(&document, self.terminal));
        }
        if let (Some(signing), Some(path)) = (&mut self.signing, &self.arguments.json) {
            signing.add(&document, JobId::random().map_err(Stop::host)?, self.terminal)?;
            signing.write(path)?;
        }
        self.documents.push(document);
        self.progress.part(1);
        self.progress.sample(1);
        let Some(path) = self.arguments.json.as_ref().filter(|_| self.signing.is_none()) else { return Ok(()) };
        match self.documents.as_slice() {
            [one] => write_json(path, one),
            all => write_json(path, &all),
        }
    }

    /// The exit code for all documents: the host's trouble before the sample's before the plugin's.
    fn exit(&self) -> Exit {
        let exits = self.documents.iter().map(|document| exit(document, self.arguments.fail_under));
        exits.max().unwrap_or(Exit::Success)
    }
}

fn exit(document: &Document, fail_under: Option<f64>) -> Exit {
    match document.blame {
        Some(Blame::Host) => Exit::Host,
        Some(Blame::Sample) => Exit::Usage,
        Some(Blame::Plugin) => Exit::Plugin,
        None => match (document.headline(), fail_under) {
            (Some(score), Some(threshold)) if score < threshold => Exit::Plugin,
            (Some(_), _) => Exit::Success,
            (None, _) => Exit::Host,
        },
    }
}
