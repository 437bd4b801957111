//! Summaries of plugins on the terminal.

use crate::headroom;
use crate::terminal::{Terminal, TitledCell, Tone, WIDE};
use passhost_page::number::counted;
use passhost_report::{ClockScores, Conditions, Eager, Extreme, GraphPlace, OverSamples, PartScores, Slice, Summary};
use passhost_result::document::Launch;
use passhost_result::untrusted::one_line;
use passhost_result::{Headline, Progress};
use passhost_score::{Confidence, Estimate, FailureClass, Interval, Verdict};
use std::collections::BTreeMap;

/// Places that are named; JSON has them all.
const SHOWN: usize = 5;
/// Tolerances whose ES(t) is shown.
const TOLERANCES: [i8; 8] = [-10, -5, -3, -2, -1, 0, 1, 3];
/// The factor to each side from which on the interval of a score says nothing.
const TOO_NOISY: f64 = 3.0;

/// The lines for all plugins: one table over them where there are several, then a section each.
pub fn render(summaries: &[Summary], terminal: &Terminal) -> Vec<String> {
    let mut lines = vec![];
    if let [first, others @ ..] = summaries
        && !others.is_empty()
    {
        lines.extend(kept_apart(first, others, terminal));
        let limit = if terminal.width() >= WIDE { 60 } else { 18 };
        let label = |at: usize, summary: &Summary| format!("{} {}", at + 1, one_line(&summary.entrant.name, limit));
        let rows: Vec<(String, &PartScores)> =
            summaries.iter().enumerate().map(|(at, summary)| (label(at, summary), &summary.all)).collect();
        lines.extend(parts("plugin", &rows, terminal));
    }
    for (at, summary) in summaries.iter().enumerate() {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let number = if summaries.len() > 1 { format!("{} ", at + 1) } else { String::new() };
        lines.extend(section(&number, summary, terminal));
    }
    lines
}

/// Why results of one plugin stand in several rows.
fn kept_apart(first: &Summary, others: &[Summary], terminal: &Terminal) -> Vec<String> {
    let mut differences: Vec<String> =
        others.iter().flat_map(|other| first.conditions.differences(&other.conditions)).collect();
    differences.sort();
    differences.dedup();
    if differences.is_empty() {
        return vec![];
    }
    let text = format!("not made alike, and kept apart: {}", differences.join("; "));
    terminal.painted(Tone::Warn, &one_line(&text, 600), "")
}

fn section(number: &str, summary: &Summary, terminal: &Terminal) -> Vec<String> {
    let conditions = &summary.conditions;
    let device = conditions.device.as_deref().unwrap_or("no device");
    let PartScores { samples, graphs, .. } = summary.all;
    let title = format!(
        "{number}{}: {} of {}, {device}, policy {}{}",
        one_line(&summary.entrant.name, 60),
        counted(graphs, "graph"),
        counted(samples, "sample"),
        one_line(&conditions.policy, 40),
        against(conditions)
    );
    let mut lines = terminal.painted(Tone::Strong, &title, "");
    for remark in &summary.remarks {
        lines.extend(terminal.painted(Tone::Warn, &one_line(remark, 400), ""));
    }
    lines.extend(scores(&summary.all, conditions.headline, terminal));
    lines.extend(by_tolerance(&summary.all, terminal));
    lines.extend(fast(summary, terminal));
    lines.extend(slices(summary, terminal));
    // The classes of the JSON form, of which one has a plainer word.
    let ends = summary.ends.iter().map(|(end, count)| format!("{count} {}", end.replace("pass miss", "unchanged")));
    let ends: Vec<String> = ends.collect();
    lines.extend(terminal.wrap(&ends.join(", "), ""));
    let counts: Vec<String> =
        summary.progress.iter().rev().map(|(progress, count)| format!("{count} {progress}")).collect();
    // It ranks failures: where nothing failed, scores say more.
    if summary.progress.keys().any(|progress| *progress < Progress::RightAtMinus5) {
        lines.extend(terminal.wrap(&format!("progress: {}", counts.join(", ")), ""));
    }
    lines.extend(extremes("best", &summary.best, terminal));
    lines.extend(extremes("worst", &summary.worst, terminal));
    lines.extend(headroom::render(&summary.headroom, terminal));
    lines.extend(pass_misses(&summary.pass_misses, terminal));
    lines.extend(unmeasured(summary, terminal));
    lines
}

