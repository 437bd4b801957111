//! The worker of one device: it checks variants, or has them checked ahead, and measures them.

use super::line::SampleLine;
use super::report::{MeasuredSample, Reporter};
use super::work::{Checking, OpenedForBatch, SampleQueue, VariantTask, open, unusable};
use crate::checker::Checker;
use crate::evaluation::Checked;
use crate::queue::ahead;
use crate::stages::secret;
use crate::supervisor::Supervisor;
use passhost_child::device::Device;
use passhost_child::{ForGpu, LoadedPlugin, cores};
use passhost_ir::DeviceFacts;
use passhost_protocol::device::Draws;
use passhost_result::document::{Blame, ChildWalls, failure};
use passhost_result::verdict::{empty, failed};
use passhost_score::FailureClass;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

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

/// Every sample has been begun.
struct NothingLeft;

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
        while let Some(index) = self.queue.next(self.number) {
            match open(self.supervisor, self.reporter.work, &self.reporter.work.header.samples[index]) {
                Ok(mut opened) => {
                    let tasks = std::mem::take(&mut opened.tasks);
                    self.reporter.begun(index, tasks.iter());
                    for task in tasks.into_iter().take_while(|_| !self.reporter.work.is_stopped()) {
                        let ready = crew.check(&mut opened, task);
                        self.measure(&MeasuredSample::new(index, &opened), ready, crew, device);
                    }
                }
                Err(line) => self.reporter.no_variants(index, *line),
            }
            self.reporter.ended(index);
        }
    }

    /// Samples are checked by others ahead of being measured, on cores that time nothing.
    fn beside(&self, checkers: usize, cores: &[u32], facts: DeviceFacts, crew: &mut Crew<'a>, device: &mut Device) {
        // Which sample a job is about; a job that finds none left is about none.
        let begun: Mutex<HashMap<usize, usize>> = Mutex::default();
        let begun = || begun.lock().unwrap_or_else(PoisonError::into_inner);
        let gpu = device.for_gpu();
        let worker = || {
            cores::keep_to(cores);
            self.crew(facts, gpu.clone())
        };
        let work = |own: &mut Crew<'a>, job: usize| {
            let index = self.queue.next(self.number)?;
            begun().insert(job, index);
            let opened = open(self.supervisor, self.reporter.work, &self.reporter.work.header.samples[index]);
            Some(opened.map(|opened| self.check_all(own, index, opened)))
        };
        let samples = self.reporter.work.header.samples.len();
        // Nothing is left once a job is about nothing.
        let _: Result<(), NothingLeft> = ahead(samples, checkers, AHEAD * checkers, worker, work, |job, done| {
            let index = begun().get(&job).copied().ok_or(NothingLeft)?;
            match done.flatten() {
                Some(Ok((sampled, ready))) => {
                    self.reporter.begun(index, ready.iter().map(|ready| &ready.task));
                    for ready in ready.into_iter().take_while(|_| !self.reporter.work.is_stopped()) {
                        self.measure(&sampled, ready, crew, device);
                    }
                }
                Some(Err(line)) => self.reporter.no_variants(index, *line),
                None => self.reporter.no_variants(index, self.panicked(index)),
            }
            self.reporter.ended(index);
            Ok(())
        });
    }

    fn check_all(
        &self,
        crew: &mut Crew<'a>,
        index: usize,
        mut opened: OpenedForBatch,
    ) -> (MeasuredSample, Vec<ReadyVariant<'a>>) {
        let tasks = std::mem::take(&mut opened.tasks).into_iter();
        let tasks = tasks.take_while(|_| !self.reporter.work.is_stopped());
        let ready = tasks.map(|task| crew.check(&mut opened, task)).collect();
        (MeasuredSample::new(index, &opened), ready)
    }

    /// Measures what each plugin made of a variant, one plugin after the other.
    fn measure(&self, sampled: &MeasuredSample, ready: ReadyVariant<'a>, crew: &mut Crew<'a>, device: &mut Device) {
        let ReadyVariant { task, checked } = ready;
        let name = &sampled.variants[task.variant];
        for &plugin in &task.plugins {
            if let Some(failure) = self.reporter.work.header.plugins[plugin].failure.clone() {
                let judged = failed(empty(name), FailureClass::Compile, failure);
                let confinement = ChildWalls { reader: sampled.reader, ..ChildWalls::default() };
                self.reporter.variant(sampled, (task.variant, plugin), None, confinement, judged);
            }
        }
        for (place, checked) in self.on_the_same_inputs(checked) {
            if self.reporter.work.is_stopped() {
                return;
            }
            let (position, plugin) = &mut crew.plugins[place];
            let judged = crew.checker.judge(plugin, device, checked);
            let confinement = self.supervisor.walls(plugin, sampled.reader, Some(device));
            self.reporter.variant(sampled, (task.variant, *position), Some(self.number), confinement, judged);
        }
    }

    /// Several plugins are tried on the same inputs, drawn now that each has made its rewrite.
    fn on_the_same_inputs(&self, mut checked: Vec<(usize, Checked<'a>)>) -> Vec<(usize, Checked<'a>)> {
        // Without a seed each says itself that there is none.
        if checked.len() > 1
            && let Ok(seed) = secret(&self.supervisor.config)
        {
            let draws = Draws { seed, are_shared: true, others: None };
            checked.iter_mut().for_each(|(_, checked)| checked.draw(draws));
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
