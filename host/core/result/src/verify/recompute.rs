//! What follows from a document alone: rules, verdicts, times and scores from what was recorded below them.

use super::{Difference, Differences};
use crate::InputMode;
use crate::Progress;
use crate::document::rewrite_sha256;
use crate::document::{DeviceScores, Document, SCHEMA, Status, Timing, Variant, unsaid};
use crate::scoring::{Scoring, Totals, totals};
use crate::timing::{Rules as TimingRules, Speedups, measured};
use crate::verdict::{Conclusion, conclusion, counts_from, decided, recorded_conclusion};
use crate::{Finding, Launch, TunedKernel};
use passhost_policy::Rules;
use passhost_score::{Confidence, Interval, MacroForm, Scores, VariantOutcome, median, variant_passes_at};
use std::collections::BTreeMap;

/// What a document says otherwise than follows from the rest of it. Nothing runs.
pub fn recompute(document: &Document) -> Vec<Difference> {
    let mut differences = Differences::default();
    rules(document, &mut differences);
    let timing_rules = TimingRules::of(document.job.device.as_ref().map_or("cpu", |device| &device.device));
    let accept_noise = document.limits.measurement.accept_noise;
    let (concluded, speedups): (Vec<Conclusion>, Vec<Option<Speedups>>) = document
        .variants
        .iter()
        .map(|one| {
            rewritten_graph(one, document, &mut differences);
            let speedups = timing(one, timing_rules, accept_noise, &mut differences);
            (variant(one, document.policy.rules(), &mut differences), speedups)
        })
        .unzip();
    let outcomes: Vec<VariantOutcome> = concluded.iter().filter_map(|concluded| concluded.outcome).collect();
    differences.equal("outcomes, how many", &document.outcomes.len(), &outcomes.len());
    for (position, (recorded, found)) in document.outcomes.iter().zip(&outcomes).enumerate() {
        outcome(&format!("outcomes[{position}]"), recorded, found, &mut differences);
    }
    let of_outcome = |(concluded, speedups): (&Conclusion, Option<Speedups>)| -> Option<Option<Speedups>> {
        let compared = matches!(concluded.outcome?, VariantOutcome::Compared { .. });
        Some(speedups.filter(|_| compared))
    };
    let speedups: Vec<Option<Speedups>> = concluded.iter().zip(speedups).filter_map(of_outcome).collect();
    // A sample that was lost as a whole has no variants that could say so.
    let lost = document.failure.as_ref().filter(|_| document.variants.is_empty());
    let submissions = document.confidence.as_ref().map_or(1, |confidence| confidence.submissions);
    let scoring = Scoring { options: &document.options, rules: timing_rules, submissions };
    let found = totals(&document.variants, &outcomes, &speedups, lost, scoring);
    compare_totals(document, &found, &mut differences);
    differences.found
}

fn rules(document: &Document, differences: &mut Differences) {
    differences.equal("schema", &document.schema.as_str(), &SCHEMA);
    let policy = &document.policy;
    for contradiction in policy.contradictions() {
        differences.say("policy", policy.name(), contradiction);
    }
    let rules = policy.rules();
    let tried = document.limits.measurement.edge_case_rounds;
    let asked = rules.edge_case_rounds && !document.limits.measurement.quick;
    differences.equal("limits.measurement.edge_case_rounds", &tried, &asked);
    let is_cpu = document.job.device.as_ref().is_some_and(|device| device.device == "cpu");
    if document.limits.measurement.launch == Launch::Graph && is_cpu {
        differences.say("limits.measurement.launch", Launch::Graph, "a device that has no CUDA graphs");
    }
    tuned_kernels(document, differences);
    if document.job.inputs == Some(InputMode::Published) && !rules.published_inputs {
        differences.say("job.inputs", "published inputs", "a policy that allows fresh ones alone");
    }
}

/// Kernels have a schedule other than their default only where that was measured, asked for and faster.
fn tuned_kernels(document: &Document, differences: &mut Differences) {
    for variant in &document.variants {
        let at = |item: String| format!("{}: {item}", variant.name);
        if !variant.tuned.is_empty() && !document.limits.measurement.tune {
            differences.say(at("tuned".into()), "kernels", "settings that leave schedules as they are");
        }
        for kernel in &variant.tuned {
            let fastest = TunedKernel::fastest(&kernel.candidates);
            differences.equal(at(format!("tuned, node {}", kernel.node)), &kernel.chosen, &fastest);
        }
    }
}

