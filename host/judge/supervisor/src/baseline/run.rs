//! Methods on many samples: what a batch does with plugins, on one device.

use super::{Baselines, Method};
use crate::batch::{BatchEvent, BatchWork, MeasuredSample, OpenedForBatch, Reporter, SampleQueue, hear_of, open_task};
use crate::checker::Checker;
use crate::supervisor::Supervisor;
use passhost_child::device::Device;
use passhost_result::document::ChildWalls;

/// The worker of the device.
struct BaselineWorker<'a> {
    supervisor: &'a Supervisor,
    baselines: &'a Baselines,
    reporter: Reporter<'a>,
}

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
            BaselineWorker { supervisor: self, baselines, reporter }.run(device);
        })
    }
}

impl BaselineWorker<'_> {
    fn run(&self, device: &mut Device) {
        let work = self.reporter.work;
        let queue = SampleQueue::new(work);
        let mut checker = self.supervisor.checker(device.info().facts);
        while let Some(index) = queue.next(0) {
            match open_task(self.supervisor, work, &work.header.samples[index]) {
                Ok(opened) => self.sample(index, opened, &mut checker, device),
                Err(line) => self.reporter.no_variants(index, *line),
            }
            self.reporter.ended(index);
        }
    }

    fn sample(&self, index: usize, mut opened: OpenedForBatch, checker: &mut Checker<'_>, device: &mut Device) {
        let tasks = std::mem::take(&mut opened.tasks);
        self.reporter.begun(index, &tasks);
        for task in tasks.into_iter().take_while(|_| !self.reporter.work.is_stopped()) {
            let reading = checker.read(&mut opened.sample, task.variant);
            let methods: Vec<Method> =
                task.plugins.iter().map(|&plugin| self.baselines.wanted.methods[plugin]).collect();
            let judged = self.supervisor.measure_baselines(self.baselines, device, reading, &methods);
            let sample = MeasuredSample::new(index, &opened);
            let types = self.supervisor.types_walls.get().copied();
            let device = Some(device.walls());
            let confinement = ChildWalls { reader: sample.reader, types, device, ..ChildWalls::default() };
            for (&plugin, judged) in task.plugins.iter().zip(judged) {
                self.reporter.variant(&sample, (task.variant, plugin), Some(0), confinement, judged);
            }
        }
    }
}
