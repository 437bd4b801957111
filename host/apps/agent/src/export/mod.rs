//! What training reads, made of trajectories: the same bytes for the same run, each conversation once.

mod atif;
mod chat;
pub mod harbor;
mod preference;

use crate::curve::{Ended, ended, task_of};
use crate::run::{AgentSettings, RecordedAttempt};
use crate::trajectory::{Spending, TrajectoryLine};
use passhost_agent_tools::sha256;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Conversations, for fine-tuning by example: `messages` and `tools`.
    Sft,
    /// A prompt, and the steps with the reward of each, for reinforcement learning.
    Rl,
    /// Pairs of conversations on the same sample, of which one scores higher.
    Preference,
    /// Harbor's Agent Trajectory Interchange Format.
    Atif,
}

/// Which attempts are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportFilter {
    /// So many of each sample, the best.
    pub best: Option<usize>,
    /// Those whose pass is right on every variant.
    pub only_right: bool,
    /// Those in whose pass nothing was found.
    pub no_findings: bool,
}

/// An attempt that has ended, and may be exported.
pub(crate) struct ExportedAttempt<'a> {
    pub settings: &'a AgentSettings,
    pub recorded: &'a RecordedAttempt,
    pub ended: Ended<'a>,
}

impl ExportedAttempt<'_> {
    /// What happened, without the beginning.
    pub fn lines(&self) -> &[TrajectoryLine] {
        self.recorded.lines.get(1..).unwrap_or_default()
    }

    /// What it was made under, and what it took.
    pub fn run(&self) -> Value {
        let device = match self.recorded.lines.first() {
            Some(TrajectoryLine::Begin { device, .. }) if !device.is_empty() => Some(device),
            _ => None,
        };
        let Spending { tokens, seconds, device_seconds } = Spending::of(self.lines());
        let (policy, budget) = (self.settings.policy(), self.settings.budget);
        json!({
            "device": device, "policy": policy, "budget": budget, "noise": self.ended.within,
            "tokens": tokens, "seconds": seconds, "device_seconds": device_seconds,
        })
    }
}

/// The lines of an export.
pub fn export(
    settings: &AgentSettings,
    recorded: &[RecordedAttempt],
    format: Format,
    filter: &ExportFilter,
) -> Vec<Value> {
    let chosen = choose(settings, recorded, filter);
    match format {
        Format::Sft => chosen.values().flatten().map(chat::sft).collect(),
        Format::Rl => chosen.values().flatten().map(chat::rl).collect(),
        Format::Preference => chosen.values().flat_map(|task| preference::pairs(task)).collect(),
        Format::Atif => chosen.values().flatten().map(atif::trajectory).collect(),
    }
}

/// Why an export has nothing in it.
pub fn why_empty(recorded: &[RecordedAttempt], filter: &ExportFilter) -> String {
    let ended: Vec<Ended<'_>> = recorded.iter().filter_map(ended).collect();
    let wrong = ended.iter().filter(|ended| filter.only_right && !ended.right).count();
    let found = ended.iter().filter(|ended| filter.no_findings && ended.findings > 0).count();
    let reasons = [
        (recorded.len() - ended.len(), "not ended (`passhost agent --resume` goes on with them)"),
        (wrong, "not right on every variant (--only-right)"),
        (found, "with findings (--no-findings)"),
    ];
    let reasons = reasons.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}"));
    let reasons: Vec<String> = reasons.collect();
    let reasons = match &*reasons {
        [] if recorded.is_empty() || filter.best == Some(0) => "none to take".to_owned(),
        [] => format!("no two on one sample whose scores differ by a factor of {}", preference::APART),
        reasons => reasons.join(", "),
    };
    format!("nothing is exported: of the {} attempts of the run {reasons}", recorded.len())
}

/// The attempts that have ended and that the filter takes, by task, the best first; of those in which the same was said,
/// the first.
fn choose<'a>(
    settings: &'a AgentSettings,
    recorded: &'a [RecordedAttempt],
    filter: &ExportFilter,
) -> BTreeMap<&'a str, Vec<ExportedAttempt<'a>>> {
    let mut tasks: BTreeMap<&str, Vec<ExportedAttempt<'_>>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut by_name: Vec<&RecordedAttempt> = recorded.iter().collect();
    by_name.sort_by(|one, other| one.name.cmp(&other.name));
    for recorded in by_name {
        let Some(ended) = ended(recorded) else { continue };
        let is_taken = (ended.right || !filter.only_right) && (ended.findings == 0 || !filter.no_findings);
        if is_taken && seen.insert((task_of(recorded), conversation(recorded))) {
            tasks.entry(task_of(recorded)).or_default().push(ExportedAttempt { settings, recorded, ended });
        }
    }
    for task in tasks.values_mut() {
        // Stable: attempts that score the same stay in the order of their names.
        task.sort_by(|one, other| other.ended.score.total_cmp(&one.ended.score));
        task.truncate(filter.best.unwrap_or(usize::MAX));
    }
    tasks
}

/// A hash of what the model said.
fn conversation(recorded: &RecordedAttempt) -> String {
    let said = recorded.lines.iter().filter_map(|line| match line {
        TrajectoryLine::Answer { answer, .. } => {
            let calls = answer.message.tool_calls.iter().map(|call| &call.function);
            let calls: Vec<(&str, &str)> = calls.map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
            Some((answer.message.content.as_str(), calls))
        }
        _ => None,
    });
    let said: Vec<_> = said.collect();
    sha256(serde_json::to_string(&said).unwrap_or_default().as_bytes())
}

#[cfg(test)]
mod tests;
