//! A language model that writes passes: asks an endpoint, executes the tools that it calls, says what came of them, and keeps
//! everything as a trajectory that training can use.
//!
//! ```text
//! endpoint ─ answer ─▶ attempt ─ call ─▶ tools ─ verdict ─▶ attempt ─ messages ─▶ endpoint
//!                         │                                       │
//!                         └──────────── trajectory ◀──────────────┘─▶ exports, scores at K
//! ```
//!
//! [`Endpoint`] speaks the wire format and tries again, [`attempt`] is the loop, [`Trajectory`] a file of lines that says all
//! that happened, [`run`] many attempts side by side, [`curve`] what the best of K scores, [`export`] what training reads.
//! The tools themselves, and what a step is worth, are in `passhost-agent-tools`.

pub mod attempt;
pub mod curve;
mod endpoint;
mod error;
pub mod export;
mod key;
mod prompt;
pub mod run;
mod text_calls;
pub mod trajectory;
mod wire;

pub use endpoint::{Endpoint, Patience};
pub use error::EndpointError;
pub use key::ApiKey;
pub use trajectory::Trajectory;
pub use wire::{ChatAnswer, FunctionCall, Message, Style, TokenUsage, ToolCall, WireError, tools};
