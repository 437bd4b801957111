//! A check on the terminal.

use crate::commands::samples::failure_lines;
use crate::terminal::{Terminal, Tone};
use passhost_corpus::findings::{Checked, Summary};
use passhost_corpus::outcome::{Outcome, SampleReport};
use passhost_corpus::quantities::{count, time};
use std::time::Duration;

/// The counts by outcome, what they are of, and the failures.
pub fn render(summary: &Summary, reports: &[SampleReport<Checked>], terminal: &Terminal) -> Vec<String> {
    let outcomes: Vec<(Outcome, u64)> =
        Outcome::ALL.into_iter().filter_map(|outcome| Some((outcome, *summary.outcomes.get(&outcome)?))).collect();
    let rows: Vec<Vec<String>> = outcomes
        .iter()
        .map(|(outcome, graphs)| vec![outcome.to_string(), count(*graphs), share(*graphs, summary.graphs)])
        .collect();
    let mut lines = terminal.headed(&["outcome", "graphs", "share"], &rows);
    for (line, (outcome, _)) in lines.iter_mut().skip(1).zip(&outcomes) {
        let tone = match outcome {
            Outcome::Ok => Tone::Good,
            outcome if outcome.is_failure() => Tone::Bad,
            _ => Tone::Warn,
        };
        *line = terminal.paint(tone, line);
    }
    lines.extend(terminal.wrap(&totals(summary, reports.len() as u64), ""));
    if summary.outputs_that_tell_little > 0 {
        let graphs = count(summary.outputs_that_tell_little);
        let text =
            format!("note: {graphs} graphs have an output that is constant or not finite; `eval` would refuse them");
        lines.extend(terminal.painted(Tone::Dim, &text, ""));
    }
    lines.extend(failure_lines(reports, terminal));
    lines
}

/// `2,490 graphs of 2,490 samples (12 from the journal), 1,390,112 nodes, 8m 12s, 5.1 samples/s`.
fn totals(summary: &Summary, samples: u64) -> String {
    let known = summary.samples_from_journal;
    let journal = if known > 0 { format!(" ({} from the journal)", count(known)) } else { String::new() };
    let rate = samples.saturating_sub(known) as f64 / summary.seconds.max(1e-3);
    format!(
        "{} graphs of {} samples{journal}, {} nodes, {}, {rate:.1} samples/s",
        count(summary.graphs),
        count(samples),
        count(summary.nodes),
        time(Duration::from_secs_f64(summary.seconds)),
    )
}

/// A share in per cent that is 100 only where it is all.
fn share(part: u64, whole: u64) -> String {
    let tenths = part.saturating_mul(1000).checked_div(whole).unwrap_or(0);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_share_is_rounded_down_so_that_only_all_is_100() {
        assert_eq!([share(3, 3), share(2489, 2490), share(1, 2490), share(0, 0)], ["100.0%", "99.9%", "0.0%", "0.0%"]);
    }
}
