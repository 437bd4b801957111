//! What the pass makes of many graphs on an H200, without one: `passhost show SAMPLE | cargo run --example survey`.
//!
//! Reads graphs in the text form from standard input, whatever stands between them; or makes graphs of the size that is
//! given as the argument, of one kind if that is given too. Prints a line for each, with the time that the pass took here,
//! and at the end a row for the table in docs/results/h200.md, and why calls stayed. `scripts/coverage` does so for pieces of
//! GraphNet's models.

#[path = "../tests/sized/mod.rs"]
mod sized;

use autofuse::{Autofuse, H200};
use passhost_guest_sdk::ir::{Graph, Node, NodeKind, OpTable, is_pass_miss, live_nodes};
use passhost_guest_sdk::lower::Group;
use passhost_guest_sdk::testing::rewrite_for;
use passhost_guest_sdk::view;
use std::collections::BTreeMap;
use std::io::Read;
use std::time::Instant;

/// The head of the table that a row is printed of.
const HEAD: &str = "\
| graphs | unchanged | in one kernel at most | nodes | in kernels | products left to the library | other calls left | \
nodes in kernels | of those that are no such products |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |";

/// Products of matrices that are no lowering's.
const ATTENTION: [&str; 2] = ["aten::scaled_dot_product_attention", "aten::_native_multi_head_attention"];

#[derive(Default)]
struct Totals {
    graphs: usize,
    /// Graphs in which nothing was changed that counts.
    misses: usize,
    /// Graphs with one kernel at most.
    whole: usize,
    /// Calls that calculate or move elements.
    nodes: usize,
    /// Those of them that the rewrites still make: products, and others.
    kept: [usize; 2],
    reasons: BTreeMap<String, usize>,
}

fn main() -> anyhow::Result<()> {
    let mut totals = Totals::default();
    let kind = std::env::args().nth(2);
    let is_meant = |title: &str| kind.as_ref().is_none_or(|kind| kind == title);
    if let Some(size) = std::env::args().nth(1) {
        for (title, graph) in sized::all(size.parse()?)?.into_iter().filter(|(title, _)| is_meant(title)) {
            totals.add(title, graph)?;
        }
    } else {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        for (title, text) in graphs(&text) {
            totals.add(title, Graph::parse(&text)?)?;
        }
    }
    println!("{HEAD}\n{}", totals.row());
    let mut reasons: Vec<(&String, &usize)> = totals.reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (reason, count) in reasons {
        println!("{count:6} {reason}");
    }
    Ok(())
}

/// The graphs in a text, each with the line before it.
fn graphs(text: &str) -> Vec<(&str, String)> {
    let mut found = vec![];
    let mut title = "";
    let mut open: Option<String> = None;
    for line in text.lines() {
        if let Some(graph) = &mut open {
            graph.push_str(line);
            graph.push('\n');
            if line == "}" {
                found.extend(open.take().map(|graph| (title, graph)));
            }
        } else if line.starts_with("graph(") {
            open = Some(format!("{line}\n"));
        } else {
            title = line;
        }
    }
    found
}

/// The calls of a graph that something depends on and that calculate or move elements, as products and others. Views do
/// not, nor does what gives back what it is given.
fn calls(graph: &Graph) -> [usize; 2] {
    let products = Group::PRODUCTS.ops();
    let is_product = |name: &str| products.iter().any(|product| product == name) || ATTENTION.contains(&name);
    let is_view = |node: &Node| node.outputs.iter().all(|&output| view::step(graph, node, output).is_some());
    let mut found = [0; 2];
    for (node, is_live) in graph.nodes.iter().zip(live_nodes(graph)) {
        if let NodeKind::Aten { op, .. } = &node.kind
            && is_live
            && !is_view(node)
            && view::identity(graph, node).is_none()
        {
            found[usize::from(!is_product(&op.name))] += 1;
        }
    }
    found
}

impl Totals {
    fn add(&mut self, title: &str, graph: Graph) -> anyhow::Result<()> {
        let (nodes, started) = (calls(&graph).iter().sum::<usize>(), Instant::now());
        let (rewritten, refusals) = rewrite_for(&Autofuse, graph.clone(), &H200)?;
        let elapsed = started.elapsed();
        let kernels = rewritten.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Kernel { .. })).count();
        let kept = calls(&rewritten);
        println!(
            "{nodes:6} nodes -> {kernels:4} kernels, {:4} products, {:4} other calls  {:7.1} ms  {title}",
            kept[0],
            kept[1],
            elapsed.as_secs_f64() * 1e3
        );
        self.graphs += 1;
        self.misses += usize::from(is_pass_miss(&graph, &rewritten, OpTable::sample()));
        self.whole += usize::from(kernels <= 1);
        self.nodes += nodes;
        self.kept = [self.kept[0] + kept[0], self.kept[1] + kept[1]];
        for refusal in refusals {
            let count = if refusal.reason.starts_with("not one kernel") { 0 } else { refusal.nodes.len() };
            *self.reasons.entry(refusal.reason).or_default() += count;
        }
        Ok(())
    }

    fn row(&self) -> String {
        let Totals { graphs, misses, whole, nodes, kept: [products, others], .. } = self;
        let inside = nodes - products - others;
        let percent = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
        format!(
            "| {graphs} | {misses} ({:.1}%) | {whole} ({:.1}%) | {nodes} | {inside} | {products} | {others} | {:.1}% | {:.1}% |",
            percent(*misses, *graphs),
            percent(*whole, *graphs),
            percent(inside, *nodes),
            percent(inside, nodes - products)
        )
    }
}
