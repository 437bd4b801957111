//! The table on the terminal: a view of the result document.

use crate::reason;
use crate::summary::{both_scores, class_words, rounded, score_lines, too_noisy, verdict_text};
use crate::terminal::{Terminal, TitledCell, Tone};
use passhost_page::number::counted;
use passhost_report::{short_names, without_numbers};
use passhost_result::document::{Blame, DeviceScores, Document, Failure, Launch, Status, Timing, Variant};
use passhost_result::untrusted::{indented, one_line};
use passhost_result::{NoteKind, Policy, Progress, Strength, TunedKernel, left_out};
use passhost_score::{FALSE_VERDICTS, FailureClass};
use std::collections::{BTreeMap, BTreeSet};

/// Variants whose failures are spelt out; the document has them all.
const FAILURES_SHOWN: usize = 4;

/// Least width of a terminal that has room for all columns.
const ALL: usize = 98;

/// What is said of an evaluation that was quick.
pub const QUICK: &str = "quick: the smallest variants, one round of inputs, no scaled or edge-case inputs, noise accepted: not a \
                     result to rank";
/// What is said of one that accepted noise.
const NOISY: &str = "noise accepted: the times include whatever else the machine did: not a result to rank";

/// The lines for one evaluation.
pub fn render(document: &Document, terminal: &Terminal) -> Vec<String> {
    let mut lines = vec![];
    let plugin = document.job.plugin_info.as_ref().map_or_else(
        || document.job.plugin.clone(),
        |info| format!("{} {}", one_line(&info.name, 40), one_line(&info.version, 20)),
    );
    let mut title = format!("{plugin} on {}", one_line(&document.job.sample, 80));
    if document.policy != Policy::default() {
        title.push_str(&format!(", policy {}", document.policy.name()));
    }
    if document.launch() == Launch::Graph {
        title.push_str(&format!(", {}", document.launch()));
    }
    if document.is_tuned() {
        title.push_str(", tuned");
    }
    lines.push(terminal.paint(Tone::Strong, &title));
    if document.job.fixed_seed {
        lines.push(terminal.paint(Tone::Warn, "fixed seed: the inputs were chosen by hand, not a result to rank"));
    }
    let settings = &document.limits.measurement;
    if settings.quick || settings.accept_noise {
        let text = if settings.quick { QUICK } else { NOISY };
        lines.extend(terminal.painted(Tone::Warn, text, ""));
    }
    if document.job.left_out > 0 {
        let (left_out, all) = (document.job.left_out, document.job.left_out as usize + document.variants.len());
        let text =
            format!("{left_out} of {all} variants left out: scores are of the others alone, not a result to rank");
        let text = if settings.quick { "variants were named: the others are left out".to_owned() } else { text };
        lines.extend(terminal.painted(Tone::Warn, &text, ""));
    }
    if document.scores.is_some() || document.variants.iter().any(|variant| !variant.outputs.is_empty()) {
        lines.extend(variants(document, terminal));
        lines.extend(tuned(document).iter().flat_map(|text| terminal.wrap(text, "")));
    }
    lines.extend(failures(document, terminal));
    lines.extend(scores(document, terminal));
    lines
}

fn variants(document: &Document, terminal: &Terminal) -> Vec<String> {
    let names: Vec<&str> = document.variants.iter().map(|variant| variant.name.as_str()).collect();
    let rows: Vec<(String, &Variant)> = short_names(&names).into_iter().zip(&document.variants).collect();
    let mut lines = terminal.rows(&rows, |(name, variant)| row(variant, name));
    for (line, variant) in lines.iter_mut().skip(1).zip(&document.variants) {
        let tone = match variant.class {
            None if is_unmeasured(variant) => Tone::Warn,
            None => continue,
            Some(FailureClass::Accuracy) if variant.passes_at.is_some() => Tone::Warn,
            Some(_) => Tone::Bad,
        };
        *line = terminal.paint(tone, line);
    }
    with_reasons(lines, document, terminal)
}

/// Puts under the row of a variant why it is wrong, where no row before has said the same.
fn with_reasons(rows: Vec<String>, document: &Document, terminal: &Terminal) -> Vec<String> {
    let mut rows = rows.into_iter();
    let mut lines: Vec<String> = rows.next().into_iter().collect();
    let mut said = vec![];
    for (row, variant) in rows.zip(&document.variants) {
        lines.push(row);
        let kind = reason::kind(variant).map(|kind| (kind, variant.class));
        let Some(kind) = kind.filter(|kind| !said.contains(kind)) else { continue };
        if said.len() < FAILURES_SHOWN {
            let text = reason::reason(variant).unwrap_or_default();
            let tone = if variant.class.is_some() { Tone::Bad } else { Tone::Warn };
            lines.extend(terminal.painted(tone, &text, "  "));
        }
        said.push(kind);
    }
    lines
}

