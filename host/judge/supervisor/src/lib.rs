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
mod differing;
pub mod document;
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
mod named;
mod plugin;
mod progress;
mod queue;
pub mod reader;
mod recount;
mod reference;
mod rewrite;
mod sample;
mod schedules;
mod schema;
mod supervisor;
mod timing;
mod types;
pub mod untrusted;
pub mod verify;

pub use account::Account;
pub use ahead::ForGpu;
pub use budget::left_out;
pub use check::{Checked, Checker, Seeds};
pub use child::Confinement;
pub use differing::first_difference;
pub use evaluate::Checking;
pub use event::{Event, VariantPlace, WorkStage};
pub use failure::guest_failure;
pub use judge::Judged;
pub use lock::{Holder, LockedFile};
pub use memo::Memo;
pub use named::{is_among, is_named};
pub use passhost_policy::{Headline, Inserted, Policy};
pub use passhost_protocol::reader::InputMode;
pub use plugin::{LoadedPlugin, Plugin, PluginFileError};
pub use progress::Progress;
pub use recount::{Counted, Recount, recount};
pub use rewrite::infer_calls;
pub use sample::{OpenError, ReadError, Sample};
pub use schema::schema_of;
pub use supervisor::{Config, Supervisor};
pub use timing::{EagerTimes, Speedups};
pub use types::Types;
