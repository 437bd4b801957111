//! The names of `zip` 0.6 that tch and torch-sys compile against. Opening or starting an archive is an error; the types
//! have no values, so that nothing behind that can run.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// How an entry is stored.
#[derive(Debug, Clone, Copy)]
pub enum CompressionMethod {
    /// As it is.
    Stored,
}

/// Errors.
pub mod result {
    /// The one error there is.
    #[derive(Debug)]
    pub struct ZipError;

    impl std::fmt::Display for ZipError {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("zip archives are left out of this build (stand-ins/README.md)")
        }
    }

    impl std::error::Error for ZipError {}
}

use result::ZipError;

/// Options of an entry.
pub mod write {
    use super::CompressionMethod;

    /// Options of an entry.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct FileOptions;

    impl FileOptions {
        /// The same options.
        #[must_use]
        pub fn compression_method(self, _: CompressionMethod) -> Self {
            self
        }
    }
}

/// An archive that is read.
#[derive(Debug)]
pub struct ZipArchive(Infallible);

impl ZipArchive {
    /// An error.
    pub fn new<R>(_: R) -> Result<Self, ZipError> {
        Err(ZipError)
    }

    /// Number of entries.
    #[allow(clippy::len_without_is_empty, reason = "dependents ask for the length alone")]
    pub fn len(&self) -> usize {
        match self.0 {}
    }

    /// One entry.
    pub fn by_index(&mut self, _: usize) -> Result<ZipFile, ZipError> {
        match self.0 {}
    }
}

/// An entry that is read.
#[derive(Debug)]
pub struct ZipFile(Infallible);

impl ZipFile {
    /// Its name in the archive.
    pub fn name(&self) -> &str {
        match self.0 {}
    }

    /// Its name as a path that stays below the current directory.
    pub fn mangled_name(&self) -> PathBuf {
        match self.0 {}
    }

    /// Its length in bytes.
    pub fn size(&self) -> u64 {
        match self.0 {}
    }
}

impl Read for ZipFile {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

/// An archive that is written.
#[derive(Debug)]
pub struct ZipWriter;

impl ZipWriter {
    /// A writer that refuses its first entry.
    pub fn new<W>(_: W) -> Self {
        Self
    }

    /// An error.
    pub fn start_file<S>(&mut self, _: S, _: write::FileOptions) -> Result<(), ZipError> {
        Err(ZipError)
    }
}

impl Write for ZipWriter {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other(ZipError))
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::Error::other(ZipError))
    }
}
