//! What follows from a document alone: rules, verdicts, times and scores from what was recorded below them.

use super::{Difference, Differences, is_near};
use crate::differing::differences;
use crate::document::{Blame, Document, SCHEMA, Timing, Variant, failure, rewrite_sha256, unsaid};
use crate::scoring::{Frame, assemble};
use crate::timing::{Rules as TimingRules, Speedups, measured};
use crate::verdict::{Judged, conclude, counts_from, decided, recorded_conclusion};
use crate::{Finding, InputMode, Launch, TunedKernel};
use passhost_policy::Rules;
use passhost_score::{VariantOutcome, median, variant_passes_at};
use serde::Serialize;
use serde_json::{Value, to_value};

/// A document to show or score, and which of its figures were others before.
#[derive(Debug, Clone, PartialEq)]
pub struct Recomputed {
    /// With every time, speedup, verdict and score as its trials and outputs give them.
    pub document: Document,
    /// What it said otherwise.
    pub differences: Vec<Difference>,
    /// What contradicts the rest of it still, such as its policy: nothing in it says what should stand there.
    pub left: Vec<Difference>,
}

/// Computes the figures of a document from its trials. Whoever shows or scores documents that come from elsewhere does so with
/// these. A document that [agrees](recompute) with its trials stays as it is.
pub fn recomputed(document: Document) -> Recomputed {
    let mut differences = recompute(&document);
    if differences.is_empty() {
        return Recomputed { document, differences, left: vec![] };
    }
    let document = again(document);
    let left = recompute(&document);
    differences.retain(|difference| !left.contains(difference));
    Recomputed { document, differences, left }
}

/// What a document says otherwise than follows from the rest of it. Nothing runs.
pub fn recompute(document: &Document) -> Vec<Difference> {
    let mut said = Differences::default();
    contradictions(document, &mut said);
    let (mut recorded, mut found) = (document.clone(), again(document.clone()));
    let (of_recorded, of_found) = (std::mem::take(&mut recorded.variants), std::mem::take(&mut found.variants));
    for (mut recorded, mut found) in of_recorded.into_iter().zip(of_found) {
        // The runs themselves follow from nothing.
        for timing in [&mut recorded, &mut found].into_iter().filter_map(|variant| variant.timing.as_mut()) {
            timing.processes.clear();
        }
        found.progress = found.progress.filter(|_| recorded.progress.is_some());
        compare(&format!("{}: ", recorded.name), &recorded, &found, &mut said);
    }
    // Older documents lack these.
    found.progress = found.progress.filter(|_| recorded.progress.is_some());
    if let (Some(recorded), Some(found)) = (&recorded.device_scores, &mut found.device_scores) {
        found.confidence = found.confidence.filter(|_| recorded.confidence.is_some());
    }
    compare("", &recorded, &found, &mut said);
    // What was measured comes first: the rest follows from it.
    said.found.sort_by_key(|difference| !difference.item.contains(": timing."));
    said.found
}

fn compare(at: &str, recorded: &impl Serialize, found: &impl Serialize, said: &mut Differences) {
    let same = |one: &Value, other: &Value| match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => is_near(one, other),
        _ => one == other,
    };
    match (to_value(recorded), to_value(found)) {
        (Ok(recorded), Ok(found)) => {
            for [item, recorded, found] in differences(&recorded, &found, same) {
                said.say(format!("{at}{item}"), recorded, found);
            }
        }
        (Err(error), _) | (_, Err(error)) => said.say(at, "what is no JSON", error),
    }
}

/// What no figures can put right: settings that the rules do not allow, and parts that are missing.
fn contradictions(document: &Document, said: &mut Differences) {
    said.equal("schema", &document.schema.as_str(), &SCHEMA);
    let (policy, settings) = (&document.policy, &document.limits.measurement);
    for contradiction in policy.contradictions() {
        said.say("policy", policy.name(), contradiction);
    }
    let asked = policy.rules().edge_case_rounds && !settings.quick;
    said.equal("limits.measurement.edge_case_rounds", &settings.edge_case_rounds, &asked);
    let is_cpu = document.job.device.as_ref().is_some_and(|device| device.device == "cpu");
    if settings.launch == Launch::Graph && is_cpu {
        said.say("limits.measurement.launch", Launch::Graph, "a device that has no CUDA graphs");
    }
    if document.job.inputs == Some(InputMode::Published) && !policy.rules().published_inputs {
        said.say("job.inputs", "published inputs", "a policy that allows fresh ones alone");
    }
    for variant in &document.variants {
        contradictions_of(variant, document, said);
    }
}

