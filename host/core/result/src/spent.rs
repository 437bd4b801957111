//! Where the time of an evaluation went.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// What time is spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Reading a variant and inferring its types.
    Read,
    /// The pass, on all sizes that it is given.
    Rewrite,
    /// Verifying what it returned.
    Verify,
    /// Compiling kernels for a GPU while something else is measured.
    CompileAhead,
    /// Waiting for the device, which others use.
    Wait,
    /// Messages to and from device children, and starting them.
    Messages,
    /// Compiling programs and their kernels.
    Compile,
    /// Measuring kernels in the schedules that they may have.
    Tune,
    /// Drawing inputs.
    Draw,
    /// Running eager where nothing is timed.
    RunEager,
    /// Running the rewrite in guarded memory.
    RunRewrite,
    /// Running the reference in double precision.
    RunTruth,
    /// Comparing outputs, and looking at what must not change.
    Compare,
    /// All of the rounds with edge-case inputs.
    #[serde(alias = "unusual_rounds")]
    EdgeCaseRounds,
    /// Running the programs until their times are steady.
    WarmUp,
    /// Timing eager against itself.
    TimeControl,
    /// Timing eager against the rewrite.
    TimePairs,
    /// Timing what the device alone takes.
    TimeDevice,
    /// Timing with cold caches.
    TimeCold,
    /// All of the runs on hidden sizes.
    HiddenSizes,
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Work::Read => "reading and typing",
            Work::Rewrite => "the pass",
            Work::Verify => "verifying",
            Work::CompileAhead => "compiling kernels ahead",
            Work::Wait => "waiting for the device",
            Work::Messages => "device processes: starting, messages",
            Work::Compile => "compiling programs",
            Work::Tune => "choosing schedules",
            Work::Draw => "drawing inputs",
            Work::RunEager => "eager, untimed",
            Work::RunRewrite => "the rewrite, guarded",
            Work::RunTruth => "double precision",
            Work::Compare => "comparing",
            Work::EdgeCaseRounds => "edge-case inputs",
            Work::WarmUp => "warming up",
            Work::TimeControl => "timing eager against itself",
            Work::TimePairs => "timing pairs",
            Work::TimeDevice => "timing the device alone",
            Work::TimeCold => "timing with cold caches",
            Work::HiddenSizes => "hidden sizes",
        })
    }
}

/// Microseconds for each kind of work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Spent(BTreeMap<Work, u64>);

impl Spent {
    /// Adds time.
    pub fn add(&mut self, work: Work, time: Duration) {
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let sum = self.0.entry(work).or_default();
        *sum = sum.saturating_add(time);
    }

    /// Adds what another account has.
    pub fn join(&mut self, other: &Spent) {
        other.each().for_each(|(work, time)| self.add(work, time));
    }

    /// All of it.
    pub fn total(&self) -> Duration {
        self.each().map(|(_, time)| time).fold(Duration::ZERO, Duration::saturating_add)
    }

    /// Each kind of work that took any time.
    pub fn each(&self) -> impl Iterator<Item = (Work, Duration)> {
        self.0.iter().map(|(&work, &time)| (work, Duration::from_micros(time)))
    }
}
