//! Where the time of evaluations went, on the terminal.

use crate::terminal::{Terminal, table};
use passhost_report::Summary;
use passhost_result::untrusted::one_line;
use std::time::Duration;

/// A row for each kind of work, the longest first.
pub fn render(summary: &Summary, terminal: &Terminal) -> Vec<String> {
    let total = summary.spent_us.total().as_secs_f64();
    let graphs = summary.all.graphs.max(1) as f64;
    let mut spent: Vec<(String, Duration)> =
        summary.spent_us.each().map(|(work, time)| (work.to_string(), time)).collect();
    spent.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let row = |(work, time): (String, Duration)| {
        let seconds = time.as_secs_f64();
        let share = 100.0 * seconds / total.max(f64::MIN_POSITIVE);
        vec![work, format!("{seconds:.2}"), format!("{:.1}", 1e3 * seconds / graphs), format!("{share:.1}%")]
    };
    let rows: Vec<Vec<String>> = spent.into_iter().map(row).collect();
    let title = format!(
        "time of {}: {total:.1} s, {:.0} ms a graph",
        one_line(&summary.entrant.name, 40),
        1e3 * total / graphs
    );
    let lines = table(&["work", "seconds", "ms a graph", "share"], &rows, terminal.width());
    [String::new(), title].into_iter().chain(lines).collect()
}
