//! Times as text.

use std::time::{Duration, UNIX_EPOCH};

/// Seconds since 1970 as `2026-12-31T23:59:59Z`.
pub fn time_text(seconds: u64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_secs(seconds.min(LAST)));
    time.map_or_else(|| seconds.to_string(), |time| humantime::format_rfc3339_seconds(time).to_string())
}

/// The last second of the year 9999, after which there is no text.
const LAST: u64 = 253_402_300_799;
