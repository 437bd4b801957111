//! The child processes of an evaluation: how they are started and ended, the deadline of every answer, frames whose limits
//! follow from what was asked, and a client for each kind of child.
//!
//! [`process`] is what all have in common. [`reader`] reads a sample, [`TypesClient`] says what ops return, [`guest`] runs a
//! plugin, [`device`] runs programs, [`machine_code`] compiles kernels. Nobody waits for a child without end, to hear from
//! it or to be heard.

mod ahead;
pub mod cores;
pub mod device;
mod failure;
pub mod guest;
mod loaded;
mod lock;
pub mod machine_code;
mod memo;
mod plugin;
pub mod process;
pub mod reader;
pub mod schedules;
mod types;

pub use ahead::{Ahead, ForGpu};
pub use failure::{DOCTOR, UNCONFINED, guest_failure, not_captured};
pub use loaded::LoadedPlugin;
pub use lock::{DeviceGuard, Holder, LockedFile, Use};
pub use memo::Memo;
pub use plugin::{Plugin, PluginFileError};
pub use process::{Child, ChildError, Confinement, beside_this_executable, set_programs};
pub use types::{TypesClient, TypesSession};
