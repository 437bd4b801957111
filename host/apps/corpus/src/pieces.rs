//! Whole models become samples: pieces of all models are collected, sorted into tasks and written as PassNet has them.

mod collect;
mod graph_net;
mod names;
mod sequences;
mod summary;
mod tree;

pub use collect::{Collector, Cuts, KindCuts, Typical};
pub use graph_net::Provenance;
pub use names::folder;
pub use sequences::{ops, typical};
pub use summary::{KindSummary, Summary, WrittenTask};
pub use tree::{Selection, Tree, Written};
