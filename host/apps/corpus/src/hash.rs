//! A hash of each graph that names, numbering and dead code do not change.

use crate::outcome::{Failure, Outcome, SampleReport};
use crate::worker::Worker;
use base16ct::lower::encode_string;
use passhost_ir::{OpTable, canonical_text};
use passhost_sample::SampleText;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// What is found of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hashed {
    /// SHA-256 of the canonical text of the functional graph, in hexadecimal.
    pub hash: String,
}

/// The same over all graphs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Graphs that could be read.
    pub graphs: u64,
    /// Hashes among them.
    pub different: u64,
    /// The graphs of each hash that occurs more than once.
    pub duplicates: BTreeMap<String, Vec<String>>,
}

/// Hashes variant `index` of a sample.
///
/// # Errors
///
/// If it cannot be read.
pub fn hash(worker: &mut Worker, sample: &SampleText, index: usize) -> Result<Hashed, Failure> {
    let graph = worker.load_functional(sample, index)?;
    let text = canonical_text(&graph, OpTable::sample())
        .ok_or_else(|| Failure::new(Outcome::ReaderBug, "a value is used before it is defined"))?;
    Ok(Hashed { hash: encode_string(&Sha256::digest(text)) })
}

impl Summary {
    /// Of all graphs that were hashed.
    pub fn of(reports: &[SampleReport<Hashed>]) -> Summary {
        let mut graphs: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for report in reports {
            for graph in &report.graphs {
                if let Some(Hashed { hash }) = &graph.found {
                    graphs.entry(hash.clone()).or_default().push(report.name_of(graph));
                }
            }
        }
        let total = graphs.values().map(|names| names.len() as u64).sum();
        let different = graphs.len() as u64;
        graphs.retain(|_, names| names.len() > 1);
        Summary { graphs: total, different, duplicates: graphs }
    }
}
