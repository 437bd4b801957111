//! An evaluation made once more from the seeds of its document: every draw and every verdict, but no times that count.

use crate::checker::Seeds;
use crate::sample::Sample;
use crate::supervisor::{Config, Supervisor};
use passhost_cache::Cache;
use passhost_child::device::Device;
use passhost_child::{Confinement, Plugin};
use passhost_result::document::{Document, HiddenShapes, Rewrite, Variant};
use passhost_result::verify::{Difference, Differences, floor_finding, is_near};
use passhost_result::{DeviceInfo, Launch, OutputReport, Settings};
use std::time::Duration;

/// What an evaluation is repeated with.
pub struct Replay<'a> {
    /// The document.
    pub recorded: &'a Document,
    /// The plugin, whose hash is held against the document's.
    pub plugin: Plugin,
    /// The sample, likewise.
    pub sample: Sample,
    /// Where it runs.
    pub device: &'a mut Device,
    /// How guest and types children must be confined.
    pub confinement: Confinement,
    /// Compiled plugins, if they are kept.
    pub cache: Option<Cache>,
}

/// Judges plugin and sample again, with the rules, limits and seeds of a document and the facts of the device that it
/// names, and says what is otherwise. Times are taken, because outputs of timed runs are checked, and not compared.
pub fn replayed(replay: Replay<'_>) -> Vec<Difference> {
    let Replay { recorded, plugin, sample, device, confinement, cache } = replay;
    let mut differences = Differences::default();
    differences.equal("job.plugin_sha256", &recorded.job.plugin_sha256, &plugin.sha256);
    differences.equal("job.sample_sha256", &recorded.job.sample_sha256.as_str(), &sample.sha256());
    let names: Vec<&str> = recorded.variants.iter().map(|variant| variant.name.as_str()).collect();
    differences.equal("variants", &names, &sample.variants().iter().map(String::as_str).collect());
    if differences.found.is_empty() {
        let mut supervisor = Supervisor::new(config(recorded, device.info(), confinement));
        if let Some(cache) = cache {
            supervisor = supervisor.with_cache(cache);
        }
        let found = judge(&supervisor, recorded, plugin, sample, device);
        for (recorded, found) in recorded.variants.iter().zip(&found.variants) {
            variant(recorded, found, &mut differences);
        }
    }
    differences.found
}

/// Whether outputs must agree to the last bit: the same device, threads and versions.
pub fn is_same_machine(recorded: &Document, device: &DeviceInfo) -> bool {
    let same = |info: &DeviceInfo| {
        let DeviceInfo { device, name, id: _, facts: _, threads, torch, settings, note: _ } = info;
        (device.clone(), name.clone(), *threads, torch.clone(), settings.clone())
    };
    recorded.job.host == env!("CARGO_PKG_VERSION")
        && recorded.job.device.as_ref().is_none_or(|info| same(info) == same(device))
}

/// The rules, limits and draws of a document, with as few timed runs as there can be.
fn config(recorded: &Document, device: &DeviceInfo, confinement: Confinement) -> Config {
    // Outputs are the same either way, and a CPU has one way alone.
    let launch = if device.device == "cpu" { Launch::Stream } else { recorded.limits.measurement.launch };
    Config {
        limits: recorded.limits.guest,
        settings: Settings { warmups: 0, budget_ms: 1, accept_noise: true, launch, ..recorded.limits.measurement },
        options: recorded.options,
        policy: recorded.policy.clone(),
        inputs: recorded.job.inputs.unwrap_or_default(),
        seed: None,
        timeout: None,
        wait: Duration::ZERO,
        submissions: 1,
        confinement,
    }
}

fn judge(
    supervisor: &Supervisor,
    recorded: &Document,
    plugin: Plugin,
    sample: Sample,
    device: &mut Device,
) -> Document {
    let mut plugin = supervisor.load(plugin);
    let refusal = plugin.guest().err().cloned();
    if let Some(failure) = refusal {
        return supervisor.refused(&plugin, &failure, &sample);
    }
    // What a pass returns may depend on the facts of the device that it is told of, which are not this one's.
    let facts = recorded.job.device.as_ref().map_or(device.info().facts, |info| info.facts);
    let mut checker = supervisor.checker(facts).with_seeds(recorded.variants.iter().map(seeds).collect());
    supervisor.evaluate(&mut checker, &mut plugin, sample, device)
}

/// What a variant has been judged with.
pub fn seeds(variant: &Variant) -> Seeds {
    let hidden = variant.hidden.as_ref().map(|hidden| hidden.seed);
    let (others, tuned) = (variant.other_rounds.clone(), variant.tuned.clone());
    Seeds { inputs: variant.seed, hidden, others, tuned }
}

/// What two evaluations with the same seeds, on devices of the same kind, say otherwise. Times are not compared.
pub fn disagreements(first: &Document, second: &Document) -> Vec<Difference> {
    let mut differences = Differences::default();
    for (first, second) in first.variants.iter().zip(&second.variants) {
        // Verdicts are compared if both were timed.
        let (one, other) = if was_not_timed(second) { (second, first) } else { (first, second) };
        variant(one, other, &mut differences);
    }
    differences.found
}

fn was_not_timed(variant: &Variant) -> bool {
    variant.class.is_none() && variant.failure.is_some()
}

