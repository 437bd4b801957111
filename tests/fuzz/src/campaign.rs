//! A run of many cases: what came of them by class, and each that shows something wrong written to a file.

use crate::targets::Name;
use crate::worker::{FromWorker, ROLE, Work};
use passhost_child::{Child, ChildError};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Failures after which a run ends: one cause often shows many times.
const FAILURES: usize = 20;
/// Wall clock for making a target ready.
const START: Duration = Duration::from_secs(120);
/// What libtorch and its children read of the environment, and where plugins lie.
const ENVIRONMENT: [&str; 5] = ["LD_LIBRARY_PATH", "PATH", "HOME", "PASSHOST_PLUGINS", "CARGO_MANIFEST_DIR"];

/// What to run.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// What is fuzzed.
    pub target: Name,
    /// All cases are drawn from it.
    pub seed: u64,
    /// The number of the first case.
    pub first: u64,
    /// How many cases.
    pub count: u64,
    /// When to begin no more.
    pub until: Option<Instant>,
    /// Where cases are written that show something wrong.
    pub failures: PathBuf,
}

/// A case that shows something wrong.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Its number.
    pub number: u64,
    /// What is wrong.
    pub message: String,
    /// Where it lies, if it could be written.
    pub file: Option<PathBuf>,
}

/// What came of all cases.
#[derive(Debug, Default)]
pub struct Report {
    /// How many cases there were.
    pub cases: u64,
    /// How many of each kind.
    pub outcomes: BTreeMap<String, u64>,
    /// Cases that show something wrong.
    pub failures: Vec<Failure>,
    /// The most memory that the process held which they ran in, in bytes.
    pub peak: u64,
    /// The most memory that a process held which that one started, in bytes.
    pub peak_of_children: u64,
}

impl Report {
    /// How many cases came out as one of these kinds, or as a kind that begins so.
    pub fn count(&self, kinds: &str) -> u64 {
        self.outcomes.iter().filter(|(kind, _)| kind.starts_with(kinds)).map(|(_, count)| count).sum()
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// The process for the cases is not to be had.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// What the cases are made from is missing.
    #[error("{0}")]
    Unable(String),
    /// Where programs are put that stand in for the host's own.
    #[error("cannot prepare the programs: {0}")]
    Programs(#[from] std::io::Error),
}

impl Campaign {
    /// Runs it to its end, in one process after the other where one dies.
    ///
    /// # Errors
    ///
    /// If no case can be run.
    pub fn run(&self) -> Result<Report, CampaignError> {
        let programs = self.target.programs()?;
        let program = programs.path();
        let mut report = Report::default();
        let (mut next, end) = (self.first, self.first.saturating_add(self.count));
        while next < end && report.failures.len() < FAILURES && !self.is_over() {
            next = self.in_one_process(&program, next, end, &mut report)?;
        }
        report.cases = next - self.first;
        Ok(report)
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Cases from `next` on until one ends the process, or there are no more. Returns the number of the next.
    fn in_one_process(
        &self,
        program: &str,
        mut next: u64,
        end: u64,
        report: &mut Report,
    ) -> Result<u64, CampaignError> {
        let mut child = self.start(program, next, end - next, false)?;
        while next < end && !self.is_over() && report.failures.len() < FAILURES {
            match child.receive(Instant::now() + self.target.deadline()) {
                Ok(FromWorker::Done { outcome, peak, peak_of_children }) => {
                    report.peak = report.peak.max(peak);
                    report.peak_of_children = report.peak_of_children.max(peak_of_children);
                    match outcome {
                        Ok(kind) => *report.outcomes.entry(kind).or_default() += 1,
                        Err(message) => self.failed(program, next, message, report),
                    }
                    next += 1;
                }
                Ok(message) => return Err(CampaignError::Unable(format!("{message:?} came out of turn"))),
                // A process that holds too much has said so of its last case, and ends.
                Err(ChildError::Died { .. }) if report.failures.last().is_some_and(|last| last.number + 1 == next) => {
                    return Ok(next);
                }
                Err(error) => {
                    self.failed(program, next, error.to_string(), report);
                    return Ok(next + 1);
                }
            }
        }
        Ok(next)
    }

    fn start(
        &self,
        program: &str,
        first: u64,
        count: u64,
        only_drawn: bool,
    ) -> Result<Child<FromWorker>, CampaignError> {
        let mut child: Child<FromWorker> = Child::start("worker", program, Some(OsStr::new(ROLE)), &ENVIRONMENT)?;
        child.send(&Work { target: self.target, seed: self.seed, first, count, only_drawn })?;
        match child.receive(Instant::now() + START)? {
            FromWorker::Ready => Ok(child),
            FromWorker::Unable(reason) => Err(CampaignError::Unable(reason)),
            message => Err(CampaignError::Unable(format!("{message:?} came out of turn"))),
        }
    }

    fn failed(&self, program: &str, number: u64, message: String, report: &mut Report) {
        let file = self.write(program, number);
        report.failures.push(Failure { number, message, file });
    }

    /// Draws a case again and writes it to a file.
    fn write(&self, program: &str, number: u64) -> Option<PathBuf> {
        let mut child = self.start(program, number, 1, true).ok()?;
        let FromWorker::Drawn(bytes) = child.receive(Instant::now() + self.target.deadline()).ok()? else {
            return None;
        };
        let file = self.failures.join(format!("{}-{}-{number}", self.target, self.seed));
        std::fs::create_dir_all(&self.failures).and_then(|()| std::fs::write(&file, bytes)).ok()?;
        Some(file)
    }
}

/// Programs to start, and the directory that they lie in, if it is theirs alone.
#[derive(Debug)]
pub(crate) struct Programs {
    /// The one that cases run in.
    pub(crate) worker: PathBuf,
    #[expect(dead_code, reason = "it is removed when this is dropped")]
    pub(crate) directory: Option<tempfile::TempDir>,
}

impl Programs {
    fn path(&self) -> String {
        Path::display(&self.worker).to_string()
    }
}
