//! A document whose figures are those of its trials, whatever it says of itself.

use super::Difference;
use super::recompute::{floor_finding, recompute};
use crate::document::{Blame, Document, Timing, Variant, failure, unsaid};
use crate::scoring::{Frame, assemble};
use crate::timing::{Rules as TimingRules, Speedups, measured};
use crate::verdict::{Judged, conclude, counts_from, decided, recorded_conclusion};
use passhost_policy::Rules;
use passhost_score::variant_passes_at;

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