/// How many kernels had a choice of schedules, and what came of it.
fn tuned(document: &Document) -> Option<String> {
    let kernels = || document.variants.iter().flat_map(|variant| &variant.tuned);
    let gain = |kernel: &TunedKernel| Some(kernel.candidates.first()?.ns as f64 / kernel.other()?.ns.max(1) as f64);
    let gains: Vec<f64> = kernels().filter_map(gain).collect();
    let most = gains.iter().copied().fold(1.0, f64::max);
    let others = match gains.len() {
        0 => "all keep their defaults".to_owned(),
        count => format!("{count} run faster than their defaults, by up to {most:.2}x"),
    };
    let (count, kept) = (kernels().count(), kernels().filter(|kernel| kernel.is_kept).count());
    document.is_tuned().then(|| format!("schedules: {count} kernels had a choice ({kept} measured before); {others}"))
}

/// One line over several samples: how many graphs ended in which way, and how much faster the changed ones are.
pub fn total<'d>(documents: impl ExactSizeIterator<Item = &'d Document> + Clone) -> String {
    let variants = || documents.clone().flat_map(|document| &document.variants);
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    for variant in variants() {
        let end = if is_unmeasured(variant) { "not measured".to_owned() } else { class_words(variant.class) };
        *ends.entry(end).or_default() += 1;
    }
    let ends: Vec<String> = ends.into_iter().map(|(end, count)| format!("{count} {end}")).collect();
    let changed = variants().filter(|variant| variant.rewrite.as_ref().is_some_and(|rewrite| !rewrite.pass_miss));
    let speedups: Vec<f64> = changed.filter_map(|variant| Some(variant.timing.as_ref()?.shown()?.speedup)).collect();
    let (graphs, samples) = (counted(variants().count(), "graph"), counted(documents.len(), "sample"));
    let mut line = format!("{graphs} of {samples}: {}", ends.join(", "));
    if !speedups.is_empty() {
        let mean = (speedups.iter().map(|speedup| speedup.ln()).sum::<f64>() / speedups.len() as f64).exp();
        let slower = speedups.iter().filter(|&&speedup| speedup < 0.97).count();
        let changed = speedups.len();
        line.push_str(&format!(
            "; {changed} changed and timed: {mean:.2}x in the geometric mean, {slower} slower by more than 3%"
        ));
    }
    line
}

/// How many variants were not measured, and why the first was not.
fn unmeasured(document: &Document) -> Option<String> {
    let all: Vec<&Variant> = document.variants.iter().filter(|variant| is_unmeasured(variant)).collect();
    let failure = all.first()?.failure.as_ref()?;
    let first = match all.len() {
        1 => String::new(),
        count => format!(" (the first of {count} variants)"),
    };
    Some(format!("{} (timing): {}{first}; {}", failure.blame, failure.message, failure.hint))
}

/// Whether it ran and was not timed: the machine did something else, or what was to be captured cannot be.
pub fn is_unmeasured(variant: &Variant) -> bool {
    variant.class.is_none() && variant.failure.as_ref().is_some_and(|failure| failure.stage == "timing")
}

/// A narrow terminal gets what decides: the speedup and whether it is right.
fn row<'c>(variant: &Variant, name: &str) -> [TitledCell<'c>; 9] {
    let number = |value: Option<f64>, digits: usize| value.map_or("-".into(), |value| rounded(value, digits));
    let timing = variant.timing.as_ref();
    let (shown, rewrite) = (timing.and_then(Timing::shown), variant.rewrite.as_ref());
    let nodes = rewrite.map_or("-".into(), |rewrite| format!("{} to {}", rewrite.nodes_before, rewrite.nodes_after));
    [
        TitledCell::new("variant", one_line(name, 200)),
        TitledCell::new("nodes", nodes).from(ALL),
        TitledCell::new("kernels", rewrite.map_or("-".into(), |rewrite| rewrite.kernels.to_string())).from(ALL),
        TitledCell::new("eager us", number(shown.map(|shown| shown.eager_us), 1)).from(ALL),
        TitledCell::new("rewritten us", number(shown.map(|shown| shown.rewritten_us), 1)).from(ALL),
        TitledCell::new("speedup", speedup_of(variant)),
        TitledCell::new("device", number(timing.and_then(|timing| timing.speedup_device), 2)).from(ALL),
        TitledCell::new("passes at", variant.passes_at.map_or("-".into(), |t| format!("t = {t}"))),
        TitledCell::new("result", verdict_on(variant)),
    ]
}

