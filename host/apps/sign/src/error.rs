//! What goes wrong, for whom, and what to do.

use crate::job::JobId;
use std::io;
use std::path::PathBuf;

/// Why there is no key to sign with.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A key that is lost cannot be made again.
    #[error("there is something at `{}` already, and a key is never overwritten; choose another path", .0.display())]
    Exists(PathBuf),
    /// The file cannot be written.
    #[error("cannot write the key `{path}`: {1}; choose a path in a directory of yours", path = .0.display())]
    Write(PathBuf, io::Error),
    /// The file cannot be read.
    #[error("cannot read the key `{path}`: {1}; `passhost keygen FILE` makes one", path = .0.display())]
    Read(PathBuf, io::Error),
    /// It is somewhere else than it says.
    #[error("`{}` is a link: a key is named by its own path, so that it is known which file to keep from others", .0.display())]
    Link(PathBuf),
    /// Somebody else can read it, or could have put it there.
    #[error("the key `{}` {found}; expected {expected}", path.display())]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        found: String,
        /// What it should be, as a command where there is one.
        expected: &'static str,
    },
    /// It is something else.
    #[error("`{path}` is no signing key: {1}; `passhost keygen FILE` makes one", path = .0.display())]
    Form(PathBuf, &'static str),
    /// A child process would be given its directory.
    #[error("the key `{path}` lies in `{folder}`, which a child process may read; put it elsewhere", path = .0.display(), folder = .1.display())]
    Reachable(PathBuf, PathBuf),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes for a key: {0}")]
    Random(getrandom::Error),
}

/// Why a result is not signed.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// It is no result that anybody should rely on.
    #[error("{0}")]
    Unfit(String),
    /// It cannot be written as JSON.
    #[error("the result cannot be written as JSON: {0}")]
    Json(serde_json::Error),
    /// What was signed would not be read, as where a number is none that JSON has.
    #[error("the signed result would be refused: {0}")]
    Refused(LineError),
}

/// Why a line is no signed result. Whoever signed it did not sign this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Nobody can read it.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// Not even that.
    #[error("it is no JSON ({0}): it was cut off, or changed after it was signed")]
    Json(String),
    /// Nothing that anybody signs is as long.
    #[error("it has more than the {0} bytes that a signed result may have")]
    TooLong(usize),
    /// The file has more of them than are read.
    #[error(
        "its file has more than the {0} lines that are read: this one and those after it are left out; submit them in another file"
    )]
    TooMany(usize),
    /// Its end is missing, or is another one.
    #[error("it does not end in its schema, signature and signer: it was cut off, or changed after it was signed")]
    Ending,
    /// It has no signature.
    #[error(
        "it is not signed: its schema is `{schema}`, expected `{expected}`; `passhost eval --sign KEY` and `bench --sign KEY` sign what they measure"
    )]
    Unsigned {
        /// What it calls itself.
        schema: String,
        /// What signed results call themselves.
        expected: &'static str,
    },
    /// It lacks what a signed result has.
    #[error("it is no signed result: {0}; it was changed after it was signed")]
    Envelope(String),
    /// It may mean the same as a line that is signed, and is not that line.
    #[error(
        "from byte {0} on it is not in the form that signed results have: it was reformatted after it was signed, or signed by another program"
    )]
    NotCanonical(usize),
    /// Its signature fits, and is none of a trusted key: nothing else of it is looked at.
    #[error("{0}")]
    Untrusted(TrustError),
    /// Somebody changed it.
    #[error(
        "its signature does not fit: it was changed or reformatted after it was signed, or whoever signed it has another key"
    )]
    Signature,
    /// It says things that this program does not know.
    #[error("it is signed, but not in a form that this passhost reads: {0}; verify it with the version that made it")]
    Form(String),
}

/// Why a signed result counts for nothing, although its signature fits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// Nobody said who that is.
    #[error("it was signed with a key that is not among the trusted ones: {0}")]
    Unknown(String),
    /// The key is in the wrong hands.
    #[error("it was signed with a key of {0} that was revoked")]
    Revoked(String),
    /// The host that measured it was found faulty since.
    #[error("the result of job {job} was revoked: {why}")]
    RevokedJob {
        /// The evaluation.
        job: JobId,
        /// What its line says besides.
        why: String,
    },
    /// The key was not to be used any more.
    #[error("it was signed at {signed} with a key of {name} that was trusted until {until}")]
    Expired {
        /// Whose.
        name: String,
        /// When it was signed.
        signed: String,
        /// How long the key was trusted.
        until: String,
    },
}

/// Why nobody is trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustedKeysError {
    /// The file cannot be read.
    #[error("cannot read the trusted keys `{path}`: {1}", path = .0.display())]
    Read(PathBuf, io::Error),
    /// A line is not one.
    #[error("`{path}`, line {1}: {2}; a line is `ed25519 KEY NAME`, as `passhost keygen` prints it", path = .0.display())]
    Line(PathBuf, usize, String),
    /// The file of revoked results cannot be read.
    #[error("cannot read the revoked results `{path}`: {1}", path = .0.display())]
    Revoked(PathBuf, io::Error),
    /// A line is of none.
    #[error("`{path}`, line {1}: {2}; a line begins with a job, as `passhost fleet revoked` prints it", path = .0.display())]
    RevokedLine(PathBuf, usize, String),
    /// Nobody is in it.
    #[error("`{}` names no key; add the line that `passhost keygen` printed", .0.display())]
    Empty(PathBuf),
}