fn scores(all: &PartScores, headline: Headline, terminal: &Terminal) -> Vec<String> {
    let Some(wall) = &all.wall else {
        let why = match all.scored {
            0 => "no graph was measured",
            _ => "a recorded speedup is no positive number; `passhost verify FILE --offline` names it",
        };
        return terminal.painted(Tone::Bad, &format!("no score: {why}"), "");
    };
    let strength = all.strength.iter().map(|strength| format!("strength of the check: {strength}"));
    let strength = strength.flat_map(|text| terminal.wrap(&text, ""));
    if let Some(noisy) = too_noisy(wall.confidence.as_ref()) {
        return terminal.painted(Tone::Warn, &noisy, "").into_iter().chain(strength).collect();
    }
    let both = |scores: &ClockScores| {
        both_scores([scores.aggregate_score, scores.aggregate_score_strict], scores.confidence.as_ref(), headline)
    };
    let verdict = wall.confidence.iter().map(|found| format!("{} over graphs that ran", verdict_text(found)));
    let mut lines: Vec<String> =
        verdict.chain([both(wall)]).flat_map(|text| terminal.painted(Tone::Strong, &text, "")).collect();
    let device = all.device.iter().map(|device| format!("over device time: {}", both(device)));
    lines.extend(device.flat_map(|text| terminal.wrap(&text, "")));
    let over_samples = all.over_samples.filter(|_| all.samples > 1);
    lines.extend(over_samples.iter().flat_map(|over| terminal.wrap(&counting_once("AS", over), "")));
    lines.extend(strength);
    lines
}

/// `faster: 2.61x (95% CI 2.44 to 2.79)`.
pub fn verdict_text(Confidence { verdict, speedup, .. }: &Confidence) -> String {
    let Estimate { speedup, interval: Interval { low, high } } = *speedup;
    let [speedup, low, high] = [speedup, low, high].map(|value| rounded(value, 2));
    format!("{verdict}: {speedup}x (95% CI {low} to {high})")
}

/// What is said in place of scores whose interval is so wide that they say nothing.
pub fn too_noisy(confidence: Option<&Confidence>) -> Option<String> {
    let spread = confidence.filter(|found| found.verdict == Verdict::Undecided)?.aggregate_score.spread();
    let text = || format!("no score: too noisy to say (AS within a factor of {})", rounded(spread, 0));
    (spread > TOO_NOISY).then(text)
}

/// AS and AS strict with their intervals, each with what it is in a few words. AS strict stands first where it is the
/// headline, or another number: an error is forgiven then. `wrong_on_edge_cases` says in how many variants, if such inputs
/// were tried.
pub fn score_lines(
    [published, strict]: [f64; 2],
    confidence: Option<&Confidence>,
    headline: Headline,
    wrong_on_edge_cases: Option<usize>,
) -> [(String, String); 2] {
    let differ = rounded(published, 2) != rounded(strict, 2);
    let text = |name: &str, score: f64, interval: Option<Interval>| {
        let interval = interval.map(|Interval { low, high }| [low, high].map(|end| rounded(end, 2)));
        let interval = interval.map_or(String::new(), |[low, high]| format!(" [{low}, {high}]"));
        format!("{name} {}{interval}", rounded(score, 2))
    };
    let published = text("AS", published, confidence.map(|found| found.aggregate_score));
    let strict = text("AS strict", strict, confidence.map(|found| found.aggregate_score_strict));
    let why = match wrong_on_edge_cases {
        None => "no error forgiven, no edge-case inputs tried".to_owned(),
        Some(0) => "no error forgiven, edge-case inputs included".to_owned(),
        Some(count) => format!("no error forgiven: {} wrong on edge-case inputs", counted(count, "variant")),
    };
    let says = "speedup with failures counted; see `passhost explain AS`".to_owned();
    let (published, strict) = ((published, says), (strict, why));
    if headline == Headline::Strict || differ { [strict, published] } else { [published, strict] }
}

/// Both on one line, in the order of [`score_lines`].
pub fn both_scores(scores: [f64; 2], confidence: Option<&Confidence>, headline: Headline) -> String {
    score_lines(scores, confidence, headline, None).map(|(text, _)| text).join("   ")
}

/// A mean in which each sample counts once, and what it says of others.
pub fn counting_once(what: &str, OverSamples { mean, interval }: &OverSamples) -> String {
    let others = interval.map_or(String::new(), |Interval { low, high }| {
        format!(", [{low:.3}, {high:.3}] for other samples like these")
    });
    format!("each sample counting once: {what} {mean:.3}{others}")
}

