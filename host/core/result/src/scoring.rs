//! What all variants of a sample come to together: the document, its failure and its scores.

use crate::document::{Blame, ChildProfiles, DeviceScores, Document, Failure, Job, Limits, SCHEMA, Status, Variant};
use crate::timing::{Rules, Speedups};
use crate::verdict::Judged;
use crate::{Policy, Progress};
use passhost_score::{Confidence, Options, Repeats, VariantOutcome, confidence, retimed, score};

/// How scores are made of outcomes.
struct Scoring {
    options: Options,
    /// Of the device, `cpu` if none was needed.
    rules: Rules,
    /// Submissions that share the error of a verdict.
    submissions: u32,
}

impl Scoring {
    fn confidence(
        &self,
        outcomes: &[VariantOutcome],
        repeats: &[Option<Repeats>],
        resolution: f64,
    ) -> Option<Confidence> {
        confidence(outcomes, repeats, &self.options, resolution, [1, self.submissions]).ok().flatten()
    }

    /// Scores over the device's time.
    fn over_device_time(&self, outcomes: &[VariantOutcome], speedups: &[Option<Speedups>]) -> Option<DeviceScores> {
        let of = |speedups: &Option<Speedups>| speedups.as_ref().and_then(|speedups| speedups.device.clone());
        let repeats: Vec<Option<Repeats>> = speedups.iter().map(of).collect();
        let outcomes = retimed(outcomes, &repeats)?;
        let scores = score(&outcomes, &self.options).ok()?;
        Some(DeviceScores {
            aggregate_score: scores.aggregate_score,
            aggregate_score_strict: scores.aggregate_score_strict,
            confidence: self.confidence(&outcomes, &repeats, self.rules.device_resolution),
        })
    }
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
    pub confinement: ChildProfiles,
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
    let scoring = Scoring { options, rules, submissions: submissions.max(1) };
    let failure = failure_of(&variants);
    // A sample that fails as a whole has no score; neither has one on which the host gave up.
    let is_scorable = outcomes.len() == variants.len()
        && lost.is_none()
        && failure.as_ref().is_none_or(|failure| failure.blame == Blame::Plugin);
    let scores = if is_scorable { score(&outcomes, &options).ok() } else { None };
    let walls: Vec<Option<Repeats>> =
        speedups.iter().map(|speedups| speedups.as_ref().map(|speedups| speedups.wall.clone())).collect();
    let resolution = rules.resolution_of(speedups.iter().flatten().map(|speedups| speedups.resolution));
    let confidence = scores.as_ref().and_then(|_| scoring.confidence(&outcomes, &walls, resolution));
    let device_scores = scores.as_ref().and_then(|_| scoring.over_device_time(&outcomes, &speedups));
    let failure = lost.or(failure);
    let failure = if is_scorable { failure } else { failure.or_else(|| unmeasured(&variants)) };
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

/// What stands for an evaluation in which nothing was compared. The plugin's failures come before the sample's: they are what
/// a score is for.
fn failure_of(variants: &[Variant]) -> Option<Failure> {
    if variants.iter().any(|variant| !variant.outputs.is_empty()) {
        return None;
    }
    [Blame::Plugin, Blame::Host, Blame::Sample]
        .into_iter()
        .find_map(|blame| failed(variants, |_, why| why.blame == blame))
}

/// Why there is no score although something was compared: the host failed, or what ran was not timed, which is of no class.
fn unmeasured(variants: &[Variant]) -> Option<Failure> {
    failed(variants, |_, why| why.blame == Blame::Host)
        .or_else(|| failed(variants, |variant, _| variant.class.is_none()))
}

fn failed(variants: &[Variant], why: impl Fn(&Variant, &Failure) -> bool) -> Option<Failure> {
    variants.iter().find_map(|variant| variant.failure.clone().filter(|failure| why(variant, failure)))
}
