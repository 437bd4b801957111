//! What all results of an entrant say together.

use crate::conditions::{Conditions, few, remarks};
use crate::entry::{Entrant, EntrantResults, GraphItem};
use crate::headroom::Headroom;
use crate::part::{PartScores, alone};
use crate::place::GraphPlace;
use passhost_result::document::{Blame, Document, Failure};
use passhost_result::{Progress, Spent};
use passhost_score::{FailureClass, Interval};
use serde::Serialize;
use std::collections::BTreeMap;

/// Graphs that are shown at either end.
const EXTREMES: usize = 5;

/// Size classes by bytes of inputs and outputs: the first size that is larger, and the name.
const SIZES: [(u64, &str); 5] = [
    (1 << 16, "below 64 KiB"),
    (1 << 20, "64 KiB to 1 MiB"),
    (1 << 24, "1 to 16 MiB"),
    (1 << 28, "16 to 256 MiB"),
    (u64::MAX, "256 MiB and more"),
];

/// What all results of an entrant say together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Who.
    pub entrant: Entrant,
    /// Under which rules, where, and how.
    pub conditions: Conditions,
    /// All graphs.
    pub all: PartScores,
    /// Those that can be won, where the samples of others are to blame for their failures.
    pub winnable: Option<PartScores>,
    /// By the lists that named the samples; empty where no document says any.
    pub groups: Vec<Slice>,
    /// By the element type that takes most bytes.
    pub element_types: Vec<Slice>,
    /// By bytes of inputs and outputs, small before large.
    pub sizes: Vec<Slice>,
    /// How many graphs ended in which way.
    pub ends: BTreeMap<String, usize>,
    /// How many graphs the entrant came how far with; a graph that says nothing of it is not counted.
    pub progress: BTreeMap<Progress, usize>,
    /// Right ones among the graphs with the best scores, best first.
    pub best: Vec<Extreme>,
    /// Graphs with the worst scores, worst first.
    pub worst: Vec<Extreme>,
    /// What holds AS back: the right graphs, the lowest speedup first.
    pub headroom: Headroom,
    /// Graphs in which the pass changed nothing that counts.
    pub pass_misses: Vec<GraphPlace>,
    /// Why graphs were not measured, by the host's doing, the most frequent reason first. They are not in the score.
    pub unmeasured: Vec<UnmeasuredReason>,
    /// Samples whose graphs nobody knows, as they could not be opened, and why.
    pub lost: Vec<(String, Failure)>,
    /// What may have moved the numbers.
    pub remarks: Vec<String>,
    /// Where the time of all graphs went, microseconds.
    pub spent_us: Spent,
}

/// Graphs with something in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slice {
    /// What.
    pub name: String,
    /// What they score.
    pub part: PartScores,
}

/// A graph at one end of the scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Extreme {
    /// Which.
    pub place: GraphPlace,
    /// AS of it alone.
    pub aggregate_score: f64,
    /// How much faster it is, where that was measured, with its interval.
    pub speedup: Option<(f64, Interval)>,
    /// Why it is not right.
    pub class: Option<FailureClass>,
}

/// Why graphs were not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnmeasuredReason {
    /// Where.
    pub stage: String,
    /// What happened to the first of them; to the others the same, with other numbers.
    pub message: String,
    /// How many graphs.
    pub graphs: usize,
}

