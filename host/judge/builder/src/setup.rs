//! Compiles the SDK once, by cargo: its source is that of passhost, and trusted.

use crate::cargo::{self, AS_JSON, Artefact, artefacts};
use crate::error::SdkError;
use crate::sdk::{MACROS, RLIBS, Sdk, SdkDescription, tools};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};

/// The package of the SDK, and its crate.
const PACKAGE: &str = "passhost-guest-sdk";
const CRATE: &str = "passhost_guest_sdk";
/// What passes are compiled for.
pub(crate) const TARGET: &str = "wasm32-wasip2";
/// As for plugins, but with machine code instead of what an optimisation over all crates starts from: it takes a second
/// to link a pass against it, and five without. As small as can be, since all of a pass is compiled before it runs.
const PROFILE: [&str; 6] =
    ["--profile", "plugin", "--config", "profile.plugin.lto=\"off\"", "--config", "profile.plugin.opt-level=\"z\""];

impl Sdk {
    /// Compiles the SDK from a clone or an installed source of passhost, and puts it into a directory. What cargo says
    /// meanwhile goes to `said`.
    ///
    /// # Errors
    ///
    /// If there is no such source, cargo fails, or the directory cannot be written.
    pub fn compile(source: &Path, directory: &Path, said: impl FnOnce(ChildStderr) + Send) -> Result<Sdk, SdkError> {
        if !source.join("guest-sdk/Cargo.toml").is_file() {
            return Err(SdkError::NoSource(source.into()));
        }
        let source = source.canonicalize().map_err(|_| SdkError::NoSource(source.into()))?;
        let failed = |source| SdkError::Write { path: directory.into(), source };
        let mut entries = std::fs::read_dir(directory).into_iter().flatten();
        if entries.next().is_some() && !Sdk::is_one(directory) {
            return Err(SdkError::Occupied(directory.into()));
        }
        let name = directory.file_name().ok_or_else(|| SdkError::Occupied(directory.into()))?;
        let made = run_cargo(&source, said)?;
        // Beside the one that is there, which stays until this is whole.
        let beside = |what: &str| {
            let mut name = name.to_owned();
            name.push(format!(".{what}-{}", std::process::id()));
            directory.with_file_name(name)
        };
        let (partial, old) = (beside("partial"), beside("old"));
        for part in [RLIBS, MACROS] {
            std::fs::create_dir_all(partial.join(part)).map_err(failed)?;
        }
        let file = copy_crates(&made, &partial).map_err(failed)?;
        let file = file.ok_or_else(|| SdkError::Compile(format!("cargo made no rlib of {PACKAGE}")))?;
        Sdk::describe(&partial, &about(&source, file)?).map_err(failed)?;
        if directory.exists() {
            std::fs::rename(directory, &old).map_err(failed)?;
        }
        std::fs::rename(&partial, directory).map_err(failed)?;
        if old.exists() {
            std::fs::remove_dir_all(&old).map_err(failed)?;
        }
        Sdk::open(directory)
    }
}

fn run_cargo(source: &Path, said: impl FnOnce(ChildStderr) + Send) -> Result<Vec<Artefact>, SdkError> {
    let registry = cargo_home().map(|home| home.join("registry/src")).unwrap_or_default();
    // What a trap of a pass shows has the paths of these crates in it.
    let names = [(source, "sdk"), (&registry, "crates")];
    let flags = names.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display())).join("\u{1f}");
    let mut command = Command::new("cargo");
    command.args(["build", "--package", PACKAGE, "--lib", "--target", TARGET]).args(PROFILE);
    command.args(AS_JSON).current_dir(source);
    let output = cargo::run(command.env("CARGO_ENCODED_RUSTFLAGS", flags), said);
    let output = output
        .map_err(|error| SdkError::Compile(format!("cargo does not start ({error}); install Rust with rustup")))?;
    if !output.status.success() {
        return Err(SdkError::Compile("cargo failed, as printed above".to_owned()));
    }
    Ok(artefacts(&output.stdout))
}

/// Where cargo keeps the sources of crates.
fn cargo_home() -> Option<PathBuf> {
    let of_user = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(of_user)
}

/// Copies what a pass is compiled against. Returns the file of the SDK's own crate.
fn copy_crates(made: &[Artefact], to: &Path) -> std::io::Result<Option<String>> {
    let mut own = None;
    for made in made {
        let is_macro = made.target.kind.iter().any(|kind| kind == "proc-macro");
        let part = if is_macro { MACROS } else { RLIBS };
        for file in &made.filenames {
            let ending = file.extension().and_then(|ending| ending.to_str());
            let for_target = file.components().any(|part| part.as_os_str() == TARGET);
            let Some(name) = file.file_name().filter(|_| is_macro || (for_target && ending == Some("rlib"))) else {
                continue;
            };
            // The crate that was asked for lies under a name without its hash, the others under one with theirs.
            std::fs::copy(file, to.join(part).join(name))?;
            if made.target.name == CRATE {
                own = Some(name.to_string_lossy().into_owned());
            }
        }
    }
    Ok(own)
}

/// What is known of the compiler that cargo uses in `source`.
fn about(source: &Path, file: String) -> Result<SdkDescription, SdkError> {
    let compiler = ask(source, "rustc", &["-vV"])?;
    let line = |name: &str| compiler.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
    let toolchain = ask(source, "rustc", &["--print", "sysroot"])?.trim().into();
    let mut about = SdkDescription {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        file,
        compiler: compiler.lines().next().unwrap_or_default().to_owned(),
        toolchain,
        host: line("host:").to_owned(),
        libraries: vec![],
        loader: vec![],
    };
    let programs =
        [about.toolchain.join("bin/rustc"), tools(&about).join("wasm-component-ld"), tools(&about).join("rust-lld")];
    for program in programs {
        // The loader lists what it would load: `libc.so.6 => /lib/libc.so.6 (0x...)`, and itself without an arrow.
        for loaded in ask_with(source, &program.display().to_string(), &[], "LD_TRACE_LOADED_OBJECTS")?.lines() {
            let path = loaded.split_once("=>").map_or(loaded, |(_, path)| path).split_whitespace().next();
            let Some(path) = path.map(PathBuf::from).filter(|path| path.is_absolute() && path.is_file()) else {
                continue;
            };
            let list = if loaded.contains("=>") { &mut about.libraries } else { &mut about.loader };
            if !list.contains(&path) {
                list.push(path);
            }
        }
    }
    Ok(about)
}

fn ask(directory: &Path, program: &str, arguments: &[&str]) -> Result<String, SdkError> {
    ask_with(directory, program, arguments, "PASSHOST_ASKS")
}

fn ask_with(directory: &Path, program: &str, arguments: &[&str], variable: &str) -> Result<String, SdkError> {
    let mut command = Command::new(program);
    let output = command.args(arguments).env(variable, "1").current_dir(directory).stdin(Stdio::null()).output();
    let output = output.map_err(|error| SdkError::Compile(format!("{program} does not start: {error}")))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
