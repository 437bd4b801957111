//! One call of the compiler.

use crate::diagnostic::{Diagnostic, Level, read};
use crate::error::{BuildError, RefusalReason, SourceRefusal};
use crate::remove::remove_all;
use crate::sdk::Sdk;
use crate::setup::TARGET;
use crate::source::PassSource;
use crate::text::Places;
use crate::warden::{CompilerRun, PRINTED, Warden};
use passhost_child::{Confinement, beside_this_executable};
use passhost_protocol::builder::{BuildLimit, BuildLimits, BuildOrder, CompilerEnd, Reach};
use passhost_protocol::open_regular;
use passhost_result::SandboxProfile;
use rustix::process::Signal;
use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The program beside this one.
const PROGRAM: &str = "passhost-builder";
/// Bytes of a component. The guest child takes no more unless it is told to.
const COMPONENT: u64 = 32 << 20;
/// Diagnostics that are kept.
const DIAGNOSTICS: usize = 20;
/// The directories of a build: a copy of the source, and all that the compiler writes.
const SOURCE: &str = "source";
const SCRATCH: &str = "scratch";
/// All variables that a source can see: where the compiler puts what it needs for a moment, and what passes that are built
/// by cargo as a rule say they are.
const VARIABLES: [(&str, &str); 2] = [("TMPDIR", "../scratch"), ("CARGO_PKG_VERSION", "0.0.0")];
/// Bytes that there should be room for when a compiler has ended.
const ROOM: u64 = 16 << 20;
/// What comes out.
const OUTPUT: &str = "pass.wasm";
/// How long after the compiler must have ended is waited for the process that watches it.
const PATIENCE: Duration = Duration::from_secs(20);

/// What became of a source.
#[derive(Debug, Clone)]
pub struct Built {
    /// The component. Nobody has looked at it yet.
    pub component: Vec<u8>,
    /// What the compiler warns of.
    pub warnings: Vec<Diagnostic>,
    /// What kept the compiler in.
    pub profile: SandboxProfile,
    /// How long it took.
    pub took: Duration,
}

/// Compiles a source. All that the compiler wrote and started is gone when this returns. A compiler that the kernel
/// cannot confine fully runs only where a sandbox around this whole process has nothing in it that a source may not
/// have.
///
/// # Errors
///
/// If the source does not compile or takes more than `limits`, or the compiler cannot be confined as it must.
pub fn build(
    sdk: &Sdk,
    source: &PassSource,
    limits: BuildLimits,
    confinement: Confinement,
) -> Result<Built, BuildError> {
    let started = Instant::now();
    let directory = BuildDirectory::new()?;
    let place = directory.0.canonicalize()?;
    for part in [SOURCE, SCRATCH] {
        std::fs::create_dir(place.join(part))?;
    }
    source.write(&place.join(SOURCE))?;
    let confinement_required = confinement == Confinement::Required;
    let order = BuildOrder { confinement_required, ..order(sdk, source, &place, limits) };
    let ran = Warden::start(&beside_this_executable(PROGRAM))?.run(&order, PATIENCE)?;
    let places = Places::new([
        (format!("{}/", place.join(SOURCE).display()), ""),
        (place.display().to_string(), "<build>"),
        (sdk.directory.display().to_string(), "<sdk>"),
        (sdk.about.toolchain.display().to_string(), "<toolchain>"),
        (format!("../{SCRATCH}/"), "<build>/"),
    ]);
    let printed = String::from_utf8_lossy(&ran.printed);
    let mut diagnostics = read(&printed, &places);
    let left_out = diagnostics.len().saturating_sub(DIAGNOSTICS);
    diagnostics.truncate(DIAGNOSTICS);
    let component = component(&place.join(SCRATCH).join(OUTPUT));
    let has_room = has_room(&place);
    directory.remove()?;
    match reason(&ran, &printed, &component) {
        _ if is_of_another_compiler(&diagnostics) => Err(BuildError::OldSdk),
        Some(RefusalReason::Crashed(_) | RefusalReason::Errors | RefusalReason::Nothing) if !has_room => {
            Err(std::io::Error::from(std::io::ErrorKind::StorageFull).into())
        }
        Some(RefusalReason::Crashed(signal)) if ran.end == CompilerEnd::Killed(Signal::KILL.as_raw()) => {
            Err(BuildError::Unusable(format!("the compiler was killed (signal {signal}) by somebody else")))
        }
        Some(reason) => Err(BuildError::Refused(Box::new(SourceRefusal { reason, diagnostics, left_out }))),
        None => Ok(Built {
            component: component.unwrap_or_default(),
            warnings: diagnostics,
            profile: ran.profile,
            took: started.elapsed(),
        }),
    }
}

/// The directory of a build, which nobody else looks into. It is removed however it was left.
struct BuildDirectory(PathBuf);

impl BuildDirectory {
    fn new() -> std::io::Result<BuildDirectory> {
        let mut builder = tempfile::Builder::new();
        let directory = builder.prefix("passhost-build-").permissions(Permissions::from_mode(0o700)).tempdir()?;
        Ok(BuildDirectory(directory.keep()))
    }

