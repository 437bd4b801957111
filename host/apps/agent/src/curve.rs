//! What the best of K attempts scores.

use crate::run::RecordedAttempt;
use crate::trajectory::{TrajectoryLine, Why};
use passhost_score::Interval;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde::Serialize;
use std::collections::BTreeMap;

/// Attempts whose best has an interval, and a column in tables.
pub const SHOWN: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// How often attempts are drawn again for an interval.
const DRAWS: usize = 1000;

/// What is known of one sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskScores {
    /// Its name.
    pub sample: String,
    /// Attempts that have ended.
    pub attempts: usize,
    /// Those in which the pass was handed in.
    pub submitted: usize,
    /// Those whose pass is right on every variant, and without findings.
    pub right: usize,
    /// The best score.
    pub best: f64,
    /// The result document with that score.
    pub best_document: Option<String>,
    /// By K, what the best of K attempts scores: see [`best_of`].
    pub best_of: BTreeMap<usize, f64>,
    /// By K of [`SHOWN`], where that score lies with 95% had other attempts been made: see [`ScoreCurve::intervals`].
    pub intervals: BTreeMap<usize, Interval>,
}

/// What is known of all samples together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreCurve {
    /// One a sample, by name.
    pub tasks: Vec<TaskScores>,
    /// By K, the mean over the samples that have so many attempts.
    pub mean: BTreeMap<usize, f64>,
    /// Likewise the geometric mean, which is how AS joins graphs.
    pub geometric_mean: BTreeMap<usize, f64>,
    /// Where the means lie with 95% had other attempts been made on these samples: the middle 95% of what comes of attempts that
    /// are drawn again among those that were made (percentile bootstrap). It says nothing of other samples, of the noise of one
    /// evaluation, nor of a better attempt than any that was made: for K near the number of attempts its upper end is too low.
    pub intervals: Means<Interval>,
}

/// Both means, by K of [`SHOWN`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Means<T> {
    /// The mean.
    pub mean: BTreeMap<usize, T>,
    /// The geometric mean.
    pub geometric_mean: BTreeMap<usize, T>,
}

impl<T> Default for Means<T> {
    fn default() -> Means<T> {
        Means { mean: BTreeMap::new(), geometric_mean: BTreeMap::new() }
    }
}

/// What the best of `k` attempts scores, in expectation, by `n` that were made: the mean of the best over all choices of `k`
/// of them. It is the estimate without bias for pass@k of Chen et al. (2021), for a score in place of a success: with
/// ascending scores, the i-th is the best of `C(i - 1, k - 1)` of the `C(n, k)` choices. `None` where fewer were made.
pub fn best_of(scores: &[f64], k: usize) -> Option<f64> {
    let n = scores.len();
    if k == 0 || k > n {
        return None;
    }
    let mut descending = scores.to_vec();
    descending.sort_by(|one, other| other.total_cmp(one));
    Some(best_of_sorted(&descending, k))
}

/// The same of scores that descend, at least `k`.
fn best_of_sorted(descending: &[f64], k: usize) -> f64 {
    let n = descending.len();
    // The best is in a choice with probability k / n; each further one is the best of it if those above are not in it.
    let (mut share, mut sum) = (k as f64 / n as f64, 0.0);
    for (above, score) in descending.iter().enumerate().take(n - k + 1) {
        sum += share * score;
        let left = (n - above - 1) as f64;
        share *= (left - (k - 1) as f64) / left.max(1.0);
    }
    sum
}

fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len() as f64
}

fn geometric_mean(scores: &[f64]) -> f64 {
    (scores.iter().map(|score| score.ln()).sum::<f64>() / scores.len() as f64).exp()
}

