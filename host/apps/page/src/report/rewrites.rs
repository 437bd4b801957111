//! Graphs before and after: which nodes became which kernel.

use super::{NAME, named, of_each};
use crate::{Cell, Column, Content, Markup, SERIES, Series, Table, html, number, untrusted, untrusted_lines};
use passhost_report::{Contest, ContestRow, Fusion, NodeFate, fusion};
use passhost_result::document::Graphs;
use std::cell::RefCell;
use std::collections::HashSet;

/// Bytes of markup that graphs may take, so that the page opens at once.
const ROOM: usize = 2 << 20;
/// Characters of a line of a graph, and lines of a node.
const LINE: usize = 240;
const LINES: usize = 80;

pub(super) fn rewrites(contests: &[Contest<'_>]) -> Markup {
    let shelf = RefCell::new(Shelf::default());
    let shown = of_each(contests, &|contest, at| {
        html! {
            @for (place, row) in one_a_sample(contest).enumerate() { (shelf.borrow_mut().block(contest, row, (at, place))) }
        }
    });
    let Shelf { known, left_out, .. } = shelf.into_inner();
    if known.is_empty() && left_out == 0 {
        return html! {
            p {
                "Not recorded: these documents were made before graphs were kept in them, or hold none of at most 32 KiB of text. "
                code { "passhost show SAMPLE --after PLUGIN --kernels" } " prints what a plugin makes of a sample."
            }
        };
    }
    html! {
        p {
            "One graph of each sample; its others differ in sizes and types. Nodes with the same K are one kernel. "
            em { "kept" } " nodes are called as before, " em { "gone" } " ones nobody needs any more."
            @if left_out > 0 {
                " " (number::counted(left_out, "graph")) " more are left out to keep the page small; "
                code { "passhost show SAMPLE --after PLUGIN" } " prints them."
            }
        }
        (shown)
    }
}

/// The first graph of each sample of which some text is recorded.
fn one_a_sample<'c, 'a>(contest: &'c Contest<'a>) -> impl Iterator<Item = &'c ContestRow<'a>> {
    let mut samples = HashSet::new();
    let has_text = |row: &&ContestRow<'_>| (0..row.cells.len()).any(|at| graphs(row, at).is_some());
    contest.rows.iter().filter(has_text).filter(move |row| samples.insert(row.sample_key))
}

fn graphs<'c>(row: &'c ContestRow<'_>, at: usize) -> Option<&'c Graphs> {
    row.cells[at].as_ref()?.variant.rewrite.as_ref()?.graphs.as_ref()
}

/// What is on the page already.
#[derive(Default)]
struct Shelf {
    known: HashSet<Vec<Option<(String, String)>>>,
    bytes: usize,
    left_out: usize,
}

impl Shelf {
    fn block(&mut self, contest: &Contest<'_>, row: &ContestRow<'_>, place: (usize, usize)) -> Markup {
        let texts = (0..row.cells.len()).map(|at| graphs(row, at).map(|one| (one.before.clone(), one.after.clone())));
        let texts: Vec<_> = texts.collect();
        if self.known.contains(&texts) {
            return html! { p { (untrusted(&row.place.to_string(), NAME)) ": the same as above." } };
        }
        let block = block(contest, row, place);
        if self.bytes + block.0.len() > ROOM {
            self.left_out += 1;
            return html! {};
        }
        self.bytes += block.0.len();
        self.known.insert(texts);
        block
    }
}

fn block(contest: &Contest<'_>, row: &ContestRow<'_>, (at, place): (usize, usize)) -> Markup {
    let read = |entrant: usize| Some((entrant, graphs(row, entrant)?));
    let recorded: Vec<(usize, &Graphs)> = (0..row.cells.len()).filter_map(read).collect();
    let fusions: Vec<(usize, Fusion)> =
        recorded.iter().filter_map(|(entrant, graphs)| Some((*entrant, fusion(graphs)?))).collect();
    html! {
        details.graphs {
            summary {
                (untrusted(&row.place.to_string(), 2 * NAME)) " "
                @for (entrant, fusion) in &fusions { (Series(*entrant).badge()) " " span.muted { (counts(fusion)) } " " }
            }
            @if let Some((_, first)) = fusions.first() {
                (before(first, &fusions, &format!("before-{at}-{place}")))
            } @else if let Some((_, graphs)) = recorded.first() {
                p { "These texts are no graphs that can be taken apart:" }
                (untrusted_lines(&graphs.before, LINES, LINE))
            }
            @for (entrant, fusion) in &fusions {
                @let contender = &contest.contenders[*entrant];
                p { "After " (named(*entrant, contender)) }
                (after(fusion))
            }
        }
    }
}

/// `5 nodes to 1 kernel, 2 calls`.
fn counts(fusion: &Fusion) -> String {
    let kernels = fusion.after.iter().filter(|(_, kernel)| kernel.is_some()).count();
    let calls = fusion.after.len() - kernels;
    let parts = [(kernels, "kernel"), (calls, "call")].into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, noun)| number::counted(count, noun)).collect();
    format!("{} to {}", number::counted(fusion.before.len(), "node"), parts.join(", "))
}

fn before(first: &Fusion, fusions: &[(usize, Fusion)], id: &str) -> Markup {
    let mut columns = vec![Column::text("node of the graph")];
    columns.extend(fusions.iter().map(|(entrant, _)| Column {
        heading: html! { (Series(*entrant).badge()) },
        unit: "became",
        content: Content::Words,
    }));
    let row = |(at, (text, _)): (usize, &(String, NodeFate))| {
        let fates =
            fusions.iter().map(|(_, fusion)| fusion.before.get(at).map_or_else(|| html! {}, |(_, it)| fate(it)));
        std::iter::once(Cell::name(html! { code { (untrusted(text, LINE)) } })).chain(fates.map(Cell::text)).collect()
    };
    let caption = html! { "Before: what became of each node" };
    let rows = first.before.iter().enumerate().map(row).collect();
    Table::new(id.to_owned(), caption, columns, rows).markup()
}

fn fate(fate: &NodeFate) -> Markup {
    match fate {
        NodeFate::Kept => html! { "kept" },
        NodeFate::Gone => html! { span.muted { "gone" } },
        NodeFate::Fused(kernels) => html! { @for kernel in kernels { (badge(*kernel)) " " } },
    }
}

/// A kernel by its number, in a colour of its own.
fn badge(kernel: usize) -> Markup {
    html! { span.badge.(Series(kernel % SERIES).class()) { "K" (kernel + 1) } }
}

fn after(fusion: &Fusion) -> Markup {
    if fusion.before.iter().map(|(text, _)| text).eq(fusion.after.iter().map(|(text, _)| text)) {
        return html! { p.muted { "The graph is as it was." } };
    }
    html! {
        ol.nodes {
            @for (text, kernel) in &fusion.after {
                @match kernel {
                    Some(kernel) => li.(Series(kernel % SERIES).class()) {
                        details {
                            summary { (badge(*kernel)) " " code { (untrusted(text.lines().next().unwrap_or(""), LINE)) } }
                            (untrusted_lines(text, LINES, LINE))
                        }
                    },
                    None => li { code { (untrusted(text, LINE)) } },
                }
            }
        }
    }
}
