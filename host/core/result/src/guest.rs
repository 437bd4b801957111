//! What a plugin may use, what it used, and what it says of itself.

use passhost_ir::NodeId;
use serde::{Deserialize, Serialize};

/// What a plugin may use. Every limit is reported with the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestLimits {
    /// Wasmtime fuel for one call: about one unit per WebAssembly instruction.
    pub fuel: u64,
    /// Bytes of linear memory, all memories together.
    pub memory: u64,
    /// Table elements, all tables together.
    pub tables: u64,
    /// Bytes of WebAssembly stack.
    pub stack: u64,
    /// Wall clock of one call in milliseconds.
    pub deadline_ms: u64,
    /// Bytes of log and standard error of one call.
    pub log: u64,
    /// Bytes that a call may return, as the host holds them.
    pub output: u64,
    /// `infer` calls; the supervisor sets it for each graph.
    pub infer_calls: u64,
    /// Wall clock that the host spends on answers for one graph, in milliseconds: to the pass, both times that it runs,
    /// and to the verification of what it returned.
    pub answers_ms: u64,
    /// Bytes of the plugin file.
    pub wasm: u64,
    /// Wall clock of the compilation in milliseconds.
    pub compile_ms: u64,
}

impl Default for GuestLimits {
    fn default() -> GuestLimits {
        GuestLimits {
            fuel: 2_000_000_000,
            memory: 256 << 20,
            tables: 20_000,
            stack: 1 << 20,
            deadline_ms: 10_000,
            log: 64 << 10,
            output: 64 << 20,
            infer_calls: 1_000,
            answers_ms: 10_000,
            wasm: 32 << 20,
            compile_ms: 30_000,
        }
    }
}

/// What one call used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GuestUsage {
    /// Fuel; the same for the same plugin and graph on every machine.
    pub fuel: u64,
    /// Highest total of linear memory in bytes.
    pub memory: u64,
    /// `infer` calls.
    pub infer_calls: u64,
    /// Wall clock in microseconds.
    pub wall_us: u64,
    /// What the plugin logged and wrote to standard error, cut at the limit. Untrusted text.
    pub log: String,
}

/// Who a plugin says it is. Untrusted text, shown after escapes are stripped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PassInfo {
    /// Name of the pass.
    pub name: String,
    /// Version of the pass.
    pub version: String,
    /// One line.
    pub description: String,
}

/// Why a pass left some nodes as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Nodes of the original graph.
    pub nodes: Vec<NodeId>,
    /// The plugin's words.
    pub reason: String,
}
