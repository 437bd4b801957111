//! What a reader who reads nothing else should know: who is best, by how much, whether that is decided, and why the others
//! fall behind.

use super::{NAME, SENTENCE, headline, named, remarks};
use crate::{Markup, html, number, untrusted};
use passhost_report::{AgainstFirst, ClockScores, Contest, ContestEntrant};
use passhost_score::{Interval, Ratio, Verdict};
use std::collections::BTreeMap;

pub(super) fn verdict(contest: &Contest<'_>) -> Markup {
    let [best, others @ ..] = contest.contenders.as_slice() else { return html! {} };
    html! {
        @for warning in warnings(contest) { p.bad { strong { (untrusted(warning, SENTENCE)) "." } } }
        @match (&best.shared.wall, others) {
            (None, _) => p {
                strong { "Nothing was measured" } " for " (untrusted(&best.summary.entrant.name, NAME)) ": there is no score."
            },
            (Some(wall), []) => { (alone(contest, best, wall)) },
            (Some(wall), _) => { (first_of_several(contest, best, wall)) },
        }
        @if let Some(apart) = &contest.apart {
            p.muted { "It is not compared with the others: " (untrusted(apart, SENTENCE)) "." }
        }
    }
}

/// That results were made on purpose in a way that says little: a reader knows it before any claim.
fn warnings<'c>(contest: &'c Contest<'_>) -> impl Iterator<Item = &'c String> {
    remarks(contest).iter().filter(|remark| remark.ends_with("not a result to rank"))
}

fn alone(contest: &Contest<'_>, only: &ContestEntrant, wall: &ClockScores) -> Markup {
    html! {
        p {
            strong { (untrusted(&only.summary.entrant.name, NAME)) " has " (score(contest, wall)) }
            (over(only, "measured", html! {}))
            (against_eager(contest, only, wall))
        }
    }
}

/// Over how many graphs a score is: of all that an entrant has, or those that were `measured`, where these are fewer.
fn over(one: &ContestEntrant, measured: &str, whole: Markup) -> Markup {
    let (shared, all) = (&one.shared, &one.summary.all);
    html! {
        " over "
        @if shared.graphs < all.graphs {
            (number::grouped(shared.graphs as u64)) " of its " (number::counted(all.graphs, "graph")) ", those " (measured)
            ", of " (number::counted(shared.samples, "sample")) ". "
        } @else {
            (number::counted(shared.graphs, "graph")) " of " (number::counted(shared.samples, "sample")) (whole) ". "
        }
    }
}

fn first_of_several(contest: &Contest<'_>, best: &ContestEntrant, wall: &ClockScores) -> Markup {
    let standings = contest.comparison.iter().flat_map(|comparison| &comparison.standings);
    let against: Vec<Option<&AgainstFirst>> = standings.map(|standing| standing.against_first.as_ref()).collect();
    let others = contest.contenders.iter().enumerate().skip(1);
    let held: Vec<(usize, &ContestEntrant, &AgainstFirst)> =
        others.filter_map(|(at, other)| Some((at, other, against.get(at).copied().flatten()?))).collect();
    let ratio = |against: &AgainstFirst| *against.headline(contest.conditions.headline);
    let is_worse = |against: &AgainstFirst| ratio(against).verdict == Verdict::Slower;
    let others_are_baselines = contest.contenders.iter().skip(1).all(|other| other.is_baseline);
    let is_best = held.iter().all(|(_, other, against)| other.is_baseline || is_worse(against));
    html! {
        p {
            strong {
                (untrusted(&best.summary.entrant.name, NAME))
                @if best.is_baseline {
                    " (a baseline) scores highest: "
                } @else if others_are_baselines {
                    " is the only plugin here: "
                } @else if is_best {
                    " is the best plugin: "
                } @else {
                    " scores highest of the plugins: "
                }
                (score(contest, wall))
            }
            (over(best, "measured for all", html! { " that all were tried on" }))
            @if let Some((at, other, against)) = held.first() { (lead_over(*at, other, &ratio(against))) " " }
            (against_eager(contest, best, wall))
        }
        ul {
            @for (at, other, against) in &held {
                li { (named(*at, other)) ": " (standing(contest, other, &ratio(against))) ": " (why(contest, *at, against)) ". " (counts(other, against)) }
            }
        }
    }
}

/// AS, or AS strict, with its interval.
fn score(contest: &Contest<'_>, wall: &ClockScores) -> Markup {
    let (value, interval) = wall.headline(contest.conditions.headline);
    html! { (headline(contest)) " " (number::score(value)) (bracketed(interval)) }
}

fn bracketed(interval: Option<Interval>) -> Markup {
    html! {
        @if let Some(Interval { low, high }) = interval { " " span.whole { "[" (number::interval(low, high)) "]" } }
    }
}

