//! The page of a batch: which plugin is best, by how much, and why.

mod breakdown;
mod graphs;
mod headroom;
mod light;
mod reading;
mod rewrites;
mod said;
mod scores;
mod verdict;

use crate::{Markup, Page, Section, Series, html, untrusted};
use passhost_report::{Contest, ContestEntrant, GraphPlace, headline_name};
use passhost_result::document::Launch;
use passhost_result::untrusted::one_line;
pub use reading::in_short;

/// Characters of a name.
const NAME: usize = 60;
/// Characters of a sentence.
const SENTENCE: usize = 400;

/// Where a page comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Version of passhost that made it.
    pub version: String,
    /// Files that it is made of.
    pub files: Vec<String>,
}

/// The page of some results.
pub fn report(contests: &[Contest<'_>], origin: &Origin) -> Page {
    let each = |of: &dyn Fn(&Contest<'_>, usize) -> Markup| of_each(contests, of);
    Page {
        title: "Which pass is fastest, and right".to_owned(),
        lead: html! {
            @for contest in contests {
                @if contests.len() > 1 { p.muted { (conditions(contest)) } }
                (verdict::verdict(contest))
            }
            @if let Some(first) = contests.first() {
                p.muted {
                    (in_short(headline(first), first.conditions.options.b)) "Brackets hold 95% intervals. "
                    a href="#reading" { "How to read this page" } " explains the other words."
                }
            }
        },
        sections: [
            Section::new("reading", "How to read this page", reading::reading(contests)),
            Section::new("scores", "Scores", each(&scores::scores)),
            Section::new("samples", "Sample by sample", each(&breakdown::samples)),
            Section::new("tolerance", "Speed at each tolerance, ES(t)", each(&scores::by_tolerance)),
            Section::new("distribution", "Distribution of speedups", each(&scores::distribution)),
            Section::new("light", "Speed of light", each(&light::light)),
            Section::new("headroom", "What holds scores back", each(&headroom::headroom)),
            Section::new("breakdown", "By list, element type, size and op", each(&breakdown::breakdowns)),
            Section::new("graphs", "Every graph", each(&graphs::graphs)),
            Section::new("rewrites", "Graphs before and after", rewrites::rewrites(contests)),
            Section::new("refused", "Refused fusions, and what passes said", each(&said::refused)),
            Section::new("findings", "Why graphs do not count", each(&said::findings)),
            Section::new("unmeasured", "What was not measured", each(&said::unmeasured)),
        ]
        .into_iter()
        .filter(|section| !section.body.0.is_empty())
        .collect(),
        footer: reading::origin(contests, origin),
    }
}

/// What is said of each contest, under its name if there are several; nothing where nothing is said of any.
fn of_each(contests: &[Contest<'_>], of: &dyn Fn(&Contest<'_>, usize) -> Markup) -> Markup {
    html! {
        @for (at, contest) in contests.iter().enumerate() {
            @let said = of(contest, at);
            @if contests.len() > 1 && !said.0.is_empty() { h3 { (conditions(contest)) } }
            (said)
        }
    }
}

/// What tells a contest from others, in words.
fn conditions(contest: &Contest<'_>) -> Markup {
    let conditions = &contest.conditions;
    let device = conditions.device.as_deref().unwrap_or("no device");
    let only = match contest.contenders.as_slice() {
        [one] => format!(": {}", one_line(&one.summary.entrant.name, NAME)),
        _ => String::new(),
    };
    html! {
        (device) ", policy " (untrusted(&conditions.policy, NAME)) ", " (conditions.launch.to_string())
        @if conditions.quick { ", quick" }
        (only)
    }
}

/// What is remarked of all results together.
fn remarks<'c>(contest: &'c Contest<'_>) -> &'c [String] {
    let alone = contest.contenders.first().map_or(&[][..], |one| &one.summary.remarks);
    contest.comparison.as_ref().map_or(alone, |all| &all.remarks)
}

/// Whether programs were captured in CUDA graphs, of whose launch nobody knows the least time.
fn is_captured(contest: &Contest<'_>) -> bool {
    contest.conditions.launch == Launch::Graph
}

/// The score that counts, by its name.
fn headline(contest: &Contest<'_>) -> &'static str {
    headline_name(contest.conditions.headline)
}

/// A graph, by its sample alone where it is the only one of it.
fn graph_name(place: &GraphPlace, is_only: bool) -> Markup {
    html! { (untrusted(&place.sample, NAME)) @if !is_only { " " span.muted { (untrusted(&place.short, NAME)) } } }
}

/// An entrant's number and name.
fn named(at: usize, contender: &ContestEntrant) -> Markup {
    html! { (Series(at).badge()) " " (untrusted(&contender.summary.entrant.name, NAME)) @if contender.is_baseline { " " span.muted { "(baseline)" } } }
}

/// All entrants with their numbers, beside a figure.
fn legend(contest: &Contest<'_>) -> Markup {
    html! { @for (at, contender) in contest.contenders.iter().enumerate() { span { (named(at, contender)) } } }
}
