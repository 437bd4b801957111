//! What passes said, what was found, and what was not measured.

use super::{NAME, SENTENCE, named, remarks};
use crate::{Cell, Column, Markup, Table, html, number, untrusted};
use passhost_report::{Contest, ContestEntrant, GraphPlace, Missing, Saying};

/// Sayings that are shown of an entrant, and graphs that are named.
const SHOWN: usize = 40;
const NAMED: usize = 5;

pub(super) fn refused(contest: &Contest<'_>, position: usize) -> Markup {
    let said = |contender: &ContestEntrant| !contender.refusals.is_empty() || !contender.log.is_empty();
    html! {
        p { "In the words of the plugins, which nobody checked. What differs only in its numbers stands once." }
        @for (at, contender) in contest.contenders.iter().enumerate().filter(|(_, one)| !one.is_baseline) {
            @if said(contender) {
                (table(&id(position, "refusals", at), html! { (named(at, contender)) ": left alone, and why" }, &contender.refusals))
                @if !contender.log.is_empty() {
                    details {
                        summary { "The log of " (named(at, contender)) }
                        (table(&id(position, "log", at), html! { "Lines of its log" }, &contender.log))
                    }
                }
            } @else {
                p { (named(at, contender)) " logged nothing and gave no reason for what it left alone." }
            }
        }
        @if contest.contenders.iter().all(|one| one.is_baseline) { p { "Baselines are no plugins: they say nothing." } }
    }
}

pub(super) fn findings(contest: &Contest<'_>, position: usize) -> Markup {
    html! {
        p { "All graphs of each, whether others have them or not. What was found in the same words stands once, with the numbers of "
            "the first graph. By the words in red " a href="#graphs" { "every graph" } " can be filtered." }
        @for (at, contender) in contest.contenders.iter().enumerate() {
            p { (named(at, contender)) ": " (ends(contender)) }
            (table(&id(position, "findings", at), html! { "What was found of " (named(at, contender)) }, &contender.findings))
        }
    }
}

/// How many graphs ended in which way, in plain words.
fn ends(contender: &ContestEntrant) -> Markup {
    let graphs = contender.summary.all.graphs;
    let bad: Vec<(&String, &usize)> = contender.summary.ends.iter().filter(|(end, _)| *end != "right").collect();
    html! {
        @if bad.is_empty() { "each of " (number::counted(graphs, "graph")) " is right, and no check found anything." }
        @for (at, (end, count)) in bad.iter().enumerate() {
            @if at > 0 { "; " }
            (count) " of " (number::counted(graphs, "graph")) " " span.bad { (end.replace("pass miss", "unchanged")) } ", " (plain(end))
        }
        @if !bad.is_empty() { "." }
    }
}

/// An end as who knows none of the classes would say it.
fn plain(end: &str) -> &str {
    match end {
        "accuracy" => "its values differ from eager's by more than the default tolerance",
        "type mismatch" => "an output has another element type than eager's",
        "shape mismatch" => "an output has another shape than eager's",
        "nan inf" => "it makes NaN or infinity where eager does not",
        "runtime" => "the rewrite failed while it ran",
        "compile" => "there is no rewrite that may run: the plugin failed, or its graph was refused",
        "reference" => "the sample cannot be judged, whatever a pass returns",
        "pass miss" => "the pass changed nothing that counts",
        "integrity" => {
            "a check found what an honest and exact rewrite does not do; it counts as failed however fast it is"
        }
        "shape overfit" => "it is right in the sizes that the sample has, and not in others",
        "right, but on edge-case inputs" => "it is wrong on inputs such as zeros or infinities that eager is right on",
        "not measured" => "the host or the machine is to blame, and it does not count",
        other => other,
    }
}

/// A table's own id: that of an entrant in a contest.
fn id(position: usize, what: &str, at: usize) -> String {
    format!("{what}-{position}-{at}")
}