/// Intervals of each task and of the means, by the scores of each task. Of one attempt nothing is known but itself.
fn intervals(tasks: &[Vec<f64>]) -> (Vec<BTreeMap<usize, Interval>>, Means<Interval>) {
    let mut of_tasks: Vec<BTreeMap<usize, Vec<f64>>> = vec![BTreeMap::new(); tasks.len()];
    let mut of_means = Means::<Vec<f64>>::default();
    // Always the same draws: a run has one summary.
    let mut random = SplitMix64::seed_from_u64(1);
    for _ in 0..DRAWS {
        let mut drawn: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (scores, known) in tasks.iter().zip(&mut of_tasks) {
            let mut again: Vec<f64> =
                scores.iter().map(|_| scores[(random.next_u64() % scores.len() as u64) as usize]).collect();
            again.sort_by(|one, other| other.total_cmp(one));
            for k in SHOWN.into_iter().filter(|k| *k <= again.len()) {
                let best = best_of_sorted(&again, k);
                drawn.entry(k).or_default().push(best);
                known.entry(k).or_default().push(best);
            }
        }
        for (k, scores) in drawn {
            of_means.mean.entry(k).or_default().push(mean(&scores));
            of_means.geometric_mean.entry(k).or_default().push(geometric_mean(&scores));
        }
    }
    let all = |drawn: BTreeMap<usize, Vec<f64>>| drawn.into_iter().map(|(k, values)| (k, middle(values))).collect();
    let of_tasks = of_tasks.into_iter().zip(tasks).map(|(drawn, scores)| match scores.len() {
        1 => BTreeMap::new(),
        _ => all(drawn),
    });
    let of_tasks = of_tasks.collect();
    if tasks.iter().all(|scores| scores.len() == 1) {
        return (of_tasks, Means::default());
    }
    (of_tasks, Means { mean: all(of_means.mean), geometric_mean: all(of_means.geometric_mean) })
}

/// The middle 95% of some values.
fn middle(mut values: Vec<f64>) -> Interval {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    Interval { low: at(0.025), high: at(0.975) }
}

/// The end of an attempt.
pub(crate) struct Ended<'a> {
    pub sample: &'a str,
    pub why: Why,
    pub score: f64,
    pub right: bool,
    pub findings: usize,
    /// The factor that the score is known within.
    pub within: Option<f64>,
    pub document: Option<&'a str>,
}

/// How an attempt ended, if it has.
pub(crate) fn ended(recorded: &RecordedAttempt) -> Option<Ended<'_>> {
    let (Some(TrajectoryLine::Begin { sample, .. }), Some(TrajectoryLine::End { why, score, verdict, .. })) =
        (recorded.lines.first(), recorded.lines.last())
    else {
        return None;
    };
    let verdict = verdict.as_ref();
    Some(Ended {
        sample,
        why: *why,
        score: *score,
        right: verdict.is_some_and(|verdict| verdict.right),
        findings: verdict.map_or(0, |verdict| verdict.findings),
        within: verdict.and_then(|verdict| verdict.within),
        document: verdict.map(|verdict| verdict.document.as_str()),
    })
}

/// Who reads an attempt knows the task by the name of its file without the number of the attempt: two samples may have
/// the same name.
pub(crate) fn task_of(recorded: &RecordedAttempt) -> &str {
    recorded.name.rsplit_once('-').map_or(recorded.name.as_str(), |(task, _)| task)
}

/// Scores of the attempts that have ended.
pub fn curve(recorded: &[RecordedAttempt]) -> ScoreCurve {
    let mut by_task: BTreeMap<&str, Vec<Ended<'_>>> = BTreeMap::new();
    for recorded in recorded {
        by_task.entry(task_of(recorded)).or_default().extend(ended(recorded));
    }
    by_task.retain(|_, ended| !ended.is_empty());
    let scores: Vec<Vec<f64>> = by_task.values().map(|ended| ended.iter().map(|ended| ended.score).collect()).collect();
    let (of_tasks, intervals) = intervals(&scores);
    let tasks: Vec<TaskScores> =
        by_task.values().zip(of_tasks).filter_map(|(ended, intervals)| task(ended, intervals)).collect();
    let most = tasks.iter().map(|task| task.attempts).max().unwrap_or(0);
    let over = |mean: fn(&[f64]) -> f64| {
        let at = |k: usize| {
            let scores: Vec<f64> = tasks.iter().filter_map(|task| task.best_of.get(&k).copied()).collect();
            (!scores.is_empty()).then(|| (k, mean(&scores)))
        };
        (1..=most).filter_map(at).collect()
    };
    ScoreCurve { mean: over(mean), geometric_mean: over(geometric_mean), tasks, intervals }
}

