//! Results that are judged before they count, and canaries.

use crate::Ticket;

/// What a job needs whose results are judged before they count: see [`Queue::judge`](crate::Queue::judge).
pub const SIGNED: &str = "results=signed";

/// Judges results of workers.
pub trait Judge: Send + Sync {
    /// Whether a result counts.
    ///
    /// # Errors
    ///
    /// Why it counts for nothing.
    fn check(&self, delivered: &Delivered) -> Result<(), String>;

    /// How another host runs the job of a first result again, if it does.
    fn rerun(&self, _: &Delivered) -> Option<Rerun> {
        None
    }

    /// In what the results of two runs of a job differ, of what must be alike.
    fn difference(&self, _first: &[u8], _second: &[u8]) -> Option<String> {
        None
    }
}

impl<F: Fn(&Delivered) -> Result<(), String> + Send + Sync> Judge for F {
    fn check(&self, delivered: &Delivered) -> Result<(), String> {
        self(delivered)
    }
}

/// A second run of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rerun {
    /// What its worker must offer.
    pub needs: Vec<String>,
    /// What it has in common with the first run, as its worker gets it.
    pub draws: Vec<u8>,
}

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
