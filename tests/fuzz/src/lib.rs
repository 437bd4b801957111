//! What a plugin, a sample or a child may send, drawn at random, and what must not come of it: a crash, a panic, a hang,
//! growth without bounds, or an answer that contradicts another part of the host.
//!
//! A [`Campaign`] puts cases of one `target` to the host in a process of their own, so that what kills or hangs it is
//! seen from outside, and counts what came of them. A case is drawn from the seed of the run and its number, so that each
//! can be drawn again. CONTRIBUTING.md says what each target does, and what runs of it found.

mod campaign;
pub mod claims;
mod components;
mod frames;
mod graphs;
mod kernels;
mod liar;
mod random;
mod rewrites;
mod samples;
mod storage;
mod target;
mod targets;
mod worker;

pub use campaign::{Campaign, CampaignError, Failure, Report};
pub use liar::{is_stand_in, lie};
pub use random::Random;
pub use target::Target;
pub use targets::{Name, failures};
pub use worker::{ROLE, serve};
