//! Several entrants on the graphs that all of them were tried on.

use crate::conditions::{Conditions, few, remarks};
use crate::entry::{Entrant, EntrantResults, EntryScoring, GraphItem, ln_resolution, sample_key};
use crate::part::{MeanSpeedup, OverSamples, PartScores};
use crate::place::GraphPlace;
use crate::rebase::against_python;
use passhost_result::Headline;
use passhost_score::{FailureClass, Ratio, Ratios, Repeats, Side, VariantOutcome, ratios};
use serde::Serialize;
use std::collections::BTreeMap;

/// Why entrants are not compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ComparisonError {
    /// One alone is better than nobody.
    #[error("{0} entrant in these files; a comparison needs two: results of another plugin, or another file")]
    Alone(usize),
    /// Their numbers answer different questions.
    #[error(
        "{first} and {other} were not made alike: {}; evaluate one of them again as the other was, or see each with `passhost report`",
        .differences.join(", ")
    )]
    Conditions {
        /// The first entrant.
        first: String,
        /// Another.
        other: String,
        /// What is otherwise.
        differences: Vec<String>,
    },
    /// No graph was tried by all.
    #[error("no graph was measured for all {0} entrants; evaluate them on the same samples")]
    NothingShared(usize),
}

/// Several entrants on the same graphs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntrantComparison {
    /// What all results have in common.
    pub conditions: Conditions,
    /// Samples of the graphs that are compared.
    pub samples: usize,
    /// Graphs that are compared.
    pub graphs: usize,
    /// One an entrant, in their order. The others are held against the first.
    pub standings: Vec<EntrantStanding>,
    /// Graphs that some entrants have no result for.
    pub missing: Vec<Missing>,
    /// Graphs that were not measured for some entrants, by the host's doing.
    pub unmeasured: Vec<Missing>,
    /// Graphs that nobody can win: they failed for their samples' sake, with all entrants.
    pub unwinnable: Vec<GraphPlace>,
    /// What may have moved the numbers.
    pub remarks: Vec<String>,
}

/// How an entrant stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntrantStanding {
    /// Who.
    pub entrant: Entrant,
    /// What it scores on the compared graphs.
    pub part: PartScores,
    /// How that compares with the first. `None` of the first.
    pub against_first: Option<AgainstFirst>,
}

/// An entrant held against the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgainstFirst {
    /// Its scores over those of the first.
    pub scores: Ratios,
    /// Its speedup over that of the first, on graphs that both have right.
    pub speed: Option<Ratio>,
    /// Its headline score over that of the first on each sample, over samples.
    pub over_samples: Option<OverSamples>,
    /// What both take on the device alone, where that is known.
    pub device: Option<DeviceTimeRatio>,
    /// Graphs on which its headline score is better beyond doubt.
    pub better: usize,
    /// Graphs on which it is worse beyond doubt.
    pub worse: usize,
    /// Graphs that it has right and the first has wrong; like those below, the largest ratio up or down first.
    pub turned_right: Vec<ScoreChange>,
    /// Graphs that the first has right and it has wrong.
    pub turned_wrong: Vec<ScoreChange>,
    /// Graphs that the first changes, right or wrong, and it leaves unchanged.
    pub turned_unchanged: Vec<ScoreChange>,
    /// Graphs that the first leaves unchanged and it changes, right or wrong.
    pub turned_changed: Vec<ScoreChange>,
    /// Graphs that both have right and whose scores differ beyond doubt.
    pub moved: Vec<ScoreChange>,
}

impl AgainstFirst {
    /// The ratio of the score that the policy makes the headline.
    pub fn headline(&self, headline: Headline) -> &Ratio {
        of_headline(&self.scores, headline)
    }
}

/// The device's own times of an entrant held against those of the first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DeviceTimeRatio {
    /// Graphs on which both are known.
    pub graphs: usize,
    /// Its time over that of the first, in the geometric mean over graphs.
    pub ratio: f64,
    /// Graphs on which the first takes at most [`NEARLY`] times what it takes.
    pub nearly: usize,
}

/// Times that are taken to be as good.
pub const NEARLY: f64 = 1.1;

