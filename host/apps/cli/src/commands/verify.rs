//! `passhost verify RESULT`

pub mod signatures;

use super::samples::each_once;
use crate::arguments::{ConfinementArguments, DeviceArguments, LimitArguments};
use crate::exit::{Exit, OrStop, Stop};
use crate::meant;
use crate::output::print;
use crate::terminal::{Terminal, Tone};
use anyhow::Context;
use clap::Args;
use passhost_builder::PassSource;
use passhost_child::Plugin;
use passhost_child::device::{Device, DeviceSetup};
use passhost_protocol::device::DeviceChoice;
use passhost_result::document::Document;
use passhost_result::untrusted::one_line;
use passhost_result::verify::{Difference, recompute};
use passhost_result::{DeviceInfo, GuestLimits, Settings};
use passhost_supervisor::Sample;
use passhost_supervisor::replay::{Replay, is_same_machine, replayed};
use signatures::{Signatures, SignedClaim};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Results: documents, lists of them, batches, or signed ones, of which no two may be of one job
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// Each result must be signed with one of these keys: lines that `passhost keygen` printed
    #[arg(long, value_name = "KEYS")]
    pub trusted_keys: Option<PathBuf>,
    /// With --trusted-keys, refuses the results of these jobs: lines that `passhost fleet revoked` printed
    #[arg(long, value_name = "FILE", requires = "trusted_keys")]
    pub revoked: Option<PathBuf>,
    /// With --trusted-keys, takes results that other programs made than those of this installation
    #[arg(long, requires = "trusted_keys")]
    pub any_host: bool,
    /// The plugin; where the result says that it lies, if absent
    #[arg(long, value_name = "FILE", value_parser = meant::plugin_parser())]
    pub plugin: Option<PathBuf>,
    /// The samples of the result, or lists of them; without one, nothing is run
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub sample: Vec<PathBuf>,
    /// Fails where a result cannot be judged again, which otherwise is a note
    #[arg(long, requires = "sample", conflicts_with = "offline")]
    pub replay: bool,
    /// Runs nothing: scores and verdicts must follow from what is recorded
    #[arg(long)]
    pub offline: bool,
    /// Draws and compares large tensors of a GPU on the CPU, which must give what the GPU gave by itself
    #[arg(long)]
    pub check_on_cpu: bool,
    #[command(flatten)]
    pub device: DeviceArguments,
    #[command(flatten)]
    pub confinement: ConfinementArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

impl VerifyArguments {
    /// The device asked for; where none is, the one that a result was made on, with as many threads.
    pub fn device_like(&self, recorded: Option<&DeviceInfo>) -> DeviceArguments {
        let device = match (self.device.device, recorded) {
            (DeviceChoice::Auto, Some(info)) if info.device == "cpu" => DeviceChoice::Cpu,
            (asked, _) => asked,
        };
        // Nobody vouches for what is recorded.
        let threads = recorded.map(|info| info.threads).filter(|threads| (1..=1024).contains(threads));
        let threads = self.device.threads.or(threads);
        DeviceArguments { device, threads }
    }
}

/// Differences of one document that are printed.
const SHOWN: usize = 40;

const WHAT_IT_PROVES: &str = "a signature says who measured, and not that it is true";

pub fn run(arguments: &VerifyArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let mut signatures =
        Signatures::new(arguments.trusted_keys.as_deref(), arguments.revoked.as_deref(), arguments.any_host)?;
    let samples = each_once(&arguments.sample)?.into_iter().map(|(_, sample)| sample).collect();
    let mut judge = ReplayJudge { arguments, samples, device: None, terminal };
    let (mut agree, mut any_signed) = (true, false);
    for path in &arguments.results {
        let claims = signatures.claims(path).with_context(|| format!("cannot verify `{}`", path.display()));
        for claim in claims.or_stop(Exit::Usage)? {
            any_signed |= claim.is_signed;
            let name = claim.name.clone();
            let verified = judge.verify(claim)?;
            agree &= verified.differences.is_empty() && verified.refusals.is_empty();
            print(verified.lines(&name, terminal));
        }
    }
    print(any_signed.then(|| terminal.paint(Tone::Dim, WHAT_IT_PROVES)));
    Ok(if agree { Exit::Success } else { Exit::Differs })
}