/// A rewrite that is written down is the one that its hash names.
fn rewritten_graph(variant: &Variant, document: &Document, differences: &mut Differences) {
    let rewrite = variant.rewrite.as_ref();
    let graphs = rewrite.and_then(|rewrite| Some((rewrite, rewrite.graphs.as_ref()?)));
    if let (Some((rewrite, graphs)), Some(device)) = (graphs, &document.job.device) {
        let found = rewrite_sha256(&graphs.after, device.facts, &document.policy);
        differences.equal(format!("{}: rewrite.graphs.after", variant.name), &rewrite.sha256, &found);
    }
}

/// What a variant comes to by what is recorded of it.
fn variant(variant: &Variant, rules: &Rules, differences: &mut Differences) -> Conclusion {
    let at = |item: &str| format!("{}: {item}", variant.name);
    let ran = !variant.outputs.is_empty();
    if variant.progress.is_some() {
        differences.equal(at("progress"), &variant.progress, &Progress::of(variant));
    }
    if !ran {
        return not_run(variant, differences);
    }
    let passes_at = variant_passes_at(variant.outputs.iter().map(|output| output.passes_at));
    differences.equal(at("passes_at"), &variant.passes_at, &passes_at);
    differences.equal(at("seed is there"), &variant.seed.is_some(), &true);
    floor(variant, differences);
    let decided = decided(&variant.outputs, rules);
    differences.equal(at("decided"), &variant.decided, &decided);
    let found = conclusion(&Variant { passes_at, decided, ..variant.clone() });
    if matches!(found.outcome, Some(VariantOutcome::Compared { .. })) {
        hidden_sizes(variant, rules, differences);
    }
    differences.equal(at("class"), &variant.class, &found.class);
    if found.outcome.is_none() && variant.failure.is_none() {
        differences.say(at("timing"), "none, and no failure", "one of the two");
    }
    found
}

/// One that gave nothing to compare: it says itself why.
fn not_run(variant: &Variant, differences: &mut Differences) -> Conclusion {
    if variant.class.is_none() || variant.failure.is_none() {
        differences.say(format!("{}: class", variant.name), "neither outputs nor a failure", "one of the two");
    }
    recorded_conclusion(variant)
}

/// What the times of a variant come to, by those of each run.
fn timing(
    variant: &Variant,
    rules: TimingRules,
    accept_noise: bool,
    differences: &mut Differences,
) -> Option<Speedups> {
    let recorded = variant.timing.as_ref()?;
    if recorded.rules > Timing::RULES {
        let known = format!("rules up to {}: a later passhost can recompute this", Timing::RULES);
        differences.say(format!("{}: timing.rules", variant.name), recorded.rules, known);
        return None;
    }
    match measured(recorded.processes.clone(), rules.of_then(recorded), recorded.ops, accept_noise) {
        Ok(found) => {
            times(&variant.name, recorded, &found.timing, differences);
            Some(found.speedups)
        }
        Err(error) => {
            differences.say(format!("{}: timing", variant.name), "times", error);
            None
        }
    }
}

fn times(name: &str, recorded: &Timing, found: &Timing, differences: &mut Differences) {
    let at = |field: &str| format!("{name}: timing.{field}");
    differences.equal(at("trouble"), &recorded.trouble, &found.trouble);
    differences.equal(at("disturbed"), &recorded.disturbed, &found.disturbed);
    for (field, number) in NUMBERS {
        differences.near(at(field), number(recorded), number(found));
    }
}

