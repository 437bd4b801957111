//! docs/results/lowerings.md.

use super::rows::{COUNTS, OpSummary};
use passhost_corpus::quantities::count;
use std::collections::BTreeMap;

/// What stands above the tables.
const HEAD: &str = include_str!("head.txt");

/// The page for all ops.
pub fn render(rows: &[OpSummary]) -> String {
    let (seen, others): (Vec<&OpSummary>, Vec<&OpSummary>) = rows.iter().partition(|row| row.calls.calls > 0);
    let graphs = COUNTS.lines().next().and_then(|line| line.trim_start_matches("# ").split(':').next());
    let mut lines = vec![HEAD.to_owned()];
    lines.push(format!("## What becomes of the calls of {}\n", graphs.unwrap_or("the graphs")));
    lines.extend(shares(&seen));
    lines.push("\n## By op\n".to_owned());
    lines.push("| op | calls | becomes | only, or why not |".to_owned());
    lines.push("| --- | ---: | --- | --- |".to_owned());
    lines.extend(seen.iter().map(|row| {
        format!("| `{}` | {} | {} | {} |", row.name, count(row.calls.calls), row.becomes(), row.notes().join("; "))
    }));
    lines.push("\n## Ops that no graph of GraphNet has\n".to_owned());
    lines.extend(unseen(&others));
    lines.join("\n")
}

/// The share of kernels, views and each reason to stay.
fn shares(rows: &[&OpSummary]) -> Vec<String> {
    let mut stay: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut kernels, mut views) = (0, 0);
    for row in rows {
        kernels += row.calls.kernels;
        views += row.calls.views;
        let reason = row.reason().unwrap_or("a call of a form that the lowering of its op does not cover");
        *stay.entry(reason).or_default() += row.calls.refused.values().sum::<u64>();
    }
    let total = kernels + views + stay.values().sum::<u64>();
    let mut stay: Vec<(&str, u64)> = stay.into_iter().filter(|(_, calls)| *calls > 0).collect();
    stay.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    let mut lines = vec!["| | calls | share |".to_owned(), "| --- | ---: | ---: |".to_owned()];
    let parts = [("kernels", kernels), ("views", views)].into_iter().chain(stay);
    lines.extend(
        parts.map(|(what, calls)| {
            format!("| {what} | {} | {:.2}% |", count(calls), calls as f64 * 100.0 / total as f64)
        }),
    );
    lines
}

/// By what becomes of them.
fn unseen(rows: &[&OpSummary]) -> Vec<String> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let only = row.notes();
        let group = match row.reason() {
            Some(reason) => format!("calls: {reason}"),
            None => format!("{}s", row.becomes()),
        };
        let name = format!("`{}`", row.name.trim_start_matches("aten::"));
        let is_plain = only.is_empty() || row.reason().is_some();
        groups.entry(group).or_default().push(if is_plain { name } else { format!("{name} ({})", only.join("; ")) });
    }
    groups.into_iter().map(|(group, names)| format!("- {group}: {}", names.join(", "))).collect()
}
