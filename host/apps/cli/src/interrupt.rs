//! Ctrl-C and SIGTERM, for commands that have something to finish before they end.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);
static LAST: AtomicI32 = AtomicI32::new(0);

/// Signals that are noted and left to the command. One more ends the process where it stands.
const NOTED: u32 = 2;

/// From now on the two signals do not end this process, but are noted.
pub fn watch() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler touches atomic numbers alone, and may interrupt anything.
        unsafe { libc::signal(signal, note as *const () as libc::sighandler_t) };
    }
}

extern "C" fn note(signal: libc::c_int) {
    LAST.store(signal, Ordering::Relaxed);
    if COUNT.fetch_add(1, Ordering::Relaxed) >= NOTED {
        // SAFETY: it ends the process without running anything of it, as a handler may.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// How many signals came.
pub fn count() -> u32 {
    COUNT.load(Ordering::Relaxed)
}

/// The number of the last one.
pub fn last() -> u8 {
    u8::try_from(LAST.load(Ordering::Relaxed)).unwrap_or(0)
}
