//! Where a pass would look for a difference between one run and the next, or between being tested and being timed. Each
//! witness is a number; 0 says that there is nothing to see.

use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Calls of this instance so far.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// What a witness says now.
pub(crate) fn of(source: &str) -> Result<u64, String> {
    Ok(match source {
        "calls" => CALLS.fetch_add(1, Ordering::Relaxed),
        "clock" => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64),
        "timer" => {
            let started = Instant::now();
            std::hint::black_box((0..100_000).fold(0u64, |sum, n| std::hint::black_box(sum ^ n)));
            started.elapsed().as_nanos() as u64
        }
        "hash" => RandomState::new().hash_one(0),
        "heap" => std::ptr::from_ref(&*Box::new(0u8)) as usize as u64,
        "environment" => std::env::vars_os().count() as u64,
        "arguments" => std::env::args_os().count() as u64,
        "input" => {
            let mut text = vec![];
            let _ = std::io::stdin().read_to_end(&mut text);
            text.len() as u64
        }
        "threads" => u64::from(std::thread::Builder::new().spawn(|| ()).is_ok()),
        other => return Err(format!("there is no witness `{other}`")),
    })
}
