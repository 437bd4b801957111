//! From a plugin and a sample to a result document: children, deadlines, blame, verification, results. Neither wasmtime
//! nor libtorch is linked here: a plugin runs in one child process, libtorch in others, and samples are read in a third
//! kind.
//!
//! An evaluation has two halves. [`Checker::check`] reads a variant, types it, lets the pass rewrite it and verifies what
//! comes back; it needs no device, and several may do it at once. Then what was verified is measured on one
//! [`Device`](passhost_child::device::Device), one variant after the other, and judged. [`Supervisor::evaluate`] does both
//! for one sample, [`Supervisor::bench`] for many plugins, samples and devices, with a [file](batch) that keeps what comes
//! of it.
//!
//! Nothing here writes to a terminal: what happens is told as [`EvaluationEvent`]s.

mod account;
mod assemble;
pub mod baseline;
pub mod batch;
mod budget;
mod checker;
mod evaluate;
mod evaluation;
mod event;
mod hidden;
pub mod memory;
pub mod replay;
mod sample;
mod stages;
mod strength;
mod supervisor;

pub use account::Account;
pub use checker::{Checker, Seeds};
pub use evaluate::ReadOnce;
pub use evaluation::Checked;
pub use event::{EvaluationEvent, VariantPlace, WorkStage};
pub use passhost_result::InputMode;
pub use sample::{OpenError, ReadError, Sample};
pub use stages::infer_calls;
pub use strength::{MutantCounts, MutantFate, TriedMutant, VariantStrength};
pub use supervisor::{Config, Supervisor};
