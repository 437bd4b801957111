//! The sandbox profile of a compiler child, which makes machine code of one source text: once the compiler is loaded no
//! file, no socket, no other process and no new thread.

use crate::calls::{self, FilterScope, call};
use crate::files::FileAccess;
use crate::process::{self, limit};
use crate::{ConfineError, SandboxProfile};
use rustix::process::Resource;
use rustix::thread::CapabilitySet;

/// Bytes of address space. The largest kernel takes a few hundred million.
const MEMORY: u64 = 8 << 30;
/// Seconds of processor time: a kernel takes a tenth of one.
const CPU_SECONDS: u64 = 600;

/// Gives up everything but the descriptors that are open. The compiler is loaded by now; what it looks for later it does
/// without, such as a driver.
///
/// # Errors
///
/// If the system refuses what every kernel supports.
pub fn before_source() -> Result<SandboxProfile, ConfineError> {
    process::renounce(CapabilitySet::empty())?;
    process::hide()?;
    limit(Resource::Fsize, 0, "forbid writing files")?;
    limit(Resource::As, MEMORY, "limit address space")?;
    limit(Resource::Cpu, CPU_SECONDS, "limit processor time")?;
    let landlock = FileAccess::default().enforce()?;
    let refused: Vec<_> = calls::looking_for_files().into_iter().chain(calls::looking_at_the_machine()).collect();
    // NVRTC looks where standard error stands.
    let allowed = [call(libc::SYS_lseek)];
    let seccomp = calls::all([calls::enclose(&allowed, &refused, FilterScope::All)?, calls::narrow()?]);
    Ok(SandboxProfile { seccomp, landlock })
}
