//! Children that lie: the supervisor evaluates a plugin on a sample, and all that it hears comes from stand-ins, whose
//! conversations are right but for what was changed in them. Whatever they say, it must come to a document, whose
//! failures say whose doing they are.

mod honest;
mod lies;

use crate::campaign::Programs;
use crate::liar::{Act, Role, STAND_INS};
use crate::random::Random;
use crate::target::{Outcome, Target};
use passhost_child::device::{Device, DeviceSetup};
use passhost_child::{Confinement, Plugin};
use passhost_protocol::device::DeviceChoice;
use passhost_protocol::encode;
use passhost_result::document::{Document, Failure, Status};
use passhost_result::{GuestLimits, Settings};
use passhost_supervisor::{Config, OpenError, Sample, Supervisor};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes that a document of one sample may have as its debug form: far more than any of ours, far less than a child may send.
const DOCUMENT: usize = 64 << 20;

/// The programs of a run: this one, and this one again under the names of the children.
pub(crate) fn stand_ins(program: &Path) -> std::io::Result<Programs> {
    let directory = tempfile::tempdir()?;
    let worker = directory.path().join("passhost-fuzz");
    for name in STAND_INS.iter().copied().chain(["passhost-fuzz"]) {
        let to = directory.path().join(name);
        // A link has a name of its own, but only where both are on one file system.
        if std::fs::hard_link(program, &to).is_err() {
            std::fs::copy(program, &to)?;
        }
    }
    Ok(Programs { worker, directory: Some(directory) })
}

/// The target.
pub struct Frames {
    /// Where the stand-ins look for their scripts.
    directory: PathBuf,
}

/// What each child does.
#[derive(Debug)]
pub struct Case(Vec<(Role, Vec<Act>)>);

impl Frames {
    /// With the stand-ins that lie beside this program.
    ///
    /// # Errors
    ///
    /// If this program does not know where it lies.
    pub fn new() -> Result<Frames, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        Ok(Frames { directory: program.parent().map(Path::to_path_buf).unwrap_or_default() })
    }
}

impl Target for Frames {
    type Case = Case;

    fn make(&mut self, random: &mut Random) -> Case {
        let mut scripts = honest::scripts(random);
        for _ in 0..=random.below(2) {
            let at = random.below(scripts.len());
            lies::change(&mut scripts[at], random);
        }
        Case(scripts)
    }

    fn run(&mut self, Case(scripts): &Case) -> Outcome {
        for (role, acts) in scripts {
            let bytes = encode(acts).map_err(|error| error.to_string())?;
            std::fs::write(self.directory.join(role.script()), bytes).map_err(|error| error.to_string())?;
        }
        evaluate()
    }

    fn written(&self, Case(scripts): &Case) -> Vec<u8> {
        format!("{scripts:#?}\n").into_bytes()
    }
}

fn supervisor() -> Supervisor {
    let limits = GuestLimits { deadline_ms: 200, compile_ms: 200, answers_ms: 300, ..GuestLimits::default() };
    // Nobody times anything, and no lock is waited for.
    let settings = Settings { budget_ms: 1, accept_noise: true, ..Settings::default() };
    let timeout = Some(Duration::from_millis(500));
    Supervisor::new(Config { limits, settings, timeout, seed: Some(1), ..Config::default() })
}

/// An evaluation with all children, as the command does it.
fn evaluate() -> Outcome {
    let supervisor = supervisor();
    let sample = match Sample::open(Path::new("sample"), Confinement::default()) {
        Ok(sample) => sample,
        Err(OpenError::Sample(_)) => return Ok("no sample".into()),
        Err(OpenError::Reader(_)) => return Ok("no reader".into()),
    };
    let Ok(mut device) = Device::open(DeviceSetup::new(DeviceChoice::Cpu, None)) else { return Ok("no device".into()) };
    // Larger than a pipe holds, so that a guest which takes nothing is waited for.
    let plugin = Plugin { path: "plugin".into(), wasm: vec![0; 1 << 20], sha256: "0".into() };
    let mut plugin = supervisor.load(plugin);
    let mut checker = supervisor.checker(device.info().facts);
    judge(&supervisor.evaluate(&mut checker, &mut plugin, sample, &mut device))
}

fn judge(document: &Document) -> Outcome {
    let bytes = format!("{document:?}").len();
    if bytes > DOCUMENT {
        return Err(format!("a document of {bytes} bytes"));
    }
    let failures: Vec<&Failure> = document
        .failure
        .iter()
        .chain(document.variants.iter().filter_map(|variant| variant.failure.as_ref()))
        .collect();
    for failure in &failures {
        if failure.message.chars().any(char::is_control) || failure.message.is_empty() {
            return Err(format!("a message that is not fit for a terminal: {:?}", failure.message));
        }
    }
    let blamed: BTreeSet<String> =
        failures.iter().map(|failure| format!("{} in {}", failure.blame, failure.stage)).collect();
    let blamed: Vec<String> = blamed.into_iter().collect();
    let notes = document.variants.iter().flat_map(|variant| &variant.notes);
    let mut retyped: Vec<&String> = notes.filter(|note| note.ends_with("(bug of passhost)")).collect();
    let again = if retyped.is_empty() { "" } else { ", checked again with other types" };
    retyped.sort_unstable();
    if retyped.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(format!("it was checked again more than once: {retyped:?}"));
    }
    match document.status {
        Status::Scored if blamed.is_empty() => Ok(format!("scored{again}")),
        Status::Scored => Ok(format!("scored, but for {}{again}", blamed.join(", "))),
        Status::Failed if blamed.is_empty() => Err("it failed, and nobody is blamed".into()),
        Status::Failed => Ok(format!("failed: {}{again}", blamed.join(", "))),
    }
}
