//! Plugins that keep to the rules and plugins that break them, against the real child process.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod calls;
mod child;
mod component;
mod limits;
mod refusals;
