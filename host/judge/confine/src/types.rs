//! The sandbox profile of a types child, which knows what ops return: once libtorch is loaded no file, no socket, no
//! other process and no new thread.

use crate::calls::{self, FilterScope};
use crate::files::FileAccess;
use crate::process::{self, limit};
use crate::{ConfineError, SandboxProfile};
use rustix::process::Resource;
use rustix::thread::CapabilitySet;

/// Gives up everything but the descriptors that are open. Libraries are loaded by now, and have looked for what they
/// look for when they are first used.
///
/// Landlock and the powers of root are a matter of the thread that calls this, seccomp of all: a library may have started
/// some.
///
/// # Errors
///
/// If the system refuses what every kernel supports.
pub fn before_questions() -> Result<SandboxProfile, ConfineError> {
    process::renounce(CapabilitySet::empty())?;
    process::hide()?;
    limit(Resource::Fsize, 0, "forbid writing files")?;
    let landlock = FileAccess::default().enforce()?;
    let refused: Vec<_> = calls::looking_for_files().into_iter().chain(calls::looking_at_the_machine()).collect();
    let seccomp = calls::all([calls::enclose(&[], &refused, FilterScope::All)?, calls::narrow()?]);
    Ok(SandboxProfile { seccomp, landlock })
}
