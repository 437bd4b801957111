//! Methods on many samples: what a batch does with plugins, on one device.

use super::{Baselines, Method};
use crate::batch::{BatchEvent, BatchWork, MeasuredSample, Reporter, SampleQueue, hear_of};
use crate::supervisor::Supervisor;
use passhost_child::device::Device;
use passhost_result::document::ChildProfiles;

impl Supervisor {
    /// Measures every method on every sample of a batch whose plugins are [`Baselines::entries`]. `hear` is called on this
    /// thread, and often.
    ///
    /// # Errors
    ///
    /// What `hear` says; then no variant is begun any more.
    pub fn baselines<E>(
        &self,
        baselines: &Baselines,
        bench: &BatchWork<'_>,
        device: &mut Device,
        mut hear: impl FnMut(BatchEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        hear_of(bench, &mut hear, |events| {
            let reporter = Reporter { work: bench, events };
            let mut checker = self.checker(device.info().facts);
            reporter.each_variant(self, &SampleQueue::new(bench), 0, |index, opened, task| {
                let reading = checker.read(&mut opened.sample, task.variant);
                let methods: Vec<Method> =
                    task.plugins.iter().map(|&plugin| baselines.wanted.methods[plugin]).collect();
                let judged = self.measure_baselines(baselines, device, reading, &methods);
                let sample = MeasuredSample::new(index, opened);
                let types = self.types_profile.get().copied();
                let device = Some(device.profile());
                let confinement = ChildProfiles { reader: sample.reader, types, device, ..ChildProfiles::default() };
                for (&plugin, judged) in task.plugins.iter().zip(judged) {
                    reporter.variant(&sample, (task.variant, plugin), Some(0), confinement, judged);
                }
            });
        })
    }
}