/// A graph that an entrant does otherwise than the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreChange {
    /// Which.
    pub place: GraphPlace,
    /// Why it is not right with the first, if it is not.
    pub first: Option<FailureClass>,
    /// Why it is not right with the entrant, if it is not.
    pub other: Option<FailureClass>,
    /// The headline score of the entrant over that of the first.
    pub ratio: Ratio,
}

/// A graph that not all entrants have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Which.
    pub place: GraphPlace,
    /// Positions of the entrants that lack it.
    pub lacking: Vec<usize>,
}

/// Compares entrants on the graphs that all of them have, paired graph by graph. Where baselines are among them, all are put
/// against eager called from Python.
///
/// # Errors
///
/// If there are fewer than two, they were not made alike, or no graph was measured for all.
pub fn compare(entries: &[EntrantResults<'_>]) -> Result<EntrantComparison, ComparisonError> {
    compare_sharing(entries, 1)
}

/// The same where so many comparisons like this one share the error of one.
///
/// # Errors
///
/// Those of [`compare`].
pub fn compare_sharing(entries: &[EntrantResults<'_>], comparisons: u32) -> Result<EntrantComparison, ComparisonError> {
    let (entries, rebased) = against_python(entries);
    let entries = &entries[..];
    let [first, others @ ..] = entries else { return Err(ComparisonError::Alone(0)) };
    if others.is_empty() {
        return Err(ComparisonError::Alone(1));
    }
    let named = |entry: &EntrantResults<'_>| format!("`{}` ({})", entry.entrant.name, entry.entrant.sources.join(", "));
    for other in others {
        // Schedules that were measured are a way to be faster, to be held against others.
        let alike = Conditions { tuned: first.conditions.tuned, ..other.conditions.clone() };
        let differences = first.conditions.differences(&alike);
        if !differences.is_empty() {
            return Err(ComparisonError::Conditions { first: named(first), other: named(other), differences });
        }
    }
    let Pairing { shared, missing, unmeasured, unwinnable } = pair(entries);
    if shared.is_empty() {
        return Err(ComparisonError::NothingShared(entries.len()));
    }
    let column = |at: usize| shared.iter().map(|row| row[at]).collect::<Vec<&GraphItem<'_>>>();
    let headline = first.conditions.headline;
    let scale =
        RatioScale { scoring: first.scoring, headline, comparisons: comparisons.saturating_mul(others.len() as u32) };
    let standings: Vec<EntrantStanding> = entries
        .iter()
        .enumerate()
        .map(|(at, entry)| EntrantStanding {
            entrant: entry.entrant.clone(),
            part: PartScores::of(&column(at), entry.scoring),
            against_first: if at == 0 { None } else { against(&column(0), &column(at), scale) },
        })
        .collect();
    let documents: Vec<_> = entries.iter().flat_map(|entry| entry.documents.iter().copied()).collect();
    let recomputed = few(entries.iter().flat_map(|entry| &entry.recomputed));
    Ok(EntrantComparison {
        conditions: first.conditions.clone(),
        samples: standings.first().map_or(0, |standing| standing.part.samples),
        graphs: shared.len(),
        standings,
        missing,
        unmeasured,
        unwinnable,
        remarks: rebased.into_iter().chain(remarks(&documents)).chain(recomputed).collect(),
    })
}

/// The graphs of several entrants, side by side.
struct Pairing<'i, 'a> {
    /// Measured for all: a row a graph, an item an entrant.
    shared: Vec<Vec<&'i GraphItem<'a>>>,
    missing: Vec<Missing>,
    unmeasured: Vec<Missing>,
    unwinnable: Vec<GraphPlace>,
}

/// A graph of several entrants: its item of each, where it has one.
pub(crate) type PairedRow<'i, 'a> = Vec<Option<&'i GraphItem<'a>>>;

/// The graphs of several entrants side by side, in the order of their names.
pub(crate) fn rows<'i, 'a>(entries: &'i [EntrantResults<'a>]) -> Vec<PairedRow<'i, 'a>> {
    let mut rows: BTreeMap<[&str; 2], PairedRow<'_, '_>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        for item in &entry.items {
            // A sample may lie under another name elsewhere.
            let key = [sample_key(item.document), item.variant.name.as_str()];
            let row = rows.entry(key).or_insert_with(|| vec![None; entries.len()]);
            row[at] = Some(item);
        }
    }
    let mut rows: Vec<PairedRow<'_, '_>> = rows.into_values().collect();
    rows.sort_by_cached_key(|row| row.iter().flatten().next().map(|item| GraphPlace::of(item)));
    rows
}

