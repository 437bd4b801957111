//! What all variants of a sample come to together: the document, its failure and its scores.

use crate::document::{Blame, ChildWalls, DeviceScores, Document, Failure, Job, Limits, SCHEMA, Status, Variant};
use crate::timing::{Rules, Speedups};
use crate::verdict::Judged;
use crate::{Policy, Progress};
use passhost_score::{Confidence, Options, Repeats, Scores, VariantOutcome, confidence, retimed, score};

/// What the variants together come to.
pub struct Totals {
    /// What stands for the evaluation where it has none.
    pub failure: Option<Failure>,
    /// S(t), ES(t), AS.
    pub scores: Option<Scores>,
    /// Their intervals, by wall clock.
    pub confidence: Option<Confidence>,
    /// The same over the device's time.
    pub device_scores: Option<DeviceScores>,
}

/// How scores are made of outcomes.
#[derive(Debug, Clone, Copy)]
pub struct Scoring<'a> {
    /// Constants of the score.
    pub options: &'a Options,
    /// Of the device, `cpu` if none was needed.
    pub rules: Rules,
    /// Submissions that share the error of a verdict.
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
pub fn totals(
    variants: &[Variant],
    outcomes: &[VariantOutcome],
    speedups: &[Option<Speedups>],
    lost: Option<&Failure>,
    scoring: Scoring<'_>,
) -> Totals {
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
    let resolution = scoring.rules.resolution_of(speedups.iter().flatten().map(|speedups| speedups.resolution));
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
    Totals { failure, scores, confidence, device_scores }
}

/// What a document says besides what became of the variants.
pub struct Frame {
    /// What was evaluated.
    pub job: Job,
    /// Why the sample as a whole is of no use.
    pub lost: Option<Failure>,
    /// The rules in force.
    pub policy: Policy,
    /// Limits and settings in force.
    pub limits: Limits,
    /// Constants of the score.
    pub options: Options,
    /// Submissions that share the error of a verdict; 0 is 1.
    pub submissions: u32,
    /// What kept the children in.
    pub confinement: ChildWalls,
}

/// Puts the variants together and scores them.
pub fn assemble(frame: Frame, judged: Vec<Judged>) -> Document {
    let Frame { job, lost, policy, limits, options, submissions, confinement } = frame;
    let outcomes: Vec<VariantOutcome> = judged.iter().filter_map(|judged| judged.outcome).collect();
    let speedups: Vec<Option<Speedups>> =
        judged.iter().filter(|judged| judged.outcome.is_some()).map(|judged| judged.speedups.clone()).collect();
    let measured = |judged: Judged| Variant { progress: Progress::of(&judged.variant), ..judged.variant };
    let variants: Vec<Variant> = judged.into_iter().map(measured).collect();
    let rules = Rules::of(job.device.as_ref().map_or("cpu", |device| &device.device));
    let scoring = Scoring { options: &options, rules, submissions: submissions.max(1) };
    let Totals { failure, scores, confidence, device_scores } =
        totals(&variants, &outcomes, &speedups, lost.as_ref(), scoring);
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