/// How many times as fast as eager a variant is, as far as its times say.
pub fn speedup_of(variant: &Variant) -> String {
    match variant.timing.as_ref().map(Timing::shown) {
        None => "-".into(),
        Some(None) => "too noisy to say".into(),
        Some(Some(shown)) => rounded(shown.speedup, 2),
    }
}

/// What became of a variant, in a few words.
pub fn verdict_on(variant: &Variant) -> String {
    match (variant.class, &variant.trivial) {
        _ if is_unmeasured(variant) => "not measured".into(),
        (class @ Some(_), _) => class_words(class),
        (None, Some(trivial)) => format!("right, but so is {trivial}"),
        (None, None) if !variant.edge_cases.is_empty() => "wrong on edge-case inputs".into(),
        (None, None) => class_words(None),
    }
}

/// A failure, and how many variants have it.
struct DistinctFailure<'d> {
    text: String,
    count: usize,
    /// Whether it has the same numbers each time.
    is_same: bool,
    excerpt: &'d [String],
    /// The sample and the variant, where the pass itself came to an end there: what to run again is said with it.
    place: Option<String>,
}

/// Where a pass trapped, overran or gave up, and not what it made.
fn place_of(document: &Document, variant: &Variant, failure: &Failure) -> Option<String> {
    let is_pass = failure.stage == "rewrite" && failure.blame == Blame::Plugin;
    is_pass.then(|| one_line(&format!("{} {}", document.job.sample, variant.name), 160))
}

fn failure_text(failure: &Failure) -> String {
    format!("{} ({}): {}; {}", failure.blame, failure.stage, failure.message, failure.hint)
}

/// Each distinct message once.
fn distinct_failures(document: &Document, terminal: &Terminal) -> Vec<String> {
    let mut lines = vec![];
    let mut seen: Vec<DistinctFailure<'_>> = vec![];
    for variant in document.variants.iter().filter(|variant| !is_unmeasured(variant)) {
        let Some(failure) = &variant.failure else { continue };
        let text = failure_text(failure);
        match seen.iter_mut().find(|said| without_numbers(&said.text) == without_numbers(&text)) {
            Some(said) => {
                said.count += 1;
                said.is_same &= said.text == text;
            }
            None => {
                let place = place_of(document, variant, failure);
                seen.push(DistinctFailure { text, count: 1, is_same: true, excerpt: &variant.excerpt, place });
            }
        }
    }
    if document.variants.is_empty()
        && let Some(failure) = &document.failure
    {
        let text = failure_text(failure);
        seen.push(DistinctFailure { text, count: 1, is_same: true, excerpt: &[], place: None });
    }
    let room = terminal.width().saturating_sub(5);
    for DistinctFailure { text, count, is_same, excerpt, place } in seen.iter().take(FAILURES_SHOWN) {
        let times = match (count, is_same) {
            (1, _) => String::new(),
            (_, true) => format!(" ({count} variants)"),
            (_, false) => format!(" ({count} variants, with other numbers)"),
        };
        let place = place.as_ref().map(|place| format!("; on {place}")).unwrap_or_default();
        lines.extend(terminal.painted(Tone::Bad, &format!("{text}{place}{times}"), "  "));
        lines.extend(excerpt.iter().map(|line| format!("    {}", indented(line, room))));
    }
    if seen.len() > FAILURES_SHOWN {
        lines.push(format!("  and {} other failures, see --json", seen.len() - FAILURES_SHOWN));
    }
    lines
}

