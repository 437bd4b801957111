//! What is to be done: samples that nobody has begun, and what is left of one that was opened.

use super::header::SampleEntry;
use super::line::{SampleLine, SampleName};
use super::run::Bench;
use crate::sample::Sample;
use crate::supervisor::Supervisor;
use passhost_child::DOCTOR;
use passhost_result::document::{Blame, Failure, failure};
use passhost_result::is_among;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Samples that nobody has begun, for the workers of all devices.
pub(crate) struct Queue<'a> {
    bench: &'a Bench<'a>,
    /// Positions in the header.
    left: Mutex<Vec<usize>>,
}

impl<'a> Queue<'a> {
    pub fn new(bench: &'a Bench<'a>) -> Queue<'a> {
        Queue { bench, left: Mutex::new((0..bench.header.samples.len()).rev().collect()) }
    }

    /// The next sample for a device, unless the batch is to stop. One that another device has begun waits for that.
    pub fn next(&self, device: usize) -> Option<usize> {
        if self.bench.is_stopped() {
            return None;
        }
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |sample: &usize| {
            let begun = self.bench.finished.device(&self.bench.header.samples[*sample].path);
            begun.is_none_or(|begun| begun == device)
        };
        let position = left.iter().rposition(fits)?;
        Some(left.remove(position))
    }
}

/// A variant, and the positions of the plugins that have not ended on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    /// Position in the sample.
    pub variant: usize,
    pub plugins: Vec<usize>,
}

/// A sample that was opened.
pub(crate) struct Opened {
    pub sample: Sample,
    pub name: SampleName,
    /// How many of its variants belong to the batch.
    pub of: usize,
    pub tasks: Vec<Task>,
}

/// The line of a sample that could not be opened.
pub(super) fn unusable(entry: &SampleEntry, failure: Failure) -> SampleLine {
    let path = Path::new(&entry.path);
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let sample = SampleName { name, path: entry.path.clone(), sha256: String::new(), groups: entry.groups.clone() };
    SampleLine { sample, failure: Some(failure) }
}

/// Opens a sample, or says why there are no variants of it.
pub(crate) fn open(supervisor: &Supervisor, bench: &Bench<'_>, entry: &SampleEntry) -> Result<Opened, Box<SampleLine>> {
    let place = entry.place.as_deref();
    let sample = Sample::open_or_lost(entry.path.as_ref(), place, supervisor.config.confinement)
        .map_err(|error| Box::new(unusable(entry, failure(Blame::Host, "sample", error, DOCTOR))))?;
    if let Some(lost) = sample.lost() {
        return Err(Box::new(unusable(entry, lost.clone())));
    }
    let name = SampleName {
        name: sample.name().to_owned(),
        path: entry.path.clone(),
        sha256: sample.sha256().to_owned(),
        groups: entry.groups.clone(),
    };
    let named = |(_, variant): &(usize, &String)| is_among(variant, &bench.header.variants);
    let named: Vec<(usize, &String)> = sample.variants().iter().enumerate().filter(named).collect();
    if named.is_empty() {
        return Err(Box::new(SampleLine { sample: name, failure: None }));
    }
    let left = |variant: &str| -> Vec<usize> {
        let plugins = bench.header.plugins.iter().enumerate();
        let left = plugins.filter(|(_, plugin)| !bench.finished.has(&plugin.sha256, &name, variant));
        left.map(|(position, _)| position).collect()
    };
    let tasks = named.iter().map(|(position, variant)| Task { variant: *position, plugins: left(variant) });
    let tasks = tasks.filter(|task| !task.plugins.is_empty()).collect();
    Ok(Opened { of: named.len(), name, tasks, sample })
}