fn contradictions_of(variant: &Variant, document: &Document, said: &mut Differences) {
    let at = |item: &str| format!("{}: {item}", variant.name);
    // Kernels have a schedule other than their default only where that was measured, asked for and faster.
    if !variant.tuned.is_empty() && !document.limits.measurement.tune {
        said.say(at("tuned"), "kernels", "settings that leave schedules as they are");
    }
    for kernel in &variant.tuned {
        let fastest = TunedKernel::fastest(&kernel.candidates);
        said.equal(at(&format!("tuned, node {}", kernel.node)), &kernel.chosen, &fastest);
    }
    // A rewrite that is written down is the one that its hash names.
    let graphs = variant.rewrite.as_ref().and_then(|rewrite| Some((rewrite, rewrite.graphs.as_ref()?)));
    if let (Some((rewrite, graphs)), Some(device)) = (graphs, &document.job.device) {
        let found = rewrite_sha256(&graphs.after, device.facts, &document.policy);
        said.equal(at("rewrite.graphs.after"), &rewrite.sha256, &found);
    }
    if let Some(timing) = variant.timing.as_ref().filter(|timing| timing.rules > Timing::RULES) {
        let known = format!("rules up to {}: a later passhost can recompute this", Timing::RULES);
        said.say(at("timing.rules"), timing.rules, known);
    }
    if variant.outputs.is_empty() {
        if variant.class.is_none() || variant.failure.is_none() {
            said.say(at("class"), "neither outputs nor a failure", "one of the two");
        }
        return;
    }
    said.equal(at("seed is there"), &variant.seed.is_some(), &true);
    // Of a variant that is compared, there are as many hidden sizes as the policy asks for.
    let wanted = document.policy.rules().hidden_shapes as usize;
    let is_compared = matches!(recorded_conclusion(variant).outcome, Some(VariantOutcome::Compared { .. }));
    let is_right = counts_from(&variant.outputs, document.policy.rules()).is_some();
    if !is_compared || !is_right || variant.rewrite.is_none() || wanted == 0 {
        return;
    }
    match &variant.hidden {
        None => said.say(at("hidden"), "no hidden sizes", format!("a policy that asks for {wanted}")),
        Some(hidden) if hidden.shapes.len() == wanted => {}
        Some(hidden) if hidden.shapes.len() < wanted && hidden.missing.is_some() => {}
        Some(hidden) => {
            let expected = format!("a policy that asks for {wanted}, and no reason for another number");
            said.say(at("hidden.shapes"), hidden.shapes.len(), expected);
        }
    }
}

/// What must be found of a variant's times, if it is found: the rewrite is faster than memory allows.
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

fn again(document: Document) -> Document {
    let timing_rules = TimingRules::of(document.job.device.as_ref().map_or("cpu", |device| &device.device));
    let accept_noise = document.limits.measurement.accept_noise;
    let judge = |variant| judged(variant, document.policy.rules(), timing_rules, accept_noise);
    let variants = document.variants.into_iter().map(judge).collect::<Vec<Judged>>();
    let frame = Frame {
        job: document.job,
        // A sample that was lost as a whole has no variants that could say so.
        lost: document.failure.filter(|_| variants.is_empty()),
        policy: document.policy,
        limits: document.limits,
        options: document.options,
        submissions: document.confidence.map_or(1, |confidence| confidence.submissions),
        confinement: document.confinement,
    };
    assemble(frame, variants)
}

/// What a variant comes to by its trials and outputs.
fn judged(mut variant: Variant, rules: &Rules, timing_rules: TimingRules, accept_noise: bool) -> Judged {
    let timed = variant.timing.take().map(|timing| timed(timing, timing_rules, accept_noise));
    let (timed, untimed) = timed.map_or((None, None), |timed| (timed.as_ref().ok().cloned(), timed.err()));
    let (timing, speedups) = timed.unzip();
    variant.timing = timing;
    if variant.outputs.is_empty() {
        let outcome = recorded_conclusion(&variant).outcome;
        return Judged { variant, outcome, speedups: None };
    }
    variant.passes_at = variant_passes_at(variant.outputs.iter().map(|output| output.passes_at));
    variant.decided = decided(&variant.outputs, rules);
    let finding = floor_finding(&variant).filter(|finding| !variant.findings.contains(finding));
    variant.findings.extend(finding);
    hidden_findings(&mut variant, rules);
    let (class, recorded) = (variant.class, variant.failure.take());
    let mut judged = conclude(variant, speedups);
    let own = &mut judged.variant;
    if let Some(reason) = untimed.filter(|_| judged.outcome.is_none()) {
        own.failure = Some(failure(Blame::Host, "timing", format!("not measured: {reason}"), "measure it again"));
    } else if own.class == class && own.failure.is_some() == recorded.is_some() {
        // It comes to the same, which the document says in words of its own.
        own.failure = recorded;
    }
    judged
}

/// What hidden sizes come to by their outputs.
fn hidden_findings(variant: &mut Variant, rules: &Rules) {
    let Some(recorded_passes_at) = counts_from(&variant.outputs, rules) else { return };
    for shape in variant.hidden.iter_mut().flat_map(|hidden| &mut hidden.shapes) {
        shape.passes_at = counts_from(&shape.outputs, rules);
        shape.finding = shape.finding.take().or_else(|| unsaid(shape, shape.passes_at, recorded_passes_at));
    }
}

/// Times as those of each run give them, or why they give none.
fn timed(recorded: Timing, rules: TimingRules, accept_noise: bool) -> Result<(Timing, Speedups), String> {
    if recorded.rules > Timing::RULES {
        return Err(format!(
            "its times are judged by rules {}, and this passhost knows {}",
            recorded.rules,
            Timing::RULES
        ));
    }
    let rules = rules.of_then(&recorded);
    let found = measured(recorded.processes, rules, recorded.ops, accept_noise).map_err(|error| error.to_string())?;
    Ok((Timing { attempts: recorded.attempts, ..found.timing }, found.speedups))
}