/// What went wrong, and what else is worth knowing.
fn failures(document: &Document, terminal: &Terminal) -> Vec<String> {
    let unmeasured = unmeasured(document);
    let mut lines: Vec<String> = unmeasured.iter().flat_map(|text| terminal.painted(Tone::Warn, text, "  ")).collect();
    lines.extend(distinct_failures(document, terminal));
    let mut add = |tone, before: &str, texts: BTreeSet<String>| {
        let texts = texts.iter().take(FAILURES_SHOWN).map(|text| format!("{before}: {}", one_line(text, 400)));
        lines.extend(texts.flat_map(|text| terminal.painted(tone, &text, "  ")));
    };
    let variants = || document.variants.iter();
    let domain = variants().flat_map(|variant| &variant.edge_cases).map(ToString::to_string).collect();
    add(Tone::Warn, "counts in AS strict", domain);
    add(Tone::Dim, "note", variants().flat_map(|variant| variant.notes.iter().cloned()).collect());
    let left_out = left_out(&document.variants, &document.limits.measurement);
    let notes = [
        (NoteKind::Budget, left_out),
        (NoteKind::Sandbox, document.confinement.note()),
        (NoteKind::Noise, drift(document)),
        (NoteKind::HostSpread, host_spread(document)),
    ];
    let notes = notes.into_iter().filter_map(|(kind, note)| Some(format!("note: {}", kind.note(note?))));
    lines.extend(notes.flat_map(|note| terminal.painted(Tone::Dim, &note, "  ")));
    lines
}

/// Says so if intervals are wider for what the host may do in another run.
fn host_spread(document: &Document) -> Option<String> {
    let reach = 100.0 * (document.host_spread()? - 1.0);
    Some(format!(
        "kernel launches took longer than this host's fastest: wall-clock intervals are {reach:.0}% wider to each side, for \
         what another run may give"
    ))
}

/// Says so if eager ran at another speed in the control run, beside itself, than beside the rewrite.
fn drift(document: &Document) -> Option<String> {
    const NOTABLE: f64 = 1.05;
    let drifts = document.variants.iter().filter_map(|variant| variant.timing.as_ref());
    let drifts: Vec<f64> = drifts.map(|timing| timing.eager_drift).filter(|drift| *drift > NOTABLE).collect();
    let most = drifts.iter().copied().reduce(f64::max)?;
    let (count, all) = (drifts.len(), document.variants.len());
    Some(format!("{count} of {all} variants: control run differs from eager by up to {most:.2}x"))
}

/// The verdict, then the scores that it comes with, then what they are made of.
fn scores(document: &Document, terminal: &Terminal) -> Vec<String> {
    let Some(scores) = &document.scores else {
        let blame = document.blame.map_or("nobody".into(), |blame| blame.to_string());
        return vec![terminal.paint(Tone::Bad, &format!("no score: the {blame} is to blame"))];
    };
    let tone = if document.status == Status::Failed { Tone::Bad } else { Tone::Strong };
    let fitting = |text: String| {
        if text.chars().count() > terminal.width() { terminal.wrap(&text, "") } else { vec![text] }
    };
    let painted = |text: String| fitting(text).into_iter().map(|line| terminal.paint(tone, &line));
    let headline = document.policy.rules().headline;
    let strength = Strength::of_all(document.variants.iter().filter_map(|variant| variant.strength.as_ref()));
    let strength = strength.map(|strength| format!("strength of the check: {strength}"));
    let others = strength.into_iter().chain(progress(document)).flat_map(fitting);
    if let Some(text) = too_noisy(document.confidence.as_ref()) {
        return painted(text).chain(others).collect();
    }
    let mut lines: Vec<String> = verdict(document).into_iter().flat_map(painted).collect();
    let both = [scores.aggregate_score, scores.aggregate_score_strict];
    let is_wrong = |variant: &&Variant| !variant.edge_cases.is_empty();
    let wrong = document.limits.measurement.edge_case_rounds;
    let wrong = wrong.then(|| document.variants.iter().filter(is_wrong).count());
    for (line, says) in score_lines(both, document.confidence.as_ref(), headline, wrong) {
        lines.extend(painted(format!("{line}  {says}")));
    }
    if let Some(DeviceScores { aggregate_score, aggregate_score_strict, confidence }) = &document.device_scores {
        let both = [*aggregate_score, *aggregate_score_strict];
        let both = both_scores(both, confidence.as_ref(), headline);
        lines.extend(fitting(format!("over device time: {both}")));
    }
    let at = |map: &BTreeMap<i8, f64>, t| map.get(&t).map_or("-".into(), |value| rounded(*value, 2));
    let [s, es] = [(&scores.s, "S", [-5, -3, 0]), (&scores.es, "ES", [0, 1, 3])]
        .map(|(map, name, tolerances)| tolerances.map(|t| format!("{name}({t}) {}", at(map, t))).join("  "));
    lines.extend(fitting(format!("{s}   {es}")));
    lines.extend(others);
    lines
}

