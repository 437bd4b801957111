//! What time it is. Clients are shown the time of the day, which somebody may set; what is decided, is decided by time that
//! only passes.

use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The clocks that a queue reads.
#[derive(Debug, Clone, Copy)]
pub struct QueueClock {
    /// Milliseconds since 1970, as clients are shown them. Nothing depends on them.
    pub wall_ms: fn() -> u64,
    /// Milliseconds since some moment of this process, which nobody can set: leases run out by them, and results are kept by
    /// them.
    pub elapsed_ms: fn() -> u64,
}

impl Default for QueueClock {
    fn default() -> QueueClock {
        QueueClock { wall_ms, elapsed_ms }
    }
}

fn wall_ms() -> u64 {
    milliseconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn elapsed_ms() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    milliseconds(START.elapsed())
}

pub fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A moment on the clocks of a queue.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub wall_ms: u64,
    /// By the queue's own clock, which goes on while a process has the queue open.
    pub queue_ms: u64,
}