fn pair<'i, 'a>(entries: &'i [EntrantResults<'a>]) -> Pairing<'i, 'a> {
    let mut pairing = Pairing { shared: vec![], missing: vec![], unmeasured: vec![], unwinnable: vec![] };
    for row in rows(entries) {
        let Some(place) = row.iter().flatten().next().map(|item| GraphPlace::of(item)) else { continue };
        let lacking = |lacks: &dyn Fn(&Option<&GraphItem<'_>>) -> bool| -> Vec<usize> {
            row.iter().enumerate().filter(|(_, item)| lacks(item)).map(|(at, _)| at).collect()
        };
        let missing = lacking(&|item| item.is_none());
        let unmeasured = lacking(&|item| item.is_some_and(|item| item.outcome.is_none()));
        if !missing.is_empty() {
            pairing.missing.push(Missing { place, lacking: missing });
        } else if !unmeasured.is_empty() {
            pairing.unmeasured.push(Missing { place, lacking: unmeasured });
        } else if row.iter().flatten().all(|item| item.is_unwinnable()) {
            pairing.unwinnable.push(place);
        } else {
            pairing.shared.push(row.into_iter().flatten().collect());
        }
    }
    pairing
}

/// By what two entrants are compared.
#[derive(Clone, Copy)]
struct RatioScale {
    scoring: EntryScoring,
    headline: Headline,
    /// Verdicts that share an error.
    comparisons: u32,
}

fn of_headline(ratios: &Ratios, headline: Headline) -> &Ratio {
    match headline {
        Headline::Published => &ratios.aggregate_score,
        Headline::Strict => &ratios.aggregate_score_strict,
    }
}

