//! What a sample that has taken its reader over could do, tried: [`passhost_confine::attempt`].

use crate::files::places;
use crate::serve::{ReaderServeError, on_a_thread};
use passhost_confine::attempt::{UNCONFINED, make};
use passhost_confine::reader;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// While a sample is read.
pub const READING: &str = "reading";

/// Makes an attempt, confined as while the sample at `path` is read: the arguments of the program, a
/// stage, an attempt and its target.
///
/// # Errors
///
/// If the process cannot be confined, or an argument is missing.
pub fn attempt(path: &Path, arguments: &[OsString]) -> Result<ExitCode, ReaderServeError> {
    let [stage, name, target] = arguments else { return Err(ReaderServeError::UnexpectedMessage) };
    if stage == UNCONFINED {
        return Ok(make(name, target));
    }
    // SAFETY: one thread, and nothing is open: as in the program's `main`, which calls this first.
    unsafe { reader::before_anything(places(path)) }?;
    on_a_thread(|| make(name, target))
}
