//! Lines for the author of a pass: through the host's `log` in a component, on stderr in a native test.

/// Shows a line to the author of the pass: through the host's `log` in a component, on stderr in a native test.
///
/// ```
/// passhost_guest_sdk::log!("{} regions", 3);
/// ```
#[macro_export]
macro_rules! log {
    ($($format:tt)*) => { $crate::log_line(&::std::format!($($format)*)) };
}

/// What [`log!`](crate::log!) calls.
pub fn log_line(line: &str) {
    #[cfg(target_arch = "wasm32")]
    crate::wasm::bindings::passhost::pass::host::log(line);
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("{line}");
}

/// Shows a line that the pass did not ask for, as long as there were few: a log has a limit.
pub(crate) fn log_hint(line: &str) {
    // In one call, which is all that an instance of a component serves.
    #[cfg(target_arch = "wasm32")]
    {
        use std::sync::atomic::{AtomicU32, Ordering};
        const HINTS: u32 = 16;
        static HINTED: AtomicU32 = AtomicU32::new(0);
        if HINTED.fetch_add(1, Ordering::Relaxed) >= HINTS {
            return;
        }
    }
    log_line(line);
}
