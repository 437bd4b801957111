//! The sandbox profile of a guest child, which compiles and runs a plugin: no file, no socket, no other process.
//!
//! The order: [`before_anything`] when the process begins, [`before_loading`] when the limits are known,
//! [`before_plugin_code`] when the machine code is there and no thread will be started any more. The first sandboxes
//! the process before a byte of the plugin is there; the compiler may still start threads. The last takes that away.

use crate::calls::{self, FilterScope};
use crate::files::FileAccess;
use crate::process::{self, limit, step};
use crate::{ConfineError, SandboxProfile};
use passhost_result::GuestLimits;
use rustix::process::{Resource, Rlimit};
use rustix::thread::CapabilitySet;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Address space that the program, the compiler and the plugin's output may take.
const ADDRESS_SPACE: u64 = 4 << 30;
/// Address space that a thread of the compiler takes: its stack and an arena of the allocator.
const PER_THREAD: u64 = 160 << 20;
/// Processor time beyond what the deadlines allow. They are enforced by other means; this is for when those fail.
const CPU_GRACE: Duration = Duration::from_secs(5);

/// Keeps three pipes and threads of its own, and nothing else.
///
/// # Errors
///
/// If the system refuses what every kernel supports.
///
/// # Safety
///
/// The process must have one thread, and nothing in it may use a descriptor above 2 afterwards.
pub unsafe fn before_anything() -> Result<SandboxProfile, ConfineError> {
    // SAFETY: the caller sees to it.
    unsafe { process::forget_what_was_inherited() };
    process::renounce(CapabilitySet::empty())?;
    process::hide()?;
    limit(Resource::Fsize, 0, "forbid writing files")?;
    let landlock = FileAccess::default().enforce()?;
    limit(Resource::Nofile, 3, "forbid opening files")?;
    let refused: Vec<_> = calls::looking_for_files().into_iter().chain(calls::looking_at_the_machine()).collect();
    let seccomp = calls::enclose(&[calls::starting_threads()], &refused, FilterScope::ThisOne)?;
    Ok(SandboxProfile { seccomp, landlock })
}

/// Bounds address space and the processor time until the plugin is loaded.
///
/// # Errors
///
/// If the system refuses.
pub fn before_loading(limits: &GuestLimits) -> Result<(), ConfineError> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    // A linear memory that grows may be moved, and then it is there twice.
    let plugin = limits.memory.saturating_mul(2).saturating_add(limits.output.saturating_mul(4));
    let total = ADDRESS_SPACE.saturating_add(threads * PER_THREAD).saturating_add(plugin).saturating_add(limits.stack);
    limit(Resource::As, total, "limit address space")?;
    // Each of the compiler's threads counts.
    allow_processor_time(Duration::from_millis(limits.compile_ms.saturating_mul(threads)))
}

/// No more threads, and no more filters, from any thread.
///
/// # Errors
///
/// If the system refuses.
pub fn before_plugin_code() -> Result<(), ConfineError> {
    limit(Resource::Nproc, 0, "forbid new processes")?;
    calls::narrow().map(drop)
}

/// Ends the process when it uses more than `time` from now on, and a little grace.
///
/// # Errors
///
/// If the system refuses.
pub fn allow_processor_time(time: Duration) -> Result<(), ConfineError> {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let used = Duration::from_secs(used.tv_sec.unsigned_abs());
    let seconds = used.saturating_add(time).saturating_add(CPU_GRACE).as_secs();
    let maximum = rustix::process::getrlimit(Resource::Cpu).maximum;
    let current = maximum.map_or(seconds, |maximum| maximum.min(seconds));
    rustix::process::setrlimit(Resource::Cpu, Rlimit { current: Some(current), maximum })
        .map_err(step("limit processor time"))
}
