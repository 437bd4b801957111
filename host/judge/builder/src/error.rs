//! What can go wrong, and whose doing it is.

use crate::diagnostic::Diagnostic;
use crate::text::{cut, visible};
use passhost_child::ChildError;
use passhost_protocol::builder::BuildLimit;
use passhost_result::SandboxProfile;
use std::path::{Path, PathBuf};

/// Why a source was not read. Nothing of it has been compiled.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There is none of that name.
    #[error("no file or directory `{}`; give a .rs file, or the directory of a crate with src/lib.rs", .0.display())]
    Missing(PathBuf),
    /// A directory without a pass.
    #[error("`{}` has no src/lib.rs; give a .rs file, or the directory of a crate (`passhost new` writes one)", .0.display())]
    NoRoot(PathBuf),
    /// A link, a pipe or a device among the files.
    #[error("`{}` is no regular file; a source is made of files and directories, without links", shown(.0))]
    NotRegular(PathBuf),
    /// Bytes that are no text.
    #[error("`{}` is no UTF-8; a source is text alone", shown(.0))]
    NotText(PathBuf),
    /// More bytes, files or directories than a source may have.
    #[error("the source has more than {limit} {what}; a pass is text, leave out what is not", what = what)]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        limit: u64,
    },
    /// The system does not let it be read.
    #[error("cannot read `{}`: {source}", shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl SourceError {
    /// Whether who wrote the source is to blame, and not who named it.
    pub fn is_authors(&self) -> bool {
        matches!(self, SourceError::NotRegular(_) | SourceError::NotText(_) | SourceError::TooLarge { .. })
    }
}

/// A path in which an author's names are.
fn shown(path: &Path) -> String {
    visible(&cut(&path.display().to_string(), 200))
}

/// Why there is no SDK to compile against.
#[derive(Debug, thiserror::Error)]
pub enum SdkError {
    /// None was compiled.
    #[error("no compiled SDK in `{}`; run `passhost setup-sdk` once", .0.display())]
    Missing(PathBuf),
    /// Something else is where it would go.
    #[error("`{}` is a directory with something else in it; name another one by --out", .0.display())]
    Occupied(PathBuf),
    /// Its description is not as this version writes it.
    #[error("the SDK in `{}` is not usable ({reason}); run `passhost setup-sdk` again", path.display())]
    Unusable {
        /// Where it lies.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no source to compile one from.
    #[error("no source of the SDK in `{}`; run `passhost setup-sdk --source DIR` with a clone of passhost", .0.display())]
    NoSource(PathBuf),
    /// Cargo or rustc failed.
    #[error("cannot compile the SDK: {0}")]
    Compile(String),
    /// A file could not be written or read.
    #[error("cannot write the SDK to `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Why a source did not become a component.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The source is to blame.
    #[error("{0}")]
    Refused(Box<SourceRefusal>),
    /// The child is to blame, or whoever built it.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// The compiler could not be enclosed or started.
    #[error("the compiler cannot run here: {0}")]
    Unusable(String),
    /// The compiler cannot be confined fully. Nothing of the source has reached it.
    #[error(
        "this kernel has no {missing} ({profile}), and a compiler of untrusted sources runs fully confined or not at \
         all; build a source of your own by --cargo, or see THREAT_MODEL.md for sandboxes around all of it"
    )]
    Unconfined {
        /// What is missing, in words.
        missing: &'static str,
        /// What there is.
        profile: SandboxProfile,
    },
    /// The SDK was compiled by another version of the compiler.
    #[error("the SDK was compiled by another rustc than there is now; run `passhost setup-sdk` again")]
    OldSdk,
    /// The directory of the build could not be made, filled, read or removed.
    #[error("the files of the build: {0}")]
    Files(#[from] std::io::Error),
}

/// What is wrong with a source.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct SourceRefusal {
    /// In one sentence.
    pub reason: RefusalReason,
    /// What the compiler says, errors first.
    pub diagnostics: Vec<Diagnostic>,
    /// Errors and warnings that are left out.
    pub left_out: usize,
}

/// Why a source was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefusalReason {
    /// The compiler found errors.
    #[error("the source does not compile")]
    Errors,
    /// The compiler crashed, of which only the source can be the cause.
    #[error("the source crashed the compiler (status {0}); make it simpler: less nesting, smaller constants")]
    Crashed(i32),
    /// A limit was exceeded.
    #[error("{}", exceeded(.0))]
    Limit(BuildLimit),
    /// There were more diagnostics than anybody reads.
    #[error("the source makes the compiler print more than {0} bytes; shorten names, texts and macros")]
    Flood(usize),
    /// The component has too many bytes.
    #[error("the component has more than {0} bytes; leave out large constants")]
    TooLarge(u64),
    /// No component came out.
    #[error("the compiler made no component; leave out crate attributes, and register the pass with register!")]
    Nothing,
}

fn exceeded(limit: &BuildLimit) -> &'static str {
    match limit {
        BuildLimit::Wall => {
            "compiling the source takes too long (--limit-build); look for loops in constants, macros and types"
        }
        BuildLimit::Memory => {
            "compiling the source takes too much memory; look for large constants, and macros and types that multiply"
        }
        BuildLimit::Scratch => "compiling the source writes too much; look for large constants",
        BuildLimit::Tasks => "compiling the source starts too many threads or processes",
    }
}
