//! The worker of one device: it checks variants, or has them checked ahead, and measures them.

use super::line::{Line, SampleLine, SampleName, VariantLine};
use super::run::{Bench, Heard};
use super::work::{Opened, Queue, Task, open, unusable};
use crate::check::{Checked, Checker};
use crate::evaluate::Checking;
use crate::queue::ahead;
use crate::reference::secret;
use crate::supervisor::Supervisor;
use passhost_child::cores;
use passhost_child::device::Device;
use passhost_ir::DeviceFacts;
use passhost_protocol::device::Draws;
use passhost_result::Walls;
use passhost_result::document::{Blame, ChildWalls, failure};
use passhost_result::verdict::{Judged, empty, failed};
use passhost_score::FailureClass;
use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

/// Samples that may wait for the device for each checker: one is being measured while the next is made ready.
const AHEAD: usize = 2;

/// The worker of one device.
pub(super) struct Worker<'a> {
    pub supervisor: &'a Supervisor,
    pub bench: &'a Bench<'a>,
    pub queue: &'a Queue<'a>,
    /// Position of the device in the header.
    pub number: usize,
    pub tell: Sender<Heard>,
}

/// Every sample has been begun.
struct NothingLeft;

/// A sample whose variants are being measured.
struct Sampled {
    /// Position in the header.
    index: usize,
    name: SampleName,
    of: usize,
    /// What kept its reader in.
    reader: Option<Walls>,
    /// Names of its variants.
    variants: Vec<String>,
}

/// A variant to be measured: what each plugin that loads and has not ended on it made of it.
struct Ready {
    task: Task,
    /// With the turn of the plugin.
    checked: Vec<(usize, Checked)>,
}

impl<'a> Worker<'a> {
    /// Works until nothing is left. `cores` are those that time nothing.
    pub fn run(&self, device: &mut Device, cores: &[u32]) {
        let facts = device.info().facts;
        let mut checker = self.checker(facts);
        match self.bench.checking {
            Checking::Beside(checkers) if !cores.is_empty() => {
                self.beside(checkers.min(cores.len()), cores, facts, &mut checker, device);
            }
            _ => self.between(&mut checker, device),
        }
    }

