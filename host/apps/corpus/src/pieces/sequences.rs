//! Op sequences that occur more than once in the models of a survey.

use super::Typical;
use crate::decompose::{Model, repeated};
use crate::outcome::{Failure, SampleReport};
use crate::worker::Worker;
use passhost_sample::SampleText;
use std::collections::HashMap;

/// The op of each call of variant `index` of a sample, `None` for those that can be in no piece.
///
/// # Errors
///
/// If it cannot be read.
pub fn ops(worker: &mut Worker, sample: &SampleText, index: usize) -> Result<Vec<Option<String>>, Failure> {
    worker.read(sample, index, |reading, _| Model::of(&reading).ops())
}

/// The sequences among [`ops`] that occur more than once.
pub fn typical(reports: &[SampleReport<Vec<Option<String>>>]) -> Typical {
    // Ops become numbers. Each sequence keeps which variant of which sample it is.
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let (mut places, mut sequences) = (vec![], vec![]);
    for (sample, report) in reports.iter().enumerate() {
        for (variant, graph) in report.graphs.iter().enumerate() {
            let Some(ops) = &graph.found else { continue };
            let mut sequence = vec![];
            for op in ops {
                let next = numbers.len() as u32;
                sequence.push(op.as_deref().map(|op| *numbers.entry(op).or_insert(next)));
            }
            sequences.push(sequence);
            places.push((sample, variant));
        }
    }
    places.into_iter().zip(repeated(&sequences)).collect()
}
