//! The worker of one device: it checks variants, or has them checked ahead, and measures them.

use super::line::SampleLine;
use super::report::{MeasuredSample, Reporter};
use super::work::{Checking, OpenedForBatch, SampleQueue, VariantTask, open, unusable};
use crate::checker::Checker;
use crate::evaluation::Checked;
use crate::stages::secret;
use crate::supervisor::Supervisor;
use passhost_child::device::Device;
use passhost_child::{ForGpu, LoadedPlugin, cores};
use passhost_ir::DeviceFacts;
use passhost_protocol::device::Draws;
use passhost_result::document::{Blame, ChildProfiles, failure};
use passhost_result::verdict::{empty, failed};
use passhost_score::FailureClass;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::sync_channel;

/// Samples that may wait for the device for each checker: one is being measured while the next is made ready.
const AHEAD: usize = 2;

/// The worker of one device.
pub(super) struct DeviceWorker<'a> {
    pub supervisor: &'a Supervisor,
    pub queue: &'a SampleQueue<'a>,
    /// Position of the device in the header.
    pub number: usize,
    pub reporter: Reporter<'a>,
}

/// Who checks, with the plugins that load.
struct Crew<'a> {
    checker: Checker<'a>,
    /// With their positions in the header.
    plugins: Vec<(usize, LoadedPlugin)>,
}

/// A variant to be measured: what each plugin that loads and has not ended on it made of it.
struct ReadyVariant<'a> {
    task: VariantTask,
    /// With the plugin's place in the crew.
    checked: Vec<(usize, Checked<'a>)>,
}

/// A sample with its variants to be measured.
type CheckedSample<'a> = (MeasuredSample, Vec<ReadyVariant<'a>>);

impl<'a> DeviceWorker<'a> {
    /// Works until nothing is left. `cores` are those that time nothing.
    pub fn run(&self, device: &mut Device, cores: &[u32]) {
        let facts = device.info().facts;
        let mut crew = self.crew(facts, None);
        match self.reporter.work.checking {
            Checking::Beside(checkers) if !cores.is_empty() => {
                self.beside(checkers.min(cores.len()), cores, facts, &mut crew, device);
            }
            _ => self.between(&mut crew, device),
        }
    }

