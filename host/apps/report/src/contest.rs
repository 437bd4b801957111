//! Everything that a page shows of plugins and baselines that were made alike.

use crate::compare::{EntrantComparison, PairedRow, compare, compare_sharing, rows};
use crate::conditions::Conditions;
use crate::entry::{EntrantResults, GraphItem, sample_key};
use crate::headroom::Headroom;
use crate::light::{Floor, SpeedOfLight};
use crate::part::{ClockScores, MeanSpeedup, PartScores};
use crate::place::GraphPlace;
use crate::rebase::against_python;
use crate::sayings::{Saying, sayings};
use crate::slices::{Breakdown, SharedRow, breakdowns};
use crate::summary::{Summary, end, summarise};
use passhost_result::DeviceInfo;
use passhost_result::document::{Timing, Variant};
use std::collections::BTreeSet;

/// Entrants whose numbers answer the same question.
#[derive(Debug, Clone)]
pub struct Contest<'a> {
    /// What all results have in common.
    pub conditions: Conditions,
    /// On what the results were made: device, threads of the host, PyTorch.
    pub machines: Vec<String>,
    /// The best plugin, then all others, baselines included, by their headline score on the graphs that all have.
    pub contenders: Vec<ContestEntrant>,
    /// The others held against the first, in the same order; `None` of an entrant alone.
    pub comparison: Option<EntrantComparison>,
    /// Why there is no comparison, where there could be one.
    pub apart: Option<String>,
    /// Scores by what the shared graphs have in common.
    pub breakdowns: Vec<Breakdown>,
    /// All graphs, in the order of their names.
    pub rows: Vec<ContestRow<'a>>,
}

/// An entrant of a contest.
#[derive(Debug, Clone)]
pub struct ContestEntrant {
    /// What all its results say together, against eager as it was measured beside them.
    pub summary: Summary,
    /// Whether it is what PyTorch offers in place of a plugin.
    pub is_baseline: bool,
    /// What it scores on the graphs that all entrants have.
    pub shared: PartScores,
    /// What it scores over device time, on those of them whose device time is known of every entrant that ran.
    pub device: Option<ContestDeviceScores>,
    /// How far from the device's floor it is on those that it has right.
    pub light: SpeedOfLight,
    /// How much faster those could be that it has right.
    pub headroom: Headroom,
    /// Its speedups on the shared graphs that it has right, least first.
    pub speedups: Vec<f64>,
    /// What its pass left alone and why: the plugin's text.
    pub refusals: Vec<Saying>,
    /// What its pass logged: the plugin's text.
    pub log: Vec<Saying>,
    /// Why it does not count on some graphs: failures of its own, and what the integrity layer found.
    pub findings: Vec<Saying>,
    /// What could not be checked, and other remarks.
    pub notes: Vec<Saying>,
}

/// Scores over the device's own time.
#[derive(Debug, Clone, PartialEq)]
pub struct ContestDeviceScores {
    /// On how many graphs.
    pub graphs: usize,
    /// The scores.
    pub scores: ClockScores,
}

/// A graph, with all entrants.
#[derive(Debug, Clone)]
pub struct ContestRow<'a> {
    /// Which.
    pub place: GraphPlace,
    /// What tells its sample from others, whatever their names: its hash where that is known.
    pub sample_key: &'a str,
    /// What most of its bytes are.
    pub element_type: Option<&'a str>,
    /// Bytes of its inputs and outputs.
    pub bytes: Option<u64>,
    /// What the device takes at least.
    pub floor: Option<Floor>,
    /// What eager takes by wall clock, as speedups are against it, in the geometric mean of the entrants' measurements.
    pub eager_us: Option<f64>,
    /// Whether it is one of the graphs that all entrants have and that are compared.
    pub is_shared: bool,
    /// One for each entrant; `None` where there is no result.
    pub cells: Vec<Option<ContestCell<'a>>>,
}

/// A graph with one entrant.
#[derive(Debug, Clone)]
pub struct ContestCell<'a> {
    /// All that is recorded.
    pub variant: &'a Variant,
    /// How it ended, in words.
    pub end: String,
    /// Its times, where nothing else was going on.
    pub timing: Option<&'a Timing>,
    /// Whether it is right at t = -5.
    pub is_right: bool,
    /// How many times as fast as eager it is, where that was measured.
    pub speedup: Option<f64>,
}