fn variant(recorded: &Variant, found: &Variant, differences: &mut Differences) {
    let at = |item: &str| format!("{}: {item}", recorded.name);
    let made = |rewrite: &Rewrite| (rewrite.sha256.clone(), rewrite.kernels, rewrite.pass_miss);
    differences.is_measured = false;
    if recorded.bytes.is_some() {
        let size = |variant: &Variant| (variant.element_type.clone(), variant.bytes);
        differences.equal(at("element_type, bytes"), &size(recorded), &size(found));
    }
    differences.equal(at("rewrite"), &recorded.rewrite.as_ref().map(made), &found.rewrite.as_ref().map(made));
    if let [Some(recorded), Some(found)] = [recorded, found].map(|one| one.rewrite.as_ref()?.graphs.as_ref()) {
        differences.equal(at("rewrite.graphs.before"), &recorded.before, &found.before);
    }
    differences.is_measured = !recorded.outputs.is_empty() && !found.outputs.is_empty();
    // Whether a time is below the floor is a matter of times, and so is what follows from that.
    let below_floor = floor_finding(recorded).is_some() || floor_finding(found).is_some();
    let is_measured =
        !was_not_timed(recorded) && recorded.timing.as_ref().is_none_or(|timing| timing.trouble.is_none());
    if is_measured && !below_floor {
        differences.equal(at("class"), &recorded.class, &found.class);
        let doing = |variant: &Variant| variant.failure.as_ref().map(|failure| (failure.blame, failure.stage.clone()));
        differences.equal(at("failure"), &doing(recorded), &doing(found));
    }
    differences.equal(at("passes_at"), &recorded.passes_at, &found.passes_at);
    differences.equal(at("findings"), &findings(recorded), &findings(found));
    differences.equal(at("edge_cases"), &recorded.edge_cases, &found.edge_cases);
    if recorded.other_rounds.is_some() {
        differences.equal(at("other_rounds"), &recorded.other_rounds, &found.other_rounds);
    }
    differences.equal(at("trivial"), &recorded.trivial, &found.trivial);
    outputs(&at(""), &recorded.outputs, &found.outputs, differences);
    // A variant that is below the floor, or not measured, is not tried in other sizes.
    if is_measured && !below_floor {
        hidden_sizes(&at("hidden"), recorded.hidden.as_ref(), found.hidden.as_ref(), differences);
    }
}

/// Without the one that follows from times.
fn findings(variant: &Variant) -> Vec<&String> {
    let floor = floor_finding(variant);
    variant.findings.iter().filter(|finding| floor.as_ref() != Some(finding)).collect()
}

fn hidden_sizes(
    at: &str,
    recorded: Option<&HiddenShapes>,
    found: Option<&HiddenShapes>,
    differences: &mut Differences,
) {
    let (Some(recorded), Some(found)) = (recorded, found) else {
        return differences.equal(format!("{at} is there"), &recorded.is_some(), &found.is_some());
    };
    let sizes = |hidden: &HiddenShapes| hidden.shapes.iter().map(|shape| shape.sizes.clone()).collect::<Vec<_>>();
    let hashes =
        |hidden: &HiddenShapes| hidden.shapes.iter().map(|shape| shape.rewrite_sha256.clone()).collect::<Vec<_>>();
    differences.is_measured = false;
    differences.equal(format!("{at}.sizes"), &sizes(recorded), &sizes(found));
    differences.equal(format!("{at}.rewrite_sha256"), &hashes(recorded), &hashes(found));
    differences.is_measured = true;
    for (position, (recorded, found)) in recorded.shapes.iter().zip(&found.shapes).enumerate() {
        let at = |item: &str| format!("{at}.shapes[{position}].{item}");
        differences.equal(at("passes_at"), &recorded.passes_at, &found.passes_at);
        differences.equal(at("finding is there"), &recorded.finding.is_some(), &found.finding.is_some());
        differences.equal(at("note is there"), &recorded.note.is_some(), &found.note.is_some());
        outputs(&at(""), &recorded.outputs, &found.outputs, differences);
    }
}

/// Reports of outputs, number by number.
fn outputs(at: &str, recorded: &[OutputReport], found: &[OutputReport], differences: &mut Differences) {
    differences.equal(format!("{at}outputs, how many"), &recorded.len(), &found.len());
    for (position, (recorded, found)) in recorded.iter().zip(found).enumerate() {
        let at = |item: &str| format!("{at}outputs[{position}].{item}");
        differences.equal(at("ty"), &recorded.ty, &found.ty);
        differences.equal(at("passes_at"), &recorded.passes_at, &found.passes_at);
        let counts = |report: &OutputReport| (report.elements, report.different, report.wrong, report.non_finite);
        differences.equal(at("elements, different, wrong, non_finite"), &counts(recorded), &counts(found));
        differences.near(at("max_abs"), recorded.max_abs, found.max_abs);
        differences.near(at("max_rel"), recorded.max_rel, found.max_rel);
        differences.equal(at("first_wrong"), &recorded.first_wrong, &found.first_wrong);
        let values = |report: &OutputReport| {
            // A document has no value where there is no number.
            let number = |value: Option<f64>| value.filter(|value| value.is_finite()).unwrap_or(f64::NAN);
            let truth = |of: fn(&passhost_result::TruthReport) -> f64| report.truth.as_ref().map_or(f64::NAN, of);
            [
                number(report.first_wrong_value),
                number(report.first_wrong_reference),
                truth(|truth| truth.eager_rms),
                truth(|truth| truth.rewritten_rms),
                truth(|truth| truth.eager_p999),
                truth(|truth| truth.rewritten_p999),
            ]
        };
        let (one, other) = (values(recorded), values(found));
        if !one.iter().zip(&other).all(|(one, other)| is_near(*one, *other)) {
            differences.say(at("values"), format!("{one:?}"), format!("{other:?}"));
        }
    }
}
