//! A plugin file, and a plugin that a child has loaded.

use crate::failure::guest_failure;
use crate::guest::{Guest, GuestError};
use crate::process::Confinement;
use base16ct::lower::encode_string;
use passhost_cache::Cache;
use passhost_protocol::open_regular;
use passhost_result::document::Failure;
use passhost_result::{GuestLimits, PassInfo, Walls};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A plugin file.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// As the user wrote it.
    pub path: String,
    /// The component.
    pub wasm: Vec<u8>,
    /// Of the component, in hexadecimal.
    pub sha256: String,
}

/// Why a plugin file was not read. Wrong usage: no plugin has run.
#[derive(Debug, thiserror::Error)]
pub enum PluginFileError {
    /// There is none of that name.
    #[error("no file `{}`; give the path of a plugin, a .wasm component (`make plugins` builds the reference ones)", path.display())]
    Missing {
        /// As given.
        path: PathBuf,
    },
    /// A directory.
    #[error("`{}` is a directory; give the path of a plugin, a .wasm component", path.display())]
    Directory {
        /// As given.
        path: PathBuf,
    },
    /// More bytes than a plugin may have.
    #[error("`{}` has {size} bytes, above the limit of {limit}; raise it with --limit-wasm or build the plugin with the profile `plugin`", path.display())]
    TooLarge {
        /// As given.
        path: PathBuf,
        /// Bytes of the file.
        size: u64,
        /// Bytes that it may have.
        limit: u64,
    },
    /// The system does not let it be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// As given.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Plugin {
    /// A component that is held in memory, under the path that it is known by.
    pub fn new(path: String, wasm: Vec<u8>) -> Plugin {
        let sha256 = encode_string(&Sha256::digest(&wasm));
        Plugin { path, wasm, sha256 }
    }

    /// Reads the file. It is not looked into: only the guest child does that.
    ///
    /// # Errors
    ///
    /// If there is no such file, or it has more than `limit` bytes.
    pub fn read(path: &Path, limit: u64) -> Result<Plugin, PluginFileError> {
        let failed = |source| PluginFileError::Read { path: path.into(), source };
        let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => PluginFileError::Missing { path: path.into() },
            _ => failed(error),
        })?;
        if metadata.is_dir() {
            return Err(PluginFileError::Directory { path: path.into() });
        }
        let mut wasm = vec![];
        let file = open_regular(path).map_err(failed)?;
        // A file may grow after it was looked at.
        file.take(limit.saturating_add(1)).read_to_end(&mut wasm).map_err(failed)?;
        if wasm.len() as u64 > limit {
            let size = metadata.len().max(wasm.len() as u64);
            return Err(PluginFileError::TooLarge { path: path.into(), size, limit });
        }
        Ok(Plugin::new(path.display().to_string(), wasm))
    }
}

/// A plugin that has been looked at once: loaded, or refused for the same reason on every sample.
pub struct LoadedPlugin {
    plugin: Plugin,
    info: Option<PassInfo>,
    confinement: Confinement,
    guest: Result<Guest, Failure>,
}

impl LoadedPlugin {
    /// Loads the plugin in a child of its own, behind the walls that must stand.
    pub fn load(plugin: Plugin, limits: GuestLimits, cache: Option<&Cache>, confinement: Confinement) -> LoadedPlugin {
        let mut info = None;
        let guest = load_guest(&plugin, limits, cache, confinement).and_then(|mut guest| {
            let mut described = guest.describe();
            if matches!(described, Err(GuestError::Child(_))) {
                // As where it dies while it loads.
                guest = load_guest(&plugin, limits, cache, confinement)?;
                described = guest.describe();
            }
            info = Some(described.map_err(|error| guest_failure("describe", error))?);
            Ok(guest)
        });
        LoadedPlugin { plugin, info, confinement, guest }
    }

    /// A plugin that there is not, because no component came of its source.
    pub fn refused(plugin: Plugin, failure: Failure) -> LoadedPlugin {
        LoadedPlugin { plugin, info: None, confinement: Confinement::default(), guest: Err(failure) }
    }

    /// Replaces the child by a fresh one.
    pub fn reload(&mut self, limits: GuestLimits, cache: Option<&Cache>) {
        self.guest = load_guest(&self.plugin, limits, cache, self.confinement);
    }

    /// What it was loaded from.
    pub fn file(&self) -> &Plugin {
        &self.plugin
    }

    /// What the plugin says of itself, if it loads.
    pub fn info(&self) -> Option<&PassInfo> {
        self.info.as_ref()
    }

    /// What keeps the child in, if there is one.
    pub fn walls(&self) -> Option<Walls> {
        self.guest.as_ref().ok().map(|guest| guest.walls)
    }

    /// The child, or why there is none.
    ///
    /// # Errors
    ///
    /// If the plugin could not be loaded.
    pub fn guest(&mut self) -> Result<&mut Guest, &Failure> {
        self.guest.as_mut().map_err(|failure| &*failure)
    }
}

fn load_guest(
    plugin: &Plugin,
    limits: GuestLimits,
    cache: Option<&Cache>,
    confinement: Confinement,
) -> Result<Guest, Failure> {
    match Guest::load(plugin, limits, cache, confinement) {
        // A child that dies while it loads is tried once more: then it is the plugin that kills it.
        Err(GuestError::Child(_)) => Guest::load(plugin, limits, cache, confinement),
        loaded => loaded,
    }
    .map_err(|error| guest_failure("load", error))
}
