//! How far a survey is, on standard error.

use crate::terminal::Terminal;
use passhost_corpus::outcome::SampleReport;
use passhost_corpus::quantities::{count, time};
use std::time::{Duration, Instant};

/// How often a line on a terminal changes.
const LIVE: Duration = Duration::from_millis(200);
/// How often a plain line is written elsewhere.
const PLAIN: Duration = Duration::from_secs(10);

/// Counts samples and says so now and then.
pub struct SurveyProgress {
    terminal: Terminal,
    quiet: bool,
    total: usize,
    done: usize,
    known: usize,
    failed: usize,
    started: Instant,
    shown: Instant,
}

impl SurveyProgress {
    /// Of so many samples.
    pub fn new(terminal: &Terminal, quiet: bool, total: usize) -> SurveyProgress {
        let now = Instant::now();
        SurveyProgress { terminal: *terminal, quiet, total, done: 0, known: 0, failed: 0, started: now, shown: now }
    }

    /// A sample is finished.
    pub fn advance<T>(&mut self, report: &SampleReport<T>) {
        self.done += 1;
        self.known += usize::from(report.known);
        self.failed += usize::from(report.graphs.iter().any(|graph| graph.outcome.is_failure()));
        self.show();
    }

    /// Writes a line if the last one is old enough.
    pub fn show(&mut self) {
        let pause = if self.terminal.is_live() { LIVE } else { PLAIN };
        if self.quiet || self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        self.terminal.progress(&line(self.total, self.done, self.known, self.failed, self.started.elapsed()));
    }

    /// Removes the line.
    pub fn clear(&self) {
        if !self.quiet {
            self.terminal.clear_progress();
        }
    }

    /// Since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// `412 of 2,490 samples, 12 with failures, 6.1/s, 5m 40s left`. What was known already says nothing about the rate.
fn line(total: usize, done: usize, known: usize, failed: usize, elapsed: Duration) -> String {
    let mut line = format!("{} of {} samples", count(done as u64), count(total as u64));
    if failed > 0 {
        line.push_str(&format!(", {} with failures", count(failed as u64)));
    }
    let worked = done.saturating_sub(known);
    if worked > 0 {
        let rate = worked as f64 / elapsed.as_secs_f64().max(1e-3);
        let left = Duration::from_secs_f64((total - done.min(total)) as f64 / rate);
        line.push_str(&format!(", {rate:.1}/s, {} left", time(left)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_and_extrapolates_from_what_was_worked_on() {
        let cases = [
            ((2490, 0, 0, 0, 1), "0 of 2,490 samples"),
            ((2490, 600, 600, 0, 1), "600 of 2,490 samples"),
            ((100, 20, 0, 3, 10), "20 of 100 samples, 3 with failures, 2.0/s, 40s left"),
            ((100, 60, 40, 0, 10), "60 of 100 samples, 2.0/s, 20s left"),
        ];
        for ((total, done, known, failed, seconds), expected) in cases {
            assert_eq!(line(total, done, known, failed, Duration::from_secs(seconds)), expected);
        }
    }
}
