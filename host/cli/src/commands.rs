//! The commands.

pub mod check;
pub mod decompose;
pub mod doctor;
mod documents;
pub mod eval;
pub mod policies;
pub mod samples;
pub mod score;
pub mod show;
pub mod verify;

use crate::{Exit, Stop};
use passhost_cache::Cache;
use passhost_supervisor::Confinement;
use passhost_supervisor::device::{Device, DeviceSetup};
use std::path::PathBuf;

/// The user's cache directory for this program: `$XDG_CACHE_HOME/passhost`, or `~/.cache/passhost`.
fn cache_directory() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("passhost"))
}

/// The cache of compiled plugins, or why there is none: an evaluation goes on without it.
fn open_cache() -> Result<Cache, String> {
    let directory = cache_directory().ok_or("neither XDG_CACHE_HOME nor HOME is set")?;
    Cache::open(&directory.join("artefacts")).map_err(|error| error.to_string())
}

/// Opens the device behind the walls that must stand; a failure stops the command.
fn open_device(arguments: &crate::arguments::DeviceArguments, confinement: Confinement) -> Result<Device, Stop> {
    let setup = DeviceSetup { confinement, ..DeviceSetup::new(arguments.device, arguments.threads) };
    Device::open(setup).map_err(|error| Stop::new(Exit::Host, error))
}

/// `device: cpu, Intel Xeon, 2 threads, torch 2.11.0`, and why it is not the GPU if there is something to say.
fn device_line(info: &passhost_protocol::device::DeviceInfo) -> String {
    let mut line = format!("device: {}, {}, {} threads, torch {}", info.device, info.name, info.threads, info.torch);
    if !info.note.is_empty() {
        line.push_str(&format!(" ({})", info.note));
    }
    line
}
