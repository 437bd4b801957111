//! What came of it: counts for each kind, and the tasks that were written.

use crate::terminal::{Terminal, Tone, table, wrap};
use passhost_corpus::decompose::{Kind, Task};
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::pieces::{Cuts, KindCuts, Written};
use passhost_corpus::quantities::{count, time};
use passhost_supervisor::untrusted::one_line;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Serialize)]
pub struct Summary {
    models: u64,
    /// Calls that compute something, over all models.
    calls: u64,
    milliseconds: u64,
    kinds: BTreeMap<&'static str, KindSummary>,
}

#[derive(Default, Serialize)]
struct KindSummary {
    #[serde(flatten)]
    cuts: KindCuts,
    /// Different graphs among the pieces.
    graphs: u64,
    /// Different op sequences, wired alike.
    tasks: u64,
    written: Vec<WrittenTask>,
}

#[derive(Serialize)]
struct WrittenTask {
    path: String,
    ops: Vec<String>,
    variants: u64,
    /// How often pieces of this task occur, and in how many models.
    occurrences: u64,
    models: u64,
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
            milliseconds: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
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

    /// Lines for the terminal.
    pub fn render(&self, terminal: &Terminal) -> Vec<String> {
        let elapsed = time(Duration::from_millis(self.milliseconds));
        let title = format!("{} models, {} calls, cut in {elapsed}", count(self.models), count(self.calls));
        let head = ["kind", "found", "calls each", "refused", "graphs", "tasks", "written"];
        let rows: Vec<Vec<String>> = self.kinds.iter().map(|(category, kind)| row(category, kind)).collect();
        let mut lines = vec![terminal.paint(Tone::Strong, &title)];
        lines.extend(table(&head, &rows, terminal.width()));
        for (category, kind) in &self.kinds {
            for (reason, times) in &kind.cuts.refused {
                let example = kind.cuts.examples.get(reason).map_or(String::new(), |example| one_line(example, 300));
                let text = format!("{category}: {} refused, {reason}; one of them: {example}", count(*times));
                let refused = wrap(&text, terminal.width(), "  ");
                lines.extend(refused.iter().map(|line| terminal.paint(Tone::Dim, line)));
            }
        }
        lines
    }
}

fn row(category: &str, kind: &KindSummary) -> Vec<String> {
    let each = kind.cuts.calls as f64 / kind.cuts.ranges.max(1) as f64;
    vec![
        category.to_owned(),
        count(kind.cuts.ranges),
        format!("{each:.1}"),
        count(kind.cuts.ranges - kind.cuts.pieces),
        count(kind.graphs),
        count(kind.tasks),
        count(kind.written.len() as u64),
    ]
}
