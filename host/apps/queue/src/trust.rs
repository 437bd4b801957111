//! Results that are judged before they count, and canaries.

use crate::Ticket;

/// What a job needs whose results are judged before they count: see [`Queue::judge`](crate::Queue::judge).
pub const SIGNED: &str = "results=signed";

/// Why a result counts for nothing, if it does.
pub type Judge = dyn Fn(&Delivered) -> Result<(), String> + Send + Sync;

/// How many results [`Queue::judge`](crate::Queue::judge) judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Judged {
    /// That count.
    pub accepted: usize,
    /// That do not.
    pub refused: usize,
}

/// What a worker says came of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// The job.
    pub ticket: Ticket,
    /// Where it was done, as the worker says.
    pub host: String,
    /// What the job needs.
    pub needs: Vec<String>,
    /// What came of it.
    pub outcome: Vec<u8>,
}

/// What came of an evaluation whose result is known before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canary {
    /// The kind of the device.
    pub device: String,
    /// Whether it is as it should be.
    pub is_good: bool,
    /// The result, and what it should be.
    pub report: String,
}