/// Who judges results again, with what that takes.
struct ReplayJudge<'a> {
    arguments: &'a VerifyArguments,
    samples: Vec<PathBuf>,
    /// Opened when it is needed.
    device: Option<Device>,
    terminal: &'a Terminal,
}

impl ReplayJudge<'_> {
    fn verify(&mut self, claim: SignedClaim) -> Result<VerifiedResult, Stop> {
        let SignedClaim { name, document, refusals, mut remarks, is_signed: _ } = claim;
        let Some(document) = document else { return Ok(VerifiedResult { refusals, differences: vec![], remarks }) };
        remarks.extend(self::remarks(&document));
        let mut verified = VerifiedResult { refusals, differences: recompute(&document), remarks };
        if !verified.refusals.is_empty() {
            verified.remarks.push("nothing was run: a refused result is not judged again".to_owned());
            return Ok(verified);
        }
        match material(self.arguments, &document, &self.samples)? {
            Ok((plugin, sample)) => {
                self.terminal.progress(&format!("judging {} again", one_line(&document.job.sample, 80)));
                let device = match &mut self.device {
                    Some(device) => device,
                    empty => {
                        let wanted = self.arguments.device_like(document.job.device.as_ref());
                        let (confinement, check_on_cpu) =
                            (self.arguments.confinement.mode(), self.arguments.check_on_cpu);
                        let with = |setup| DeviceSetup { confinement, check_on_cpu, ..setup };
                        empty.insert(super::open_device(&wanted, with)?)
                    }
                };
                verified.replay(self.arguments, &document, plugin, sample, device);
                self.terminal.clear_progress();
            }
            Err(reason) if self.arguments.replay => {
                return Err(Stop::usage(format!("{name} cannot be replayed: {reason}")));
            }
            Err(reason) => verified.remarks.push(format!("nothing was run: {reason}")),
        }
        Ok(verified)
    }
}

/// Why a document is not judged again with this plugin and these samples, if so.
fn unfit(arguments: &VerifyArguments, document: &Document, path: &Path, samples: &[PathBuf]) -> Option<String> {
    let why = if arguments.offline {
        "--offline".to_owned()
    } else if let Some(baseline) = &document.job.baseline {
        let method = one_line(&baseline.method, 40);
        format!("{method} is no plugin; `passhost baseline --with {method}` measures it again")
    } else if document.limits.measurement.quick {
        "a quick result leaves variants and rounds out, and is no result to rank: evaluate without --quick".to_owned()
    } else if document.is_partial() {
        let left_out = document.job.left_out;
        format!("{left_out} variants were left out, so that this is no result to rank: evaluate without --variant")
    } else if let Some(exceeded) = arguments.limits.exceeded_by(&document.limits.guest) {
        exceeded
    } else if let Some(beyond) = beyond_options(document) {
        beyond
    } else if arguments.plugin.is_none() && !path.exists() {
        "there is no plugin where the result says; --plugin FILE names it".to_owned()
    } else if PassSource::is_meant_by(path) {
        format!("`{}` is a source; `passhost build` it, and name the component by --plugin", path.display())
    } else if samples.is_empty() {
        "a result does not say where its sample lies; --sample DIR names it".to_owned()
    } else {
        return None;
    };
    Some(why)
}

/// What no option raises, if a document has more of it than an evaluation has.
fn beyond_options(document: &Document) -> Option<String> {
    let (rounds, tables) = (document.limits.measurement.rounds, document.limits.guest.tables);
    let (most_rounds, most_tables) = (Settings::default().rounds, GuestLimits::default().tables);
    (rounds > most_rounds || tables > most_tables).then(|| {
        format!(
            "it has {rounds} rounds and {tables} table elements, at most {most_rounds} and {most_tables} are allowed; verify it \
             with the version that made it"
        )
    })
}

