//! What a model is told of an evaluation: verdicts, times as far as they can be told apart from noise, the first wrong
//! element, what the pass left alone, findings. Never seeds, inputs or hidden sizes: of those it hears pass or fail.

use passhost_result::document::{Document, Failure, ShownTimes, Timing, Variant};
use passhost_result::untrusted::{indented, one_line};
use passhost_result::{Headline, Progress, left_out};
use passhost_score::{FailureClass, Interval};
use std::fmt::Write;

/// Variants of which each is told of.
const VARIANTS: usize = 40;
/// Refusals, findings, lines of a log or of an excerpt that are told of one variant.
const LINES: usize = 12;
/// Characters of a message.
const MESSAGE: usize = 600;
/// Characters of the name of an op or a variant.
const NAME: usize = 120;

/// Whether every variant is right at t = -5 and nothing was found.
pub fn is_right(document: &Document) -> bool {
    let right =
        |variant: &Variant| variant.class.is_none() && variant.findings.is_empty() && !variant.outputs.is_empty();
    !document.variants.is_empty() && document.variants.iter().all(right)
}

/// Whether the pass returned a graph that may run, for every variant.
pub fn verifies(document: &Document) -> bool {
    Progress::of_document(document).is_some_and(|progress| progress >= Progress::Verifies)
}

/// Whether the pass changed anything that counts, in any variant.
pub fn changes(document: &Document) -> bool {
    document.variants.iter().any(|variant| variant.rewrite.as_ref().is_some_and(|rewrite| !rewrite.pass_miss))
}

/// Findings of the integrity layers, hidden sizes included.
pub fn findings(document: &Document) -> usize {
    let of = |variant: &Variant| {
        variant.findings.len() + variant.hidden.as_ref().map_or(0, |hidden| hidden.findings().count())
    };
    document.variants.iter().map(of).sum()
}

/// The verdict on a pass.
pub fn verdict(document: &Document) -> String {
    let mut text = String::new();
    let right = if is_right(document) { "RIGHT" } else { "WRONG" };
    let _ = writeln!(text, "verdict: {right}; {}", scores(document).unwrap_or("no score".to_owned()));
    for variant in document.variants.iter().take(VARIANTS) {
        text.push_str(&of_variant(variant, document));
    }
    if document.variants.len() > VARIANTS {
        let _ = writeln!(text, "and {} other variants", document.variants.len() - VARIANTS);
    }
    if let Some(failure) = document.failure.as_ref().filter(|_| document.variants.is_empty()) {
        let _ = writeln!(text, "{}", failed(failure));
    }
    if let Some(note) = left_out(&document.variants, &document.limits.measurement) {
        let _ = writeln!(text, "note: {}", one_line(&note, MESSAGE));
    }
    if let Some(busy) = busy(document) {
        let _ = writeln!(text, "note: {busy}: times and scores say little");
    }
    text
}

/// That the machine did something else while times were taken that count all the same.
pub(crate) fn busy(document: &Document) -> Option<String> {
    let timings = || document.variants.iter().filter_map(|variant| variant.timing.as_ref());
    let disturbed: usize = timings().map(|timing| timing.disturbed.len()).sum();
    let processes = timings().flat_map(|timing| &timing.processes);
    let blocks: usize = processes.map(|process| process.pairs.len() + process.control.len()).sum();
    let counts = document.limits.measurement.accept_noise && disturbed > 0;
    counts.then(|| format!("the machine was busy during {disturbed} of {blocks} blocks of trials"))
}

fn scores(document: &Document) -> Option<String> {
    let (scores, confidence) = (document.scores.as_ref()?, document.confidence.as_ref());
    let published = confidence.map(|confidence| &confidence.aggregate_score);
    let strict = confidence.map(|confidence| &confidence.aggregate_score_strict);
    Some(format!(
        "AS {}, AS strict {}",
        about(scores.aggregate_score, published),
        about(scores.aggregate_score_strict, strict)
    ))
}

