//! A plugin on many samples: both stages, one after the other or side by side.

use crate::checker::Checker;
use crate::evaluation::{Checked, Reading};
use crate::queue::ahead;
use crate::sample::Sample;
use crate::supervisor::Supervisor;
use passhost_child::device::Device;
use passhost_child::{LoadedPlugin, cores};
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
    /// Evaluates a plugin on each sample. `done` hears of each document, in the order of the samples.
    ///
    /// # Errors
    ///
    /// What `done` says; then the evaluation ends.
    pub fn evaluate<'s, E>(
        &'s self,
        checker: &mut Checker<'s>,
        plugin: &mut LoadedPlugin,
        samples: Vec<Sample>,
        device: &mut Device,
        checking: Checking,
        mut done: impl FnMut(Document) -> Result<(), E>,
    ) -> Result<(), E> {
        let cores = cores::for_checking(&device.cores());
        match checking {
            Checking::Beside(_) if cores.is_empty() => {
                self.evaluate(checker, plugin, samples, device, Checking::Between, done)
            }
            Checking::Between => samples.into_iter().try_for_each(|mut sample| {
                let checked = check_all(checker, plugin, &mut sample);
                let judged = checked.into_iter().map(|checked| checker.judge(plugin, device, checked)).collect();
                done(self.document(plugin, &sample, Some(device), judged))
            }),
            Checking::Beside(checkers) => {
                let file = plugin.file().clone();
                let samples: Vec<Mutex<Sample>> = samples.into_iter().map(Mutex::new).collect();
                let sample = |index: usize| samples[index].lock().unwrap_or_else(PoisonError::into_inner);
                let facts = device.info().facts;
                let gpu = device.for_gpu();
                let worker = || {
                    cores::keep_to(&cores);
                    (self.checker(facts).compiling_ahead(gpu.clone()), self.load(file.clone()))
                };
                let work = |(checker, plugin): &mut (Checker<'s>, LoadedPlugin), index: usize| {
                    check_all(checker, plugin, &mut sample(index))
                };
                ahead(samples.len(), checkers, AHEAD * checkers, worker, work, |index, checked| {
                    let sample = sample(index);
                    let judged = match checked {
                        Some(checked) => {
                            checked.into_iter().map(|checked| checker.judge(plugin, device, checked)).collect()
                        }
                        None => panicked(&sample),
                    };
                    done(self.document(plugin, &sample, Some(device), judged))
                })
            }
        }
    }
}

/// Checks the variants of a sample that stand for it, which is closed then.
fn check_all<'s>(checker: &mut Checker<'s>, plugin: &mut LoadedPlugin, sample: &mut Sample) -> Vec<Checked<'s>> {
    let all = sample.chosen();
    let checked = if checker.supervisor.config.settings.quick {
        let readings: Vec<_> = all.iter().map(|&index| checker.read(sample, index)).collect();
        let smallest = smallest(&readings);
        let read = all.into_iter().zip(readings).enumerate();
        let kept = read.filter(|(place, _)| smallest.contains(place)).map(|(_, read)| read);
        kept.map(|(index, reading)| checker.check_read(plugin, sample, index, reading)).collect()
    } else {
        all.into_iter().map(|index| checker.check(plugin, sample, index)).collect()
    };
    sample.close();
    checked
}

/// The smallest variant of each element type among those that can be used; the first where none can.
fn smallest(readings: &[Result<Reading<'_>, Box<Judged>>]) -> Vec<usize> {
    let mut smallest: BTreeMap<Option<&String>, (u64, usize)> = BTreeMap::new();
    for (index, reading) in readings.iter().enumerate() {
        let Ok(Reading { trail, .. }) = reading else { continue };
        let size = (trail.bytes.unwrap_or(u64::MAX), index);
        let known = smallest.entry(trail.element_type.as_ref()).or_insert(size);
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
