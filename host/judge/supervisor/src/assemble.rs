//! The verdicts on all variants of a sample, put together into a document and scored.

use crate::device::Device;
use crate::document::{
    Blame, CHECK, ChildWalls, DeviceScores, Document, Failure, Job, Limits, SCHEMA, Status, Variant,
};
use crate::judge::{Judged, empty, failed};
use crate::plugin::LoadedPlugin;
use crate::progress::Progress;
use crate::sample::Sample;
use crate::supervisor::Supervisor;
use crate::timing::{Rules, Speedups};
use passhost_policy::Policy;
use passhost_protocol::Walls;
use passhost_score::{Confidence, FailureClass, Options, Repeats, Scores, VariantOutcome, confidence, retimed, score};

impl Supervisor {
    /// The document for a plugin on a sample whose variants were judged, in the sample's order.
    pub fn document(
        &self,
        plugin: &LoadedPlugin,
        sample: &Sample,
        device: Option<&Device>,
        judged: Vec<Judged>,
    ) -> Document {
        let config = &self.config;
        let frame = Frame {
            job: Job {
                plugin: plugin.file().path.clone(),
                plugin_sha256: plugin.file().sha256.clone(),
                plugin_info: plugin.info().cloned(),
                sample: sample.name().to_owned(),
                sample_sha256: sample.sha256().to_owned(),
                groups: sample.groups.clone(),
                host: env!("CARGO_PKG_VERSION").into(),
                check: CHECK,
                device: device.map(|device| device.info().clone()),
                fixed_seed: config.seed.is_some(),
                inputs: Some(config.inputs),
                baseline: None,
                left_out: sample.left_out(),
            },
            lost: sample.lost().cloned(),
            policy: config.policy.clone(),
            limits: Limits { guest: config.limits, measurement: config.settings },
            options: config.options,
            submissions: config.submissions,
            confinement: self.walls(plugin, sample.walls(), device),
        };
        assemble(frame, judged)
    }

    /// What keeps each kind of child in by now.
    pub(crate) fn walls(&self, plugin: &LoadedPlugin, reader: Option<Walls>, device: Option<&Device>) -> ChildWalls {
        ChildWalls {
            guest: plugin.walls(),
            reader,
            types: self.types_walls.get().copied(),
            device: device.map(Device::walls),
            compiler: device.and_then(Device::compiler_walls),
        }
    }

    /// The document for a plugin that cannot be loaded: every variant fails alike, and nothing needs to run for that.
    pub fn refused(&self, plugin: &LoadedPlugin, failure: &Failure, sample: &Sample) -> Document {
        let variants = sample.chosen_names();
        let judged = variants.map(|name| failed(empty(name), FailureClass::Compile, failure.clone())).collect();
        self.document(plugin, sample, None, judged)
    }
}

/// What the variants together come to.
pub(crate) struct Standing {
    pub failure: Option<Failure>,
    pub scores: Option<Scores>,
    pub confidence: Option<Confidence>,
    pub device_scores: Option<DeviceScores>,
}

/// How scores are made of outcomes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scoring<'a> {
    pub options: &'a Options,
    /// Of the device, `cpu` if none was needed.
    pub rules: Rules,
    pub submissions: u32,
}

impl Scoring<'_> {
    fn confidence(
        &self,
        outcomes: &[VariantOutcome],
        repeats: &[Option<Repeats>],
        resolution: f64,
    ) -> Option<Confidence> {
        confidence(outcomes, repeats, self.options, resolution, self.submissions).ok().flatten()
    }

    /// Scores over the device's time.
    fn over_device_time(&self, outcomes: &[VariantOutcome], speedups: &[Option<Speedups>]) -> Option<DeviceScores> {
        let of = |speedups: &Option<Speedups>| speedups.as_ref().and_then(|speedups| speedups.device.clone());
        let repeats: Vec<Option<Repeats>> = speedups.iter().map(of).collect();
        let outcomes = retimed(outcomes, &repeats)?;
        let scores = score(&outcomes, self.options).ok()?;
        Some(DeviceScores {
            aggregate_score: scores.aggregate_score,
            aggregate_score_strict: scores.aggregate_score_strict,
            confidence: self.confidence(&outcomes, &repeats, self.rules.device_resolution),
        })
    }
}

/// What variants, outcomes and times come to, of a sample that was `lost` as a whole or not.
pub(crate) fn standing(
    variants: &[Variant],
    outcomes: &[VariantOutcome],
    speedups: &[Option<Speedups>],
    lost: Option<&Failure>,
    scoring: Scoring<'_>,
) -> Standing {
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
        && lost.is_none()
        && failure.as_ref().is_none_or(|failure| failure.blame == Blame::Plugin);
    let scores = if scorable { score(outcomes, scoring.options).ok() } else { None };
    let walls: Vec<Option<Repeats>> =
        speedups.iter().map(|speedups| speedups.as_ref().map(|speedups| speedups.wall.clone())).collect();
    let resolution = scoring.rules.resolution_of(speedups.iter().flatten());
    let confidence = scores.as_ref().and_then(|_| scoring.confidence(outcomes, &walls, resolution));
    let device_scores = scores.as_ref().and_then(|_| scoring.over_device_time(outcomes, speedups));
    let failed = |why: fn(&Variant, &Failure) -> bool| {
        variants.iter().find_map(|variant| variant.failure.clone().filter(|failure| why(variant, failure)))
    };
    let host_failed = || failed(|_, failure| failure.blame == Blame::Host);
    // What ran and was not timed is of no class.
    let not_measured = || failed(|variant, _| variant.class.is_none());
    let failure = lost.cloned().or(failure);
    let failure = if scorable { failure } else { failure.or_else(host_failed).or_else(not_measured) };
    Standing { failure, scores, confidence, device_scores }
}

/// What a document says besides what became of the variants.
pub(crate) struct Frame {
    pub job: Job,
    /// Why the sample as a whole is of no use.
    pub lost: Option<Failure>,
    pub policy: Policy,
    pub limits: Limits,
    pub options: Options,
    /// 0 is 1.
    pub submissions: u32,
    pub confinement: ChildWalls,
}

/// Puts the variants together and scores them.
pub(crate) fn assemble(frame: Frame, judged: Vec<Judged>) -> Document {
    let Frame { job, lost, policy, limits, options, submissions, confinement } = frame;
    let outcomes: Vec<VariantOutcome> = judged.iter().filter_map(|judged| judged.outcome).collect();
    let speedups: Vec<Option<Speedups>> =
        judged.iter().filter(|judged| judged.outcome.is_some()).map(|judged| judged.speedups.clone()).collect();
    let measured = |judged: Judged| Variant { progress: Progress::of(&judged.variant), ..judged.variant };
    let variants: Vec<Variant> = judged.into_iter().map(measured).collect();
    let rules = Rules::of(job.device.as_ref().map_or("cpu", |device| &device.device));
    let scoring = Scoring { options: &options, rules, submissions: submissions.max(1) };
    let Standing { failure, scores, confidence, device_scores } =
        standing(&variants, &outcomes, &speedups, lost.as_ref(), scoring);
    Document {
        schema: SCHEMA.into(),
        job,
        status: if failure.is_some() { Status::Failed } else { Status::Scored },
        blame: failure.as_ref().map(|failure| failure.blame),
        failure,
        progress: variants.iter().filter_map(|variant| variant.progress).min(),
        policy,
        limits,
        variants,
        options,
        outcomes,
        scores,
        confidence,
        device_scores,
        confinement,
    }
}
