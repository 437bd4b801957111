//! What becomes of a submission: the document of an evaluation, as `passhost eval` makes it.

use super::offers;
use super::samples::ServedSamples;
use crate::commands::source;
use crate::exit::Stop;
use passhost_builder::{BuildLimits, PassSource};
use passhost_child::cores::PinnedCores;
use passhost_child::device::Device;
use passhost_child::{Confinement, LoadedPlugin, Plugin, TypesClient};
use passhost_result::document::{Blame, Document, Failure};
use passhost_sample::Named;
use passhost_serve::{Graded, Grader, SubmissionKind, SubmittedJob};
use passhost_supervisor::{Sample, Supervisor};
use std::sync::Arc;

/// What documents call the plugin: clients have no paths.
const NAME: &str = "submission";

/// Evaluates on one device.
pub struct Evaluator {
    supervisor: Arc<Supervisor>,
    samples: Arc<ServedSamples>,
    device: Device,
    confinement: Confinement,
    /// The cores on which nothing is timed, if there are some: other devices may time while a plugin is made ready.
    cores: Vec<u32>,
    /// Goes from one submission to the next, as it starts slowly.
    types: Option<TypesClient>,
}

impl Evaluator {
    pub fn new(
        supervisor: Arc<Supervisor>,
        samples: Arc<ServedSamples>,
        device: Device,
        confinement: Confinement,
        cores: Vec<u32>,
    ) -> Evaluator {
        Evaluator { supervisor, samples, device, confinement, cores, types: None }
    }

    fn document(&mut self, job: &SubmittedJob) -> Result<Document, String> {
        let Named { path, groups, place } = self.samples.get(&job.sample).ok_or("its sample is not served any more")?;
        let kept = PinnedCores::to(&self.cores);
        let mut plugin = self.load(job).map_err(|stop| format!("{:#}", stop.error))?;
        drop(kept);
        let opened = Sample::open_or_lost(path, place.as_deref(), self.confinement);
        let mut sample = opened.map_err(|error| error.to_string())?;
        sample.groups.clone_from(groups);
        match plugin.guest().err().cloned() {
            Some(Failure { blame: Blame::Host, message, .. }) => Err(message),
            Some(failure) => Ok(self.supervisor.refused(&plugin, &failure, &sample)),
            None => Ok(self.evaluated(plugin, sample)),
        }
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

    fn evaluated(&mut self, mut plugin: LoadedPlugin, sample: Sample) -> Document {
        let types = self.types.take().unwrap_or_else(|| self.supervisor.types());
        let facts = self.device.info().facts;
        let mut checker = self.supervisor.checker(facts).with_types(types);
        let document = self.supervisor.evaluate(&mut checker, &mut plugin, sample, &mut self.device);
        self.types = Some(checker.into_types());
        document
    }
}

impl Grader for Evaluator {
    fn offers(&self) -> Vec<String> {
        vec![offers::of_device(&self.device)]
    }

    fn grade(&mut self, job: &SubmittedJob) -> Graded {
        let document = match self.document(job) {
            Ok(document) => document,
            Err(why) => return Graded::Trouble(why),
        };
        match (serde_json::to_string(&document), document.failure) {
            (Ok(text), Some(failure)) if document.blame == Some(Blame::Host) => Graded::Fault(text, failure.message),
            (Ok(text), _) => Graded::Document(text),
            (Err(error), _) => Graded::Trouble(format!("the result cannot be written as JSON: {error}")),
        }
    }
}
