//! What holds scores back: the right graphs with the lowest speedups, and what their rewrites leave to the library.

use super::{NAME, graph_name, named};
use crate::{Cell, Column, Markup, Table, html, number, untrusted};
use passhost_report::{
    CALL_US, Clock, Contest, ContestEntrant, GraphTime, Headroom, KERNEL_US, MeanSpeedup, RightGraph,
};

/// Graphs of a plugin that are shown.
const SHOWN: usize = 10;

pub(super) fn headroom(contest: &Contest<'_>, position: usize) -> Markup {
    let plugins = contest.contenders.iter().enumerate().filter(|(_, one)| !one.is_baseline);
    let shown: Vec<(usize, &ContestEntrant)> = plugins.filter(|(_, one)| !one.headroom.graphs.is_empty()).collect();
    let Some((_, first)) = shown.first() else {
        let has_plugins = contest.contenders.iter().any(|one| !one.is_baseline);
        return html! {
            p { @if has_plugins { "No plugin has a graph right." } @else { "There is no plugin here, and baselines have no rewrites." } }
        };
    };
    html! {
        p {
            "The right graphs with the lowest speedups, of those that all were tried on. "
            @if first.headroom.graphs.iter().any(|graph| graph.at_reference.is_some()) {
                "Beside what each takes stands its reference: "
                @match first.headroom.clock {
                    Clock::Wall => { (CALL_US) " µs + bytes / bandwidth by wall clock, which is no bound." },
                    Clock::Device => {
                        "the device's floor, " (KERNEL_US) " µs + bytes / bandwidth. Programs are captured here, so that times and \
                         what stands beside them are the device's own."
                    },
                }
                " What is calculated costs nothing in it. "
            }
            "Calls of the library are what is neither a kernel nor a view in the rewrite."
        }
        div.side {
            @for (at, one) in shown {
                div { (left_to_the_library(at, one)) (slowest(contest, at, one, position)) }
            }
        }
    }
}

/// How many graphs leave calls to the library, and how fast these are beside the others.
fn left_to_the_library(at: usize, one: &ContestEntrant) -> Markup {
    let Headroom { graphs, with_calls, without_calls, .. } = &one.headroom;
    let known: usize = [with_calls, without_calls].into_iter().flatten().map(|mean| mean.graphs).sum();
    let mean = |of: &Option<MeanSpeedup>, what: &str| {
        of.map(|mean| {
            let times = number::score(mean.speedup);
            html! { (number::counted(mean.graphs, "right graph")) " with " (what) ": " (times) " times as fast in the geometric mean. " }
        })
    };
    html! {
        p {
            (named(at, one)) ": "
            @if known == 0 { "what it leaves to the library is not recorded." } @else {
                (mean(with_calls, "calls of the library").unwrap_or_default())
                (mean(without_calls, "no call of the library").unwrap_or_default())
                @if known < graphs.len() { "Of " (number::counted(graphs.len() - known, "right graph")) " it is not recorded." }
            }
        }
    }
}

fn slowest(contest: &Contest<'_>, at: usize, one: &ContestEntrant, position: usize) -> Markup {
    let of_device = one.headroom.clock == Clock::Device;
    let of_sample = |sample: &str| contest.rows.iter().filter(|row| row.place.sample == sample).count();
    let caption = html! { "Right graphs of " (named(at, one)) " with the lowest speedups" };
    let graphs = one.headroom.graphs.iter().take(SHOWN);
    Table::of(format!("slowest-{position}-{at}"), caption, graphs, |graph: &RightGraph| {
        let speedup = |timed: Option<GraphTime>| Cell::maybe(timed.map(|timed| timed.speedup), number::score);
        let us = |timed: Option<GraphTime>| Cell::maybe(timed.map(|timed| timed.us), number::microseconds);
        let eager = graph.measured.map(|timed| timed.us * timed.speedup);
        let calls = graph.library_calls_text().unwrap_or_else(|| number::NONE.to_owned());
        let name = graph_name(&graph.place, of_sample(&graph.place.sample) == 1);
        let mut cells = vec![
            (Column::text("graph"), Cell::name(name)),
            (Column::number("× eager"), Cell::of(graph.speedup, number::score)),
        ];
        if of_device {
            cells.push((Column::measured("× eager", "device time"), speedup(graph.measured)));
        }
        cells.extend([
            (Column::measured("eager", "µs"), Cell::maybe(eager, number::microseconds)),
            (Column::measured("takes", "µs"), us(graph.measured)),
            (Column::number("× eager at the reference"), speedup(graph.at_reference)),
            (Column::measured("reference", "µs"), us(graph.at_reference)),
            (Column::text("calls of the library"), Cell::text(untrusted(&calls, NAME))),
        ]);
        cells
    })
    .markup()
}