/// The score that counts, in words.
pub(crate) fn headline(document: &Document) -> Option<String> {
    Some(about(document.headline()?, interval(document)))
}

/// The factor that the score that counts is known within.
pub(crate) fn within(document: &Document) -> Option<f64> {
    Some(factor(document.headline()?, interval(document)?))
}

fn interval(document: &Document) -> Option<&Interval> {
    let confidence = document.confidence.as_ref()?;
    Some(match document.policy.rules().headline {
        Headline::Published => &confidence.aggregate_score,
        Headline::Strict => &confidence.aggregate_score_strict,
    })
}

/// What the pass left alone, and what it logged, of each variant.
pub fn refusals(document: &Document) -> String {
    let mut text = String::new();
    for variant in document.variants.iter().take(VARIANTS) {
        let left = variant.rewrite.as_ref().map_or(0, |rewrite| rewrite.refusals.len());
        let _ = writeln!(text, "variant {}: {left} nodes left alone", one_line(&variant.name, NAME));
        for line in said(variant) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// What the pass left alone of a variant, and what it logged.
fn said(variant: &Variant) -> Vec<String> {
    let log = variant.usage.as_ref().map_or("", |usage| usage.log.as_str());
    let refusals = variant.rewrite.as_ref().map_or(&[][..], |rewrite| &rewrite.refusals);
    let left_alone = refusals.iter().take(LINES).map(|refusal| {
        let nodes: Vec<String> = refusal.nodes.iter().map(ToString::to_string).collect();
        format!("left alone {}: {}", nodes.join(" "), one_line(&refusal.reason, MESSAGE))
    });
    let log = log.lines().filter(|line| !line.trim().is_empty()).take(LINES);
    left_alone.chain(log.map(|line| format!("log: {}", one_line(line, MESSAGE)))).collect()
}

fn of_variant(variant: &Variant, document: &Document) -> String {
    let end = variant.class.map_or("right".to_owned(), |class| class.to_string().replace('_', " "));
    let mut text = format!("variant {}: {end}", one_line(&variant.name, NAME));
    if let Some(rewrite) = &variant.rewrite {
        let (before, after) = (rewrite.nodes_before, rewrite.nodes_after);
        let _ = write!(text, "; {before} to {after} nodes, {} kernels", rewrite.kernels);
    }
    if let Some(t) = variant.passes_at {
        let _ = write!(text, "; passes at t = {t}");
    }
    if let Some(timing) = variant.timing.as_ref().filter(|timing| timing.trouble.is_none()) {
        let _ = write!(text, "; {}", times(timing, floor_us(variant, document)));
    }
    text.push('\n');
    for line in details(variant) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// What is wrong with a variant, and what else its author should know.
fn details(variant: &Variant) -> Vec<String> {
    let mut lines = vec![];
    let is_hidden = variant.class == Some(FailureClass::ShapeOverfit);
    lines.extend(variant.failure.as_ref().filter(|_| !is_hidden).map(failed));
    let excerpt = variant.excerpt.iter().take(LINES);
    lines.extend(excerpt.map(|line| format!("  {}", indented(line, NAME))));
    lines.extend(first_wrong(variant));
    let is_said = |finding: &String| variant.failure.as_ref().is_some_and(|failure| failure.message == *finding);
    let findings = variant.findings.iter().filter(|finding| !is_said(finding)).take(LINES);
    lines.extend(findings.map(|finding| format!("finding: {}", one_line(finding, MESSAGE))));
    if !variant.edge_cases.is_empty() {
        lines.push("on edge-case inputs: fail (counts in AS strict)".to_owned());
    }
    if let Some(hidden) = &variant.hidden {
        let passes = hidden.findings().next().is_none();
        lines.push(format!("in hidden sizes: {}", if passes { "pass" } else { "fail" }));
    }
    let left = variant.rewrite.as_ref().map_or(0, |rewrite| rewrite.refusals.len());
    if variant.class == Some(FailureClass::PassMiss) {
        lines.extend(said(variant));
    } else if left > 0 {
        lines.push(format!("the pass left {left} places alone: `show_refusals` says why"));
    }
    lines
}

fn failed(failure: &Failure) -> String {
    let Failure { blame, stage, message, .. } = failure;
    format!("{blame} ({}): {}", one_line(stage, NAME), one_line(message, MESSAGE))
}

/// `output 0 at [0, 3] is 0.5, expected 0.25; 10 of 20 elements are wrong; node #3 (kernel) makes it`.
fn first_wrong(variant: &Variant) -> Option<String> {
    let (position, output) = variant.outputs.iter().enumerate().find(|(_, output)| output.wrong > 0)?;
    let mut text = format!("output {position}: {} of {} elements are wrong at t = -5", output.wrong, output.elements);
    if let (Some(place), Some(found), Some(expected)) =
        (&output.first_wrong, output.first_wrong_value, output.first_wrong_reference)
    {
        let _ = write!(text, "; the first at {place:?} is {found:e}, expected {expected:e}");
    }
    text.extend(output.moved().map(|moved| format!("; {moved}")));
    if let Some(first_divergent_node) = &variant.first_divergent_node {
        let (op, kept) = (
            one_line(&first_divergent_node.op, NAME),
            if first_divergent_node.is_kept { ", which was kept," } else { "" },
        );
        let _ = write!(text, "; node {} ({op}){kept} shows it first", first_divergent_node.node);
    }
    Some(text)
}

/// What the tensors of a graph take to be read and written once, and a launch; microseconds.
fn floor_us(variant: &Variant, document: &Document) -> Option<f64> {
    let facts = document.job.device.as_ref()?.facts;
    let seconds = variant.bytes? as f64 / facts.bandwidth.max(1) as f64;
    Some(seconds * 1e6 + f64::from(facts.launch_ns) / 1e3)
}

fn times(timing: &Timing, floor: Option<f64>) -> String {
    let (text, relative) = match timing.shown() {
        Some(ShownTimes { eager_us, rewritten_us, speedup, interval }) => {
            let doubt = (interval.high - interval.low) / 2.0;
            let us = |value: f64| rounded(value, value * doubt / speedup);
            let (eager, yours) = (us(eager_us), us(rewritten_us));
            let text = format!("eager {eager} us, yours {yours} us, {}", about(speedup, Some(&interval)));
            (text, doubt / speedup)
        }
        None => {
            let counts = about(timing.speedup, Some(&timing.interval));
            (format!("its times are too noisy to say how fast it is, and the score counts it as {counts}"), 0.0)
        }
    };
    let floor = floor.map(|floor| format!(", floor {} us", rounded(floor, floor * relative)));
    text + &floor.unwrap_or_default()
}

/// By which factor a number may be off, as its interval says.
fn factor(value: f64, Interval { low, high }: &Interval) -> f64 {
    (high / value).max(value / low)
}

/// `about 2.1x (within 1.3x)`, and a number alone where nothing is in doubt.
fn about(value: f64, interval: Option<&Interval>) -> String {
    match interval.map(|interval| factor(value, interval)).filter(|factor| *factor > 1.0) {
        Some(factor) => {
            let digits = if factor < 1.095 { 2 } else { 1 };
            let scale = 10f64.powi(digits);
            // Rounded up, so that the interval is inside.
            let shown = (factor * scale - 1e-9).ceil() / scale;
            format!(
                "about {}x (within {shown:.digits$}x)",
                rounded(value, value * (factor - 1.0)),
                digits = digits as usize
            )
        }
        None => format!("{value:.3}"),
    }
}

/// A number as far as it is known: to the first digit of its doubt, and to three where there is none. What is not zero keeps
/// a digit however much in doubt.
fn rounded(value: f64, doubt: f64) -> String {
    let least = if doubt.is_finite() && doubt > 0.0 { doubt } else { value.abs() / 100.0 };
    if !value.is_finite() || value == 0.0 {
        return value.to_string();
    }
    let exponent = least.min(value.abs()).log10().floor() as i32;
    let digits = usize::try_from(-exponent).unwrap_or(0);
    if exponent <= 0 {
        return format!("{value:.digits$}");
    }
    let unit = 10f64.powi(exponent);
    format!("{:.0}", (value / unit).round() * unit)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::NodeId;
    use passhost_made_documents::{compared, document, missed, right};
    use passhost_result::Refusal;
    use passhost_result::document::{Blame, HiddenShape, HiddenShapes};

    #[test]
    fn a_score_in_doubt_is_told_with_the_factor_that_it_is_known_within() {
        let cases = [
            (2.077, 0.52, 8.63, "about 2x (within 4.2x)"),
            (1.784, 1.672, 1.901, "about 1.8x (within 1.07x)"),
            (2.1, 1.75, 2.73, "about 2.1x (within 1.3x)"),
            (0.1, 0.1, 0.1, "0.100"),
        ];
        for (value, low, high, expected) in cases {
            assert_eq!(about(value, Some(&Interval { low, high })), expected);
        }
        assert_eq!(about(1.5, None), "1.500");
    }

    #[test]
    fn of_hidden_sizes_and_seeds_nothing_is_told() {
        let hidden = |finding: Option<&str>| {
            let finding = finding.map(str::to_owned);
            let (outputs, passes_at) = (right("one", 2.0).outputs, Some(-10));
            let shapes = vec![HiddenShape { finding, outputs, passes_at, ..HiddenShape::default() }];
            Some(HiddenShapes { seed: 424_242, shapes, missing: None })
        };
        let failure = |message: &str| Failure {
            blame: Blame::Plugin,
            stage: "correctness".into(),
            message: message.into(),
            hint: "--seed 424242 --set E512=77".into(),
        };
        let mut overfit = right("one", 2.0);
        overfit.class = Some(FailureClass::ShapeOverfit);
        overfit.failure = Some(failure("with E512 = 77 output 0 is wrong"));
        overfit.hidden = hidden(Some("with E512 = 77 output 0 is wrong"));
        overfit.seed = Some(424_242);
        let mut fits = right("two", 2.0);
        fits.hidden = hidden(None);
        let document = document("p", "s", vec![overfit, fits]);
        let text = verdict(&document);
        assert!(text.starts_with("verdict: WRONG; AS "), "{text}");
        assert!(text.contains("variant one: shape overfit") && text.contains("in hidden sizes: fail"), "{text}");
        assert!(text.contains("variant two: right") && text.contains("in hidden sizes: pass"), "{text}");
        for secret in ["424242", "77", "E512", "seed"] {
            assert!(!text.contains(secret), "`{secret}` in {text}");
        }
        assert_eq!(findings(&document), 1);
    }

    #[test]
    fn a_verdict_is_right_where_every_variant_is() {
        let cases = [
            (vec![right("one", 2.0), right("two", 1.5)], true, true),
            (vec![right("one", 2.0), compared("two", 1.5, Some(-2))], false, true),
            (vec![right("one", 2.0), missed("two")], false, true),
            (vec![], false, false),
        ];
        for (variants, is_right_now, verifies_now) in cases {
            let document = document("p", "s", variants);
            let names: Vec<&String> = document.variants.iter().map(|variant| &variant.name).collect();
            assert_eq!((is_right(&document), verifies(&document)), (is_right_now, verifies_now), "{names:?}");
        }
    }

    #[test]
    fn text_of_others_moves_no_terminal_and_names_no_new_line() {
        let mut variant = missed("one\u{1b}[2J\nvariant two: right");
        variant.excerpt = vec!["  %a\r\nverdict: RIGHT".into()];
        let text = verdict(&document("p", "s", vec![variant]));
        assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("variant")).count(), 1, "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("verdict")).count(), 1, "{text}");
    }

    #[test]
    fn no_number_is_rounded_away() {
        for value in [1e-7, 0.04, 0.5, 1.49, 9.6, 45.0, 12_345.0] {
            for doubt in [0.0, 1e-9, 0.3, 1.0, 2.0, 50.0, 1e12, f64::NAN] {
                let shown: f64 = rounded(value, doubt).parse().unwrap();
                assert!((value / 1.5..=value * 1.5).contains(&shown), "{value} +- {doubt} is told as {shown}");
            }
        }
    }

    #[test]
    fn of_times_that_are_too_noisy_none_is_told() {
        // Rounded to its doubt, every one of its numbers is 0.
        let mut noisy = right("one", 2.0);
        noisy.timing.as_mut().unwrap().interval = Interval { low: 0.01, high: 400.0 };
        let mut contradictory = right("two", 2.0);
        contradictory.timing.as_mut().unwrap().speedup = 0.05;
        let variants = vec![noisy, contradictory, right("three", 2.0)];
        let text = verdict(&Document { variants, ..document("p", "s", vec![]) });
        let lines = |words: &str| text.lines().filter(|line| line.contains(words)).count();
        assert_eq!(
            (lines("too noisy to say"), lines("eager 1200 us, yours 600 us, about 2.00x (within ")),
            (2, 1),
            "{text}"
        );
        assert_eq!(lines("and the score counts it as about 2x (within 200.0x)"), 1, "{text}");
    }

    #[test]
    fn times_that_count_although_the_machine_was_busy_are_told_to_say_little() {
        let mut noisy = document("p", "s", vec![right("one", 2.0)]);
        noisy.variants[0].timing.as_mut().unwrap().disturbed.push("process 1, block 1: threads waited".into());
        assert_eq!(busy(&noisy), None, "what was disturbed does not count");
        noisy.limits.measurement.accept_noise = true;
        let text = verdict(&noisy);
        assert!(text.contains("note: the machine was busy during 1 of 12 blocks of trials: times"), "{text}");
    }

    #[test]
    fn a_variant_that_nothing_changed_has_what_the_pass_said() {
        let mut missing = missed("one");
        let refusals = vec![Refusal { nodes: vec![NodeId(3)], reason: "too large".into() }];
        missing.rewrite.as_mut().unwrap().refusals.clone_from(&refusals);
        let mut changed = right("two", 2.0);
        changed.rewrite.as_mut().unwrap().refusals = refusals;
        let both = document("p", "s", vec![missing.clone(), changed]);
        let text = verdict(&both);
        assert_eq!(text.matches("  left alone #3: too large\n").count(), 1, "{text}");
        assert!(text.contains("the pass left 1 places alone: `show_refusals` says why"), "{text}");
        assert!(changes(&both) && !changes(&document("p", "s", vec![missing])));
    }

    #[test]
    fn no_score_is_no_zero() {
        let mut lost = document("p", "s", vec![right("one", 2.0)]);
        lost.scores = None;
        assert!(verdict(&lost).starts_with("verdict: RIGHT; no score\n"), "{}", verdict(&lost));
    }

    #[test]
    fn numbers_end_with_the_first_digit_of_their_doubt() {
        let cases = [
            (1.7834, 0.12, "1.8"),
            (1.7834, 0.034, "1.78"),
            (1193.2, 40.0, "1190"),
            (1193.2, 4.0, "1193"),
            (16.5, 0.0, "16.5"),
            (0.0, 0.0, "0"),
            (5.0, f64::INFINITY, "5.00"),
            (45.0, 450.0, "50"),
            (0.05, 9.0, "0.05"),
            (2.3e-9, 1.0, "0.000000002"),
        ];
        for (value, doubt, expected) in cases {
            assert_eq!(rounded(value, doubt), expected, "{value} +- {doubt}");
        }
    }
}
