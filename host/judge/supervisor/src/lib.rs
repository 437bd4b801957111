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
mod ahead;
mod assemble;
pub mod baseline;
pub mod batch;
mod budget;
mod check;
pub mod child;
pub mod cores;
pub mod device;
mod evaluate;
mod event;
mod failure;
pub mod guest;
mod hidden;
mod judge;
mod lock;
pub mod machine_code;
mod measure;
mod memo;
pub mod memory;
mod plugin;
mod queue;
pub mod reader;
mod reference;
pub mod replay;
mod rewrite;
mod sample;
mod schedules;
mod supervisor;
mod types;

pub use account::Account;
pub use ahead::ForGpu;
pub use check::{Checked, Checker, Seeds};
pub use child::Confinement;
pub use evaluate::Checking;
pub use event::{Event, VariantPlace, WorkStage};
pub use failure::guest_failure;
pub use lock::{Holder, LockedFile};
pub use memo::Memo;
pub use passhost_result::InputMode;
pub use plugin::{LoadedPlugin, Plugin, PluginFileError};
pub use rewrite::infer_calls;
pub use sample::{OpenError, ReadError, Sample};
pub use supervisor::{Config, Supervisor};
pub use types::Types;