/// What a document is judged again with, or why it is not.
fn material(
    arguments: &VerifyArguments,
    document: &Document,
    samples: &[PathBuf],
) -> Result<Result<(Plugin, Sample), String>, Stop> {
    let path = arguments.plugin.as_deref().unwrap_or(Path::new(&document.job.plugin));
    if let Some(why) = unfit(arguments, document, path, samples) {
        return Ok(Err(why));
    }
    let plugin = Plugin::read(path, document.limits.guest.wasm).or_stop(Exit::Usage)?;
    for (position, path) in samples.iter().enumerate() {
        let sample = Sample::open(path, arguments.confinement.mode())?;
        // Of several, the one that the document is about; a single one is held against it whatever it is.
        if sample.sha256() == document.job.sample_sha256 || (position == 0 && samples.len() == 1) {
            return Ok(Ok((plugin, sample)));
        }
    }
    Ok(Err("none of these samples has the hash that the result names".to_owned()))
}

/// What is worth knowing of a document and no contradiction.
fn remarks(document: &Document) -> Vec<String> {
    let mut remarks = vec![];
    if document.job.fixed_seed {
        remarks.push("the seed was fixed by hand: this is no result to rank".to_owned());
    }
    let host = &document.job.host;
    if host != env!("CARGO_PKG_VERSION") {
        let host = one_line(host, 40);
        remarks.push(format!("made by passhost {host}, and this is {}", env!("CARGO_PKG_VERSION")));
    }
    remarks
}

/// What is known of one document.
struct VerifiedResult {
    /// Why it counts for nothing, whatever it says.
    refusals: Vec<String>,
    differences: Vec<Difference>,
    remarks: Vec<String>,
}

impl VerifiedResult {
    /// Judges it again. On another device or version, numbers may differ, which is said and no contradiction.
    fn replay(
        &mut self,
        arguments: &VerifyArguments,
        recorded: &Document,
        plugin: Plugin,
        sample: Sample,
        device: &mut Device,
    ) {
        let same = is_same_machine(recorded, device.info());
        let cache = super::open_cache().ok();
        let confinement = arguments.confinement.mode();
        let found = replayed(Replay { recorded, plugin, sample, device, confinement, cache });
        if same {
            self.differences.extend(found);
            return;
        }
        let device_of = |info: &DeviceInfo| one_line(&format!("{}, {}", info.device, info.text()), 200);
        let was = recorded.job.device.as_ref().map_or_else(|| "no device".to_owned(), device_of);
        self.remarks.push(format!("made on {was}; judged again on {}", device_of(device.info())));
        let (numbers, rest): (Vec<_>, Vec<_>) = found.into_iter().partition(|difference| difference.is_measured);
        self.differences.extend(rest);
        self.remarks.extend(numbers.iter().map(|number| format!("otherwise there: {number}")));
    }

    fn lines(&self, name: &str, terminal: &Terminal) -> Vec<String> {
        let VerifiedResult { refusals, differences, remarks } = self;
        let mut lines = vec![match (refusals.len(), differences.len()) {
            (0, 0) => format!("{}  {name}", terminal.paint(Tone::Good, "agrees")),
            (0, 1) => format!("{}  {name}: 1 difference", terminal.paint(Tone::Bad, "differs")),
            (0, count) => format!("{}  {name}: {count} differences", terminal.paint(Tone::Bad, "differs")),
            _ => format!("{}  {name}", terminal.paint(Tone::Bad, "refused")),
        }];
        let said = refusals.iter().cloned().chain(differences.iter().take(SHOWN).map(ToString::to_string));
        lines.extend(said.flat_map(|said| terminal.wrap(&said, "  ")));
        if differences.len() > SHOWN {
            lines.push(format!("  and {} more", differences.len() - SHOWN));
        }
        for remark in remarks.iter().take(SHOWN) {
            lines.extend(terminal.wrap(&format!("note: {remark}"), "  "));
        }
        lines
    }
}
