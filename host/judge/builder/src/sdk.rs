//! A compiled SDK: rlibs for WebAssembly, and what is known of the compiler that made them.

use crate::error::SdkError;
use passhost_child::beside_this_executable;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The description of an SDK in its directory.
const DESCRIPTION: &str = "sdk.json";

/// An SDK that passes are compiled against.
#[derive(Debug, Clone)]
pub struct Sdk {
    pub(crate) directory: PathBuf,
    pub(crate) about: SdkDescription,
}

/// What is written beside the rlibs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SdkDescription {
    /// Of the SDK.
    pub version: String,
    /// The file of the SDK's own crate, in the directory [`RLIBS`].
    pub file: String,
    /// What the compiler calls itself.
    pub compiler: String,
    /// The directory of the compiler's installation.
    pub toolchain: PathBuf,
    /// The kind of machine that it runs on.
    pub host: String,
    /// The system's libraries that the compiler and the linker load.
    pub libraries: Vec<PathBuf>,
    /// The program of the system that loads libraries.
    pub loader: Vec<PathBuf>,
}

/// The directory of rlibs in that of an SDK.
pub(crate) const RLIBS: &str = "lib";
/// The directory of the procedural macros by which the SDK itself was compiled. A compiler loads them with the SDK's
/// metadata; no source can name them.
pub(crate) const MACROS: &str = "macros";

impl Sdk {
    /// Where the SDK of this installation is: `../lib/passhost/sdk` from the directory of this program.
    pub fn installed() -> PathBuf {
        let program = beside_this_executable("passhost");
        let prefix = program.parent().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
        prefix.join("lib/passhost/sdk")
    }

    /// Whether a directory is an SDK, of whichever version.
    pub(crate) fn is_one(directory: &Path) -> bool {
        directory.join(DESCRIPTION).is_file()
    }

    /// The SDK in a directory.
    ///
    /// # Errors
    ///
    /// If there is none, or it is not as this version makes it.
    pub fn open(directory: &Path) -> Result<Sdk, SdkError> {
        let missing = |_| SdkError::Missing(directory.into());
        let directory = directory.canonicalize().map_err(missing)?;
        let text = std::fs::read_to_string(directory.join(DESCRIPTION)).map_err(missing)?;
        let unusable = |reason: String| SdkError::Unusable { path: directory.clone(), reason };
        let about: SdkDescription = serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
        if about.version != env!("CARGO_PKG_VERSION") {
            return Err(unusable(format!("it is version {}", about.version)));
        }
        let sdk = Sdk { directory: directory.clone(), about };
        for needed in [sdk.compiler(), sdk.linker(), sdk.rlibs().join(&sdk.about.file)] {
            if !needed.is_file() {
                return Err(unusable(format!("{} is gone", needed.display())));
            }
        }
        Ok(sdk)
    }

    /// What the compiler calls itself.
    pub fn compiler_version(&self) -> &str {
        &self.about.compiler
    }

    /// Where it lies.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn describe(directory: &Path, about: &SdkDescription) -> std::io::Result<()> {
        let text = serde_json::to_string_pretty(about)?;
        std::fs::write(directory.join(DESCRIPTION), text + "\n")
    }

    pub(crate) fn compiler(&self) -> PathBuf {
        self.about.toolchain.join("bin/rustc")
    }

    pub(crate) fn linker(&self) -> PathBuf {
        tools(&self.about).join("wasm-component-ld")
    }

    /// The compiler, the two programs that link, and the one that loads the libraries of all.
    pub(crate) fn programs(&self) -> Vec<PathBuf> {
        let linkers = [self.linker(), tools(&self.about).join("rust-lld")];
        [self.compiler()].into_iter().chain(linkers).chain(self.about.loader.iter().cloned()).collect()
    }

    pub(crate) fn rlibs(&self) -> PathBuf {
        self.directory.join(RLIBS)
    }

    pub(crate) fn macros(&self) -> PathBuf {
        self.directory.join(MACROS)
    }
}

/// Where the programs that link lie in a toolchain.
pub(crate) fn tools(about: &SdkDescription) -> PathBuf {
    about.toolchain.join("lib/rustlib").join(&about.host).join("bin")
}
