//! `aggregated_score.json` beside what the published scripts write.
//!
//! The numbers of `aggregated.json` are those that `calculate_es_scores` of GraphNet gave for a log of these graphs, and of
//! them the weighted mean of `aggregate_es_scores` of PassNet.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_made_documents::{compared, document, failed, missed, right};
use passhost_report::{Apart, GraphFilter, Sourced, aggregated, entries, summarise};
use passhost_result::ProcessTimes;
use passhost_result::document::Variant;
use passhost_score::FailureClass;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Fixture {
    graphs: Vec<Value>,
    es: BTreeMap<i8, f64>,
    aggregated: Value,
}

fn variant(at: usize, graph: &Value) -> Variant {
    let name = format!("graph {at}");
    if let Some(speedup) = graph["speedup"].as_f64() {
        let passes_at = serde_json::from_value(graph["passes_at"].clone()).unwrap();
        let mut variant = compared(&name, speedup, passes_at);
        variant.timing.iter_mut().flat_map(|timing| &mut timing.processes).for_each(|process| exact(process, speedup));
        return variant;
    }
    let class: FailureClass = serde_json::from_value(graph["failed"].clone()).unwrap();
    failed(&name, class)
}

/// Times so long that a nanosecond more or less is nothing.
fn exact(process: &mut ProcessTimes, speedup: f64) {
    let eager = 1e15;
    process.device = None;
    for block in &mut process.pairs {
        block.eager_ns.fill(eager as u64);
        block.other_ns.fill((eager / speedup).round() as u64);
    }
    for block in &mut process.control {
        block.eager_ns.fill(eager as u64);
        block.other_ns.fill(eager as u64);
    }
}

#[test]
fn fields_and_numbers_are_the_published_ones() {
    let fixture: Fixture = serde_json::from_str(include_str!("aggregated.json")).unwrap();
    let variants = fixture.graphs.iter().enumerate().map(|(at, graph)| variant(at, graph)).collect();
    let documents = [Sourced::new("one.json", document("a", "one", variants))];
    let all = summarise(&entries(&documents, Apart::Plugins, &GraphFilter::default())[0]).all;
    let es = &all.wall.as_ref().unwrap().es;
    assert_eq!(es.len(), fixture.es.len());
    for (t, expected) in &fixture.es {
        assert!((es[t] / expected - 1.0).abs() < 1e-12, "ES({t}): {} in place of {expected}", es[t]);
    }
    let found = json!(aggregated(&all, 7).unwrap());
    let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    assert_eq!(fields(&found), fields(&fixture.aggregated));
    assert_eq!(found["id"], fixture.aggregated["id"]);
    let (score, expected) = (found["score"].as_f64().unwrap(), fixture.aggregated["score"].as_f64().unwrap());
    assert!((score / expected - 1.0).abs() < 1e-12, "{score} in place of {expected}");
}

#[test]
fn graphs_are_counted_that_are_right_and_faster_than_p_times_eager() {
    let variants =
        vec![right("a", 4.0), right("b", 1.5), right("c", 0.5), missed("d"), failed("e", FailureClass::Accuracy)];
    let documents = [Sourced::new("one.json", document("a", "one", variants))];
    let fast = summarise(&entries(&documents, Apart::Plugins, &GraphFilter::default())[0]).all.fast;
    assert_eq!((fast.fast_0, fast.fast_1, fast.fast_2), (0.6, 0.4, 0.2));
    let right = fast.right.unwrap();
    assert!(right.graphs == 3 && (right.speedup / 3.0_f64.cbrt() - 1.0).abs() < 1e-5, "{fast:?}");
}
