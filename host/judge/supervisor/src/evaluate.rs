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

impl Supervisor {
    /// Evaluates a plugin on a sample: a variant is measured once all are checked.
    pub fn evaluate<'s>(
        &'s self,
        checker: &mut Checker<'s>,
        plugin: &mut LoadedPlugin,
        mut sample: Sample,
        device: &mut Device,
    ) -> Document {
        let checked = check_all(checker, plugin, &mut sample);
        let judged = checked.into_iter().map(|checked| checker.judge(plugin, device, checked)).collect();
        self.document(plugin, &sample, Some(device), judged)
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
fn smallest(readings: &[Result<TypedReading<'_>, Box<Judged>>]) -> Vec<usize> {
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
