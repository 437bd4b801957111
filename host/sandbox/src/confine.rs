//! What the child process gives up. Linux only.
//!
//! The order: [`at_start`] before anything else, [`before_loading`] when the limits are known, [`before_plugin_code`] when
//! the machine code is there and no thread will be started any more. A filter on system calls (seccomp) and on files
//! (landlock) belongs into the last of the three: from there on the process reads and writes two pipes, maps and
//! protects memory, and tells the time.

use passhost_protocol::guest::GuestLimits;
use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::time::Duration;

/// Address space that the program, the compiler and the plugin's output may take.
const ADDRESS_SPACE: u64 = 4 << 30;
/// Address space that a thread of the compiler takes: its stack and an arena of the allocator.
const PER_THREAD: u64 = 160 << 20;
/// Processor time beyond what the deadlines allow. They are enforced by other means; this is for when those fail.
const CPU_GRACE: Duration = Duration::from_secs(5);

/// Why the process could not be confined. It must not go on.
#[derive(Debug, thiserror::Error)]
#[error("cannot {step}: {source}")]
pub struct ConfineError {
    step: &'static str,
    source: io::Error,
}

fn step(step: &'static str) -> impl Fn(rustix::io::Errno) -> ConfineError {
    move |errno| ConfineError { step, source: errno.into() }
}

/// Keeps three descriptors and no environment, and arranges to die with the parent.
///
/// # Safety
/// The process must have one thread, and nothing in it may use a descriptor above 2 afterwards.
pub unsafe fn at_start() -> Result<(), ConfineError> {
    // SAFETY: the caller has no use for these descriptors.
    unsafe { close_descriptors() };
    for (name, _) in std::env::vars_os() {
        // SAFETY: no other thread reads the environment, for there is none.
        unsafe { std::env::remove_var(name) };
    }
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(step("die with the parent"))?;
    rustix::thread::set_no_new_privs(true).map_err(step("renounce new privileges"))?;
    // Also keeps other processes of this user from attaching to this one.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(step("forbid core dumps"))?;
    limit(Resource::Core, 0, "forbid core dumps")?;
    limit(Resource::Fsize, 0, "forbid writing files")?;
    limit(Resource::Nofile, 3, "forbid opening files")
}

/// Bounds address space and the processor time until the plugin is loaded.
pub fn before_loading(limits: &GuestLimits) -> Result<(), ConfineError> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    // A linear memory that grows may be moved, and then it is there twice.
    let plugin = limits.memory.saturating_mul(2).saturating_add(limits.output.saturating_mul(4));
    let total = ADDRESS_SPACE.saturating_add(threads * PER_THREAD).saturating_add(plugin).saturating_add(limits.stack);
    limit(Resource::As, total, "limit address space")?;
    // Each of the compiler's threads counts.
    allow_processor_time(Duration::from_millis(limits.compile_ms.saturating_mul(threads)))
}

/// No more processes or threads.
pub fn before_plugin_code() -> Result<(), ConfineError> {
    limit(Resource::Nproc, 0, "forbid new processes")
}

/// Ends the process when it uses more than `time` from now on, and a little grace.
pub fn allow_processor_time(time: Duration) -> Result<(), ConfineError> {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let used = Duration::from_secs(used.tv_sec.unsigned_abs());
    let seconds = used.saturating_add(time).saturating_add(CPU_GRACE).as_secs();
    let maximum = rustix::process::getrlimit(Resource::Cpu).maximum;
    let current = maximum.map_or(seconds, |maximum| maximum.min(seconds));
    rustix::process::setrlimit(Resource::Cpu, Rlimit { current: Some(current), maximum })
        .map_err(step("limit processor time"))
}

fn limit(resource: Resource, value: u64, what: &'static str) -> Result<(), ConfineError> {
    // A stricter limit that was inherited stays.
    let value = rustix::process::getrlimit(resource).maximum.map_or(value, |maximum| maximum.min(value));
    rustix::process::setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) }).map_err(step(what))
}

/// # Safety
/// Nothing may use a descriptor above 2 afterwards.
unsafe fn close_descriptors() {
    // SAFETY: a system call without pointers; the caller has no use for these descriptors.
    if unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 0u32) } == 0 {
        return;
    }
    // Linux before 5.9.
    let open = rustix::process::getrlimit(Resource::Nofile).current.map_or(4096, |limit| limit.min(1 << 16));
    for descriptor in 3..i32::try_from(open).unwrap_or(i32::MAX) {
        // SAFETY: as above; closing what is not open fails and does nothing.
        unsafe { libc::close(descriptor) };
    }
}