    /// Who checks with all plugins that load, and compiles for this GPU ahead.
    fn crew(&self, facts: DeviceFacts, gpu: Option<ForGpu>) -> Crew<'a> {
        let plugins = self.reporter.work.header.plugins.iter().zip(self.reporter.work.plugins).enumerate();
        let loading = plugins.filter(|(_, (entry, _))| entry.failure.is_none());
        let plugins = loading.map(|(position, (_, file))| (position, self.supervisor.load(file.clone()))).collect();
        Crew { checker: self.supervisor.checker(facts).compiling_ahead(gpu), plugins }
    }

    /// A variant is checked when the one before it has been measured.
    fn between(&self, crew: &mut Crew<'a>, device: &mut Device) {
        self.reporter.each_variant(self.supervisor, self.queue, self.number, |index, opened, task| {
            let ready = crew.check(opened, task);
            self.measure(&MeasuredSample::new(index, opened), ready, crew, device);
        });
    }

    /// Samples are checked by others ahead of being measured, on cores that time nothing.
    fn beside(&self, checkers: usize, cores: &[u32], facts: DeviceFacts, crew: &mut Crew<'a>, device: &mut Device) {
        let gpu = device.for_gpu();
        let (ready, checked) = sync_channel(AHEAD * checkers);
        std::thread::scope(|scope| {
            for _ in 0..checkers {
                let (ready, gpu) = (ready.clone(), &gpu);
                scope.spawn(move || {
                    cores::keep_to(cores);
                    let mut own = None;
                    while let Some(index) = self.queue.next(self.number) {
                        let check = || self.check_all(own.get_or_insert_with(|| self.crew(facts, gpu.clone())), index);
                        let sample = catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|_| {
                            own = None;
                            Err(Box::new(self.panicked(index)))
                        });
                        // Whoever measures has ended by a panic.
                        if ready.send((index, sample)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(ready);
            for (index, sample) in checked {
                match sample {
                    Ok((sampled, ready)) => {
                        self.reporter.begun(index, ready.iter().map(|ready| &ready.task));
                        for ready in ready.into_iter().take_while(|_| !self.reporter.work.is_stopped()) {
                            self.measure(&sampled, ready, crew, device);
                        }
                    }
                    Err(line) => self.reporter.no_variants(index, *line),
                }
                self.reporter.ended(index);
            }
        });
    }

    fn check_all(&self, crew: &mut Crew<'a>, index: usize) -> Result<CheckedSample<'a>, Box<SampleLine>> {
        let mut opened = open(self.supervisor, self.reporter.work, &self.reporter.work.header.samples[index])?;
        let tasks = std::mem::take(&mut opened.tasks).into_iter();
        let tasks = tasks.take_while(|_| !self.reporter.work.is_stopped());
        let ready = tasks.map(|task| crew.check(&mut opened, task)).collect();
        Ok((MeasuredSample::new(index, &opened), ready))
    }

    /// Measures what each plugin made of a variant, one plugin after the other.
    fn measure(&self, sampled: &MeasuredSample, ready: ReadyVariant<'a>, crew: &mut Crew<'a>, device: &mut Device) {
        let ReadyVariant { task, checked } = ready;
        let name = &sampled.variants[task.variant];
        for &plugin in &task.plugins {
            if let Some(failure) = self.reporter.work.header.plugins[plugin].failure.clone() {
                let judged = failed(empty(name), FailureClass::Compile, failure);
                let confinement = ChildProfiles { reader: sampled.reader, ..ChildProfiles::default() };
                self.reporter.variant(sampled, (task.variant, plugin), None, confinement, judged);
            }
        }
        for (place, checked) in self.on_the_same_inputs(checked) {
            if self.reporter.work.is_stopped() {
                return;
            }
            let (position, plugin) = &mut crew.plugins[place];
            let judged = crew.checker.judge(plugin, device, checked);
            let confinement = self.supervisor.profiles(plugin, sampled.reader, Some(device));
            self.reporter.variant(sampled, (task.variant, *position), Some(self.number), confinement, judged);
        }
    }

    /// Several plugins are tried on the same inputs, drawn now that each has made its rewrite.
    fn on_the_same_inputs(&self, mut checked: Vec<(usize, Checked<'a>)>) -> Vec<(usize, Checked<'a>)> {
        // Without a seed each says itself that there is none.
        if checked.len() > 1
            && let Ok(seed) = secret(&self.supervisor.config)
        {
            let draws = Draws::of(seed);
            checked.iter_mut().for_each(|(_, checked)| checked.draw(draws.clone()));
        }
        checked
    }

    fn panicked(&self, index: usize) -> SampleLine {
        let failure = failure(Blame::Host, "check", "passhost panicked on this sample", "report this");
        unusable(&self.reporter.work.header.samples[index], failure)
    }
}

impl<'a> Crew<'a> {
    /// Reads a variant once, and checks what each plugin that has not ended on it makes of it.
    fn check(&mut self, opened: &mut OpenedForBatch, task: VariantTask) -> ReadyVariant<'a> {
        let Crew { checker, plugins } = self;
        let left = plugins.iter_mut().enumerate().filter(|(_, (position, _))| task.plugins.contains(position));
        let mut left = left.peekable();
        if left.peek().is_none() {
            return ReadyVariant { task, checked: vec![] };
        }
        let reading = checker.read(&mut opened.sample, task.variant);
        let checked = left.map(|(place, (_, plugin))| {
            (place, checker.check_read(plugin, &mut opened.sample, task.variant, reading.clone()))
        });
        ReadyVariant { checked: checked.collect(), task }
    }
}
