//! What estimates decide about large ops whose times on an H200 are known: a kernel, or ATen's call.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_guest_sdk::lower::{FusionPlan, Group, fuse};
use passhost_ir::{DeviceFacts, DeviceKind, Graph};

const H200: DeviceFacts = DeviceFacts {
    kind: DeviceKind::Cuda,
    multiprocessors: 132,
    l2_bytes: 60 << 20,
    bandwidth: 4_800_000_000_000,
    launch_ns: 2_000,
};

fn planned(text: &str) -> FusionPlan {
    let graph = Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    fuse(&graph, &H200, Group::ALL)
}

/// How many nodes each kernel of a plan stands for.
fn sizes(plan: &FusionPlan) -> Vec<usize> {
    plan.kernels.iter().map(|fused| fused.lowered.nodes().len()).collect()
}

/// A call with the microseconds that eager was measured at, where a kernel took longer.
const MEASURED: [(f64, &str); 6] = [
    (
        2120.0,
        "graph(%x: f32[128,4096,4095]) { %y: f32[128,1,4095] = aten::sum.dim_IntList(%x, [1], true) return (%y) }",
    ),
    (2159.0, "graph(%x: f32[128,4096,4095]) { %y: f32[128,4095] = aten::mean.dim(%x, [1]) return (%y) }"),
    (2774.0, "graph(%x: f32[128,4096,4095]) { %y: i64[128,4095] = aten::argmin(%x, 1) return (%y) }"),
    (4177.0, "graph(%x: f32[16,64,2048,2048]) { %y: f32[16,64,186,186] = aten::avg_pool2d(%x, [11, 11]) return (%y) }"),
    (1325.0, "graph(%a: f32[256,524288], %b: f32[524288,256]) { %y: f32[256,256] = aten::matmul(%a, %b) return (%y) }"),
    (
        1934.0,
        "graph(%x: f32[16,3,64,64,64], %w: f32[64,3,3,3,3]) {
           %y: f32[16,64,62,62,62] = aten::conv3d(%x, %w)
           return (%y)
         }",
    ),
];

#[test]
fn large_calls_are_left_to_aten_and_estimated_within_a_quarter() {
    for (measured, text) in MEASURED {
        let plan = planned(text);
        assert_eq!(sizes(&plan), [], "{text}");
        let ratio = plan.eager / 1e3 / measured;
        assert!((0.75..1.25).contains(&ratio), "estimated at {:.1} us\n{text}", plan.eager / 1e3);
    }
}

#[test]
fn only_depthwise_convolutions_of_f32_count_twice() {
    let planned = |dtype: &str, channels: u32, groups: u32| {
        planned(&format!(
            "graph(%x: {dtype}[16,{channels},512,512], %w: {dtype}[64,1,3,3]) {{
               %y: {dtype}[16,64,510,510] = aten::conv2d(%x, %w, groups={groups})
               return (%y)
             }}"
        ))
    };
    let calls = [("f32", 64, 64), ("f32", 1, 1), ("bf16", 64, 64)].map(|(dtype, channels, groups)| {
        let plan = planned(dtype, channels, groups);
        (sizes(&plan).len(), plan.eager)
    });
    let [depthwise, dense, half] = calls;
    assert_eq!([depthwise.0, dense.0, half.0], [1, 0, 0], "{calls:?}");
    assert!(depthwise.1 > 3.5 * dense.1.max(half.1), "{calls:?}");
}

#[test]
fn what_is_fused_small_or_read_in_order_becomes_kernels() {
    let cases: [(&str, &[usize]); 10] = [
        // A kernel reads once what ATen writes and reads again.
        (
            "graph(%x: f32[128,4096,4095]) {
               %r: f32[128,4096,4095] = aten::relu(%x)
               %y: f32[128,4095] = aten::mean.dim(%r, [1])
               return (%y)
             }",
            &[2],
        ),
        // But positions in rows side by side are looked for in reads of which most is not needed.
        (
            "graph(%x: f32[128,4096,4095]) {
               %r: f32[128,4096,4095] = aten::relu(%x)
               %e: f32[128,4096,4095] = aten::exp(%r)
               %y: i64[128,4095] = aten::argmax(%e, 1)
               return (%y)
             }",
            &[2],
        ),
        // ATen takes 4.5 and 1.9 times as long for windows as a kernel.
        (
            "graph(%x: f32[32,64,512,512]) {
               %y: f32[32,64,511,511] = aten::max_pool2d(%x, [4, 4], [1, 1], [1, 1])
               return (%y)
             }",
            &[1],
        ),
        (
            "graph(%x: f32[16,64,512,512], %w: f32[64,1,3,3]) {
               %y: f32[16,64,510,510] = aten::conv2d(%x, %w, groups=64)
               return (%y)
             }",
            &[1],
        ),
        ("graph(%x: f32[4,128,64]) { %y: i64[4,64] = aten::argmin(%x, 1) return (%y) }", &[1]),
        ("graph(%x: f32[4,128,64]) { %y: f32[4,64] = aten::sum.dim_IntList(%x, [1]) return (%y) }", &[1]),
        ("graph(%x: f32[524160,4096]) { %y: i64[524160] = aten::argmin(%x, 1) return (%y) }", &[1]),
        ("graph(%x: f32[524160,4096]) { %y: f32[524160] = aten::amax(%x, [1]) return (%y) }", &[1]),
        ("graph(%a: f32[64,3072], %b: f32[3072,256]) { %y: f32[64,256] = aten::matmul(%a, %b) return (%y) }", &[1]),
        (
            "graph(%x: f32[16,3,64,64,64], %w: f32[64,3,3,3,3]) {
               %c: f32[16,64,62,62,62] = aten::conv3d(%x, %w)
               %y: f32[16,64,62,62,62] = aten::relu(%c)
               return (%y)
             }",
            &[2],
        ),
    ];
    for (text, expected) in cases {
        let plan = planned(text);
        assert_eq!(sizes(&plan), expected, "{:#?}\n{text}", plan.refusals);
    }
}
