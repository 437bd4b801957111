//! What is to be done: samples that nobody has begun, and what is left of one that was opened.

use super::finished::Finished;
use super::header::{Header, SampleEntry};
use super::line::{BatchLine, SampleLine, SampleName};
use crate::sample::Sample;
use crate::supervisor::Supervisor;
use passhost_child::{DOCTOR, Plugin};
use passhost_result::document::{Blame, Failure, failure};
use passhost_result::is_among;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Who checks while the device measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Checking {
    /// Nobody: a variant is checked once the one before it is measured, so that nothing disturbs a measurement.
    #[default]
    Between,
    /// So many at once, each with children of its own, on cores that time nothing. Where there are none to spare, nobody.
    Beside(usize),
}

/// What a batch is to do.
pub struct BatchWork<'a> {
    /// With its devices, plugins and samples.
    pub header: &'a Header,
    /// The plugins of the header.
    pub plugins: &'a [Plugin],
    /// What is not done again.
    pub finished: &'a Finished,
    /// Who checks for each device.
    pub checking: Checking,
    /// Once it is set, no variant is begun.
    pub stop: &'a AtomicBool,
}

impl BatchWork<'_> {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What happens in a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchEvent {
    /// Nothing for a while.
    Nothing,
    /// A sample was opened, of which so many lines are to come.
    Begun {
        /// Position in the header.
        sample: usize,
        /// Variants, each plugin counted, that are not finished.
        left: usize,
    },
    /// Something has ended.
    Line {
        /// Position of the sample in the header.
        sample: usize,
        /// To be kept.
        line: BatchLine,
    },
    /// Nothing more comes of a sample.
    Ended {
        /// Position in the header.
        sample: usize,
    },
}

/// Samples that nobody has begun, for the workers of all devices.
pub(crate) struct SampleQueue<'a> {
    bench: &'a BatchWork<'a>,
    /// Positions in the header.
    left: Mutex<Vec<usize>>,
}

impl<'a> SampleQueue<'a> {
    pub fn new(bench: &'a BatchWork<'a>) -> SampleQueue<'a> {
        SampleQueue { bench, left: Mutex::new((0..bench.header.samples.len()).rev().collect()) }
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
pub(crate) struct VariantTask {
    /// Position in the sample.
    pub variant: usize,
    pub plugins: Vec<usize>,
}

/// A sample that was opened.
pub(crate) struct OpenedForBatch {
    pub sample: Sample,
    pub name: SampleName,
    /// How many of its variants belong to the batch.
    pub of: usize,
    pub tasks: Vec<VariantTask>,
}

/// The line of a sample that could not be opened.
pub(super) fn unusable(entry: &SampleEntry, failure: Failure) -> SampleLine {
    let path = Path::new(&entry.path);
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let sample = SampleName { name, path: entry.path.clone(), sha256: String::new(), groups: entry.groups.clone() };
    SampleLine { sample, failure: Some(failure) }
}

/// Opens a sample, or says why there are no variants of it.
pub(crate) fn open(
    supervisor: &Supervisor,
    bench: &BatchWork<'_>,
    entry: &SampleEntry,
) -> Result<OpenedForBatch, Box<SampleLine>> {
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
    let tasks = named.iter().map(|(position, variant)| VariantTask { variant: *position, plugins: left(variant) });
    let tasks = tasks.filter(|task| !task.plugins.is_empty()).collect();
    Ok(OpenedForBatch { of: named.len(), name, tasks, sample })
}
