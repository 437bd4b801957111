//! A plugin on a sample: both stages, one after the other.

use crate::checker::Checker;
use crate::evaluation::{Checked, TypedReading};
use crate::sample::Sample;
use crate::supervisor::Supervisor;
use passhost_child::LoadedPlugin;
use passhost_child::device::Device;
use passhost_result::document::Document;
use passhost_result::verdict::Judged;
use std::collections::BTreeMap;

/// What reading a variant showed.
type Reading<'s> = Result<TypedReading<'s>, Box<Judged>>;

/// A sample of which each variant is read once, for all plugins that are tried on it.
pub struct ReadOnce<'s> {
    sample: Sample,
    readings: BTreeMap<usize, Reading<'s>>,
}

impl<'s> ReadOnce<'s> {
    /// One of which nothing is read yet.
    pub fn new(sample: Sample) -> ReadOnce<'s> {
        ReadOnce { sample, readings: BTreeMap::new() }
    }

    /// The sample.
    pub fn sample(&self) -> &Sample {
        &self.sample
    }

    fn reading(&mut self, checker: &mut Checker<'s>, index: usize) -> Reading<'s> {
        let ReadOnce { sample, readings } = self;
        readings.entry(index).or_insert_with(|| checker.read(sample, index)).clone()
    }
}

impl Supervisor {
    /// Evaluates a plugin on a sample: a variant is measured once all are checked.
    pub fn evaluate<'s>(
        &'s self,
        checker: &mut Checker<'s>,
        plugin: &mut LoadedPlugin,
        sample: Sample,
        device: &mut Device,
    ) -> Document {
        self.evaluate_on(checker, plugin, &mut ReadOnce::new(sample), device)
    }

    /// [`Supervisor::evaluate`] on a sample that other plugins are tried on, too.
    pub fn evaluate_on<'s>(
        &'s self,
        checker: &mut Checker<'s>,
        plugin: &mut LoadedPlugin,
        read: &mut ReadOnce<'s>,
        device: &mut Device,
    ) -> Document {
        let checked = check_all(checker, plugin, read);
        let judged = checked.into_iter().map(|checked| checker.judge(plugin, device, checked)).collect();
        self.document(plugin, &read.sample, Some(device), judged)
    }
}

/// Checks the variants of a sample that stand for it, which is closed then.
fn check_all<'s>(checker: &mut Checker<'s>, plugin: &mut LoadedPlugin, read: &mut ReadOnce<'s>) -> Vec<Checked<'s>> {
    let mut all = read.sample.chosen();
    if checker.supervisor.config.settings.quick {
        let readings: Vec<_> = all.iter().map(|&index| read.reading(checker, index)).collect();
        let smallest = smallest(&readings);
        let kept = all.iter().enumerate().filter(|(place, _)| smallest.contains(place));
        all = kept.map(|(_, &index)| index).collect();
    }
    let mut check = |index| {
        let reading = read.reading(checker, index);
        checker.check_read(plugin, &mut read.sample, index, reading)
    };
    let checked = all.into_iter().map(&mut check).collect();
    read.sample.close();
    checked
}

/// The smallest variant of each element type among those that can be used; the first where none can.
fn smallest(readings: &[Reading<'_>]) -> Vec<usize> {
    let mut smallest: BTreeMap<Option<&String>, (u64, usize)> = BTreeMap::new();
    for (index, reading) in readings.iter().enumerate() {
        let Ok(TypedReading { trail, .. }) = reading else { continue };
        let size = (trail.entry.bytes.unwrap_or(u64::MAX), index);
        let known = smallest.entry(trail.entry.element_type.as_ref()).or_insert(size);
        *known = size.min(*known);
    }
    let found: Vec<usize> = smallest.into_values().map(|(_, index)| index).collect();
    if found.is_empty() { (0..readings.len().min(1)).collect() } else { found }
}