fn task(ended: &[Ended<'_>], intervals: BTreeMap<usize, Interval>) -> Option<TaskScores> {
    let best = ended.iter().max_by(|one, other| one.score.total_cmp(&other.score))?;
    let scores: Vec<f64> = ended.iter().map(|ended| ended.score).collect();
    Some(TaskScores {
        sample: best.sample.to_owned(),
        attempts: ended.len(),
        submitted: ended.iter().filter(|ended| ended.why == Why::Submitted).count(),
        right: ended.iter().filter(|ended| ended.right).count(),
        best: best.score,
        best_document: best.document.map(str::to_owned),
        best_of: (1..=scores.len()).filter_map(|k| Some((k, best_of(&scores, k)?))).collect(),
        intervals,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of the best over all choices, one by one.
    fn by_choices(scores: &[f64], k: usize) -> f64 {
        let choices = (0u32..1 << scores.len()).filter(|choice| choice.count_ones() as usize == k);
        let best = |choice: u32| {
            let chosen = scores.iter().enumerate().filter(|(index, _)| choice >> index & 1 == 1);
            chosen.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max)
        };
        let best: Vec<f64> = choices.map(best).collect();
        best.iter().sum::<f64>() / best.len() as f64
    }

    #[test]
    fn the_best_of_k_is_the_mean_over_all_choices() {
        let scores = [0.1, 1.7, 0.1, 0.4, 2.3, 1.1, 1.1, 0.147];
        for n in 1..=scores.len() {
            for k in 1..=n {
                let estimate = best_of(&scores[..n], k).unwrap_or(f64::NAN);
                let exact = by_choices(&scores[..n], k);
                assert!((estimate - exact).abs() < 1e-12, "best of {k} of {n}: {estimate}, {exact}");
            }
            assert_eq!(best_of(&scores[..n], n + 1), None);
        }
        assert_eq!(best_of(&scores, 0), None);
    }

    #[test]
    fn an_interval_holds_the_estimate_and_is_narrow_where_attempts_agree() {
        let scores = vec![0.1, 0.1, 1.2, 0.1, 1.9, 0.4, 0.1, 1.1];
        let (of_tasks, means) = intervals(&[scores.clone(), vec![1.5; 4], vec![0.3]]);
        for k in [1, 2, 4] {
            let (Interval { low, high }, best) = (of_tasks[0][&k], best_of(&scores, k).unwrap_or(f64::NAN));
            assert!(low < best && best < high && high <= 1.9, "best of {k}: {best} in [{low}, {high}]");
            let agreed = of_tasks[1][&k];
            assert!((agreed.low - 1.5).abs() < 1e-12 && (agreed.high - 1.5).abs() < 1e-12, "{agreed:?}");
        }
        // Nobody knows how far another attempt would have been from a single one.
        assert!(of_tasks[2].is_empty() && !of_tasks[1].contains_key(&8) && of_tasks[0].contains_key(&8));
        let Interval { low, high } = means.mean[&1];
        let middle = (best_of(&scores, 1).unwrap_or(f64::NAN) + 1.5 + 0.3) / 3.0;
        assert!(low < middle && middle < high, "{middle} in [{low}, {high}]");
        assert_eq!(intervals(&[vec![1.0], vec![2.0]]).1, Means::default());
        let one = [scores];
        assert_eq!(intervals(&one), intervals(&one), "the same each time");
    }
}
