//! Some graphs of an entrant, and what they score together.

use crate::entry::{EntryScoring, GraphItem, ln_resolution, sample_key};
use passhost_result::{Headline, Strength};
use passhost_score::{
    Confidence, Interval, Options, Repeats, Scores, VariantOutcome, confidence, es_intervals, retimed, score,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Some graphs, and what they score together: the geometric mean over graphs, whichever samples they belong to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartScores {
    /// Samples that the graphs belong to.
    pub samples: usize,
    /// Graphs, those included that were not measured.
    pub graphs: usize,
    /// Graphs that the score counts: all whose failure is not the host's.
    pub scored: usize,
    /// Graphs of these that are right at t = -5.
    pub right: usize,
    /// By wall clock. Nothing has a score where nothing is scored.
    pub wall: Option<ClockScores>,
    /// By the device's own time; absent where that is not known of every compared graph.
    pub device: Option<ClockScores>,
    /// AS of each sample, in the geometric mean over samples.
    pub over_samples: Option<OverSamples>,
    /// How many are right and fast.
    pub fast: FastP,
    /// Mutants of the graphs that the check refuses, of those where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
}

/// Scores by one clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClockScores {
    /// AS.
    pub aggregate_score: f64,
    /// AS strict.
    pub aggregate_score_strict: f64,
    /// ES(t).
    pub es: BTreeMap<i8, f64>,
    /// What AS strict takes in place of ES(t).
    pub es_strict: BTreeMap<i8, f64>,
    /// Intervals of ES(t), between processes; empty where `confidence` is absent.
    pub es_intervals: BTreeMap<i8, Interval>,
    /// Intervals of AS, AS strict and the speedup of compared graphs, likewise.
    pub confidence: Option<Confidence>,
}

/// A geometric mean over samples of what each has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OverSamples {
    /// The mean.
    pub mean: f64,
    /// Covers the mean of all samples like these in 95% of all choices of samples. `None` of fewer than five, which say
    /// nothing of others.
    pub interval: Option<Interval>,
}

/// Samples from which others can be told.
const FEW: usize = 5;

impl OverSamples {
    /// Of one value a sample. `None` of none.
    pub(crate) fn of(values: &[f64]) -> Option<OverSamples> {
        if let [mean] = *values {
            return Some(OverSamples { mean, interval: None });
        }
        // A sample takes the place of a process.
        let samples: Vec<Vec<f64>> = values.iter().map(|&value| vec![value]).collect();
        let estimate = Repeats::new(&samples).ok()?.estimate(1.0);
        Some(OverSamples { mean: estimate.speedup, interval: (values.len() >= FEW).then_some(estimate.interval) })
    }
}

impl PartScores {
    /// Share of the scored graphs that are right.
    pub fn right_share(&self) -> f64 {
        self.right as f64 / self.scored.max(1) as f64
    }

    pub(crate) fn of(items: &[&GraphItem<'_>], scoring: EntryScoring) -> PartScores {
        let counted: Vec<&GraphItem<'_>> = items.iter().filter(|item| item.outcome.is_some()).copied().collect();
        let outcomes: Vec<VariantOutcome> = counted.iter().filter_map(|item| item.outcome).collect();
        let walls: Vec<Option<Repeats>> = counted.iter().map(|item| item.wall.clone()).collect();
        let devices: Vec<Option<Repeats>> = counted.iter().map(|item| item.device.clone()).collect();
        let over_device_time = retimed(&outcomes, &devices);
        PartScores {
            samples: by_sample(items).len(),
            graphs: items.len(),
            scored: outcomes.len(),
            right: items.iter().filter(|item| item.is_right()).count(),
            wall: ClockScores::of(&outcomes, &walls, scoring, ln_resolution(&counted).unwrap_or(0.0).exp()),
            device: over_device_time
                .and_then(|outcomes| ClockScores::of(&outcomes, &devices, scoring, scoring.device_resolution)),
            over_samples: over_samples(&counted, &scoring.options),
            fast: FastP::of(&counted),
            strength: Strength::of_all(items.iter().filter_map(|item| item.variant.strength.as_ref())),
        }
    }
}

/// What a policy makes the headline, by its name.
pub fn headline_name(headline: Headline) -> &'static str {
    match headline {
        Headline::Published => "AS",
        Headline::Strict => "AS strict",
    }
}

