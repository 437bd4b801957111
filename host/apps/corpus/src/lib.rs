//! What is done with many samples: a crew looks at every graph of them, each worker with children of its own, so that a
//! crash costs one graph; models are cut into pieces that are samples themselves.

pub mod check;
pub mod decompose;
mod error;
mod files;
pub mod findings;
pub mod hash;
pub mod journal;
pub mod list;
pub mod lowerings;
pub mod memory;
pub mod outcome;
pub mod packing;
pub mod pieces;
pub mod quantities;
pub mod run;
pub mod split;
pub mod stats;
pub mod survey;
pub mod vary;
pub mod worker;

pub use error::CorpusError;
pub use files::{check_writable, new_directory, write_whole};

/// Result types for tests, without PyTorch: those that the reader's own tests have.
#[cfg(test)]
#[path = "../../../judge/sample/src/tests/types.rs"]
mod types;
