//! What a process gives up without seccomp and Landlock: descriptors, its environment, privileges, memory and time.

use crate::ConfineError;
use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets};

/// A step that failed, for `map_err`.
pub(crate) fn step(step: &'static str) -> impl Fn(rustix::io::Errno) -> ConfineError {
    move |errno| ConfineError::Step { step, source: errno.into() }
}

/// The number of this process.
pub(crate) fn own_number() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get().unsigned_abs()
}

/// Gives up the powers of root but `kept`, renounces new ones, arranges to die with the parent, and leaves nothing behind
/// when it crashes.
///
/// # Errors
///
/// If the system refuses.
pub fn renounce(kept: CapabilitySet) -> Result<(), ConfineError> {
    let give_up = step("give up the powers of root");
    let held = rustix::thread::capabilities(None).map_err(&give_up)?.permitted & kept;
    let sets = CapabilitySets { effective: held, permitted: held, inheritable: CapabilitySet::empty() };
    rustix::thread::set_capabilities(None, sets).map_err(&give_up)?;
    die_with_parent()?;
    rustix::thread::set_no_new_privs(true).map_err(step("renounce new privileges"))?;
    limit(Resource::Core, 0, "forbid core dumps")
}

/// Arranges that the parent's death ends this process, whatever it is doing, and that neither Ctrl-C nor SIGTERM does.
///
/// # Errors
///
/// If the system refuses.
pub fn die_with_parent() -> Result<(), ConfineError> {
    outlive_interruptions();
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(step("die with the parent"))
}

/// Ignores Ctrl-C and SIGTERM, which a terminal or `timeout` sends to all processes: what they mean, the parent decides.
pub fn outlive_interruptions() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: nothing is called for the signal, which is ignored.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Keeps other processes of this user from attaching to this one.
///
/// # Errors
///
/// If the system refuses.
pub fn hide() -> Result<(), ConfineError> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(step("forbid to attach"))
}

/// Keeps three descriptors and no environment.
///
/// # Safety
///
/// The process must have one thread, and nothing in it may use a descriptor above 2 afterwards.
pub unsafe fn forget_what_was_inherited() {
    // SAFETY: the caller has no use for these descriptors.
    unsafe { close_descriptors() };
    for (name, _) in std::env::vars_os() {
        // SAFETY: no other thread reads the environment, for there is none.
        unsafe { std::env::remove_var(name) };
    }
}

/// Lowers a limit for good. A stricter one that was inherited stays.
///
/// # Errors
///
/// If the system refuses.
pub fn limit(resource: Resource, value: u64, what: &'static str) -> Result<(), ConfineError> {
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
