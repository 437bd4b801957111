//! What came of cutting: counts for each kind, and the tasks that were written.

use super::{Cuts, KindCuts, Written};
use crate::decompose::{Kind, Task};
use crate::outcome::SampleReport;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Over all models.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Models that were cut.
    pub models: u64,
    /// Calls in them that compute something.
    pub calls: u64,
    /// Wall clock that it took.
    pub milliseconds: u64,
    /// By category.
    pub kinds: BTreeMap<&'static str, KindSummary>,
}

/// Pieces of one kind.
#[derive(Debug, Default, Serialize)]
pub struct KindSummary {
    /// What became of the ranges.
    #[serde(flatten)]
    pub cuts: KindCuts,
    /// Different graphs among the pieces.
    pub graphs: u64,
    /// Different op sequences, wired alike.
    pub tasks: u64,
    /// Tasks that were written.
    pub written: Vec<WrittenTask>,
}

/// A task that was written.
#[derive(Debug, Serialize)]
pub struct WrittenTask {
    /// Its folder.
    pub path: String,
    /// The names of its ops.
    pub ops: Vec<String>,
    /// Graphs of it that were written.
    pub variants: u64,
    /// How often its pieces occur.
    pub occurrences: u64,
    /// In how many models.
    pub models: u64,
}

impl Summary {
    /// Of all models that were cut.
    pub fn of(reports: &[SampleReport<Cuts>], elapsed: Duration) -> Summary {
        let found = || reports.iter().flat_map(SampleReport::found);
        let mut kinds: BTreeMap<&'static str, KindSummary> = BTreeMap::new();
        for (category, cuts) in found().flat_map(|cuts| &cuts.kinds) {
            let total = &mut kinds.entry(category).or_default().cuts;
            total.ranges += cuts.ranges;
            total.calls += cuts.calls;
            total.pieces += cuts.pieces;
            for (reason, times) in &cuts.refused {
                *total.refused.entry(reason.clone()).or_default() += times;
            }
            for (reason, example) in &cuts.examples {
                total.examples.entry(reason.clone()).or_insert_with(|| example.clone());
            }
        }
        Summary {
            models: found().count() as u64,
            calls: found().map(|cuts| cuts.calls).sum(),
            milliseconds: passhost_result::milliseconds(elapsed),
            kinds,
        }
    }

    /// Adds the tasks of a kind, and which of them were written.
    pub fn add(&mut self, kind: Kind, tasks: &[Task], written: Vec<Written>) {
        let summary = self.kinds.entry(kind.category()).or_default();
        summary.graphs = tasks.iter().map(|task| task.graphs as u64).sum();
        summary.tasks = tasks.len() as u64;
        summary.written = written
            .into_iter()
            .map(|Written { path, task }| {
                let task = &tasks[task];
                WrittenTask {
                    path,
                    ops: task.ops().to_vec(),
                    variants: task.variants.len() as u64,
                    occurrences: task.occurrences as u64,
                    models: task.models.len() as u64,
                }
            })
            .collect();
    }
}
