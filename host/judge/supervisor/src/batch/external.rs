//! Plugins and samples that are evaluated elsewhere: an external runner returns a document for each.

use super::header::Header;
use super::line::{BatchLine, SampleName};
use super::report::{MeasuredSample, Reporter};
use super::run::hear_of;
use super::work::{BatchEvent, BatchWork, open};
use crate::supervisor::Supervisor;
use passhost_result::DeviceInfo;
use passhost_result::document::{Blame, ChildProfiles, Document, Failure, Variant, failure};
use passhost_result::verdict::{Judged, empty, failed};
use passhost_score::FailureClass;
use std::collections::BTreeMap;
use std::time::Duration;

/// What somebody else may do meanwhile: end a job, or stop the batch.
const LOOK: Duration = Duration::from_millis(200);
/// Between two looks for jobs that wait again, in a batch that is stopped.
const WITHDRAWN: Duration = Duration::from_secs(1);
const HINT: &str = "`passhost fleet status` says more; --resume has it evaluated again";

/// Evaluates plugins on samples on other machines.
pub trait ExternalRunner: Send {
    /// Takes a plugin of the header on a sample, and says what the job is called; why it cannot, where that is so.
    fn submit(&mut self, plugin: usize, sample: &SampleName) -> Result<String, String>;

    /// Jobs that have ended, each once, with their documents, or why there is none by the runner's doing. Waits at most so
    /// long for one.
    fn ended(&mut self, wait: Duration) -> Vec<(String, Result<Document, String>)>;

    /// Takes back the jobs that nobody has begun, and says which.
    fn withdraw(&mut self) -> Vec<String>;
}

/// Jobs of a batch.
struct ExternalJobs<'a> {
    reporter: Reporter<'a>,
    runner: &'a mut dyn ExternalRunner,
    /// Those of the file, and those that came since.
    devices: Vec<DeviceInfo>,
    /// Positions of the plugin and the sample of those that have not ended.
    jobs: BTreeMap<String, (usize, usize)>,
    /// By position: what was opened, and how many of its jobs have not ended.
    samples: BTreeMap<usize, (MeasuredSample, usize)>,
}

impl Supervisor {
    /// Has an external runner evaluate every plugin on every sample that is not finished. `devices` are those that the file
    /// knows. `hear` is called on this thread, and often. Once the batch is stopped, jobs that nobody has begun are taken
    /// back.
    ///
    /// # Errors
    ///
    /// What `hear` says; then the batch is stopped.
    pub fn bench_by<E>(
        &self,
        bench: &BatchWork<'_>,
        runner: &mut dyn ExternalRunner,
        devices: Vec<DeviceInfo>,
        mut hear: impl FnMut(BatchEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        hear_of(bench, &mut hear, |events| {
            let reporter = Reporter { work: bench, events };
            let (jobs, samples) = (BTreeMap::new(), BTreeMap::new());
            let mut external = ExternalJobs { reporter, runner, devices, jobs, samples };
            for sample in (0..bench.header.samples.len()).take_while(|_| !bench.is_stopped()) {
                external.submit(self, sample);
                external.hear(Duration::ZERO);
            }
            while !external.jobs.is_empty() {
                let wait = if bench.is_stopped() { WITHDRAWN } else { LOOK };
                if bench.is_stopped() {
                    let withdrawn = external.runner.withdraw();
                    external.jobs.retain(|job, _| !withdrawn.contains(job));
                }
                external.hear(wait);
            }
        })
    }
}

impl ExternalJobs<'_> {
    /// Submits what is left of a sample.
    fn submit(&mut self, supervisor: &Supervisor, index: usize) {
        let work = self.reporter.work;
        let opened = match open(supervisor, work, &work.header.samples[index]) {
            Ok(opened) => opened,
            Err(line) => {
                self.reporter.no_variants(index, *line);
                return self.reporter.ended(index);
            }
        };
        let left = |plugin: &usize| opened.tasks.iter().any(|task| task.plugins.contains(plugin));
        let plugins: Vec<usize> = (0..work.plugins.len()).filter(left).collect();
        // A document is of one evaluation: what is left of a sample is all of it.
        let sample = MeasuredSample::new(index, &opened);
        let (name, lines) = (sample.name.clone(), plugins.len() * sample.variants.len());
        self.samples.insert(index, (sample, plugins.len()));
        self.reporter.tell(BatchEvent::Begun { sample: index, left: lines });
        if plugins.is_empty() {
            self.reporter.ended(index);
        }
        for plugin in plugins {
            if let Some(failure) = &work.header.plugins[plugin].failure {
                self.failed((plugin, index), FailureClass::Compile, failure);
                continue;
            }
            match self.runner.submit(plugin, &name) {
                Ok(job) => drop(self.jobs.insert(job, (plugin, index))),
                Err(why) => self.not_measured((plugin, index), &why),
            }
        }
    }