impl ClockScores {
    /// The score that a policy makes the headline, with its interval.
    pub fn headline(&self, headline: Headline) -> (f64, Option<Interval>) {
        let confidence = self.confidence.as_ref();
        match headline {
            Headline::Published => (self.aggregate_score, confidence.map(|found| found.aggregate_score)),
            Headline::Strict => (self.aggregate_score_strict, confidence.map(|found| found.aggregate_score_strict)),
        }
    }

    /// `None` where there is nothing to score.
    fn of(
        outcomes: &[VariantOutcome],
        repeats: &[Option<Repeats>],
        scoring: EntryScoring,
        resolution: f64,
    ) -> Option<ClockScores> {
        let EntryScoring { options, submissions, has_intervals, .. } = &scoring;
        let Scores { aggregate_score, aggregate_score_strict, es, es_strict, .. } = score(outcomes, options).ok()?;
        let es_intervals = es_intervals(outcomes, repeats, options, resolution, *submissions).ok().flatten();
        let es_intervals = es_intervals.filter(|_| *has_intervals).unwrap_or_default();
        let confidence = confidence(outcomes, repeats, options, resolution, [*submissions; 2]).ok().flatten();
        let confidence = confidence.filter(|_| *has_intervals);
        Some(ClockScores { aggregate_score, aggregate_score_strict, es, es_strict, es_intervals, confidence })
    }
}

/// How much faster some graphs are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanSpeedup {
    /// How many they are.
    pub graphs: usize,
    /// In the geometric mean over them.
    pub speedup: f64,
}

impl MeanSpeedup {
    /// Of those that are positive numbers.
    pub(crate) fn of(speedups: impl Iterator<Item = f64>) -> Option<MeanSpeedup> {
        let logarithms: Vec<f64> = speedups.map(f64::ln).filter(|ln| ln.is_finite()).collect();
        let graphs = logarithms.len();
        (graphs > 0).then(|| MeanSpeedup { graphs, speedup: (logarithms.iter().sum::<f64>() / graphs as f64).exp() })
    }
}

/// How many graphs are right and fast, as KernelBench counts them: shares of the scored ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FastP {
    /// Those that are right.
    pub fast_0: f64,
    /// Those that are right and faster.
    pub fast_1: f64,
    /// Those that are right and more than twice as fast.
    pub fast_2: f64,
    /// How much faster the right ones are.
    pub right: Option<MeanSpeedup>,
}

impl FastP {
    fn of(counted: &[&GraphItem<'_>]) -> FastP {
        let right = || counted.iter().filter(|item| item.is_right());
        let speedups: Vec<f64> = right().filter_map(|item| Some(item.measured()?.speedup)).collect();
        let share = |count: usize| count as f64 / counted.len().max(1) as f64;
        let faster = |p: f64| share(speedups.iter().filter(|speedup| **speedup > p).count());
        let (fast_1, fast_2) = (faster(1.0), faster(2.0));
        FastP { fast_0: share(right().count()), fast_1, fast_2, right: MeanSpeedup::of(speedups.into_iter()) }
    }
}

fn over_samples(counted: &[&GraphItem<'_>], options: &Options) -> Option<OverSamples> {
    let of_sample = |items: &Vec<&GraphItem<'_>>| {
        let outcomes: Vec<VariantOutcome> = items.iter().filter_map(|item| item.outcome).collect();
        score(&outcomes, options).ok().map(|scores| scores.aggregate_score)
    };
    let scores: Vec<f64> = by_sample(counted).values().filter_map(of_sample).collect();
    OverSamples::of(&scores)
}

fn by_sample<'i, 'a>(items: &[&'i GraphItem<'a>]) -> BTreeMap<&'a str, Vec<&'i GraphItem<'a>>> {
    let mut samples: BTreeMap<&str, Vec<&GraphItem<'_>>> = BTreeMap::new();
    for item in items {
        samples.entry(sample_key(item.document)).or_default().push(item);
    }
    samples
}

/// AS of one outcome alone.
pub(crate) fn alone(outcome: VariantOutcome, options: &Options) -> Option<f64> {
    score(&[outcome], options).ok().map(|scores| scores.aggregate_score)
}
