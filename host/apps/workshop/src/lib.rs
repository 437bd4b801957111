//! Where a language model makes a pass: the tools that it may call ([`Tool`]), what executes them for one attempt on one
//! sample ([`Workshop`]), what it is told of an evaluation ([`feedback`]) and what each step is worth ([`Rewards`]).
//!
//! Nothing here knows who asks the model, and how: a loop over a chat endpoint and a server for training loops stand on the
//! same tools.
//!
//! What a model writes is never trusted. It reaches rustc by `passhost build` alone, behind the walls of a build, and the
//! device as any plugin does. What it is told are verdicts: neither seeds, nor inputs, nor hidden sizes.

mod effect;
pub mod error;
mod feedback;
mod hands;
mod machinery;
pub mod objects;
mod ran;
pub mod reward;
mod task;
mod tool;
mod turns;
mod workshop;

pub use effect::{Effect, Verdict};
pub use error::WorkshopError;
pub use hands::{Evaluated, Hands, Pass};
pub use machinery::Machinery;
pub use objects::{Objects, sha256};
pub use ran::Ran;
pub use reward::{Reward, Rewards};
pub use task::{introduction, task};
pub use tool::{Description, Tool, ToolError, descriptions};
pub use turns::Turns;
pub use workshop::{Outcome, Workshop};
