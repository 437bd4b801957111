use passhost_sample::SampleError;
use std::path::{Path, PathBuf};

/// Why work on many samples stops.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A process or a thread cannot be had. The host's trouble.
    #[error("{0}")]
    Host(String),
    /// A file or directory cannot be written.
    #[error("cannot write{} `{}`: {source}; name a place that is there, can be written and has room", if *directory { " to" } else { "" }, path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Whether it is a directory.
        directory: bool,
        /// What the system said.
        source: std::io::Error,
    },
    /// A path without a last part.
    #[error("`{}` is no name of a file", path.display())]
    NoName {
        /// As given.
        path: PathBuf,
    },
    /// A file or directory that is not there.
    #[error("cannot find `{}`: {source}", path.display())]
    Missing {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A sample that no list can name.
    #[error("`{}` has a name that no list can hold", path.display())]
    Unlistable {
        /// Which.
        path: PathBuf,
    },
    /// A sample that cannot be used.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A directory that was to be new.
    #[error("`{}` is not empty; name a new directory with --out", path.display())]
    NotEmpty {
        /// As given.
        path: PathBuf,
    },
    /// The journal cannot be read or locked.
    #[error("cannot use the journal `{}`: {source}", path.display())]
    Journal {
        /// As given.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The journal is locked.
    #[error("the journal `{}` is in use by another check", path.display())]
    JournalInUse {
        /// As given.
        path: PathBuf,
    },
    /// A line of the journal cannot be written.
    #[error("cannot write to the journal: {0}")]
    JournalLine(std::io::Error),
    /// A description cannot be written as JSON.
    #[error("the description of a piece cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl CorpusError {
    /// Whether what was asked for is right and the machine cannot do it.
    pub fn is_hosts(&self) -> bool {
        match self {
            CorpusError::Host(_) => true,
            CorpusError::Write { source, .. } | CorpusError::JournalLine(source) => is_full(source),
            _ => false,
        }
    }

    /// Of a file.
    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> CorpusError {
        let path = path.to_path_buf();
        |source| CorpusError::Write { path, directory: false, source }
    }
}

/// Whether a disk, or a share of it, is full.
fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}