/// The contests in some results: entrants that were made alike are in one, in the order in which each first occurs. Those
/// without a graph that all have stand alone. Where baselines are in a contest, all speedups are against eager called from
/// Python.
pub fn contests<'a>(entries: &[EntrantResults<'a>]) -> Vec<Contest<'a>> {
    let mut groups: Vec<Vec<EntrantResults<'a>>> = vec![];
    for entry in entries.iter().filter(|entry| !entry.is_empty()) {
        match groups.iter_mut().find(|group| are_alike(&group[0], entry)) {
            Some(group) => group.push(entry.clone()),
            None => groups.push(vec![entry.clone()]),
        }
    }
    groups.into_iter().flat_map(of_group).collect()
}

/// Whether results may be compared: they may differ in what measured schedules and who calls eager, as [`compare`] has it.
fn are_alike(first: &EntrantResults<'_>, other: &EntrantResults<'_>) -> bool {
    let Conditions { tuned, eager, .. } = first.conditions;
    first.conditions.differences(&Conditions { tuned, eager, ..other.conditions.clone() }).is_empty()
}

fn of_group<'a>(group: Vec<EntrantResults<'a>>) -> Vec<Contest<'a>> {
    if group.len() == 1 {
        return vec![contest(&group, &group, None)];
    }
    let (rebased, remark) = against_python(&group);
    // Once to see who is best, and once against it. As the first is chosen after looking, all n (n - 1) / 2 pairs share the
    // error: n / 2 for each of the n - 1 others.
    let sharing = (rebased.len() as u32).div_ceil(2);
    let compared = compare(&rebased).and_then(|comparison| {
        let order = best_first(&rebased, &comparison);
        let ordered = |entries: &[EntrantResults<'a>]| {
            order.iter().map(|at| entries[*at].clone()).collect::<Vec<EntrantResults<'a>>>()
        };
        let (rebased, group) = (ordered(&rebased), ordered(&group));
        let mut comparison = compare_sharing(&rebased, sharing)?;
        comparison.remarks.splice(0..0, remark);
        Ok(contest(&rebased, &group, Some(comparison)))
    });
    match compared {
        Ok(contest) => vec![contest],
        Err(error) => {
            let alone =
                |entry: EntrantResults<'a>| contest(std::slice::from_ref(&entry), std::slice::from_ref(&entry), None);
            group.into_iter().map(|entry| Contest { apart: Some(error.to_string()), ..alone(entry) }).collect()
        }
    }
}

/// The best plugin, then all others, by the score that the policy makes the headline.
fn best_first(entries: &[EntrantResults<'_>], comparison: &EntrantComparison) -> Vec<usize> {
    // Less than any where there is none.
    let score = |at: &usize| {
        let wall = comparison.standings[*at].part.wall.as_ref();
        wall.map_or(-1.0, |wall| wall.headline(comparison.conditions.headline).0)
    };
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|one, two| score(two).total_cmp(&score(one)));
    if let Some(best) = order.iter().position(|at| !is_baseline(&entries[*at])) {
        order[..=best].rotate_right(1);
    }
    order
}

fn is_baseline(entry: &EntrantResults<'_>) -> bool {
    entry.documents.iter().any(|document| document.job.baseline.is_some())
}

/// The contest of entries that are against the same eager; `measured` has them as they were measured.
fn contest<'a>(
    entries: &[EntrantResults<'a>],
    measured: &[EntrantResults<'a>],
    comparison: Option<EntrantComparison>,
) -> Contest<'a> {
    let paired = rows(entries);
    let shared: Vec<SharedRow<'_, '_>> = paired.iter().filter(|row| is_shared(row)).map(whole).collect();
    let with_device: Vec<&SharedRow<'_, '_>> = shared.iter().filter(|row| has_device_times(row)).collect();
    let contenders = entries.iter().zip(measured).enumerate().map(|(at, (entry, measured))| {
        let column: Vec<&GraphItem<'_>> = shared.iter().map(|row| row[at]).collect();
        let on_device: Vec<&GraphItem<'_>> = with_device.iter().map(|row| row[at]).collect();
        let device = PartScores::of(&on_device, entry.scoring).device;
        let device = device.map(|scores| ContestDeviceScores { graphs: on_device.len(), scores });
        ContestEntrant { device, ..contender(measured, PartScores::of(&column, entry.scoring), &column) }
    });
    Contest {
        conditions: entries[0].conditions.clone(),
        machines: machines(entries),
        contenders: contenders.collect(),
        comparison,
        apart: None,
        breakdowns: breakdowns(entries, &shared),
        rows: paired.iter().filter_map(row).collect(),
    }
}

