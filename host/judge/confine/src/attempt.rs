//! Native code that tries to escape, as a plugin or a sample would that has taken its child over.
//!
//! `passhost-guest attempt STAGE NAME [TARGET]` confines itself exactly as while serving, and then makes one attempt of
//! [`ATTEMPTS`]; so do `passhost-reader`, `passhost-compiler` and `passhost-device`. The stage [`UNCONFINED`] makes it
//! unconfined, which shows that the attempt would work. What came of it is the exit status of the process:
//! [`AttemptOutcome`].

mod table;

pub use table::{ATTEMPTS, EscapeAttempt, HARMLESS};

use std::ffi::OsStr;
use std::io::Error;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// The argument of the programs that makes them try.
pub const ROLE: &str = "attempt";
/// The stage before anything confines the process.
pub const UNCONFINED: &str = "unconfined";
/// The stage of a compiler of sources that may write to the directory of the target.
pub const WRITING: &str = "writing";

/// Exit statuses. That of a program that is started in place of this one is 0, and stands for success.
const WORKED: u8 = 0;
const REFUSED: u8 = 10;
const NO_SUCH: u8 = 11;

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AttemptOutcome {
    /// Nothing kept it.
    #[error("worked")]
    Worked,
    /// The call failed: no permission, or no such call.
    #[error("refused")]
    Refused,
    /// The process was killed for the call.
    #[error("killed")]
    Killed,
    /// The attempt was not made.
    #[error("not made")]
    NotMade,
}

impl AttemptOutcome {
    /// Whether confinement held.
    pub fn held(self) -> bool {
        matches!(self, AttemptOutcome::Refused | AttemptOutcome::Killed)
    }

    fn of(status: ExitStatus) -> AttemptOutcome {
        match (status.signal(), status.code()) {
            (Some(libc::SIGSYS), _) => AttemptOutcome::Killed,
            (None, Some(code)) if code == i32::from(WORKED) => AttemptOutcome::Worked,
            (None, Some(code)) if code == i32::from(REFUSED) => AttemptOutcome::Refused,
            _ => AttemptOutcome::NotMade,
        }
    }
}

/// Starts `program` to make an attempt. `arguments` stand before those that name it.
///
/// # Errors
///
/// If the program does not start.
pub fn of_program(
    program: &Path,
    arguments: &[&OsStr],
    stage: &str,
    name: &str,
    target: &OsStr,
) -> Result<AttemptOutcome, Error> {
    let mut command = Command::new(program);
    command.args(arguments).args([ROLE, stage, name]).arg(target);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(AttemptOutcome::of(command.status()?))
}

/// Makes the attempt of this name in this process, which is confined.
pub fn make(name: &OsStr, target: &OsStr) -> ExitCode {
    let Some(attempt) = ATTEMPTS.iter().chain([&HARMLESS]).find(|attempt| name == attempt.name) else {
        return ExitCode::from(NO_SUCH);
    };
    match (attempt.make)(target) {
        Err(error) if is_refusal(&error) => ExitCode::from(REFUSED),
        // Any other error comes after confinement let the call through: the file is not there, say, or the argument is
        // wrong.
        Ok(()) | Err(_) => ExitCode::from(WORKED),
    }
}

fn is_refusal(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES | libc::ENOSYS))
}