    fn remove(self) -> std::io::Result<()> {
        remove_all(&self.0)
    }
}

impl Drop for BuildDirectory {
    fn drop(&mut self) {
        // Nothing is left of one that was removed.
        let _ = remove_all(&self.0);
    }
}

/// Whether there is room where a build writes: a compiler without any fails as one does that a source has crashed.
fn has_room(place: &Path) -> bool {
    rustix::fs::statvfs(place).is_ok_and(|system| system.f_bavail.saturating_mul(system.f_frsize) >= ROOM)
}

/// What the compiler is to do, and may.
fn order(sdk: &Sdk, source: &PassSource, place: &Path, limits: BuildLimits) -> BuildOrder {
    let path = |path: PathBuf| path.display().to_string();
    let mut arguments = vec![path(source.root().to_owned())];
    for (option, value) in [
        ("--edition", "2024".to_owned()),
        ("--crate-name", "pass".to_owned()),
        ("--crate-type", "cdylib".to_owned()),
        ("--target", TARGET.to_owned()),
        ("--sysroot", path(sdk.about.toolchain.clone())),
        ("--error-format", "json".to_owned()),
        ("--cap-lints", "warn".to_owned()),
        ("--extern", format!("passhost_guest_sdk={}", path(sdk.rlibs().join(&sdk.about.file)))),
        ("-L", format!("dependency={}", path(sdk.rlibs()))),
        ("-L", format!("dependency={}", path(sdk.macros()))),
        ("-C", format!("linker={}", path(sdk.linker()))),
        ("-C", "opt-level=z".to_owned()),
        ("-C", "codegen-units=4".to_owned()),
        ("-C", "panic=abort".to_owned()),
        ("-C", "strip=symbols".to_owned()),
        // The linker leaves room for five bytes in each number that it fills in, of which most need two.
        ("-C", "link-arg=--compress-relocations".to_owned()),
        ("-o", format!("../{SCRATCH}/{OUTPUT}")),
    ] {
        arguments.extend([option.to_owned(), value]);
    }
    let mut readable = sdk.about.libraries.clone();
    readable.extend([sdk.rlibs(), sdk.macros(), sdk.about.toolchain.join("lib"), place.join(SOURCE)]);
    readable.push("/etc/ld.so.cache".into());
    BuildOrder {
        program: sdk.compiler(),
        arguments,
        variables: VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        directory: place.join(SOURCE),
        whole: place.to_owned(),
        reach: Reach { programs: sdk.programs(), readable, scratch: place.join(SCRATCH) },
        limits,
        confinement_required: true,
    }
}

/// The component, if there is one that is not too large: the compiler may have left anything under its name.
fn component(path: &Path) -> Result<Vec<u8>, RefusalReason> {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    let file = open_regular(path).ok().filter(|_| is_file).ok_or(RefusalReason::Nothing)?;
    let mut bytes = vec![];
    file.take(COMPONENT + 1).read_to_end(&mut bytes).map_err(|_| RefusalReason::Nothing)?;
    if bytes.len() as u64 > COMPONENT { Err(RefusalReason::TooLarge(COMPONENT)) } else { Ok(bytes) }
}

/// Why there is no component to go on with.
fn reason(ran: &CompilerRun, printed: &str, component: &Result<Vec<u8>, RefusalReason>) -> Option<RefusalReason> {
    if ran.printed.len() > PRINTED {
        return Some(RefusalReason::Flood(PRINTED));
    }
    let killed_by = |signals: &[Signal]| signals.iter().any(|signal| ran.end == CompilerEnd::Killed(signal.as_raw()));
    match ran.end {
        CompilerEnd::Exited(0) => component.as_ref().err().copied(),
        CompilerEnd::Exited(1) => Some(RefusalReason::Errors),
        CompilerEnd::Limit(limit) => Some(RefusalReason::Limit(limit)),
        _ if killed_by(&[Signal::XFSZ]) => Some(RefusalReason::Limit(BuildLimit::Scratch)),
        _ if killed_by(&[Signal::XCPU]) => Some(RefusalReason::Limit(BuildLimit::Wall)),
        _ if printed.contains("memory allocation of") || printed.contains("out of memory") => {
            Some(RefusalReason::Limit(BuildLimit::Memory))
        }
        CompilerEnd::Exited(status) | CompilerEnd::Killed(status) => Some(RefusalReason::Crashed(status)),
        CompilerEnd::Stopped => Some(RefusalReason::Limit(BuildLimit::Wall)),
    }
}

/// Whether the compiler refuses the SDK and not the source.
fn is_of_another_compiler(diagnostics: &[Diagnostic]) -> bool {
    let codes = ["E0514", "E0460", "E0461"];
    let refuses = |found: &Diagnostic| found.code.as_deref().is_some_and(|code| codes.contains(&code));
    diagnostics.iter().any(|found| found.level == Level::Error && refuses(found))
}