fn machines(entries: &[EntrantResults<'_>]) -> Vec<String> {
    let devices = entries.iter().flat_map(|entry| &entry.documents).filter_map(|document| document.job.device.as_ref());
    devices.map(DeviceInfo::text).collect::<BTreeSet<String>>().into_iter().collect()
}

/// Whether all have it, it was measured for all, and somebody can win it: what [`compare`] compares.
fn is_shared(row: &PairedRow<'_, '_>) -> bool {
    let measured = row.iter().all(|item| item.is_some_and(|item| item.outcome.is_some()));
    measured && (row.len() == 1 || !row.iter().flatten().all(|item| item.is_unwinnable()))
}

fn whole<'i, 'a>(row: &PairedRow<'i, 'a>) -> SharedRow<'i, 'a> {
    row.iter().flatten().copied().collect()
}

fn has_device_times(row: &SharedRow<'_, '_>) -> bool {
    row.iter().all(|item| item.device.is_some() || speedup(item).is_none())
}

fn contender(entry: &EntrantResults<'_>, part: PartScores, shared: &[&GraphItem<'_>]) -> ContestEntrant {
    let all: Vec<&GraphItem<'_>> = entry.items.iter().collect();
    let mut speedups: Vec<f64> =
        shared.iter().filter(|item| item.is_right()).filter_map(|item| speedup(item)).collect();
    speedups.sort_by(f64::total_cmp);
    ContestEntrant {
        summary: summarise(entry),
        is_baseline: is_baseline(entry),
        shared: part,
        device: None,
        light: SpeedOfLight::of(shared),
        headroom: Headroom::of(shared, entry.conditions.launch),
        speedups,
        refusals: sayings(&all, |item| {
            let refusals = item.variant.rewrite.as_ref().map_or(&[][..], |rewrite| &rewrite.refusals);
            refusals.iter().map(|refusal| refusal.reason.clone()).collect()
        }),
        log: sayings(&all, |item| {
            let log = item.variant.usage.as_ref().map_or("", |usage| usage.log.as_str());
            log.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
        }),
        findings: sayings(&all, findings),
        notes: sayings(&all, |item| item.variant.notes.clone()),
    }
}

/// What the integrity layer found, or why nothing could be compared.
fn findings(item: &GraphItem<'_>) -> Vec<String> {
    let Variant { class, failure, findings, edge_cases, .. } = item.variant;
    let hidden = item.variant.hidden.iter().flat_map(|hidden| hidden.findings().cloned());
    let mut found: Vec<String> = findings.iter().cloned().chain(hidden).collect();
    found.extend(edge_cases.iter().map(ToString::to_string));
    if found.is_empty() && class.is_some() {
        found.extend(failure.iter().map(|failure| failure.message.clone()));
    }
    found
}

fn speedup(item: &GraphItem<'_>) -> Option<f64> {
    match item.outcome {
        Some(passhost_score::VariantOutcome::Compared { speedup, .. }) => Some(speedup),
        _ => None,
    }
}

fn row<'a>(row: &PairedRow<'_, 'a>) -> Option<ContestRow<'a>> {
    let first = row.iter().flatten().next()?;
    let known =
        |of: &dyn Fn(&GraphItem<'a>) -> bool| row.iter().flatten().copied().find(|item| of(item)).unwrap_or(first);
    let sized = known(&|item| item.variant.bytes.is_some());
    Some(ContestRow {
        place: GraphPlace::of(first),
        sample_key: sample_key(first.document),
        element_type: sized.variant.element_type.as_deref(),
        bytes: sized.variant.bytes,
        floor: Floor::of(sized.document, sized.variant),
        eager_us: eager(row),
        is_shared: is_shared(row),
        cells: row.iter().map(|item| item.map(cell)).collect(),
    })
}

/// Speedups may be against another eager than a document's own: what counts is the time that gives the speedup.
fn eager(row: &PairedRow<'_, '_>) -> Option<f64> {
    let times = row.iter().flatten().filter_map(|item| Some(speedup(item)? * item.measured()?.rewritten_us));
    MeanSpeedup::of(times).map(|mean| mean.speedup)
}

fn cell<'a>(item: &GraphItem<'a>) -> ContestCell<'a> {
    // Measured, and put against an eager that was not measured on it.
    let has_no_eager = item.outcome.is_none() && item.variant.failure.is_none();
    let end = if has_no_eager { "no baseline to hold it against".to_owned() } else { end(item) };
    ContestCell {
        variant: item.variant,
        end,
        timing: item.measured(),
        is_right: item.is_right(),
        speedup: speedup(item),
    }
}
