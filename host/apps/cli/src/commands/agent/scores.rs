//! What the attempts of a run score, as a table and as JSON.

use crate::exit::Stop;
use crate::terminal::{Terminal, table};
use passhost_agent::curve::{SHOWN, ScoreCurve, curve};
use passhost_agent::run::text;
use passhost_result::untrusted::one_line;
use passhost_score::Interval;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Names the form of the scores.
pub const SCHEMA: &str = "passhost.agent-scores/1";

/// The scores of a run.
#[derive(Serialize)]
pub struct AgentScores {
    schema: &'static str,
    model: String,
    /// Attempts that have not ended.
    unfinished: usize,
    #[serde(flatten)]
    curve: ScoreCurve,
    /// The result documents behind the best attempts, in the order of the tasks.
    documents: Vec<Value>,
}

/// What others need of it: see [`AgentScores`].
#[derive(Deserialize)]
pub struct WrittenScores {
    pub model: String,
    pub tasks: Vec<WrittenTask>,
    pub documents: Vec<Value>,
}

#[derive(Deserialize)]
pub struct WrittenTask {
    pub attempts: u32,
}

/// Of the run in a directory.
pub fn read(directory: &Path) -> Result<AgentScores, Stop> {
    let (settings, recorded) = passhost_agent::run::read(directory)?;
    let curve = curve(&recorded);
    let ended: usize = curve.tasks.iter().map(|task| task.attempts).sum();
    let unfinished = (settings.samples.len() * settings.attempts as usize).saturating_sub(ended);
    let best = curve.tasks.iter().filter_map(|task| task.best_document.as_deref());
    let read = |name| -> Result<Value, Stop> {
        let document = serde_json::from_str(&text(directory, name)?);
        document.map_err(|error| Stop::host(format!("the result {name} of the run is damaged: {error}")))
    };
    let documents = best.map(read).collect::<Result<_, _>>()?;
    Ok(AgentScores { schema: SCHEMA, model: settings.model, unfinished, curve, documents })
}

/// A row a sample, and the means.
pub fn render(report: &AgentScores, terminal: &Terminal) -> Vec<String> {
    let ScoreCurve { tasks, mean, geometric_mean, intervals } = &report.curve;
    let most = tasks.iter().map(|task| task.attempts).max().unwrap_or(0);
    let shown: Vec<usize> = SHOWN.into_iter().filter(|k| *k <= most).collect();
    let heads: Vec<String> = shown.iter().map(|k| format!("best of {k}")).collect();
    let head: Vec<&str> =
        ["sample", "attempts", "submitted", "right"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    let number = |value: Option<&f64>, interval: Option<&Interval>| match (value, interval) {
        (None, _) => "-".to_owned(),
        (Some(value), None) => format!("{value:.3}"),
        (Some(value), Some(Interval { low, high })) => format!("{value:.3} [{low:.3}, {high:.3}]"),
    };
    let mut rows: Vec<Vec<String>> = vec![];
    for task in tasks {
        let counts = [task.attempts, task.submitted, task.right].map(|count| count.to_string());
        let scores = shown.iter().map(|k| number(task.best_of.get(k), task.intervals.get(k)));
        rows.push([one_line(&task.sample, 60)].into_iter().chain(counts).chain(scores).collect());
    }
    let both = [("mean", mean, &intervals.mean), ("geometric mean", geometric_mean, &intervals.geometric_mean)];
    for (name, means, intervals) in both {
        let blank = ["", "", ""].map(str::to_owned);
        let scores = shown.iter().map(|k| number(means.get(k), intervals.get(k)));
        rows.push([name.to_owned()].into_iter().chain(blank).chain(scores).collect());
    }
    let mut lines = if tasks.is_empty() { vec![] } else { table(&head, &rows, terminal.width()) };
    if report.unfinished > 0 {
        lines.push(format!("attempts that have not ended: {}; --resume goes on with them", report.unfinished));
    }
    lines
}
