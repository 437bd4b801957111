//! A plugin on many samples: both stages, one after the other or side by side.

use crate::check::{Checked, Checker, Reading};
use crate::queue::ahead;
use crate::sample::Sample;
use crate::supervisor::Supervisor;
use passhost_child::cores;
use passhost_child::device::Device;
use passhost_result::document::{Blame, Document, failure};
use passhost_result::verdict::{Judged, empty, failed};
use passhost_score::FailureClass;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Samples that may wait for the device for each checker: one is being measured while the next is made ready.
const AHEAD: usize = 2;

/// Who checks while the device measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Checking {
    /// Nobody: a sample is checked once the one before it is measured, so that nothing disturbs a measurement.
    #[default]
    Between,
    /// So many at once, each with children of its own, on cores that time nothing. Where there are none to spare, nobody.
    Beside(usize),
}

impl Supervisor {
    /// Evaluates the checker's plugin on each sample. `done` hears of each document, in the order of the samples.
    ///
    /// # Errors
    ///
    /// What `done` says; then the evaluation ends.
    pub fn evaluate<E>(
        &self,
        checker: &mut Checker<'_>,
        samples: Vec<Sample>,
        device: &mut Device,
        checking: Checking,
        mut done: impl FnMut(Document) -> Result<(), E>,
    ) -> Result<(), E> {
        let cores = cores::for_checking(&device.cores());
        match checking {
            Checking::Beside(_) if cores.is_empty() => self.evaluate(checker, samples, device, Checking::Between, done),
            Checking::Between => samples.into_iter().try_for_each(|mut sample| {
                let checked = check_all(checker, &mut sample);
                done(self.measure_all(checker, &sample, device, checked))
            }),
            Checking::Beside(checkers) => {
                let plugin = checker.plugin().file().clone();
                let samples: Vec<Mutex<Sample>> = samples.into_iter().map(Mutex::new).collect();
                let sample = |index: usize| samples[index].lock().unwrap_or_else(PoisonError::into_inner);
                let facts = device.info().facts;
                let gpu = device.for_gpu();
                let worker = || {
                    cores::keep_to(&cores);
                    self.checker(self.load(plugin.clone()), facts).compiling_ahead(gpu.clone())
                };
                let work = |own: &mut Checker<'_>, index: usize| check_all(own, &mut sample(index));
                ahead(samples.len(), checkers, AHEAD * checkers, worker, work, |index, checked| {
                    let sample = sample(index);
                    done(match checked {
                        Some(checked) => self.measure_all(checker, &sample, device, checked),
                        None => self.document(checker.plugin(), &sample, Some(device), panicked(&sample)),
                    })
                })
            }
        }
    }

    fn measure_all(
        &self,
        checker: &mut Checker<'_>,
        sample: &Sample,
        device: &mut Device,
        checked: Vec<Checked>,
    ) -> Document {
        let judged = checked.into_iter().map(|checked| self.measure(device, checked, checker)).collect();
        self.document(checker.plugin(), sample, Some(device), judged)
    }
}

/// Checks the variants of a sample that stand for it, which is closed then.
fn check_all(checker: &mut Checker<'_>, sample: &mut Sample) -> Vec<Checked> {
    let all = sample.chosen();
    let checked = if checker.supervisor.config.settings.quick {
        let readings: Vec<Reading> = all.iter().map(|&index| checker.read_variant(sample, index)).collect();
        let smallest = smallest(&readings);
        let read = all.into_iter().zip(readings).enumerate();
        let kept = read.filter(|(place, _)| smallest.contains(place)).map(|(_, read)| read);
        kept.map(|(index, reading)| checker.check_read(sample, index, reading)).collect()
    } else {
        all.into_iter().map(|index| checker.check(sample, index)).collect()
    };
    sample.close();
    checked
}

/// The smallest variant of each element type among those that can be used; the first where none can.
fn smallest(readings: &[Reading]) -> Vec<usize> {
    let mut smallest: BTreeMap<Option<&String>, (u64, usize)> = BTreeMap::new();
    for (index, Reading { variant, .. }) in readings.iter().enumerate().filter(|(_, reading)| reading.read.is_ok()) {
        let size = (variant.bytes.unwrap_or(u64::MAX), index);
        let known = smallest.entry(variant.element_type.as_ref()).or_insert(size);
        *known = size.min(*known);
    }
    let found: Vec<usize> = smallest.into_values().map(|(_, index)| index).collect();
    if found.is_empty() { (0..readings.len().min(1)).collect() } else { found }
}

/// What is said of a sample on which a checker panicked.
fn panicked(sample: &Sample) -> Vec<Judged> {
    let failure = failure(Blame::Host, "check", "passhost panicked on this sample", "report this");
    sample.chosen_names().map(|name| failed(empty(name), FailureClass::Compile, failure.clone())).collect()
}
