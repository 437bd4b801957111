//! How far work on several samples is, on standard error: one line that changes on a terminal, few plain lines
//! elsewhere.

use crate::arguments::ProgressArguments;
use crate::terminal::Terminal;
use passhost_corpus::quantities::time;
use passhost_supervisor::EvaluationEvent;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a line on a terminal changes.
const LIVE: Duration = Duration::from_millis(200);
/// How long there is no plain line at most, while something is done.
const PLAIN: Duration = Duration::from_secs(60);

/// Counts samples and says so. Clones are about the same work.
#[derive(Clone)]
pub struct WorkProgress {
    terminal: Terminal,
    quiet: bool,
    verbose: bool,
    state: Arc<Mutex<ProgressState>>,
}

struct ProgressState {
    done: SamplesDone,
    started: Instant,
    shown: Instant,
    /// Tenths of the samples that the last plain line told of.
    tenths: usize,
    /// What is being done.
    step: String,
}

/// What is done.
#[derive(Debug, Clone, Copy, Default)]
struct SamplesDone {
    total: usize,
    /// Samples on which everything has ended.
    samples: usize,
    /// Of these, those that were known before.
    known: usize,
    /// Of those that are worked on, the part that is done.
    parts: f64,
}

impl WorkProgress {
    /// Of so many samples.
    pub fn new(terminal: &Terminal, arguments: ProgressArguments, total: usize) -> WorkProgress {
        let now = Instant::now();
        let done = SamplesDone { total, ..SamplesDone::default() };
        let state = ProgressState { done, started: now, shown: now, tenths: 0, step: String::new() };
        let (quiet, verbose) = (arguments.quiet, arguments.verbose);
        WorkProgress { terminal: *terminal, quiet, verbose, state: Arc::new(Mutex::new(state)) }
    }

    /// What happens. Remarks and lost children are in the document.
    pub fn event(&self, event: &EvaluationEvent) {
        let EvaluationEvent { place, step } = event;
        self.step(&format!("{} {}/{} {}: {step}", place.sample, place.position + 1, place.count, place.variant));
    }

    /// Something is being done that takes a while.
    pub fn step(&self, text: &str) {
        if self.quiet {
            return;
        }
        if self.verbose {
            self.terminal.complain(text);
        } else if self.terminal.is_live() {
            let mut state = self.lock();
            state.step = text.to_owned();
            self.draw(&mut state);
        }
    }

    /// A part of a sample is done, of as many as it has.
    pub fn part(&self, of: usize) {
        self.lock().done.parts += 1.0 / of.max(1) as f64;
        self.tick();
    }

    /// Everything has ended on a sample that had so many parts; none if all was known.
    pub fn sample(&self, parts: usize) {
        let mut state = self.lock();
        let done = &mut state.done;
        done.samples += 1;
        if parts == 0 {
            done.known += 1;
        } else {
            done.parts = (done.parts - 1.0).max(0.0);
        }
        drop(state);
        self.tick();
    }

    /// Since the start.
    pub fn elapsed(&self) -> Duration {
        self.lock().started.elapsed()
    }

    /// Writes a line if it is time for one.
    pub fn tick(&self) {
        let mut state = self.lock();
        if self.quiet || self.verbose || state.done.total < 2 {
            return;
        }
        if self.terminal.is_live() {
            if state.shown.elapsed() >= LIVE {
                self.draw(&mut state);
            }
            return;
        }
        let tenths = state.done.samples * 10 / state.done.total;
        if tenths > state.tenths || state.shown.elapsed() >= PLAIN {
            (state.tenths, state.shown) = (tenths, Instant::now());
            self.terminal.complain(&state.done.line(state.started.elapsed()));
        }
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.terminal.clear_progress();
    }

    fn draw(&self, state: &mut ProgressState) {
        state.shown = Instant::now();
        let counted =
            if state.done.total > 1 { state.done.line(state.started.elapsed()) + "  " } else { String::new() };
        self.terminal.progress(&format!("{counted}{}", state.step));
    }

    fn lock(&self) -> MutexGuard<'_, ProgressState> {
        // Nothing that holds the lock can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SamplesDone {
    /// `12/132, 3m 00s left`. What was known says nothing about the rate.
    fn line(&self, elapsed: Duration) -> String {
        let SamplesDone { total, samples, known, parts } = *self;
        let worked = samples.saturating_sub(known) as f64 + parts;
        let left = (total as f64 - samples as f64 - parts).max(0.0);
        let counted = format!("{samples}/{total}");
        if worked < 0.1 || left <= 0.0 {
            return counted;
        }
        format!("{counted}, {} left", time(Duration::from_secs_f64((elapsed.as_secs_f64() * left / worked).round())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_samples_and_extrapolates_from_what_was_worked_on() {
        let cases = [
            ((132, 0, 0, 0.0, 1), "0/132"),
            ((132, 100, 100, 0.0, 1), "100/132"),
            ((132, 12, 0, 0.0, 18), "12/132, 3m 00s left"),
            ((132, 112, 100, 0.0, 12), "112/132, 20s left"),
            ((10, 0, 0, 0.5, 30), "0/10, 9m 30s left"),
            ((1000, 10, 0, 0.0, 100), "10/1000, 2h 45m left"),
            ((2, 2, 0, 0.0, 5), "2/2"),
        ];
        for ((total, samples, known, parts, seconds), expected) in cases {
            let line = SamplesDone { total, samples, known, parts }.line(Duration::from_secs(seconds));
            assert_eq!(line, expected);
        }
    }
}
