//! Counts what one call uses and remembers the first limit it ran into.

use passhost_protocol::guest::Limit;
use passhost_result::GuestLimits;
use wasmtime::ResourceLimiter;

/// Core instances of one plugin: a component made by a Rust toolchain has about five.
const INSTANCES: usize = 64;
/// Linear memories; each reserves address space, which is limited for the whole process.
const MEMORIES: usize = 4;
const TABLES: usize = 64;

/// A call was ended because of a limit. Which one is in [`Meter::hit`].
#[derive(Debug, thiserror::Error)]
#[error("exceeded the {0} limit")]
pub(crate) struct LimitHit(Limit);

/// Who writes to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogSource {
    /// The import `log`, and standard output.
    Log,
    /// Standard error, where panic messages go.
    Stderr,
}

/// The use of one call.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: GuestLimits,
    /// The first limit that was exceeded.
    pub(crate) hit: Option<Limit>,
    /// Bytes of linear memory, all memories together. Memories only grow, so this is also the highest total.
    pub(crate) memory: u64,
    tables: u64,
    /// `infer` calls.
    pub(crate) infer_calls: u64,
    /// All output of the plugin in order.
    pub(crate) log: Vec<u8>,
    /// Standard error alone.
    pub(crate) stderr: Vec<u8>,
}

impl Meter {
    pub(crate) fn new(limits: GuestLimits) -> Meter {
        Meter { limits, hit: None, memory: 0, tables: 0, infer_calls: 0, log: vec![], stderr: vec![] }
    }

    /// Notes that `limit` was exceeded; the error ends the call.
    pub(crate) fn exceeded(&mut self, limit: Limit) -> wasmtime::Error {
        self.hit.get_or_insert(limit);
        LimitHit(limit).into()
    }

    /// Counts an `infer` call.
    pub(crate) fn count_infer(&mut self) -> wasmtime::Result<()> {
        if self.infer_calls >= self.limits.infer_calls {
            return Err(self.exceeded(Limit::InferCalls));
        }
        self.infer_calls += 1;
        Ok(())
    }

    /// Appends to the log what fits; more than that ends the call.
    pub(crate) fn write(&mut self, source: LogSource, bytes: &[u8]) -> wasmtime::Result<()> {
        let room = usize::try_from(self.limits.log).unwrap_or(usize::MAX).saturating_sub(self.log.len());
        let fitting = &bytes[..bytes.len().min(room)];
        self.log.extend_from_slice(fitting);
        if source == LogSource::Stderr {
            self.stderr.extend_from_slice(fitting);
        }
        if fitting.len() < bytes.len() { Err(self.exceeded(Limit::Log)) } else { Ok(()) }
    }
}

/// Ends the call instead of refusing growth: a refusal would look like a panic of the plugin's allocator.
impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let total = self.memory.saturating_add(desired.saturating_sub(current) as u64);
        if total > self.limits.memory {
            return Err(self.exceeded(Limit::Memory));
        }
        self.memory = total;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        // Permitted, but the process has no room for it.
        Err(self.exceeded(Limit::Memory))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let total = self.tables.saturating_add(desired.saturating_sub(current) as u64);
        if total > self.limits.tables {
            return Err(self.exceeded(Limit::Tables));
        }
        self.tables = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        TABLES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }
}