fn by_tolerance(all: &PartScores, terminal: &Terminal) -> Vec<String> {
    let Some(wall) = &all.wall else { return vec![] };
    let names: Vec<String> = TOLERANCES.iter().map(|t| t.to_string()).collect();
    let head: Vec<&str> = std::iter::once("t").chain(names.iter().map(String::as_str)).collect();
    let row = |name: &str, scores: &BTreeMap<i8, f64>| -> Vec<String> {
        let at = TOLERANCES.iter().map(|t| short(scores.get(t).copied()));
        std::iter::once(name.to_owned()).chain(at).collect()
    };
    let mut rows = vec![row("ES(t)", &wall.es)];
    if !wall.es_intervals.is_empty() {
        let bound =
            |of: fn(&Interval) -> f64| wall.es_intervals.iter().map(|(t, interval)| (*t, of(interval))).collect();
        rows.push(row("  from", &bound(|interval| interval.low)));
        rows.push(row("  to", &bound(|interval| interval.high)));
    }
    rows.push(row("strict", &wall.es_strict));
    rows.extend(all.device.iter().map(|device| row("device", &device.es)));
    terminal.headed(&head, &rows)
}

/// A line for each list of samples, and one for all where there is none: what is quoted of a benchmark, with its conditions.
fn fast(summary: &Summary, terminal: &Terminal) -> Vec<String> {
    let types = match summary.element_types.as_slice() {
        [only] => one_line(&only.name, 20),
        _ => "several element types".to_owned(),
    };
    let lists = summary.groups.iter().map(|slice| (one_line(&slice.name, 60), &slice.part));
    let all = summary.groups.is_empty().then(|| ("all".to_owned(), &summary.all));
    let line = |(name, part): (String, &PartScores)| {
        let right = part.fast.right?;
        let [zero, one, two] = [part.fast.fast_0, part.fast.fast_1, part.fast.fast_2].map(|share| 100.0 * share);
        let mean = rounded(right.speedup, 2);
        let graphs = counted(part.scored, "graph");
        let text = format!("{name}, {types}: fast_0 {zero:.1}%, fast_1 {one:.1}%, fast_2 {two:.1}% of {graphs}");
        Some(terminal.wrap(&format!("{text}, geometric mean of the right ones {mean}"), ""))
    };
    lists.chain(all).filter_map(line).flatten().collect()
}

/// One table with a row for everything that graphs are divided by.
fn slices(summary: &Summary, terminal: &Terminal) -> Vec<String> {
    let mut rows = vec![("all".to_owned(), &summary.all)];
    rows.extend(summary.winnable.iter().map(|part| ("but for failures of samples".to_owned(), part)));
    let slices = summary.groups.iter().chain(&summary.element_types).chain(&summary.sizes);
    rows.extend(slices.map(|slice: &Slice| (one_line(&slice.name, 60), &slice.part)));
    parts("graphs", &rows, terminal)
}

/// A table with a row a part.
pub fn parts(title: &str, rows: &[(String, &PartScores)], terminal: &Terminal) -> Vec<String> {
    terminal.rows(rows, |(name, part)| {
        let (wall, device) = (part.wall.as_ref(), part.device.as_ref());
        let confidence = wall.and_then(|wall| wall.confidence.as_ref());
        [
            TitledCell::new(title, name),
            TitledCell::new("count", part.graphs.to_string()),
            TitledCell::new("right", share(part)),
            TitledCell::new("AS", short(wall.map(|wall| wall.aggregate_score))),
            TitledCell::new("95%", range(confidence.map(|found| found.aggregate_score))).from(WIDE),
            TitledCell::new("strict", short(wall.map(|wall| wall.aggregate_score_strict))),
            TitledCell::new("device", short(device.map(|device| device.aggregate_score))),
        ]
    })
}

fn extremes(title: &str, extremes: &[Extreme], terminal: &Terminal) -> Vec<String> {
    if extremes.is_empty() {
        return vec![];
    }
    terminal.rows(extremes, |one| {
        [
            TitledCell::new(title, name(&one.place)),
            TitledCell::new("AS", short(Some(one.aggregate_score))),
            TitledCell::new("speedup", short(one.speedup.map(|(speedup, _)| speedup))),
            TitledCell::new("95%", range(one.speedup.map(|(_, interval)| interval))).from(WIDE),
            TitledCell::new("result", class_words(one.class)),
        ]
    })
}

/// How a variant ended, in words.
pub fn class_words(class: Option<FailureClass>) -> String {
    match class {
        None => "right".to_owned(),
        Some(FailureClass::PassMiss) => "unchanged".to_owned(),
        Some(class) => class.to_string().replace('_', " "),
    }
}

