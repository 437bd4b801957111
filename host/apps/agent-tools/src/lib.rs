//! Where a language model makes a pass: the tools that it may call ([`Tool`]), what executes them for one attempt on one
//! sample ([`AgentTools`]), what it is told of an evaluation ([`feedback`]) and what each step is worth ([`Rewards`]).
//!
//! Nothing here knows who asks the model, and how: a loop over a chat endpoint and a server for training loops stand on the
//! same tools.
//!
//! What a model writes is never trusted. It reaches rustc by `passhost build` alone, sandboxed, and the
//! device as any plugin does. What it is told are verdicts: neither seeds, nor inputs, nor hidden sizes.

mod agent_tools;
mod cli_runner;
mod command_output;
mod effect;
pub mod error;
mod executor;
mod feedback;
mod gate;
pub mod objects;
pub mod reward;
mod task;
mod tool;

pub use agent_tools::{AgentTools, ToolOutcome};
pub use cli_runner::CliRunner;
pub use command_output::CommandOutput;
pub use effect::{Effect, PassVerdict};
pub use error::AgentToolsError;
pub use executor::{BuiltPass, Evaluated, ToolExecutor};
pub use gate::DeviceGate;
pub use objects::{Objects, sha256};
pub use reward::{Reward, Rewards};
pub use task::{TaskFacts, introduction, steps_left, task};
pub use tool::{Description, Tool, ToolError, Which, descriptions};
