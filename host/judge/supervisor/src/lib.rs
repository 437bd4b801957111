//! From a plugin and a sample to a result document: children, deadlines, blame, verification, results. Neither wasmtime
//! nor libtorch is linked here: a plugin runs in one child process, libtorch in others, and samples are read in a third
//! kind.
//!
//! An evaluation has two stages. [`Checker::check`] reads a variant, types it, lets the pass rewrite it and verifies what
//! comes back; it needs no device, and several may do it at once. [`Supervisor::measure`] runs what was verified on one
//! [`Device`](device::Device), one variant after the other. [`Supervisor::evaluate`] does both for many samples,
//! [`Supervisor::bench`] for many plugins, samples and devices, with a [file](batch) that keeps what comes of it.
//!
//! Nothing here writes to a terminal: what happens is told as [`Event`]s.

mod account;
mod assemble;
pub mod baseline;
pub mod batch;
mod budget;
mod check;
mod evaluate;
mod event;
mod hidden;
mod judge;
mod measure;
pub mod memory;
mod queue;
mod reference;
pub mod replay;
mod rewrite;
mod sample;
mod supervisor;

pub use account::Account;
pub use check::{Checked, Checker, Seeds};
pub use evaluate::Checking;
pub use event::{Event, VariantPlace, WorkStage};
pub use passhost_result::InputMode;
pub use rewrite::infer_calls;
pub use sample::{OpenError, ReadError, Sample};
pub use supervisor::{Config, Supervisor};
