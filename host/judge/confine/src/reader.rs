//! The sandbox profile of a reader child, which reads the files of one sample: those files for reading, no socket, no
//! other process.

use crate::calls::{self, FilterScope, SyscallRule, calls};
use crate::files::FileAccess;
use crate::process::{self, limit};
use crate::{ConfineError, SandboxProfile};
use rustix::process::Resource;
use rustix::thread::CapabilitySet;
use std::path::PathBuf;

/// Bytes of address space. The files of a sample have a gigabyte at most, and what is made of one graph is a few dozen
/// times its text.
const MEMORY: u64 = 8 << 30;
/// Seconds of CPU time over all variants of a sample: whole models take a tenth of one.
const CPU_SECONDS: u64 = 3600;

/// Keeps three pipes, reading below `directories`, and threads of its own.
///
/// # Errors
///
/// If the system refuses what every kernel supports.
///
/// # Safety
///
/// The process must have one thread, and nothing in it may use a descriptor above 2 afterwards.
pub unsafe fn before_anything(directories: Vec<PathBuf>) -> Result<SandboxProfile, ConfineError> {
    // SAFETY: the caller sees to it.
    unsafe { process::forget_what_was_inherited() };
    // The files of a sample, whoever owns them.
    process::renounce(CapabilitySet::DAC_READ_SEARCH)?;
    process::hide()?;
    limit(Resource::Fsize, 0, "forbid writing files")?;
    limit(Resource::As, MEMORY, "limit address space")?;
    limit(Resource::Cpu, CPU_SECONDS, "limit processor time")?;
    let landlock = FileAccess { readable: directories, ..FileAccess::default() }.enforce()?;
    let mut allowed = reading_files();
    allowed.push(calls::starting_threads());
    let seccomp = calls::enclose(&allowed, &calls::looking_at_the_machine(), FilterScope::ThisOne)?;
    Ok(SandboxProfile { seccomp, landlock })
}

/// No more threads, and no more filters, from any thread.
///
/// # Errors
///
/// If the system refuses.
pub fn before_reading() -> Result<(), ConfineError> {
    limit(Resource::Nproc, 0, "forbid new processes")?;
    calls::narrow().map(drop)
}

/// The calls that find, open and read a file. What is found can only be opened where Landlock says so.
fn reading_files() -> Vec<SyscallRule> {
    let mut allowed = calls::looking_for_files();
    // `openat2` opens below a directory, whatever links lie there.
    allowed.extend(calls! { SYS_openat2 SYS_fstat SYS_lseek SYS_pread64 SYS_getdents64 SYS_close SYS_fcntl });
    allowed
}
