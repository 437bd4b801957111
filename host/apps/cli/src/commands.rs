//! The commands.

pub mod agent;
pub mod baseline;
pub mod bench;
pub mod build;
pub mod check;
pub mod compare;
pub mod completions;
pub mod decompose;
pub mod doctor;
mod documents;
pub mod eval;
pub mod explain;
pub mod fleet;
pub mod guide;
pub mod keygen;
pub mod leaderboard;
pub mod new;
pub mod ops;
pub mod policies;
pub mod programs;
pub mod report;
pub mod samples;
pub mod score;
pub mod serve;
pub mod setup_sdk;
pub mod show;
mod signing;
pub mod source;
pub mod verify;
pub mod worker;

use crate::arguments::DeviceArguments;
use crate::exit::{Exit, OrStop, Stop};
use crate::meant;
use crate::terminal::{Terminal, Tone};
use passhost_cache::{Cache, user};
use passhost_child::device::{Device, DeviceSetup};
use passhost_child::{Confinement, Plugin};
use passhost_protocol::device::DeviceChoice;
use passhost_result::Launch;
use passhost_result::untrusted::one_line;
use passhost_sample::{FoundSamples, Named, Repeated};
use passhost_supervisor::{Config, Supervisor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The cache of compiled plugins, or why there is none: an evaluation goes on without it.
fn open_cache() -> Result<Cache, String> {
    user::open(user::PLUGINS)
}

/// The user's directories for keys of this program: `$XDG_CONFIG_HOME/passhost`, and `~/.config/passhost`.
fn key_directories() -> Vec<PathBuf> {
    user::directories("XDG_CONFIG_HOME", ".config")
}

/// Caches and their keys, which no child may read, those of an environment without XDG_CACHE_HOME included, and where keys
/// lie that sign.
fn hidden() -> Vec<PathBuf> {
    user::paths().into_iter().chain(key_directories()).collect()
}

/// A device whose child reaches no cache. Kernels for a GPU are compiled each time where their cache cannot be used.
fn device_setup(choice: DeviceChoice, threads: Option<u32>) -> DeviceSetup {
    let cache = if choice == DeviceChoice::Cpu { None } else { user::open(user::KERNELS).ok() };
    DeviceSetup { machine_code: cache.map(Arc::new), hidden: hidden(), ..DeviceSetup::new(choice, threads) }
}

/// Every sample that the paths name, each once. What was named again is said.
fn named_samples<'p>(paths: impl IntoIterator<Item = &'p PathBuf>, terminal: &Terminal) -> Result<Vec<Named>, Stop> {
    let paths: Vec<&Path> = paths.into_iter().map(PathBuf::as_path).collect();
    meant::check_there(paths.iter().copied(), meant::NO_SAMPLE)?;
    let FoundSamples { samples, repeated } = passhost_sample::find_all(paths).or_stop(Exit::Usage)?;
    if let Some(Repeated { count, first }) = repeated {
        let first = one_line(&first.display().to_string(), 200);
        terminal
            .complain(&format!("named more than once: {count}, the first `{first}`; each sample is evaluated once"));
    }
    Ok(samples)
}

/// A plugin file. One that is anything else is most often a list in the wrong place.
fn read_plugin(path: &Path, limit: u64) -> Result<Plugin, Stop> {
    meant::check_there([path], "")?;
    let plugin = Plugin::read(path, limit).or_stop(Exit::Usage)?;
    if !plugin.wasm.starts_with(WEBASSEMBLY) && !is_wasm_by_name(path) {
        let path = path.display();
        return Err(Stop::usage(format!(
            "`{path}` is no WebAssembly; the plugin comes first, then samples and lists of them"
        )));
    }
    Ok(plugin)
}

/// How each WebAssembly file begins.
const WEBASSEMBLY: &[u8] = b"\0asm";

fn is_wasm_by_name(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "wasm")
}

/// Opens a device as `with` has it set up; a failure stops the command.
fn open_device(arguments: &DeviceArguments, with: impl FnOnce(DeviceSetup) -> DeviceSetup) -> Result<Device, Stop> {
    Device::open(with(device_setup(arguments.device, arguments.threads))).or_stop(Exit::Host)
}

/// Devices that work side by side, the first at the beginning, whose children cannot read what is in `hidden`.
fn open_devices<'p>(
    choices: &[DeviceChoice],
    threads: Option<u32>,
    launch: Launch,
    confinement: Confinement,
    hidden: impl IntoIterator<Item = &'p Path>,
) -> Result<Vec<Device>, Stop> {
    let hidden: Vec<PathBuf> = hidden.into_iter().map(Path::to_path_buf).collect();
    let open = |&choice| {
        let mut setup = DeviceSetup { launch, confinement, ..device_setup(choice, threads) };
        setup.hidden.extend(hidden.iter().cloned());
        Device::open(setup).or_stop(Exit::Host)
    };
    choices.iter().map(open).collect()
}

/// What evaluates, with the cache of compiled plugins. That there is none is said.
fn supervisor(config: Config, terminal: &Terminal) -> Supervisor {
    let supervisor = Supervisor::new(config);
    match open_cache() {
        Ok(cache) => supervisor.with_cache(cache),
        Err(reason) => {
            terminal.complain(&terminal.paint(Tone::Dim, &format!("no plugin cache: {reason}")));
            supervisor
        }
    }
}

/// Options of `passhost show` by which a pass is told of a device that is not opened again: what it would be told of it, in a
/// file of this directory.
fn device_facts(directory: &Path, device: &Device) -> Result<Vec<String>, Stop> {
    let path = directory.join("device.json");
    let written = serde_json::to_string(&device.info().facts).map_err(Into::into);
    let written = written.and_then(|text| std::fs::write(&path, text));
    written.map_err(|error| Stop::host(format!("cannot write the file `{}`: {error}", path.display())))?;
    let named = path.into_os_string().into_string();
    let named =
        named.map_err(|path| Stop::usage(format!("`{}` is no UTF-8: take another directory", path.display())))?;
    Ok(vec!["--device-facts".to_owned(), named])
}

/// `device: cpu, Intel Xeon, 2 threads, torch 2.11.0`, and why it is not the GPU if there is something to say.
fn device_line(info: &passhost_result::DeviceInfo) -> String {
    let mut line = format!("device: {}, {}", info.device, info.text());
    if !info.note.is_empty() {
        line.push_str(&format!(" ({})", info.note));
    }
    line
}
