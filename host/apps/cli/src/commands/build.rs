//! `passhost build SOURCE`

use super::source;
use crate::arguments::BuildArguments;
use crate::exit::{Exit, OrStop, Stop};
use crate::files::CommandFiles;
use crate::output::{print, relay, write_json};
use crate::terminal::{Terminal, Tone};
use passhost_builder::cargo::{self, AS_JSON, artefacts, component};
use passhost_builder::{BuildLimits, Diagnostic, PassSource, SourceError, SourceRefusal};
use passhost_child::{Confinement, LoadedPlugin, Plugin};
use passhost_result::GuestLimits;
use passhost_result::document::{Blame, Failure};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What became of a source.
#[derive(Default, Serialize)]
struct BuildReport<'a> {
    schema: &'static str,
    /// The component, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    component: Option<&'a PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'a String>,
    bytes: usize,
    compile_ms: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a Failure>,
    diagnostics: &'a [Diagnostic],
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
    let (component, warnings) = if arguments.cargo {
        (by_cargo(&arguments.source, terminal)?, vec![])
    } else {
        let wall_ms = arguments.limit_build.as_millis().try_into().unwrap_or(u64::MAX);
        let limits = BuildLimits { wall_ms, ..BuildLimits::default() };
        let walls = if arguments.inside_sandbox { Confinement::WherePossible } else { Confinement::Required };
        let source = match PassSource::read(&arguments.source) {
            Ok(source) => source,
            Err(error) if error.is_authors() => return unread(arguments, error),
            Err(error) => return Err(source::stop(error)),
        };
        match source::compile(&source, limits, walls)? {
            Ok(built) => (built.component, built.warnings),
            Err(refusal) => return refused(arguments, &refusal, started.elapsed(), terminal),
        }
    };
    let compiled = started.elapsed();
    source::lines(&warnings, 0).iter().for_each(|line| terminal.complain(line));
    let plugin = Plugin::new(out.display().to_string(), component);
    let cache = super::open_cache().ok();
    let mut loaded = LoadedPlugin::load(plugin, GuestLimits::default(), cache.as_ref(), Confinement::default());
    let failure = loaded.guest().err().cloned();
    let (plugin, loads) = (loaded.file(), failure.is_none());
    if loads {
        // Whole or not there: whoever is killed meanwhile must not leave half a component under its name.
        passhost_corpus::write_whole(&out, &plugin.wasm).or_stop(Exit::Usage)?;
    }
    let report = BuildReport {
        schema: SCHEMA,
        component: loads.then_some(&out),
        sha256: loads.then_some(&plugin.sha256),
        bytes: plugin.wasm.len(),
        compile_ms: compiled.as_millis(),
        failure: failure.as_ref(),
        diagnostics: &warnings,
    };
    write_report(arguments, &report)?;
    if let Some(failure) = failure {
        let exit = if failure.blame == Blame::Host { Exit::Host } else { Exit::Plugin };
        let source = arguments.source.display();
        let error = anyhow::anyhow!("plugin (load): {source}: {}; {}", failure.message, failure.hint);
        return Err(Stop { exit, error });
    }
    if arguments.json.as_deref() != Some(Path::new("-")) {
        let (ok, bytes, checked) = (terminal.paint(Tone::Good, "ok"), plugin.wasm.len(), started.elapsed() - compiled);
        let (compiled, checked) = (compiled.as_secs_f64(), checked.as_secs_f64());
        print([format!(
            "{ok}  {}: {bytes} bytes, compiled in {compiled:.1} s, checked in {checked:.1} s",
            out.display()
        )]);
    }
    Ok(Exit::Success)
}

/// The report of a source of which nothing came.
fn without_component<'a>(failure: &'a Failure, diagnostics: &'a [Diagnostic], took: Duration) -> BuildReport<'a> {
    let (failure, compile_ms) = (Some(failure), took.as_millis());
    BuildReport { schema: SCHEMA, compile_ms, failure, diagnostics, ..BuildReport::default() }
}

/// A source of which nothing was compiled.
fn unread(arguments: &BuildArguments, error: SourceError) -> Result<Exit, Stop> {
    let failure = source::unread(&error);
    write_report(arguments, &without_component(&failure, &[], Duration::ZERO))?;
    Err(source::stop(error))
}

fn refused(
    arguments: &BuildArguments,
    refusal: &SourceRefusal,
    took: Duration,
    terminal: &Terminal,
) -> Result<Exit, Stop> {
    let (failure, diagnostics) = (source::failure(refusal), &refusal.diagnostics);
    write_report(arguments, &without_component(&failure, diagnostics, took))?;
    source::lines(diagnostics, refusal.left_out).iter().for_each(|line| terminal.complain(line));
    let error = anyhow::anyhow!("plugin (build): {}: {refusal}", arguments.source.display());
    Err(Stop { exit: Exit::Plugin, error })
}

fn write_report(arguments: &BuildArguments, report: &BuildReport<'_>) -> Result<(), Stop> {
    arguments.json.as_deref().map_or(Ok(()), |path| write_json(path, report))
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
    terminal
        .complain("--cargo trusts this crate: its build scripts, macros and dependencies run as you, without walls");
    let mut command = Command::new("cargo");
    // As a component alone: with the library that tests link, cargo would leave out the optimisation of the whole.
    command.args(["rustc", "--lib", "--crate-type", "cdylib"]);
    command.args(["--profile", "plugin", "--target", "wasm32-wasip2"]).args(AS_JSON);
    let output = cargo::run(command.current_dir(source), |errors| relay("cargo", errors));
    let output =
        output.map_err(|error| Stop::host(format!("cargo does not start ({error}); install Rust with rustup")))?;
    if !output.status.success() {
        return Err(Stop {
            exit: Exit::Plugin,
            error: anyhow::anyhow!("plugin (build): cargo failed, as printed above"),
        });
    }
    let made = artefacts(&output.stdout);
    let component = component(&made).ok_or_else(|| Stop {
        exit: Exit::Plugin,
        error: anyhow::anyhow!("plugin (build): cargo made no component; give the crate `crate-type = [\"cdylib\"]`"),
    })?;
    std::fs::read(component).map_err(|error| Stop::host(format!("cannot read `{}`: {error}", component.display())))
}