fn pass_misses(misses: &[GraphPlace], terminal: &Terminal) -> Vec<String> {
    if misses.is_empty() {
        return vec![];
    }
    let names = named(&misses.iter().collect::<Vec<_>>());
    terminal.wrap(&format!("unchanged graphs, {}: {names}", misses.len()), "")
}

fn unmeasured(summary: &Summary, terminal: &Terminal) -> Vec<String> {
    let mut lines = vec![];
    let PartScores { graphs, scored, .. } = summary.all;
    if graphs > scored {
        let share = 100.0 * (graphs - scored) as f64 / graphs as f64;
        let text =
            format!("not measured, {} of {graphs} graphs ({share:.1}%): they are not in the score", graphs - scored);
        lines.extend(terminal.painted(Tone::Warn, &text, ""));
    }
    for reason in summary.unmeasured.iter().take(SHOWN) {
        let text = format!("{}: {} ({})", reason.graphs, one_line(&reason.message, 300), one_line(&reason.stage, 20));
        lines.extend(terminal.wrap(&text, "  "));
    }
    if summary.unmeasured.len() > SHOWN {
        lines.push(format!("  and {} other reasons, see --json", summary.unmeasured.len() - SHOWN));
    }
    for (sample, failure) in summary.lost.iter().take(SHOWN) {
        let text = format!("no graph of {} is known: {}", one_line(sample, 80), one_line(&failure.message, 300));
        lines.extend(terminal.painted(Tone::Warn, &text, ""));
    }
    lines
}

/// The first of some places, and how many there are besides.
pub fn named(places: &[&GraphPlace]) -> String {
    let mut names: Vec<String> = places.iter().take(SHOWN).map(|place| name(place)).collect();
    if places.len() > SHOWN {
        names.push(format!("and {} more, see --json", places.len() - SHOWN));
    }
    names.join(", ")
}

/// A sample and a graph of it.
pub fn name(place: &GraphPlace) -> String {
    one_line(&place.to_string(), 200)
}

/// Share of the scored graphs that are right.
pub fn share(part: &PartScores) -> String {
    if part.scored == 0 { "-".to_owned() } else { format!("{:.0}%", 100.0 * part.right_share()) }
}

/// A score in a table.
pub fn short(score: Option<f64>) -> String {
    score.map_or("-".to_owned(), |score| rounded(score, 2))
}

/// A number with so many digits after the point, and at least two that say something.
pub fn rounded(value: f64, digits: usize) -> String {
    let before = if value > 0.0 && value.is_finite() { value.log10().floor() as i32 + 1 } else { 1 };
    let digits = digits.max(usize::try_from(2 - before).unwrap_or(0));
    format!("{value:.digits$}")
}

/// An interval in a table.
pub fn range(interval: Option<Interval>) -> String {
    interval.map_or("-".to_owned(), |Interval { low, high }| format!("{low:.2}-{high:.2}"))
}

/// An interval after a number.
pub fn bracketed(interval: Option<Interval>) -> String {
    interval.map_or(String::new(), |Interval { low, high }| format!(" [{low:.3}, {high:.3}]"))
}

/// How kernels are launched and who calls eager, where that is said: plugins by themselves are as they always were.
pub fn against(conditions: &Conditions) -> String {
    let launch = (conditions.launch == Launch::Graph).then(|| format!(", {}", conditions.launch));
    let eager = (conditions.eager == Eager::Python).then(|| format!(", against {}", conditions.eager));
    launch.into_iter().chain(eager).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_says_nothing_is_no_score() {
        let says = |low, high, verdict| {
            let interval = Interval { low, high };
            let [aggregate_score, aggregate_score_strict] = [interval; 2];
            let speedup = Estimate { speedup: 1.0, interval };
            let (submissions, resolution) = (1, 1.0);
            too_noisy(Some(&Confidence {
                aggregate_score,
                aggregate_score_strict,
                speedup,
                verdict,
                submissions,
                resolution,
            }))
        };
        let factor = |factor| Some(format!("no score: too noisy to say (AS within a factor of {factor})"));
        assert_eq!(says(0.0056, 4116.3, Verdict::Undecided), factor("857"));
        assert_eq!(says(0.3, 3.2, Verdict::Undecided), factor("3.3"));
        assert_eq!(says(0.34, 3.0, Verdict::Undecided), None);
        assert_eq!(says(2.0, 100.0, Verdict::Faster), None);
    }
}