    /// Tells what came of jobs.
    fn hear(&mut self, wait: Duration) {
        for (job, document) in self.runner.ended(wait) {
            let Some((plugin, index)) = self.jobs.remove(&job) else { continue };
            let header = self.reporter.work.header;
            let of_this = document.and_then(|document| match self.samples.get(&index) {
                Some((sample, _)) => check(&document, header, plugin, sample).map(|()| document),
                None => Err("its sample is none of the batch".to_owned()),
            });
            match of_this {
                Ok(document) => self.document((plugin, index), document),
                Err(why) => self.not_measured((plugin, index), &why),
            }
        }
    }

    fn document(&mut self, job: (usize, usize), document: Document) {
        let device = document.job.device.map(|info| {
            self.devices.iter().position(|known| *known == info).unwrap_or_else(|| {
                let line = BatchLine::Device(Box::new(info.clone()));
                self.reporter.tell(BatchEvent::Line { sample: job.1, line });
                self.devices.push(info);
                self.devices.len() - 1
            })
        });
        let mut outcomes = document.outcomes.into_iter();
        let judged = document.variants.into_iter().map(|variant| {
            let is_hosts = variant.failure.as_ref().is_some_and(|failure| failure.blame == Blame::Host);
            let outcome = if is_hosts { None } else { outcomes.next() };
            Judged { variant: Variant { progress: None, ..variant }, outcome, speedups: None }
        });
        let judged = judged.collect();
        self.ended(job, device, document.confinement, judged);
    }

    fn not_measured(&mut self, job: (usize, usize), why: &str) {
        self.failed(job, FailureClass::Runtime, &failure(Blame::Host, "queue", why, HINT));
    }

    /// Every variant fails alike.
    fn failed(&mut self, job: (usize, usize), class: FailureClass, failure: &Failure) {
        let Some((sample, _)) = self.samples.get(&job.1) else { return };
        let judged = sample.variants.iter().map(|name| failed(empty(name), class, failure.clone())).collect();
        let confinement = ChildProfiles { reader: sample.reader, ..ChildProfiles::default() };
        self.ended(job, None, confinement, judged);
    }

    fn ended(
        &mut self,
        (plugin, index): (usize, usize),
        device: Option<usize>,
        confinement: ChildProfiles,
        judged: Vec<Judged>,
    ) {
        let Some((sample, left)) = self.samples.get_mut(&index) else { return };
        for (variant, judged) in judged.into_iter().enumerate() {
            self.reporter.variant(sample, (variant, plugin), device, confinement, judged);
        }
        *left -= 1;
        if *left == 0 {
            self.samples.remove(&index);
            // Also of a batch that is to stop: nothing of it was left out.
            self.reporter.tell(BatchEvent::Ended { sample: index });
        }
    }
}

/// Refuses a document that is of something else than what was submitted.
fn check(document: &Document, header: &Header, plugin: usize, sample: &MeasuredSample) -> Result<(), String> {
    let Document { job, variants, outcomes, .. } = document;
    let names = variants.iter().map(|variant| &variant.name);
    let is_hosts = |failure: &&Failure| failure.blame == Blame::Host;
    let unscored = variants.iter().filter_map(|variant| variant.failure.as_ref()).filter(is_hosts).count();
    if job.plugin_sha256 != header.plugins[plugin].sha256 || job.sample_sha256 != sample.name.sha256 {
        return Err("its result is of another plugin or sample".to_owned());
    }
    if !names.eq(&sample.variants) || outcomes.len() + unscored != variants.len() {
        return Err("its result is not of all variants of the sample".to_owned());
    }
    let settings = (&header.host, header.check, &header.policy, &header.limits, &header.options);
    let inputs = (Some(header.inputs), header.seed.is_some());
    if settings != (&job.host, job.check, &document.policy, &document.limits, &document.options)
        || inputs != (job.inputs, job.fixed_seed)
    {
        return Err("its result was made with another version or other settings".to_owned());
    }
    Ok(())
}