/// Summarises the results of an entrant.
pub fn summarise(entry: &EntrantResults<'_>) -> Summary {
    let EntrantResults { entrant, conditions, repeated, documents, recomputed, items, scoring } = entry;
    let all: Vec<&GraphItem<'_>> = items.iter().collect();
    let mut ranked: Vec<(f64, &GraphItem<'_>)> =
        all.iter().filter_map(|&item| Some((alone(item.outcome?, &scoring.options)?, item))).collect();
    ranked.sort_by(|one, two| two.0.total_cmp(&one.0).then_with(|| GraphPlace::of(one.1).cmp(&GraphPlace::of(two.1))));
    // Of few graphs, each end has half.
    let half = ranked.len() / 2;
    let best = ranked.iter().take(EXTREMES.min(ranked.len() - half)).filter(|(_, item)| item.is_right()).map(extreme);
    let worst = ranked.iter().rev().take(EXTREMES.min(half)).map(extreme);
    let (best, worst) = (best.collect(), worst.collect());
    let slice =
        |names: &dyn Fn(&GraphItem<'_>) -> Vec<String>| slices(&all, names, |items| PartScores::of(items, *scoring));
    let mut sizes = slice(&|item| vec![size_class(item.variant.bytes).to_owned()]);
    sizes.sort_by_key(|slice| order_of_size(&slice.name));
    let mut remarks = remarks(documents);
    remarks.extend(few(recomputed.iter()));
    if *repeated > 0 {
        remarks
            .push(format!("{repeated} results on samples that were evaluated again are left out: the last one counts"));
    }
    let missed = |item: &&&GraphItem<'_>| item.variant.class == Some(FailureClass::PassMiss);
    let mut spent_us = Spent::default();
    all.iter().for_each(|item| spent_us.join(&item.variant.spent_us));
    Summary {
        spent_us,
        entrant: entrant.clone(),
        conditions: conditions.clone(),
        all: PartScores::of(&all, *scoring),
        winnable: winnable(&all).map(|items| PartScores::of(&items, *scoring)),
        groups: slice(&|item| item.document.job.groups.clone()),
        element_types: slice(&|item| vec![item.variant.element_type.clone().unwrap_or_else(|| "unknown".to_owned())]),
        sizes,
        ends: counted(all.iter().map(|item| end(item))),
        progress: counted(all.iter().filter_map(|item| Progress::of(item.variant))),
        best,
        worst,
        headroom: Headroom::of(&all, conditions.launch),
        pass_misses: all.iter().filter(missed).map(|item| GraphPlace::of(item)).collect(),
        unmeasured: unmeasured(&all),
        lost: documents.iter().filter_map(|document| lost(document)).collect(),
        remarks,
    }
}

/// The graphs that are not failures of their samples, if there are such failures and others.
fn winnable<'a, 'i>(all: &[&'a GraphItem<'i>]) -> Option<Vec<&'a GraphItem<'i>>> {
    let left: Vec<&GraphItem<'_>> = all.iter().filter(|item| !item.is_unwinnable()).copied().collect();
    (!left.is_empty() && left.len() < all.len()).then_some(left)
}

fn extreme((aggregate_score, item): &(f64, &GraphItem<'_>)) -> Extreme {
    let timing = item.variant.timing.as_ref().filter(|timing| timing.trouble.is_none());
    Extreme {
        place: GraphPlace::of(item),
        aggregate_score: *aggregate_score,
        speedup: timing.map(|timing| (timing.speedup, timing.interval)),
        class: item.variant.class,
    }
}

/// Graphs by each of their names, in the order of names.
fn slices(
    items: &[&GraphItem<'_>],
    names: &dyn Fn(&GraphItem<'_>) -> Vec<String>,
    part: impl Fn(&[&GraphItem<'_>]) -> PartScores,
) -> Vec<Slice> {
    let slice = |(name, items): (String, Vec<&&GraphItem<'_>>)| {
        let items: Vec<&GraphItem<'_>> = items.into_iter().copied().collect();
        Slice { name, part: part(&items) }
    };
    grouped(items, |item| names(item)).into_iter().map(slice).collect()
}

/// Each of some things under each of its names, in the order of names.
pub(crate) fn grouped<T>(all: &[T], names: impl Fn(&T) -> Vec<String>) -> BTreeMap<String, Vec<&T>> {
    let mut sorted: BTreeMap<String, Vec<&T>> = BTreeMap::new();
    for one in all {
        names(one).into_iter().for_each(|name| sorted.entry(name).or_default().push(one));
    }
    sorted
}

pub(crate) fn size_class(bytes: Option<u64>) -> &'static str {
    let class = bytes.and_then(|bytes| SIZES.iter().find(|(limit, _)| bytes < *limit || *limit == u64::MAX));
    class.map_or("unknown", |(_, name)| name)
}

/// Where a size class stands among the others, small before large.
pub(crate) fn order_of_size(name: &str) -> usize {
    SIZES.iter().position(|(_, known)| *known == name).unwrap_or(SIZES.len())
}

/// How often each occurs.
fn counted<T: Ord>(all: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    all.for_each(|one| *counts.entry(one).or_default() += 1);
    counts
}

/// How a graph ended, in words.
pub(crate) fn end(item: &GraphItem<'_>) -> String {
    match item.variant.class {
        _ if item.outcome.is_none() => "not measured".to_owned(),
        Some(class) => class.to_string().replace('_', " "),
        None if !item.variant.edge_cases.is_empty() => "right, but on edge-case inputs".to_owned(),
        None => "right".to_owned(),
    }
}

fn unmeasured(items: &[&GraphItem<'_>]) -> Vec<UnmeasuredReason> {
    let mut reasons: Vec<UnmeasuredReason> = vec![];
    for item in items.iter().filter(|item| item.outcome.is_none()) {
        let failure = item.variant.failure.as_ref();
        let (stage, message) =
            failure.map_or(("", "nothing was recorded"), |failure| (&failure.stage, &failure.message));
        let alike = |reason: &&mut UnmeasuredReason| {
            reason.stage == stage && without_numbers(&reason.message) == without_numbers(message)
        };
        match reasons.iter_mut().find(alike) {
            Some(reason) => reason.graphs += 1,
            None => reasons.push(UnmeasuredReason { stage: stage.to_owned(), message: message.to_owned(), graphs: 1 }),
        }
    }
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.graphs));
    reasons
}

/// A message without its numbers: where they alone differ, one stands for all.
pub fn without_numbers(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect()
}

fn lost(document: &Document) -> Option<(String, Failure)> {
    let unknown = Failure {
        blame: Blame::Sample,
        stage: "sample".into(),
        message: "it has no graph".into(),
        hint: "`passhost samples check` looks at it".into(),
    };
    let failure = document.failure.clone().unwrap_or(unknown);
    document.variants.is_empty().then(|| (document.job.sample.clone(), failure))
}
