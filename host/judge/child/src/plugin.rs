//! A plugin file.

use base16ct::lower::encode_string;
use passhost_protocol::open_regular;
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
    #[error("no file `{}`; give a .wasm component, or the name of a reference pass, such as `autofuse`, that `make plugins` or the wheel brings", .0.display())]
    Missing(PathBuf),
    /// A directory.
    #[error("`{}` is a directory; give the path of a plugin, a .wasm component", .0.display())]
    Directory(PathBuf),
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
            std::io::ErrorKind::NotFound => PluginFileError::Missing(path.into()),
            _ => failed(error),
        })?;
        if metadata.is_dir() {
            return Err(PluginFileError::Directory(path.into()));
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
