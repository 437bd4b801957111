//! What holds a score back, as `passhost report` and `passhost compare` say it.

use super::Files;
use expect_test::{Expect, expect};
use passhost_ir::{DeviceFacts, DeviceKind};
use passhost_made_documents::{document, hashed, right};
use passhost_result::document::{Document, Graphs, Launch, Variant};

/// A plugin on a GPU, of whose graphs one leaves calls to the library, one none, and of one nobody knows; launched so.
fn on_gpu(plugin: &str, launch: Launch, speedup: f64) -> Vec<Document> {
    let graph = |lines: &str| format!("graph(%x: f32[8,8], %w: f32[8,8]) {{ {lines} return (%y) }}");
    let with = |mut variant: Variant, lines: &str| {
        if let Some(rewrite) = &mut variant.rewrite {
            let before = graph("#0 %y: f32[8,8] = aten::relu(%x)\n");
            rewrite.graphs = Some(Graphs { before, after: graph(lines) });
        }
        variant
    };
    let calls = "#1 %a: f32[8,8] = aten::linear(%x, %w, none)\n #2 %b: f32[8,8] = aten::mm(%a, %w)\n \
                 #3 %y: f32[8,8] = aten::linear(%b, %w, none)\n";
    let variants = vec![
        with(right("float32/calls", speedup), calls),
        with(right("float32/views", 2.0 * speedup), "#1 %y: f32[8,8]{1,8} = aten::t(%x)\n"),
        Variant { bytes: None, ..right("float32/unknown", 3.0 * speedup) },
    ];
    let mut made = document(plugin, "attention", variants);
    made.limits.measurement.launch = launch;
    if let Some(device) = &mut made.job.device {
        device.facts = DeviceFacts { kind: DeviceKind::Cuda, bandwidth: 1 << 40, ..device.facts };
    }
    vec![hashed(made)]
}

#[test]
fn what_holds_a_score_back_is_said_with_what_is_left_to_the_library() {
    let files = Files::new()
        .with_documents("stream.json", &on_gpu("fuse", Launch::Stream, 2.0))
        .with_documents("captured.json", &on_gpu("fuse", Launch::Graph, 2.0))
        .with_documents("other.json", &on_gpu("blend", Launch::Stream, 1.0));
    let held_back = |name: &str, columns: usize, expected: &Expect| {
        let run = files.run("report", &[name], &columns.to_string(), &[]);
        run.expect_end(0, &["slowest right"]);
        run.expect(run.out.lines().all(|line| line.chars().count() <= columns), "no line is too long");
        let from = run.out.find("of 3 right graphs").unwrap_or(run.out.len());
        expected.assert_eq(&run.out[from..]);
    };
    held_back(
        "stream.json",
        60,
        &expect![[r#"
            of 3 right graphs 1 leaves calls to the library: 2.00x in
            the geometric mean; 1 leaves none: 4.00x; of 1 it is not
            recorded
            slowest right      speedup  at reference  library calls
            attention/calls       2.00        126.93   2 linear, mm
            attention/views       4.00        126.93           none
            attention/unknown     6.00             -              -
        "#]],
    );
    held_back(
        "stream.json",
        100,
        &expect![[r#"
            of 3 right graphs 1 leaves calls to the library: 2.00x in the geometric mean; 1 leaves none: 4.00x;
            of 1 it is not recorded
            slowest right      speedup     us  at reference  reference us  library calls
            attention/calls       2.00  600.0        126.93           9.5   2 linear, mm
            attention/views       4.00  300.0        126.93           9.5           none
            attention/unknown     6.00  200.0             -             -              -
        "#]],
    );
    held_back(
        "captured.json",
        60,
        &expect![[r#"
            of 3 right graphs 1 leaves calls to the library: 2.00x in
            the geometric mean; 1 leaves none: 4.00x; of 1 it is not
            recorded
            slowest right      speedup  device  at floor  library calls
            attention/calls       2.00    1.00    435.78   2 linear, mm
            attention/views       4.00    2.00    435.78           none
            attention/unknown     6.00    3.00         -              -
        "#]],
    );
    held_back(
        "captured.json",
        100,
        &expect![[r#"
            of 3 right graphs 1 leaves calls to the library: 2.00x in the geometric mean; 1 leaves none: 4.00x;
            of 1 it is not recorded
            slowest right      speedup  device  device us  at floor  floor us  library calls
            attention/calls       2.00    1.00     1200.0    435.78       2.8   2 linear, mm
            attention/views       4.00    2.00      600.0    435.78       2.8           none
            attention/unknown     6.00    3.00      400.0         -         -              -
        "#]],
    );
    let run = files.run("compare", &["stream.json", "other.json"], "100", &[]);
    run.expect_end(0, &[]);
    let on_the_device = run.out.find("on the device").unwrap_or(run.out.len());
    let end = run.out.find("right with both").unwrap_or(run.out.len());
    expect![[r#"
        on the device alone 2 takes 2.000 times as long as 1 in the
        geometric mean of 3 graphs that both have right; 1 takes at most 1.10 times as long as 2 on 3 of
        them
    "#]]
    .assert_eq(run.out.get(on_the_device..end).unwrap_or_default());
}