/// How far the plugin came with which variants, where it failed on one: scores hardly tell failures apart.
fn progress(document: &Document) -> Option<String> {
    let least = Progress::of_document(document).filter(|least| *least < Progress::RightAtMinus5)?;
    let mut counts: BTreeMap<Progress, usize> = BTreeMap::new();
    document.variants.iter().filter_map(Progress::of).for_each(|one| *counts.entry(one).or_default() += 1);
    let counts: Vec<String> = counts.iter().map(|(progress, count)| format!("{progress} ({count})")).collect();
    Some(format!("progress: {} of {}, {}", least.number(), Progress::Faster.number(), counts.join(", ")))
}

/// Whether the rewrites are faster than eager, and how sure that is. A result of some variants is sure of nothing.
fn verdict(document: &Document) -> Option<String> {
    let confidence = document.confidence.as_ref().filter(|_| !document.is_partial())?;
    let of = match confidence.submissions {
        0 | 1 => String::new(),
        count => format!(" over {count} submissions"),
    };
    let percent = 100.0 * FALSE_VERDICTS;
    Some(format!("{}, false-positive rate <= {percent}%{of}", verdict_text(confidence)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::NodeId;
    use passhost_made_documents::{document, right};
    use passhost_result::Candidate;
    use passhost_score::{Interval, Verdict};

    fn kernel(times: &[u64], is_kept: bool) -> TunedKernel {
        let candidates: Vec<Candidate> =
            times.iter().map(|&ns| Candidate { schedule: format!("rows rows={ns}"), ns }).collect();
        let chosen = TunedKernel::fastest(&candidates);
        TunedKernel { node: NodeId(1), sources_sha256: "00".into(), candidates, chosen, is_kept }
    }

    #[test]
    fn a_row_contradicts_nothing() {
        let row = |variant: &Variant| row(variant, "x").map(|cell| cell.text);
        let number = |text: &String| text.parse::<f64>().ok();
        for speedup in [0.004, 0.05, 0.47, 1.0, 2.3, 180.0] {
            let row = row(&right("x", speedup));
            let [eager, rewritten, told] = [3, 4, 5].map(|column| number(&row[column]).unwrap());
            assert!((eager / rewritten / told - 1.0).abs() < 0.1, "{row:?}");
        }
        let mut noisy = right("x", 2.0);
        noisy.timing.as_mut().unwrap().interval = Interval { low: 0.5, high: 8.1 };
        let mut contradictory = right("x", 2.0);
        contradictory.timing.as_mut().unwrap().speedup = 0.05;
        for variant in [noisy, contradictory] {
            assert_eq!(row(&variant)[3..6], ["-", "-", "too noisy to say"]);
            // What follows from trials is never so: the document is not made of it.
            let document = Document { variants: vec![variant], ..document("p", "s", vec![]) };
            assert!(!total([&document].into_iter()).contains("geometric mean"));
        }
        let untimed = Variant { timing: None, ..right("x", 2.0) };
        assert_eq!(row(&untimed)[3..6], ["-", "-", "-"]);
    }

    #[test]
    fn scores_say_no_more_than_was_measured() {
        let said = |document: &Document| scores(document, &Terminal::detect()).join("\n");
        let mut quick = document("p", "s", vec![right("x", 2.0)]);
        assert!(said(&quick).contains("edge-case inputs included"));
        quick.limits.measurement = quick.limits.measurement.quickly();
        assert!(said(&quick).contains("no error forgiven, no edge-case inputs tried"), "{}", said(&quick));
        let confidence = quick.confidence.as_mut().unwrap();
        confidence.verdict = Verdict::Undecided;
        confidence.aggregate_score = Interval { low: 0.005, high: 4000.0 };
        let noisy = said(&quick);
        assert!(noisy.contains("no score: too noisy to say (AS within a factor of 894)"), "{noisy}");
        assert!(!noisy.contains("2.00"), "{noisy}");
    }

    #[test]
    fn a_line_says_what_came_of_measured_schedules() {
        let mut measured = document("fuse", "one", vec![right("x", 2.0)]);
        measured.job.device.as_mut().unwrap().device = "cuda:0".into();
        assert_eq!(tuned(&measured), None);
        measured.limits.measurement.tune = true;
        measured.variants[0].tuned = vec![kernel(&[1000, 990], false)];
        let line = "schedules: 1 kernels had a choice (0 measured before); all keep their defaults";
        assert_eq!(tuned(&measured).as_deref(), Some(line));
        measured.variants[0].tuned = vec![kernel(&[1000, 800, 900], true), kernel(&[1000, 990], false)];
        let line = "schedules: 2 kernels had a choice (1 measured before); 1 run faster than their defaults, by \
                    up to 1.25x";
        assert_eq!(tuned(&measured).as_deref(), Some(line));
    }
}