impl RatioScale {
    /// The scores of some graphs of an entrant over those of the same graphs of the first.
    fn ratios(self, first: &[&GraphItem<'_>], other: &[&GraphItem<'_>], as_scored: bool) -> Option<Ratios> {
        let outcomes = |items: &[&GraphItem<'_>]| -> Vec<VariantOutcome> {
            let outcomes = items.iter().filter_map(|item| item.outcome);
            outcomes.map(|outcome| if as_scored { outcome } else { right_everywhere(outcome) }).collect()
        };
        let repeats =
            |items: &[&GraphItem<'_>]| items.iter().map(|item| item.wall.clone()).collect::<Vec<Option<Repeats>>>();
        // Each side was measured on a host as it was then: equal ones differ by what both may be off by.
        let sides: Vec<f64> = [first, other].into_iter().filter_map(ln_resolution).collect();
        let square = sides.iter().map(|side| side * side).sum::<f64>() / sides.len().max(1) as f64;
        let resolution = square.sqrt().exp();
        let (first_outcomes, first_repeats) = (outcomes(first), repeats(first));
        let (other_outcomes, other_repeats) = (outcomes(other), repeats(other));
        let first = Side { outcomes: &first_outcomes, repeats: &first_repeats };
        let other = Side { outcomes: &other_outcomes, repeats: &other_repeats };
        ratios(first, other, &self.scoring.options, resolution, self.comparisons).ok()
    }

    fn headline(self, first: &[&GraphItem<'_>], other: &[&GraphItem<'_>]) -> Option<Ratio> {
        self.ratios(first, other, true).map(|ratios| *of_headline(&ratios, self.headline))
    }
}

/// The outcome with nothing but its speedup left to differ by.
fn right_everywhere(outcome: VariantOutcome) -> VariantOutcome {
    match outcome {
        VariantOutcome::Compared { speedup, .. } => VariantOutcome::Compared {
            speedup,
            passes_at: Some(passhost_score::SMALLEST_T),
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: None,
        },
        failed @ VariantOutcome::Failed(_) => failed,
    }
}

fn against(first: &[&GraphItem<'_>], other: &[&GraphItem<'_>], scale: RatioScale) -> Option<AgainstFirst> {
    let scores = scale.ratios(first, other, true)?;
    let both: Vec<(&GraphItem<'_>, &GraphItem<'_>)> = first.iter().copied().zip(other.iter().copied()).collect();
    let (first_right, other_right): (Vec<&GraphItem<'_>>, Vec<&GraphItem<'_>>) =
        both.iter().copied().filter(|(one, two)| one.is_right() && two.is_right()).unzip();
    let speed = scale.ratios(&first_right, &other_right, false).map(|ratios| ratios.aggregate_score);
    let mut changes: Vec<ScoreChange> = both.iter().filter_map(|(one, two)| change(one, two, scale)).collect();
    let size = |change: &ScoreChange| change.ratio.ratio.ln().abs();
    changes.sort_by(|one, two| size(two).total_cmp(&size(one)));
    let beyond_doubt = |better: bool| {
        let better = |ratio: &Ratio| ratio.excludes_one() && (ratio.ratio > 1.0) == better;
        changes.iter().filter(|change| better(&change.ratio)).count()
    };
    let that = |is_meant: &dyn Fn(&ScoreChange) -> bool| -> Vec<ScoreChange> {
        changes.iter().filter(|change| is_meant(change)).cloned().collect()
    };
    // Right is no class; what is unchanged is neither right nor wrong.
    let unchanged = Some(FailureClass::PassMiss);
    let both_changed = |change: &ScoreChange| change.first != unchanged && change.other != unchanged;
    Some(AgainstFirst {
        device: device_times(&first_right, &other_right),
        over_samples: over_samples(&both, scale),
        better: beyond_doubt(true),
        worse: beyond_doubt(false),
        turned_right: that(&|change| both_changed(change) && change.first.is_some() && change.other.is_none()),
        turned_wrong: that(&|change| both_changed(change) && change.first.is_none() && change.other.is_some()),
        turned_unchanged: that(&|change| change.first != unchanged && change.other == unchanged),
        turned_changed: that(&|change| change.first == unchanged && change.other != unchanged),
        moved: that(&|change| change.first.is_none() && change.other.is_none() && change.ratio.excludes_one()),
        scores,
        speed,
    })
}

fn device_times(first: &[&GraphItem<'_>], other: &[&GraphItem<'_>]) -> Option<DeviceTimeRatio> {
    let time = |item: &GraphItem<'_>| {
        let time = item.variant.timing.as_ref().and_then(|timing| timing.rewritten_device_us);
        time.filter(|time| *time > 0.0 && time.is_finite())
    };
    let ratios: Vec<f64> =
        first.iter().zip(other).filter_map(|(first, other)| Some(time(other)? / time(first)?)).collect();
    let MeanSpeedup { graphs, speedup: ratio } = MeanSpeedup::of(ratios.iter().copied())?;
    let nearly = ratios.iter().filter(|ratio| **ratio >= NEARLY.recip()).count();
    Some(DeviceTimeRatio { graphs, ratio, nearly })
}

fn change(first: &GraphItem<'_>, other: &GraphItem<'_>, scale: RatioScale) -> Option<ScoreChange> {
    let ratio = scale.headline(&[first], &[other])?;
    Some(ScoreChange { place: GraphPlace::of(first), first: first.variant.class, other: other.variant.class, ratio })
}

fn over_samples(both: &[(&GraphItem<'_>, &GraphItem<'_>)], scale: RatioScale) -> Option<OverSamples> {
    let mut samples: BTreeMap<&str, (Vec<&GraphItem<'_>>, Vec<&GraphItem<'_>>)> = BTreeMap::new();
    for &(first, other) in both {
        let (firsts, others) = samples.entry(sample_key(first.document)).or_default();
        firsts.push(first);
        others.push(other);
    }
    let ratio = |(first, other): &(Vec<&GraphItem<'_>>, Vec<&GraphItem<'_>>)| {
        scale.headline(first, other).map(|ratio| ratio.ratio)
    };
    OverSamples::of(&samples.values().filter_map(ratio).collect::<Vec<f64>>())
}