/// By how much the first leads the second, or the second the first: a baseline may be faster than any plugin.
fn lead_over(at: usize, other: &ContestEntrant, ratio: &Ratio) -> Markup {
    let inverse = ratio.interval.map(|Interval { low, high }| Interval { low: high.recip(), high: low.recip() });
    let times = |ratio: f64, interval| html! { (number::score(ratio)) " times as high" (bracketed(interval)) };
    html! {
        @match ratio.verdict {
            Verdict::Slower => { "It is ahead of " (named(at, other)) ", and that is decided: its score is " (times(ratio.ratio.recip(), inverse)) "." },
            Verdict::Faster => { (named(at, other)) " is ahead of it, and that is decided: the score is " (times(ratio.ratio, ratio.interval)) "." },
            _ => { "Whether it is ahead of " (named(at, other)) " is not decided: its score is " (times(ratio.ratio.recip(), inverse)) ", too uncertain for a verdict." },
        }
    }
}

fn against_eager(contest: &Contest<'_>, one: &ContestEntrant, wall: &ClockScores) -> Markup {
    let Some(confidence) = &wall.confidence else {
        let why = if one.shared.right == 0 {
            "No graph is right."
        } else {
            "Too few processes took times to say how certain that is."
        };
        return html! { (why) };
    };
    let what = contest.conditions.eager.to_string();
    let speedup = confidence.speedup;
    let times = html! { (number::score(speedup.speedup)) (bracketed(Some(speedup.interval))) };
    html! {
        @match confidence.verdict {
            Verdict::Faster => { "Where it ran it is " (times) " times as fast as " (what) ", which is decided." },
            Verdict::Slower => { "Where it ran it is slower than " (what) ", " (times) " times as fast, which is decided." },
            _ => { "Whether it is faster than " (what) " is not decided: " (times) " times as fast where it ran." },
        }
    }
}

fn standing(contest: &Contest<'_>, other: &ContestEntrant, ratio: &Ratio) -> Markup {
    let decided = if ratio.verdict == Verdict::Undecided { "not decided" } else { "decided" };
    html! {
        @if let Some(wall) = &other.shared.wall { (score(contest, wall)) ", " }
        (number::score(ratio.ratio)) " times the first's (" (decided) ")"
    }
}

/// On how many graphs by themselves an entrant is better or worse than the first, by intervals that say nothing of each other.
fn counts(other: &ContestEntrant, against: &AgainstFirst) -> Markup {
    let AgainstFirst { better, worse, .. } = against;
    let undecided = other.shared.graphs.saturating_sub(better + worse);
    html! { span.muted { "Graph by graph, by 95% intervals: better on " (better) ", worse on " (worse) ", undecided on " (undecided) "." } }
}

/// What an entrant loses by, compared with the first: graphs that do not count, and time on those that both have right.
fn why(contest: &Contest<'_>, at: usize, against: &AgainstFirst) -> Markup {
    let (own, first) = (ends(contest, at), ends(contest, 0));
    let graphs = contest.contenders[at].shared.graphs;
    let more = |(end, count): (&&str, &usize)| {
        let is_more = *count > first.get(end).copied().unwrap_or(0);
        is_more.then(|| html! { (does(end)) " " (count) " of " (graphs) })
    };
    let mut reasons: Vec<Markup> = own.iter().filter_map(more).collect();
    reasons.extend(against.speed.map(|speed| {
        let than = match speed.verdict {
            Verdict::Slower => "where both are right it is slower",
            Verdict::Faster => "where both are right it is faster",
            Verdict::Undecided => "where both are right times do not tell them apart",
        };
        html! { (than) ", " (number::score(speed.ratio)) " times as fast" (bracketed(speed.interval)) }
    }));
    if reasons.is_empty() {
        reasons.push(html! { "no graph is right with both" });
    }
    html! { @for (at, reason) in reasons.iter().enumerate() { @if at > 0 { ", " } (reason) } }
}

/// How many of the shared graphs ended in which way that does not count.
fn ends<'c>(contest: &'c Contest<'_>, at: usize) -> BTreeMap<&'c str, usize> {
    let mut ends = BTreeMap::new();
    let cells = contest.rows.iter().filter(|row| row.is_shared).filter_map(|row| row.cells[at].as_ref());
    // What is right is no reason.
    for cell in cells.filter(|cell| cell.end != "right") {
        *ends.entry(cell.end.as_str()).or_default() += 1;
    }
    ends
}

/// An end as something that an entrant does.
fn does(end: &str) -> &str {
    match end {
        "right, but on edge-case inputs" => "wrong on edge-case inputs on",
        "accuracy" => "wrong values on",
        "pass miss" => "changes nothing on",
        "integrity" => "refused by the integrity layer on",
        "compile" => "no valid rewrite of",
        "runtime" => "fails while it runs on",
        "nan inf" => "NaN or infinity on",
        "reference" => "the sample fails on",
        other => other,
    }
}
