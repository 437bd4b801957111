//! Methods on many samples: what a batch does with plugins, on one device.

use super::{Baselines, Method};
use crate::batch::{Bench, Heard, Line, Opened, Queue, VariantLine, hear_of, open_task};
use crate::check::Checker;
use crate::supervisor::Supervisor;
use passhost_child::device::Device;
use passhost_result::document::ChildWalls;
use passhost_result::verdict::Judged;
use std::sync::mpsc::Sender;

/// The worker of the device.
struct Worker<'a> {
    supervisor: &'a Supervisor,
    baselines: &'a Baselines,
    bench: &'a Bench<'a>,
    tell: Sender<Heard>,
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
        bench: &Bench<'_>,
        device: &mut Device,
        mut hear: impl FnMut(Heard) -> Result<(), E>,
    ) -> Result<(), E> {
        hear_of(bench, &mut hear, |tell| Worker { supervisor: self, baselines, bench, tell }.run(device))
    }
}

impl Worker<'_> {
    fn run(&self, device: &mut Device) {
        let queue = Queue::new(self.bench);
        let mut checker = Checker::reader(self.supervisor, device.info().facts);
        while let Some(index) = queue.next(0) {
            match open_task(self.supervisor, self.bench, &self.bench.header.samples[index]) {
                Ok(opened) => self.sample(index, opened, &mut checker, device),
                Err(line) if self.bench.finished.has_sample(&line) => {}
                Err(line) => self.say(Heard::Line { sample: index, line: Line::Sample(*line) }),
            }
            // One that was left in the middle has not ended.
            if !self.bench.is_stopped() {
                self.say(Heard::Ended { sample: index });
            }
        }
    }

    fn sample(&self, index: usize, mut opened: Opened, checker: &mut Checker<'_>, device: &mut Device) {
        let tasks = std::mem::take(&mut opened.tasks);
        self.say(Heard::Begun { sample: index, left: tasks.iter().map(|task| task.plugins.len()).sum() });
        for task in tasks.into_iter().take_while(|_| !self.bench.is_stopped()) {
            let reading = checker.read_variant(&mut opened.sample, task.variant);
            let methods: Vec<Method> =
                task.plugins.iter().map(|&plugin| self.baselines.wanted.methods[plugin]).collect();
            let judged = self.supervisor.measure_baselines(self.baselines, device, reading, &methods);
            let confinement = ChildWalls {
                reader: opened.sample.walls(),
                types: self.supervisor.types_walls.get().copied(),
                device: Some(device.walls()),
                ..ChildWalls::default()
            };
            for (&plugin, Judged { variant, outcome, .. }) in task.plugins.iter().zip(judged) {
                let line = VariantLine {
                    plugin: self.bench.header.plugins[plugin].sha256.clone(),
                    sample: opened.name.clone(),
                    position: task.variant,
                    of: opened.of,
                    device: Some(0),
                    confinement,
                    outcome,
                    variant,
                };
                self.say(Heard::Line { sample: index, line: Line::Variant(Box::new(line)) });
            }
        }
    }

    fn say(&self, heard: Heard) {
        // Who no longer hears has ended the batch.
        let _ = self.tell.send(heard);
    }
}
