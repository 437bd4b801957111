//! What holds AS back, of documents that are made by hand: which right graphs, what their reference is, and what they leave to
//! the library.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_ir::{DeviceFacts, DeviceKind};
use passhost_made_documents::{baseline, compared, document, failed, missed, right, unmeasured};
use passhost_report::{
    Apart, Clock, GraphFilter, GraphTime, Headroom, RightGraph, Sourced, contests, entries, summarise,
};
use passhost_result::document::{Document, Graphs, Launch, Variant};
use passhost_score::FailureClass;

/// A graph whose rewrite makes these calls, a line each, of which the last gives `%y`.
fn with_calls(mut variant: Variant, calls: &[&str]) -> Variant {
    let graph = |lines: &str| format!("graph(%x: f32[8,8], %w: f32[8,8]) {{\n{lines}  return (%y)\n}}");
    let lines: String = calls.iter().enumerate().map(|(at, call)| format!("  #{} {call}\n", at + 1)).collect();
    let before = graph("  #0 %y: f32[8,8] = aten::relu(%x)\n");
    variant.rewrite.as_mut().unwrap().graphs = Some(Graphs { before, after: graph(&lines) });
    variant
}

/// Kernels and views alone.
fn without_calls(variant: Variant) -> Variant {
    with_calls(variant, &["%y: f32[8,8]{1,8} = aten::t(%x)"])
}

fn one_call(variant: Variant) -> Variant {
    with_calls(variant, &["%y: f32[8,8] = aten::mm(%x, %w)"])
}

/// As if it were measured on a GPU that moves a byte in a picosecond.
fn on_gpu(mut document: Document) -> Document {
    let facts = &mut document.job.device.as_mut().unwrap().facts;
    *facts = DeviceFacts { kind: DeviceKind::Cuda, bandwidth: 1_000_000_000_000, ..*facts };
    document
}

fn sourced(documents: Vec<Document>) -> Vec<Sourced> {
    documents.into_iter().map(|document| Sourced::new("one.json", document)).collect()
}

fn headroom_of(document: Document) -> Headroom {
    let documents = sourced(vec![document]);
    summarise(&entries(&documents, Apart::Plugins, &GraphFilter::default())[0]).headroom
}

fn names(headroom: &Headroom) -> Vec<&str> {
    headroom.graphs.iter().map(|graph| graph.place.variant.as_str()).collect()
}

fn is_near(found: Option<GraphTime>, us: f64, speedup: f64) -> bool {
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-3;
    found.is_some_and(|found| near(found.us, us) && near(found.speedup, speedup))
}

#[test]
fn right_graphs_stand_by_their_speedups_and_others_not_at_all() {
    let variants = vec![
        right("fast", 4.0),
        right("slow", 0.5),
        compared("wrong", 0.1, Some(-3)),
        missed("missed"),
        failed("broken", FailureClass::Runtime),
        unmeasured("busy", "busy"),
        right("as fast", 1.0),
    ];
    assert_eq!(names(&headroom_of(document("a", "s", variants))), ["slow", "as fast", "fast"]);
}

#[test]
fn the_reference_of_a_graph_is_its_time_with_a_launch_and_its_bytes() {
    // Eager takes 1,200 us by wall clock; 291.5 MB take as many us.
    let sized = Variant { bytes: Some(291_500_000), ..right("x", 2.0) };
    let old = Variant { bytes: None, ..right("y", 3.0) };
    let found = headroom_of(on_gpu(document("a", "s", vec![sized.clone(), old])));
    assert_eq!((found.clock, names(&found)), (Clock::Wall, vec!["x", "y"]));
    assert!(is_near(found.graphs[0].measured, 600.0, 2.0), "{found:?}");
    assert!(is_near(found.graphs[0].at_reference, 300.0, 4.0), "{found:?}");
    assert_eq!(found.graphs[1].at_reference, None, "without bytes");
    let on_cpu = headroom_of(document("a", "s", vec![sized]));
    assert_eq!(on_cpu.graphs[0].at_reference, None, "nothing of the kind was measured on a CPU");
    assert!(is_near(on_cpu.graphs[0].measured, 600.0, 2.0), "{on_cpu:?}");
}

#[test]
fn captured_programs_are_held_against_the_floor_of_the_device_by_its_own_time() {
    // By the device's time it is half as fast as by wall clock.
    let sized = Variant { bytes: Some(298_200_000), ..right("x", 4.0) };
    let mut unknown = right("y", 5.0);
    unknown.timing.as_mut().unwrap().processes.iter_mut().for_each(|process| process.device = None);
    let mut captured = on_gpu(document("a", "s", vec![sized, unknown]));
    captured.limits.measurement.launch = Launch::Graph;
    let found = headroom_of(captured);
    assert_eq!(found.clock, Clock::Device);
    let RightGraph { speedup, measured, at_reference, .. } = &found.graphs[0];
    assert!((speedup / 4.0 - 1.0).abs() < 1e-3, "as it is scored: {speedup}");
    assert!(is_near(*measured, 600.0, 2.0) && is_near(*at_reference, 300.0, 4.0), "{found:?}");
    assert_eq!((found.graphs[1].measured, found.graphs[1].at_reference), (None, None));
}

#[test]
fn graphs_that_leave_calls_to_the_library_are_told_from_those_that_do_not() {
    let two = ["%a: f32[8,8] = aten::mm(%x, %w)", "%b: f32[8,8] = aten::relu(%a)", "%y: f32[8,8] = aten::mm(%b, %w)"];
    let variants = vec![
        with_calls(right("three", 1.0), &two),
        one_call(right("one", 4.0)),
        without_calls(right("none", 9.0)),
        right("unknown", 100.0),
        one_call(compared("wrong", 50.0, None)),
    ];
    let found = headroom_of(document("a", "s", variants));
    let texts: Vec<Option<String>> = found.graphs.iter().map(RightGraph::library_calls_text).collect();
    assert_eq!(texts, [Some("2 mm, relu"), Some("mm"), Some("none"), None].map(|text| text.map(str::to_owned)));
    assert_eq!(found.graphs[0].library_calls.as_ref().unwrap(), &["mm", "relu", "mm"]);
    let (with, without) = (found.with_calls.unwrap(), found.without_calls.unwrap());
    assert_eq!((with.graphs, without.graphs), (2, 1));
    assert!((with.speedup - 2.0).abs() < 1e-2 && (without.speedup - 9.0).abs() < 1e-2, "{found:?}");
    let nothing_known = headroom_of(document("a", "s", vec![right("x", 2.0)]));
    assert_eq!((nothing_known.with_calls, nothing_known.without_calls), (None, None));
}

#[test]
fn the_page_has_speedups_against_the_eager_that_all_are_held_against() {
    let plugin = document("one", "s", vec![one_call(right("x", 2.0)), right("alone", 1.0)]);
    let method = baseline("eager", Launch::Stream, "s", vec![right("x", 1.0)], 3.0);
    let documents = sourced(vec![on_gpu(plugin), on_gpu(method)]);
    let contests = contests(&entries(&documents, Apart::Plugins, &GraphFilter::default()));
    let first = &contests[0].contenders[0];
    let summary = &first.summary.headroom;
    assert_eq!((names(summary), names(&first.headroom)), (vec!["alone", "x"], vec!["x"]));
    assert!(is_near(summary.graphs[1].measured, 600.0, 2.0), "as it was measured: {summary:?}");
    assert!(is_near(first.headroom.graphs[0].measured, 600.0, 6.0), "{:?}", first.headroom);
}