    /// Positions of the plugins that load, in the order of their turns.
    fn loading(&self) -> impl Iterator<Item = usize> + '_ {
        let plugins = self.bench.header.plugins.iter().enumerate();
        plugins.filter(|(_, plugin)| plugin.failure.is_none()).map(|(position, _)| position)
    }

    /// Who checks with all plugins that load; nobody where none does.
    fn checker(&self, facts: DeviceFacts) -> Option<Checker<'a>> {
        let mut plugins = self.loading().map(|plugin| self.supervisor.load(self.bench.plugins[plugin].clone()));
        let first = plugins.next()?;
        Some(self.supervisor.checker(first, facts).with_others(plugins))
    }

    /// A variant is checked when the one before it has been measured.
    fn between(&self, checker: &mut Option<Checker<'a>>, device: &mut Device) {
        while let Some(index) = self.queue.next(self.number) {
            match open(self.supervisor, self.bench, &self.bench.header.samples[index]) {
                Ok(mut opened) => {
                    let tasks = std::mem::take(&mut opened.tasks);
                    self.begun(index, tasks.iter());
                    for task in tasks.into_iter().take_while(|_| !self.bench.is_stopped()) {
                        let ready = self.check(checker, &mut opened, task);
                        self.measure(&Sampled::new(index, &opened), ready, checker, device);
                    }
                }
                Err(line) => self.no_variants(index, *line),
            }
            self.ended(index);
        }
    }

    /// Samples are checked by others ahead of being measured, on cores that time nothing.
    fn beside(
        &self,
        checkers: usize,
        cores: &[u32],
        facts: DeviceFacts,
        checker: &mut Option<Checker<'a>>,
        device: &mut Device,
    ) {
        // Which sample a job is about; a job that finds none left is about none.
        let begun: Mutex<HashMap<usize, usize>> = Mutex::default();
        let begun = || begun.lock().unwrap_or_else(PoisonError::into_inner);
        let gpu = device.for_gpu();
        let worker = || {
            cores::keep_to(cores);
            self.checker(facts).map(|checker| checker.compiling_ahead(gpu.clone()))
        };
        let work = |checker: &mut Option<Checker<'a>>, job: usize| {
            let index = self.queue.next(self.number)?;
            begun().insert(job, index);
            let opened = open(self.supervisor, self.bench, &self.bench.header.samples[index]);
            Some(opened.map(|opened| self.check_all(checker, index, opened)))
        };
        let samples = self.bench.header.samples.len();
        // Nothing is left once a job is about nothing.
        let _: Result<(), NothingLeft> = ahead(samples, checkers, AHEAD * checkers, worker, work, |job, done| {
            let index = begun().get(&job).copied().ok_or(NothingLeft)?;
            match done.flatten() {
                Some(Ok((sampled, ready))) => {
                    self.begun(index, ready.iter().map(|ready| &ready.task));
                    for ready in ready.into_iter().take_while(|_| !self.bench.is_stopped()) {
                        self.measure(&sampled, ready, checker, device);
                    }
                }
                Some(Err(line)) => self.no_variants(index, *line),
                None => self.no_variants(index, self.panicked(index)),
            }
            self.ended(index);
            Ok(())
        });
    }

    /// Reads a variant once, and checks each plugin that has a turn on it.
    fn check(&self, checker: &mut Option<Checker<'a>>, opened: &mut Opened, task: Task) -> Ready {
        let turns = self.loading().enumerate().filter(|(_, plugin)| task.plugins.contains(plugin));
        let turns: Vec<usize> = turns.map(|(turn, _)| turn).collect();
        let Some(checker) = checker.as_mut().filter(|_| !turns.is_empty()) else {
            return Ready { task, checked: vec![] };
        };
        let reading = checker.read_variant(&mut opened.sample, task.variant);
        let mut check = |turn: usize| {
            checker.take_turn(turn);
            (turn, checker.check_read(&mut opened.sample, task.variant, reading.clone()))
        };
        let checked = turns.into_iter().map(&mut check).collect();
        Ready { task, checked }
    }

    fn check_all(&self, checker: &mut Option<Checker<'a>>, index: usize, mut opened: Opened) -> (Sampled, Vec<Ready>) {
        let tasks = std::mem::take(&mut opened.tasks).into_iter();
        let tasks = tasks.take_while(|_| !self.bench.is_stopped());
        let ready = tasks.map(|task| self.check(checker, &mut opened, task)).collect();
        (Sampled::new(index, &opened), ready)
    }

    /// Measures what each plugin made of a variant, one plugin after the other.
    fn measure(&self, sampled: &Sampled, ready: Ready, checker: &mut Option<Checker<'a>>, device: &mut Device) {
        let Ready { task, checked } = ready;
        let name = &sampled.variants[task.variant];
        for &plugin in &task.plugins {
            if let Some(failure) = self.bench.header.plugins[plugin].failure.clone() {
                let judged = failed(empty(name), FailureClass::Compile, failure);
                let confinement = ChildWalls { reader: sampled.reader, ..ChildWalls::default() };
                self.line(sampled, &task, plugin, None, confinement, judged);
            }
        }
        let Some(checker) = checker else { return };
        let loading: Vec<usize> = self.loading().collect();
        for (turn, checked) in self.on_the_same_inputs(checked) {
            if self.bench.is_stopped() {
                return;
            }
            checker.take_turn(turn);
            let judged = self.supervisor.measure(device, checked, checker);
            let confinement = self.supervisor.walls(checker.plugin(), sampled.reader, Some(device));
            self.line(sampled, &task, loading[turn], Some(self.number), confinement, judged);
        }
    }

    /// Several plugins are tried on the same inputs, drawn now that each has made its rewrite.
    fn on_the_same_inputs(&self, mut checked: Vec<(usize, Checked)>) -> Vec<(usize, Checked)> {
        // Without a seed each says itself that there is none.
        if checked.len() > 1
            && let Ok(seed) = secret(&self.supervisor.config)
        {
            let draws = Draws { seed, are_shared: true, others: None };
            checked.iter_mut().for_each(|(_, checked)| checked.draws = Some(draws));
        }
        checked
    }

    fn line(
        &self,
        sampled: &Sampled,
        task: &Task,
        plugin: usize,
        device: Option<usize>,
        confinement: ChildWalls,
        judged: Judged,
    ) {
        let Judged { variant, outcome, .. } = judged;
        let line = VariantLine {
            plugin: self.bench.header.plugins[plugin].sha256.clone(),
            sample: sampled.name.clone(),
            position: task.variant,
            of: sampled.of,
            device,
            confinement,
            outcome,
            variant,
        };
        self.say(Heard::Line { sample: sampled.index, line: Line::Variant(Box::new(line)) });
    }

    fn begun<'t>(&self, sample: usize, tasks: impl Iterator<Item = &'t Task>) {
        self.say(Heard::Begun { sample, left: tasks.map(|task| task.plugins.len()).sum() });
    }

    /// A sample of which there are no variants, which the file may say already.
    fn no_variants(&self, sample: usize, line: SampleLine) {
        if !self.bench.finished.has_sample(&line) {
            self.say(Heard::Line { sample, line: Line::Sample(line) });
        }
    }

    fn panicked(&self, index: usize) -> SampleLine {
        let failure = failure(Blame::Host, "check", "passhost panicked on this sample", "report this");
        unusable(&self.bench.header.samples[index], failure)
    }

    /// Nothing more comes of a sample, unless it was left in the middle.
    fn ended(&self, sample: usize) {
        if !self.bench.is_stopped() {
            self.say(Heard::Ended { sample });
        }
    }

    fn say(&self, heard: Heard) {
        // Who no longer hears has ended the batch.
        let _ = self.tell.send(heard);
    }
}

impl Sampled {
    fn new(index: usize, opened: &Opened) -> Sampled {
        Sampled {
            index,
            name: opened.name.clone(),
            of: opened.of,
            reader: opened.sample.walls(),
            variants: opened.sample.variants().to_vec(),
        }
    }
}
