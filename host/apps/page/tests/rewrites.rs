//! Graphs before and after: what becomes of nodes is said, and no graph stands on the page twice.

use passhost_made_documents::{document, right};
use passhost_page::report::{Origin, report};
use passhost_report::{Apart, GraphFilter, Sourced, contests, entries};
use passhost_result::document::{Document, Graphs, Launch};
use std::fmt::Write;

/// The markup of the section.
fn section_of(documents: Vec<Document>) -> String {
    let documents: Vec<Sourced> = documents.into_iter().map(|document| Sourced::new("one.json", document)).collect();
    let entries = entries(&documents, Apart::Plugins, &GraphFilter::default());
    let page = report(&contests(&entries), &Origin { version: "0".into(), files: vec![] });
    let section = page.sections.into_iter().find(|section| section.id == "rewrites");
    section.map(|section| section.body.into_string()).unwrap_or_default()
}

/// A chain of so many nodes, of which the last is replaced by another op.
fn graphs(nodes: usize) -> Graphs {
    let text = |last: &str| {
        let mut text = "graph(%t0: f32[8]) {\n".to_owned();
        for at in 1..=nodes {
            let (id, op) = if at == nodes { (if last == "relu" { at } else { at + 1 }, last) } else { (at, "exp") };
            let _ = writeln!(text, "  #{id} %t{at}: f32[8] = aten::{op}(%t{})", at - 1);
        }
        let _ = write!(text, "  return (%t{nodes})\n}}");
        text
    };
    Graphs { before: text("relu"), after: text("abs") }
}

fn made(sample: &str, launch: Launch, graphs: Option<Graphs>) -> Document {
    let mut variant = right("x", 2.0);
    if let Some(rewrite) = &mut variant.rewrite {
        rewrite.graphs = graphs;
    }
    let mut made = document("one", sample, vec![variant]);
    made.limits.measurement.launch = launch;
    made
}

#[test]
fn the_same_graphs_of_two_results_stand_once() {
    let both = [Launch::Stream, Launch::Graph].map(|launch| made("s", launch, Some(graphs(3))));
    let section = section_of(both.to_vec());
    assert_eq!(section.matches("<code><bdi>#3 %t3: f32[8] = aten::relu(%t2)</bdi></code>").count(), 1, "{section}");
    assert_eq!(section.matches(": the same as above.").count(), 1, "{section}");
    assert!(section.contains("3 nodes to 3 calls") && section.contains(">gone<"), "{section}");
}

#[test]
fn graphs_that_have_no_room_are_counted_and_those_that_are_not_there_said() {
    let long = (0..60).map(|at| made(&format!("s{at}"), Launch::Stream, Some(graphs(300 + at))));
    let section = section_of(long.collect());
    assert!(section.len() < 3 << 20, "{} bytes", section.len());
    assert!(section.contains("more are left out to keep the page small"), "{}", &section[..600]);
    assert!(section_of(vec![made("s", Launch::Stream, None)]).contains("Not recorded"));
}
