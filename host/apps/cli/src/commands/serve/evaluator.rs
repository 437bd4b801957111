//! What becomes of a submission: the document of an evaluation, as `passhost eval` makes it.

use super::samples::ServedSamples;
use super::{offers, reruns};
use crate::commands::source;
use crate::commands::worker::canary::CanaryFile;
use crate::exit::Stop;
use passhost_builder::{BuildLimits, PassSource};
use passhost_child::cores::{self, PinnedCores};
use passhost_child::device::Device;
use passhost_child::{Confinement, LoadedPlugin, Plugin, TypesClient};
use passhost_queue::Canary;
use passhost_result::document::{Blame, Document, Failure};
use passhost_sample::Named;
use passhost_serve::{Graded, Grader, JobsOfSample, SubmissionKind, SubmittedJob};
use passhost_supervisor::{Checker, ReadOnce, Sample, Supervisor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What documents call the plugin: clients have no paths.
const NAME: &str = "submission";

/// Canaries in a row that must be wrong: one may be disturbed.
const CANARIES: usize = 3;

/// Evaluates on one device.
pub struct Evaluator {
    supervisor: Arc<Supervisor>,
    samples: Arc<ServedSamples>,
    device: Device,
    confinement: Confinement,
    /// The cores on which nothing is timed, if there are some: other devices may time while a plugin is made ready.
    cores: Vec<u32>,
    /// The file of what it evaluates to see whether the host measures as it should.
    canary: Option<PathBuf>,
    /// Goes from one submission to the next, as it starts slowly.
    types: Option<TypesClient>,
}

impl Evaluator {
    /// One for each device, which share the rest.
    pub fn all(
        supervisor: &Arc<Supervisor>,
        samples: &Arc<ServedSamples>,
        devices: Vec<Device>,
        confinement: Confinement,
        canary: Option<&Path>,
    ) -> Vec<Box<dyn Grader>> {
        let cores = cores::beside(&devices);
        let one = |device| -> Box<dyn Grader> {
            let (supervisor, samples, cores) = (Arc::clone(supervisor), Arc::clone(samples), cores.clone());
            let canary = canary.map(Path::to_path_buf);
            Box::new(Evaluator { supervisor, samples, device, confinement, cores, canary, types: None })
        };
        devices.into_iter().map(one).collect()
    }

    /// Evaluates a submission. The sample of the one before is not read again, if it is the same and the host had no trouble
    /// with it.
    fn document<'s>(
        &mut self,
        supervisor: &'s Supervisor,
        checker: &mut Checker<'s>,
        last: &mut Option<(String, ReadOnce<'s>)>,
        job: &SubmittedJob,
    ) -> Result<Document, String> {
        let Named { path, groups, place } = self.samples.get(&job.sample).ok_or("its sample is not served any more")?;
        let kept = PinnedCores::to(&self.cores);
        let mut plugin = self.load(job).map_err(|stop| format!("{:#}", stop.error))?;
        drop(kept);
        let (name, mut read) = match last.take().filter(|(name, _)| *name == job.sample) {
            Some(last) => last,
            None => {
                let opened = Sample::open_or_lost(path, place.as_deref(), self.confinement);
                let mut sample = opened.map_err(|error| error.to_string())?;
                sample.groups.clone_from(groups);
                (job.sample.clone(), ReadOnce::new(sample))
            }
        };
        let document = match plugin.guest().err().cloned() {
            Some(Failure { blame: Blame::Host, message, .. }) => return Err(message),
            Some(failure) => supervisor.refused(&plugin, &failure, read.sample()),
            None => supervisor.evaluate_on(checker, &mut plugin, &mut read, &mut self.device),
        };
        *last = Some((name, read)).filter(|_| document.blame != Some(Blame::Host));
        Ok(document)
    }

    /// What comes of the canary. Its file is read each time.
    fn measured_canary(&mut self, path: &Path) -> Result<Canary, String> {
        let (file, bytes) = CanaryFile::read(path)?;
        let job = SubmittedJob { sample: file.sample.clone(), kind: SubmissionKind::Component, bytes, draws: None };
        let supervisor = Arc::clone(&self.supervisor);
        let mut checker = supervisor.checker(self.device.info().facts);
        let document = self.document(&supervisor, &mut checker, &mut None, &job)?;
        file.judge(&document, self.device.info())
    }

    fn load(&self, job: &SubmittedJob) -> Result<LoadedPlugin, Stop> {
        let plugin = |bytes| Plugin::new(NAME.to_owned(), bytes);
        if job.kind == SubmissionKind::Component {
            return Ok(self.supervisor.load(plugin(job.bytes.clone())));
        }
        let refused = |failure| LoadedPlugin::refused(Plugin { wasm: vec![], ..plugin(job.bytes.clone()) }, failure);
        let source = match PassSource::of_text(job.bytes.clone()) {
            Ok(source) => source,
            Err(error) => return Ok(refused(source::unread(&error))),
        };
        // However this machine is set up, nobody knows who wrote it.
        Ok(match source::compile(&source, BuildLimits::default(), Confinement::Required)? {
            Ok(built) => self.supervisor.load(plugin(built.component)),
            Err(refusal) => refused(source::failure(&refusal)),
        })
    }
}

/// What becomes of a job whose evaluation came to this.
fn graded(document: Result<Document, String>) -> Graded {
    let document = match document {
        Ok(document) => document,
        Err(why) => return Graded::Trouble(why),
    };
    match (serde_json::to_string(&document), document.failure) {
        (Ok(text), Some(failure)) if document.blame == Some(Blame::Host) => Graded::Fault(text, failure.message),
        (Ok(text), _) => Graded::Document(text),
        (Err(error), _) => Graded::Trouble(format!("the result cannot be written as JSON: {error}")),
    }
}

impl Grader for Evaluator {
    fn offers(&self) -> Vec<String> {
        vec![offers::of_device(&self.device)]
    }

    /// It is not good if it was outside of its interval each time.
    fn canary(&mut self) -> Option<Result<Canary, String>> {
        let path = self.canary.clone()?;
        let mut last = None;
        for _ in 0..CANARIES {
            last = Some(self.measured_canary(&path));
            if !matches!(&last, Some(Ok(canary)) if !canary.is_good) {
                break;
            }
        }
        last
    }

    fn grade(&mut self, jobs: &mut dyn JobsOfSample) {
        let supervisor = Arc::clone(&self.supervisor);
        let types = self.types.take().unwrap_or_else(|| supervisor.types());
        let mut checker = supervisor.checker(self.device.info().facts).with_types(types);
        let mut last = None;
        while let Some(job) = jobs.next() {
            let document = match reruns::seeds(job.draws.as_deref()) {
                Ok(seeds) => {
                    checker = checker.with_seeds(seeds);
                    self.document(&supervisor, &mut checker, &mut last, &job)
                }
                Err(why) => Err(why),
            };
            jobs.ended(graded(document));
        }
        self.types = Some(checker.into_types());
    }
}
