//! What holds scores back: a table for each plugin, with what its rewrites leave to the library.

use passhost_ir::{DeviceFacts, DeviceKind};
use passhost_made_documents::{baseline, document, right};
use passhost_page::report::{Origin, report};
use passhost_report::{Apart, GraphFilter, Sourced, contests, entries};
use passhost_result::document::{Document, Graphs, Launch, Variant};

/// The words of the section; cells and paragraphs are a line each.
fn section_of(documents: Vec<Document>) -> String {
    let documents: Vec<Sourced> = documents.into_iter().map(|document| Sourced::new("one.json", document)).collect();
    let entries = entries(&documents, Apart::Plugins, &GraphFilter::default());
    let page = report(&contests(&entries), &Origin { version: "0".into(), files: vec![] });
    let section = page.sections.into_iter().find(|section| section.id == "headroom");
    let markup = section.map(|section| section.body.into_string()).unwrap_or_default();
    let mut text = String::new();
    for part in
        markup.replace("</td>", "|").replace("</th>", "|").replace("</tr>", "\n").replace("</p>", "\n").split('<')
    {
        text.push_str(part.split_once('>').map_or(part, |(_, words)| words));
    }
    text
}

fn on_gpu(launch: Launch, variants: Vec<Variant>) -> Document {
    let mut made = document("fuse", "attention", variants);
    made.limits.measurement.launch = launch;
    if let Some(device) = &mut made.job.device {
        device.facts = DeviceFacts { kind: DeviceKind::Cuda, bandwidth: 1_000_000_000_000, ..device.facts };
    }
    made
}

/// A graph of 291.5 MB whose rewrite calls the library once.
fn with_a_call(name: &str, speedup: f64) -> Variant {
    let text =
        |op: &str| format!("graph(%x: f32[8,8]) {{\n  #{} %y: f32[8,8] = aten::{op}\n  return (%y)\n}}", op.len());
    let mut variant = Variant { bytes: Some(291_500_000), ..right(name, speedup) };
    if let Some(rewrite) = &mut variant.rewrite {
        rewrite.graphs = Some(Graphs { before: text("relu(%x)"), after: text("mm(%x, %x)") });
    }
    variant
}

#[test]
fn slow_graphs_stand_with_their_reference_and_what_is_left_to_the_library() {
    let variants = || vec![right("fast", 8.0), with_a_call("slow", 2.0)];
    let section = section_of(vec![on_gpu(Launch::Stream, variants())]);
    for part in [
        "1 right graph with calls of the library: 2.00 times as fast in the geometric mean. Of 1 right graph it is not recorded.",
        "8.5 µs + bytes / bandwidth by wall clock",
        "attention slow|2.00|1\u{202f}200|600|4.00|300|mm|",
        "attention fast|8.00|1\u{202f}200|150|",
    ] {
        assert!(section.contains(part), "`{part}` in {section}");
    }
    assert!(section.find("attention slow") < section.find("attention fast"), "{section}");
    let captured = section_of(vec![on_gpu(Launch::Graph, variants())]);
    for part in [
        "1.8 µs + bytes / bandwidth. Programs are captured",
        "attention slow|2.00|1.00|1\u{202f}200|1\u{202f}200|4.09|293|mm|",
    ] {
        assert!(captured.contains(part), "`{part}` in {captured}");
    }
}

#[test]
fn ten_graphs_of_a_plugin_are_shown_and_none_of_a_baseline() {
    let names: Vec<String> = (0..12).map(|at| format!("g{at:02}")).collect();
    let variants = || names.iter().zip(1..).map(|(name, speedup)| right(name, f64::from(speedup))).collect::<Vec<_>>();
    let method = baseline("inductor", Launch::Stream, "attention", variants(), 1.0);
    let section = section_of(vec![document("fuse", "attention", variants()), method.clone()]);
    assert!(section.contains("g09|") && !section.contains("g10|"), "{section}");
    assert!(section.contains("what it leaves to the library is not recorded"), "{section}");
    assert!(!section.contains("inductor"), "{section}");
    assert!(section_of(vec![method]).contains("There is no plugin here"));
    assert!(section_of(vec![document("fuse", "attention", vec![])]).contains("No plugin has a graph right."));
}
