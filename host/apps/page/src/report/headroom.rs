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
            "The right graphs with the lowest speedups, of those that all were tried on. Beside what each takes stands its reference: "
            @match first.headroom.clock {
                Clock::Wall => { (CALL_US) " µs + bytes / bandwidth by wall clock, which is no bound." },
                Clock::Device => {
                    "the device's floor, " (KERNEL_US) " µs + bytes / bandwidth. Programs are captured here, so that times and what \
                     stands beside them are the device's own."
                },
            }
            " What is calculated costs nothing in it. Calls of the library are what is neither a kernel nor a view in the rewrite."
        }
        @for (at, one) in shown {
            (left_to_the_library(at, one))
            (slowest(contest, at, one, position))
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
                (mean(without_calls, "none").unwrap_or_default())
                @if known < graphs.len() { "Of " (number::counted(graphs.len() - known, "right graph")) " it is not recorded." }
            }
        }
    }
}

fn slowest(contest: &Contest<'_>, at: usize, one: &ContestEntrant, position: usize) -> Markup {
    let of_device = one.headroom.clock == Clock::Device;
    let mut columns = vec![Column::text("graph"), Column::number("× eager")];
    if of_device {
        columns.push(Column::measured("× eager", "device time"));
    }
    columns.extend([
        Column::measured("takes", "µs"),
        Column::number("× eager at the reference"),
        Column::measured("reference", "µs"),
        Column::text("calls of the library"),
    ]);
    let of_sample = |sample: &str| contest.rows.iter().filter(|row| row.place.sample == sample).count();
    let is_only = |graph: &RightGraph| of_sample(&graph.place.sample) == 1;
    Table::new(
        format!("slowest-{position}-{at}"),
        html! { "Right graphs of " (named(at, one)) " with the lowest speedups" },
        columns,
        one.headroom.graphs.iter().take(SHOWN).map(|graph| row(graph, of_device, is_only(graph))).collect(),
    )
    .markup()
}

fn row(graph: &RightGraph, of_device: bool, is_only: bool) -> Vec<Cell> {
    let speedup = |timed: Option<GraphTime>| Cell::maybe(timed.map(|timed| timed.speedup), number::score);
    let us = |timed: Option<GraphTime>| Cell::maybe(timed.map(|timed| timed.us), number::microseconds);
    let mut cells = vec![Cell::name(graph_name(&graph.place, is_only)), Cell::of(graph.speedup, number::score)];
    if of_device {
        cells.push(speedup(graph.measured));
    }
    let calls = graph.library_calls_text().unwrap_or_else(|| number::NONE.to_owned());
    cells.extend([
        us(graph.measured),
        speedup(graph.at_reference),
        us(graph.at_reference),
        Cell::text(html! { (untrusted(&calls, NAME)) }),
    ]);
    cells
}
