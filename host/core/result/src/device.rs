//! What a device child found.

use passhost_ir::DeviceFacts;
use serde::{Deserialize, Serialize};

/// What the child found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// `cpu` or `cuda:0`.
    pub device: String,
    /// The processor's own name.
    pub name: String,
    /// What names this very device on this machine: `cpu`, or the UUID of a GPU.
    pub id: String,
    /// What a pass may know of it.
    pub facts: DeviceFacts,
    /// Threads that both programs use.
    pub threads: u32,
    /// Version of libtorch.
    pub torch: String,
    /// Settings of libtorch that change what a GPU computes, in words; empty on the CPU.
    pub settings: String,
    /// Why a GPU that was asked for or found is not used; empty if there is nothing to say.
    pub note: String,
}

impl DeviceInfo {
    /// `Intel Xeon, 2 threads, torch 2.11.0`
    pub fn text(&self) -> String {
        format!("{}, {} threads, torch {}", self.name, self.threads, self.torch)
    }
}