/// A number that follows from times, and its name.
type TimingField = (&'static str, fn(&Timing) -> f64);

const NUMBERS: [TimingField; 16] = [
    ("eager_us", |timing| timing.eager_us),
    ("eager_drift", |timing| timing.eager_drift),
    ("rewritten_us", |timing| timing.rewritten_us),
    ("eager_iqr_us", |timing| timing.eager_iqr_us),
    ("rewritten_iqr_us", |timing| timing.rewritten_iqr_us),
    ("speedup", |timing| timing.speedup),
    ("interval.low", |timing| timing.interval.low),
    ("interval.high", |timing| timing.interval.high),
    ("control.speedup", |timing| timing.control.speedup),
    ("control.interval.low", |timing| timing.control.interval.low),
    ("control.interval.high", |timing| timing.control.interval.high),
    ("host_spread", |timing| timing.host_spread.unwrap_or(f64::NAN)),
    ("eager_device_us", |timing| timing.eager_device_us.unwrap_or(f64::NAN)),
    ("rewritten_device_us", |timing| timing.rewritten_device_us.unwrap_or(f64::NAN)),
    ("speedup_device", |timing| timing.speedup_device.unwrap_or(f64::NAN)),
    ("speedup_cold", |timing| timing.speedup_cold.unwrap_or(f64::NAN)),
];

/// The finding that a rewrite is faster than memory allows follows from its samples.
fn floor(variant: &Variant, differences: &mut Differences) {
    let Some(finding) = floor_finding(variant) else { return };
    if !variant.findings.contains(&finding) {
        differences.say(format!("{}: findings", variant.name), "nothing about the floor", finding);
    }
}

/// What must be found of a variant's times, if it is found.
pub fn floor_finding(variant: &Variant) -> Option<String> {
    let processes = &variant.timing.as_ref()?.processes;
    processes.iter().find_map(|times| {
        let runs = times.pairs.iter().flat_map(|block| &block.other_ns);
        let mut rewritten: Vec<f64> = runs.map(|&time| time as f64).collect();
        if rewritten.is_empty() {
            return None;
        }
        let (median_ns, floor_ns) = (median(&mut rewritten) as u64, times.floor_ns);
        (median_ns < floor_ns).then(|| Finding::BelowFloor { median_ns, floor_ns }.to_string())
    })
}

/// Of a variant that is compared, as many as the policy asks for, each judged as its outputs say.
fn hidden_sizes(variant: &Variant, rules: &Rules, differences: &mut Differences) {
    let at = |item: &str| format!("{}: hidden{item}", variant.name);
    let wanted = rules.hidden_shapes as usize;
    let asked = variant.rewrite.is_some() && wanted > 0;
    let Some(passes_at) = counts_from(&variant.outputs, rules).filter(|_| asked) else { return };
    let Some(hidden) = &variant.hidden else {
        return differences.say(at(""), "no hidden sizes", format!("a policy that asks for {wanted}"));
    };
    let (found, given) = (hidden.shapes.len(), hidden.missing.is_some());
    if found > wanted || (found < wanted && !given) {
        differences.say(
            at(".shapes"),
            found,
            format!("a policy that asks for {wanted}, and no reason for another number"),
        );
    }
    for (position, shape) in hidden.shapes.iter().enumerate() {
        let own = counts_from(&shape.outputs, rules);
        differences.equal(at(&format!(".shapes[{position}].passes_at")), &shape.passes_at, &own);
        if let Some(finding) = unsaid(shape, own, passes_at) {
            differences.say(at(&format!(".shapes[{position}].finding")), "nothing", finding);
        }
    }
}

fn outcome(item: &str, recorded: &VariantOutcome, found: &VariantOutcome, differences: &mut Differences) {
    let (VariantOutcome::Compared { speedup: recorded_speedup, .. }, VariantOutcome::Compared { speedup, .. }) =
        (recorded, found)
    else {
        return differences.equal(item, recorded, found);
    };
    differences.near(format!("{item}.speedup"), *recorded_speedup, *speedup);
    let at_one = |outcome: &VariantOutcome| match *outcome {
        VariantOutcome::Compared { passes_at, trivial_passes_at_minus_2, wrong_on_edge_cases, decided, .. } => {
            VariantOutcome::Compared {
                speedup: 1.0,
                passes_at,
                trivial_passes_at_minus_2,
                wrong_on_edge_cases,
                decided,
            }
        }
        failed => failed,
    };
    differences.equal(item, &at_one(recorded), &at_one(found));
}

fn compare_totals(document: &Document, found: &Totals, differences: &mut Differences) {
    let status = if found.failure.is_some() { Status::Failed } else { Status::Scored };
    differences.equal("status", &document.status, &status);
    differences.equal("failure", &document.failure, &found.failure);
    differences.equal("blame", &document.blame, &found.failure.as_ref().map(|failure| failure.blame));
    match (&document.scores, &found.scores) {
        (Some(recorded), Some(found)) => scores(recorded, found, differences),
        (recorded, found) => differences.equal("scores are there", &recorded.is_some(), &found.is_some()),
    }
    match (&document.confidence, &found.confidence) {
        (Some(recorded), Some(found)) => intervals("confidence", recorded, found, differences),
        (recorded, found) => differences.equal("confidence is there", &recorded.is_some(), &found.is_some()),
    }
    match (&document.device_scores, &found.device_scores) {
        (Some(recorded), Some(found)) => device_scores(recorded, found, differences),
        (recorded, found) => differences.equal("device_scores are there", &recorded.is_some(), &found.is_some()),
    }
}

fn device_scores(recorded: &DeviceScores, found: &DeviceScores, differences: &mut Differences) {
    differences.near("device_scores.aggregate_score", recorded.aggregate_score, found.aggregate_score);
    let (one, other) = (recorded.aggregate_score_strict, found.aggregate_score_strict);
    differences.near("device_scores.aggregate_score_strict", one, other);
    if let (Some(recorded), Some(found)) = (&recorded.confidence, &found.confidence) {
        intervals("device_scores.confidence", recorded, found, differences);
    }
}

/// A number of the macro form, and its name.
type AggregateField = (&'static str, fn(&MacroForm) -> f64);

const PARTS: [AggregateField; 7] = [
    ("s", |form| form.s),
    ("es", |form| form.es),
    ("lambda", |form| form.aggregates.lambda),
    ("alpha", |form| form.aggregates.alpha),
    ("beta", |form| form.aggregates.beta),
    ("eta", |form| form.aggregates.eta),
    ("gamma", |form| form.aggregates.gamma),
];

fn scores(recorded: &Scores, found: &Scores, differences: &mut Differences) {
    differences.near("scores.aggregate_score", recorded.aggregate_score, found.aggregate_score);
    let (one, other) = (recorded.aggregate_score_strict, found.aggregate_score_strict);
    differences.near("scores.aggregate_score_strict", one, other);
    for (name, recorded, found) in [
        ("s", &recorded.s, &found.s),
        ("es", &recorded.es, &found.es),
        ("es_strict", &recorded.es_strict, &found.es_strict),
    ] {
        curve(&format!("scores.{name}"), recorded, found, differences);
    }
    for (name, part) in PARTS {
        let by_t = |scores: &Scores| scores.macro_form.iter().map(|(t, form)| (*t, part(form))).collect();
        curve(&format!("scores.macro_form.{name}"), &by_t(recorded), &by_t(found), differences);
    }
    let shares =
        |scores: &Scores| scores.macro_form.values().map(|form| form.aggregates.pi.clone()).collect::<Vec<_>>();
    differences.equal("scores.macro_form.pi", &shares(recorded), &shares(found));
}

fn curve(name: &str, recorded: &BTreeMap<i8, f64>, found: &BTreeMap<i8, f64>, differences: &mut Differences) {
    differences.equal(format!("{name}, how many"), &recorded.len(), &found.len());
    for (t, found) in found {
        differences.near(format!("{name}[{t}]"), recorded.get(t).copied().unwrap_or(f64::NAN), *found);
    }
}

fn intervals(at: &str, recorded: &Confidence, found: &Confidence, differences: &mut Differences) {
    differences.equal(format!("{at}.verdict"), &recorded.verdict, &found.verdict);
    differences.near(format!("{at}.resolution"), recorded.resolution, found.resolution);
    differences.near(format!("{at}.speedup"), recorded.speedup.speedup, found.speedup.speedup);
    let ends = |interval: &Interval| [("low", interval.low), ("high", interval.high)];
    for (name, recorded, found) in [
        ("aggregate_score", &recorded.aggregate_score, &found.aggregate_score),
        ("aggregate_score_strict", &recorded.aggregate_score_strict, &found.aggregate_score_strict),
        ("speedup.interval", &recorded.speedup.interval, &found.speedup.interval),
    ] {
        for ((end, recorded), (_, found)) in ends(recorded).into_iter().zip(ends(found)) {
            differences.near(format!("{at}.{name}.{end}"), recorded, found);
        }
    }
}