fn table(id: &str, caption: Markup, sayings: &[Saying]) -> Markup {
    if sayings.is_empty() {
        return html! {};
    }
    let count = |count: usize| Cell::of(count as f64, |count| number::grouped(count as u64));
    let left_out = sayings.len().saturating_sub(SHOWN);
    let caption = html! { (caption) @if left_out > 0 { "; " (left_out) " more, see " code { "--json" } } };
    let row = |saying: &Saying| {
        let place = html! { span.muted { (untrusted(&saying.place.to_string(), NAME)) } };
        vec![
            (Column::text("what"), Cell::name(untrusted(&saying.text, SENTENCE))),
            (Column::number("graphs"), count(saying.graphs)),
            (Column::number("times"), count(saying.times)),
            (Column::text("first of them"), Cell::text(place)),
        ]
    };
    Table::of(id, caption, sayings.iter().take(SHOWN), row).markup()
}

pub(super) fn unmeasured(contest: &Contest<'_>, position: usize) -> Markup {
    let comparison = contest.comparison.as_ref();
    let nothing = contest.contenders.iter().all(|one| one.summary.unmeasured.is_empty() && one.summary.lost.is_empty());
    let all_shared = comparison
        .is_none_or(|found| found.missing.is_empty() && found.unmeasured.is_empty() && found.unwinnable.is_empty());
    html! {
        @if nothing && all_shared { p { "Every graph was measured for every plugin." } }
        ul {
            @for (at, contender) in contest.contenders.iter().enumerate() {
                @for reason in &contender.summary.unmeasured {
                    li { (named(at, contender)) ": " (number::counted(reason.graphs, "graph")) ", " (untrusted(&reason.message, SENTENCE)) }
                }
                @for (sample, failure) in contender.summary.lost.iter().take(NAMED) {
                    li { (named(at, contender)) ": no graph of " (untrusted(sample, NAME)) " is known, " (untrusted(&failure.message, SENTENCE)) }
                }
            }
            @if let Some(found) = comparison {
                (left_out("graphs that not all have, and that are in no comparison", &found.missing, contest))
                (left_out("graphs that were not measured for all", &found.unmeasured, contest))
                @if !found.unwinnable.is_empty() {
                    li { (number::counted(found.unwinnable.len(), "graph")) " whose samples cannot be judged, whatever plugin is tried: "
                        (places(&found.unwinnable.iter().collect::<Vec<_>>())) }
                }
            }
        }
        @for remark in remarks(contest) { p { (untrusted(remark, 2 * SENTENCE)) "." } }
        (notes(contest, position))
    }
}

fn left_out(what: &str, graphs: &[Missing], contest: &Contest<'_>) -> Markup {
    let lacking =
        |at: usize| graphs.iter().filter(move |missing| missing.lacking.contains(&at)).map(|missing| &missing.place);
    html! {
        @if !graphs.is_empty() {
            li {
                (what) ": " (number::grouped(graphs.len() as u64))
                ul {
                    @for (at, contender) in contest.contenders.iter().enumerate() {
                        @let lacked: Vec<&GraphPlace> = lacking(at).collect();
                        @if !lacked.is_empty() { li { (named(at, contender)) " lacks " (lacked.len()) ": " (places(&lacked)) } }
                    }
                }
            }
        }
    }
}

fn places(places: &[&GraphPlace]) -> Markup {
    html! {
        @for (at, place) in places.iter().take(NAMED).enumerate() {
            @if at > 0 { ", " } (untrusted(&place.to_string(), NAME))
        }
        @if places.len() > NAMED { ", and " (places.len() - NAMED) " more" }
    }
}

fn notes(contest: &Contest<'_>, position: usize) -> Markup {
    html! {
        @for (at, contender) in contest.contenders.iter().enumerate().filter(|(_, one)| !one.notes.is_empty()) {
            details {
                summary { "What could not be checked of " (named(at, contender)) ", and other remarks" }
                (table(&id(position, "notes", at), html! { "Remarks" }, &contender.notes))
            }
        }
    }
}
