//! What a queue has room for.

/// Bytes that a job counts besides its own and those of what came of it: what is kept of it in all tables is less.
pub const JOB: u64 = 2048;

/// What a queue has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Jobs that wait, of all clients.
    pub waiting: u64,
    /// Jobs that wait, of one client.
    pub waiting_of_client: u64,
    /// Bytes of one client: its jobs that have not ended, what came of the others, and [`JOB`] for each.
    pub bytes_of_client: u64,
    /// Jobs that run, of one client: so many workers can one client have at once.
    pub running_of_client: u64,
    /// Bytes of a job.
    pub payload: usize,
    /// Bytes of a client's name, and of a key.
    pub name: usize,
    /// How many workers may be gone after they began a job and before its end, until it is the reason for that, and lost.
    pub attempts: u32,
}

impl Default for QueueLimits {
    fn default() -> QueueLimits {
        QueueLimits {
            waiting: 10_000,
            waiting_of_client: 1_000,
            bytes_of_client: 8 << 30,
            running_of_client: 64,
            payload: 40 << 20,
            name: 256,
            attempts: 3,
        }
    }
}
