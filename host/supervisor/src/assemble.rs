//! The verdicts on all variants of a sample, put together into a document and scored.

use crate::device::Device;
use crate::document::{Blame, ChildWalls, DeviceScores, Document, Failure, Job, Limits, SCHEMA, Status, Variant};
use crate::judge::{Judged, empty, failed};
use crate::plugin::LoadedPlugin;
use crate::sample::Sample;
use crate::supervisor::{Config, Supervisor};
use crate::timing::Rules;
use passhost_protocol::device::DeviceInfo;
use passhost_score::{FailureClass, Repeats, VariantOutcome, confidence, score};

impl Supervisor {
    /// The document for a plugin on a sample whose variants were judged, in the sample's order.
    pub fn document(
        &self,
        plugin: &LoadedPlugin,
        sample: &Sample,
        device: Option<&Device>,
        judged: Vec<Judged>,
    ) -> Document {
        let confinement = ChildWalls {
            guest: plugin.walls(),
            reader: sample.walls(),
            types: self.types_walls.get().copied(),
            device: device.map(Device::walls),
            compiler: device.and_then(Device::compiler_walls),
        };
        assemble(plugin, sample, &self.config, device.map(|device| device.info().clone()), confinement, judged)
    }

    /// The document for a plugin that cannot be loaded: every variant fails alike, and nothing needs to run for that.
    pub fn refused(&self, plugin: &LoadedPlugin, failure: &Failure, sample: &Sample) -> Document {
        let variants = sample.variants().iter();
        let judged = variants.map(|name| failed(empty(name), FailureClass::Compile, failure.clone())).collect();
        self.document(plugin, sample, None, judged)
    }
}

/// Puts the variants together and scores them.
fn assemble(
    plugin: &LoadedPlugin,
    sample: &Sample,
    config: &Config,
    device: Option<DeviceInfo>,
    confinement: ChildWalls,
    judged: Vec<Judged>,
) -> Document {
    let outcomes: Vec<VariantOutcome> = judged.iter().filter_map(|judged| judged.outcome).collect();
    let scored = || judged.iter().filter(|judged| judged.outcome.is_some());
    let repeats: Vec<Option<Repeats>> = scored().map(|judged| judged.repeats.clone()).collect();
    let device_repeats: Vec<Option<Repeats>> = scored().map(|judged| judged.device_repeats.clone()).collect();
    let variants: Vec<Variant> = judged.into_iter().map(|judged| judged.variant).collect();
    let compared = variants.iter().any(|variant| !variant.outputs.is_empty());
    // The plugin's failures stand for an evaluation before the sample's: they are what a score is for.
    let failure = if compared {
        None
    } else {
        [Blame::Plugin, Blame::Host, Blame::Sample].into_iter().find_map(|blame| {
            variants.iter().filter_map(|variant| variant.failure.clone()).find(|failure| failure.blame == blame)
        })
    };
    // A sample that fails as a whole has no score; neither has one on which the host gave up.
    let scorable = outcomes.len() == variants.len()
        && sample.lost().is_none()
        && failure.as_ref().is_none_or(|f| f.blame == Blame::Plugin);
    let scores = if scorable { score(&outcomes, &config.options).ok() } else { None };
    let resolution = Rules::of(device.as_ref().map_or("cpu", |device| &device.device)).resolution;
    let confidence = |outcomes: &[VariantOutcome], repeats: &[Option<Repeats>]| {
        confidence(outcomes, repeats, &config.options, resolution, config.submissions).ok().flatten()
    };
    let device_scores = scores.as_ref().and_then(|_| {
        let outcomes = over_device_time(&outcomes, &device_repeats)?;
        let scores = score(&outcomes, &config.options).ok()?;
        Some(DeviceScores {
            aggregate_score: scores.aggregate_score,
            aggregate_score_strict: scores.aggregate_score_strict,
            confidence: confidence(&outcomes, &device_repeats),
        })
    });
    let confidence = scores.as_ref().and_then(|_| confidence(&outcomes, &repeats));
    let host_failed = variants.iter().find_map(|v| v.failure.clone().filter(|f| f.blame == Blame::Host));
    let failure = sample.lost().cloned().or(failure).or(if scorable { None } else { host_failed });
    Document {
        schema: SCHEMA.into(),
        job: Job {
            plugin: plugin.file().path.clone(),
            plugin_sha256: plugin.file().sha256.clone(),
            plugin_info: plugin.info().cloned(),
            sample: sample.name().to_owned(),
            sample_sha256: sample.sha256().to_owned(),
            host: env!("CARGO_PKG_VERSION").into(),
            device,
            fixed_seed: config.seed.is_some(),
        },
        status: if failure.is_some() { Status::Failed } else { Status::Scored },
        blame: failure.as_ref().map(|failure| failure.blame),
        failure,
        limits: Limits { guest: config.limits, measurement: config.settings },
        variants,
        options: config.options,
        outcomes,
        scores,
        confidence,
        device_scores,
        confinement,
    }
}

/// The outcomes with speedups over the device's time. `None` where a compared variant has none, or none was compared.
fn over_device_time(outcomes: &[VariantOutcome], repeats: &[Option<Repeats>]) -> Option<Vec<VariantOutcome>> {
    let mut over = outcomes.to_vec();
    let mut compared = false;
    for (outcome, repeats) in over.iter_mut().zip(repeats) {
        if let VariantOutcome::Compared { speedup, .. } = outcome {
            *speedup = repeats.as_ref()?.ln_speedup().exp();
            compared = true;
        }
    }
    compared.then_some(over)
}
