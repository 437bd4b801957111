//! What the pass makes of many graphs on an H200, without one: `passhost show SAMPLE | cargo run --example survey`.
//!
//! Reads graphs in the text form from standard input, whatever stands between them; or makes graphs of the size that is
//! given as the argument, of one kind if that is given too. Prints a line for each, with the time that the pass took here, and at the end how many are left
//! whole, which share of the nodes became kernels, and why the others did not.

use autofuse::{Autofuse, H200};
use passhost_guest_sdk::ir::{Graph, NodeKind};
use passhost_guest_sdk::testing::{rewrite_for, sized};
use passhost_guest_sdk::view;
use std::collections::BTreeMap;
use std::io::Read;
use std::time::Instant;

#[derive(Default)]
struct Totals {
    graphs: usize,
    misses: usize,
    nodes: usize,
    kept: usize,
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
    println!("{} graphs, {} left whole", totals.graphs, totals.misses);
    println!("{} of {} nodes that are no views are in kernels", totals.nodes - totals.kept, totals.nodes);
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

impl Totals {
    fn add(&mut self, title: &str, graph: Graph) -> anyhow::Result<()> {
        let computes = |graph: &Graph| {
            let is_call = |node: &&passhost_guest_sdk::ir::Node| {
                matches!(node.kind, NodeKind::Aten { .. })
                    && node.outputs.iter().any(|&output| view::step(graph, node, output).is_none())
            };
            graph.nodes.iter().filter(is_call).count()
        };
        let (nodes, started) = (computes(&graph), Instant::now());
        let (rewritten, refusals) = rewrite_for(&Autofuse, graph, &H200)?;
        let elapsed = started.elapsed();
        let kernels = rewritten.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Kernel { .. })).count();
        let kept = computes(&rewritten);
        println!(
            "{nodes:6} nodes -> {kernels:4} kernels, {kept:4} calls  {:7.1} ms  {title}",
            elapsed.as_secs_f64() * 1e3
        );
        self.graphs += 1;
        self.misses += usize::from(kernels == 0);
        self.nodes += nodes;
        self.kept += kept;
        for refusal in refusals {
            let count = if refusal.reason.starts_with("not one kernel") { 0 } else { refusal.nodes.len() };
            *self.reasons.entry(refusal.reason).or_default() += count;
        }
        Ok(())
    }
}
