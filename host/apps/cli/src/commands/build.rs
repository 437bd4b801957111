//! `passhost build SOURCE`

use super::source;
use crate::arguments::duration;
use crate::exit::{Exit, OrStop, Stop};
use crate::files::CommandFiles;
use crate::output::{print, relay, write_json};
use crate::terminal::{Terminal, Tone};
use clap::Args;
use passhost_builder::cargo::{self, AS_JSON, artefacts, component};
use passhost_builder::{BuildLimits, Diagnostic, PassSource};
use passhost_child::{Confinement, LoadedPlugin, Plugin};
use passhost_result::document::Failure;
use passhost_result::{GuestLimits, milliseconds};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(Debug, Args)]
pub struct BuildArguments {
    /// A .rs file, or the directory of a crate, of which only src/ is read
    pub source: PathBuf,
    /// Where the component goes: NAME.wasm in the current directory if absent
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Writes what became of the source here, diagnostics included; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Builds a crate of your own with cargo, unconfined: its build scripts and macros may do whatever you may
    #[arg(long)]
    pub cargo: bool,
    /// Goes on where the kernel lacks Landlock or seccomp: for a gVisor or a micro-VM that holds nothing but this build
    #[arg(long, conflicts_with = "cargo")]
    pub inside_sandbox: bool,
    /// Wall clock of the compiler
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, conflicts_with = "cargo")]
    pub limit_build: Duration,
}

/// What became of a source.
#[derive(Default, Serialize)]
struct BuildReport {
    schema: &'static str,
    /// The component, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    component: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    bytes: usize,
    compile_ms: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    diagnostics: Vec<Diagnostic>,
}

/// Of [`BuildReport`].
const SCHEMA: &str = "passhost-build/1";

pub fn run(arguments: &BuildArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let started = Instant::now();
    let out = arguments.out.clone().unwrap_or_else(|| default_out(&arguments.source));
    let read = source::files(&arguments.source);
    CommandFiles::default()
        .writes("--out", [&out])
        .writes("--json", &arguments.json)
        .reads("the source", &read)
        .check()?;
    let mut report = BuildReport { schema: SCHEMA, ..BuildReport::default() };
    let component = compile(arguments, &mut report, terminal);
    let compiled = started.elapsed();
    report.compile_ms = compiled.as_millis();
    let built = component.and_then(|component| load(arguments, component, &out, &mut report));
    // What is wrong with the host is said of no source.
    if let Some(path) = arguments.json.as_deref().filter(|_| built.is_ok() || report.failure.is_some()) {
        write_json(path, &report)?;
    }
    built?;
    if arguments.json.as_deref() != Some(Path::new("-")) {
        let (ok, bytes, checked) = (terminal.paint(Tone::Good, "ok"), report.bytes, started.elapsed() - compiled);
        let (compiled, checked) = (compiled.as_secs_f64(), checked.as_secs_f64());
        print([format!(
            "{ok}  {}: {bytes} bytes, compiled in {compiled:.1} s, checked in {checked:.1} s",
            out.display()
        )]);
    }
    Ok(Exit::Success)
}

/// The component of a source, or the end of the command, which the report has as well if the source is to blame.
fn compile(arguments: &BuildArguments, report: &mut BuildReport, terminal: &Terminal) -> Result<Vec<u8>, Stop> {
    if arguments.cargo {
        return by_cargo(&arguments.source, terminal);
    }
    let source = PassSource::read(&arguments.source).map_err(|error| {
        report.failure = error.is_authors().then(|| source::unread(&error));
        source::stop(error)
    })?;
    let wall_ms = milliseconds(arguments.limit_build);
    let limits = BuildLimits { wall_ms, ..BuildLimits::default() };
    let confinement = if arguments.inside_sandbox { Confinement::WherePossible } else { Confinement::Required };
    let (component, diagnostics, left_out) = match source::compile(&source, limits, confinement)? {
        Ok(built) => (Ok(built.component), built.warnings, 0),
        Err(refusal) => {
            report.failure = Some(source::failure(&refusal));
            let stop = Stop::plugin(format!("plugin (build): {}: {refusal}", arguments.source.display()));
            (Err(stop), refusal.diagnostics, refusal.left_out)
        }
    };
    source::lines(&diagnostics, left_out).iter().for_each(|line| terminal.complain(line));
    report.diagnostics = diagnostics;
    component
}

/// Writes a component that loads.
fn load(arguments: &BuildArguments, component: Vec<u8>, out: &Path, report: &mut BuildReport) -> Result<(), Stop> {
    let plugin = Plugin::new(out.display().to_string(), component);
    let cache = super::open_cache().ok();
    let mut loaded = LoadedPlugin::load(plugin, GuestLimits::default(), cache.as_ref(), Confinement::default());
    let failure = loaded.guest().err().cloned();
    let plugin = loaded.file();
    report.bytes = plugin.wasm.len();
    if let Some(failure) = failure {
        let stop = Stop::of(&failure, format!("plugin (load): {}: ", arguments.source.display()));
        report.failure = Some(failure);
        return Err(stop);
    }
    // Whole or not there: whoever is killed meanwhile must not leave half a component under its name.
    passhost_corpus::write_whole(out, &plugin.wasm).or_stop(Exit::Usage)?;
    (report.component, report.sha256) = (Some(out.to_owned()), Some(plugin.sha256.clone()));
    Ok(())
}

/// `NAME.wasm` in the current directory, after the file or the directory of the source.
fn default_out(source: &Path) -> PathBuf {
    let real = source.canonicalize().unwrap_or_else(|_| source.into());
    let whole = if real.is_dir() { real.file_name() } else { real.file_stem() };
    let mut name = whole.unwrap_or("pass".as_ref()).to_owned();
    name.push(".wasm");
    PathBuf::from(name)
}

/// The component of a crate that its author trusts.
fn by_cargo(source: &Path, terminal: &Terminal) -> Result<Vec<u8>, Stop> {
    if !source.join("Cargo.toml").is_file() {
        return Err(Stop::usage(format!(
            "`{}` has no Cargo.toml; --cargo builds the directory of a crate",
            source.display()
        )));
    }
    terminal.complain("--cargo trusts this crate: its build scripts, macros and dependencies run as you, unconfined");
    let mut command = Command::new("cargo");
    // As a component alone: with the library that tests link, cargo would leave out the optimisation of the whole.
    command.args(["rustc", "--lib", "--crate-type", "cdylib"]);
    command.args(["--profile", "plugin", "--target", "wasm32-wasip2"]).args(AS_JSON);
    let output = cargo::run(command.current_dir(source), |errors| relay("cargo", errors));
    let output =
        output.map_err(|error| Stop::host(format!("cargo does not start ({error}); install Rust with rustup")))?;
    if !output.status.success() {
        return Err(Stop::plugin("plugin (build): cargo failed, as printed above"));
    }
    let made = artefacts(&output.stdout);
    let component = component(&made).ok_or_else(|| {
        Stop::plugin("plugin (build): cargo made no component; give the crate `crate-type = [\"cdylib\"]`")
    })?;
    std::fs::read(component).map_err(|error| Stop::host(format!("cannot read `{}`: {error}", component.display())))
}
