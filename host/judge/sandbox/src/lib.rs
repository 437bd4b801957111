//! Compiles plugins and runs them on graphs, under limits and with nothing else in reach.
//!
//! Two sandboxes hold a plugin. The inner one is wasmtime: linear memory of its own, fuel, a deadline, and imports
//! that can do no more than ask for types and write to a bounded log. The outer one is a process of its own, the binary
//! `passhost-guest` of this crate, which gives up what it does not need ([`passhost_confine::guest`]) before it sees a plugin. A flaw in
//! the compiler or the runtime then costs one child.
//!
//! - [`check`]: what can be said about a plugin without compiling it
//! - [`engine`]: the configuration that all machine code here is made with
//! - [`plugin`]: loading, calling, and naming what went wrong
//! - [`serve`]: the child's side of the protocol
//! - [`attempt`]: what a plugin that has taken the child over could do, tried

pub mod attempt;
mod bindings;
pub mod check;
#[path = "../../../../wit/convert.rs"]
mod convert;
pub mod engine;
mod failure;
mod imports;
mod meter;
pub mod plugin;
pub mod serve;
mod watchdog;

pub use plugin::{CompiledPlugin, LoadedComponent};
