//! What the pass makes of whole graphs, and that it changes no bit of their results against the ops one by one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod sized;

use autofuse::{Autofuse, H200};
use passhost_guest_sdk::ir::{DeviceFacts, Graph, NodeKind};
use passhost_guest_sdk::lower::{self, Group};
use passhost_guest_sdk::testing::{DEVICE, expect_same_bits, rewrite_for};

/// Why some of the cases below cannot be evaluated. All others are.
const NOT_EVALUATED: [&str; 1] = ["aten::sort has no lowering among those that the pass names"];

fn parse(text: &str) -> Graph {
    Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The rewrite of a graph for a device, as kernels, calls that are no kernels, and reasons.
fn rewritten(text: &str, device: &DeviceFacts) -> (Graph, usize, usize, Vec<String>) {
    let graph = parse(text);
    let (rewritten, refusals) = rewrite_for(&Autofuse, graph, device).unwrap();
    let kernels = rewritten.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Kernel { .. })).count();
    let others = rewritten.nodes.len() - kernels;
    (rewritten, kernels, others, refusals.into_iter().map(|refusal| refusal.reason).collect())
}

/// How many kernels and other nodes are left on an H200. On both devices the bits are those of the ops one by one.
fn counts(text: &str) -> (usize, usize) {
    for device in [&DEVICE, &H200] {
        if let Err(error) = expect_same_bits(&parse(text), &rewritten(text, device).0) {
            assert!(NOT_EVALUATED.contains(&&*error.to_string()), "{error}\n{text}");
        }
    }
    let (_, kernels, others, _) = rewritten(text, &H200);
    (kernels, others)
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn kernels_are_few_and_nothing_idle_remains() {
    let cases = [
        (
            "a single op is faster as a kernel, because a launch costs less than a call",
            "graph(%x: f32[64,64]) {
               %a: f32[64,64] = aten::gelu(%x)
               return (%a)
             }",
            (1, 0),
        ),
        (
            "a residual sum and a norm; what is returned besides is written by the same kernel",
            "graph(%x: f16[4,17,32], %y: f16[4,17,32], %w: f16[32], %b: f16[32]) {
               %s: f16[4,17,32] = aten::add.Tensor(%x, %y)
               %n: f16[4,17,32] = aten::layer_norm(%s, [32], %w, %b, 1e-05)
               return (%n, %s)
             }",
            (1, 0),
        ),
        (
            "a norm in parts, with casts",
            "graph(%x: f16[4,17,32], %w: f16[32]) {
               %f: f32[4,17,32] = aten::to.dtype(%x, f32)
               %p: f32[4,17,32] = aten::pow.Tensor_Scalar(%f, 2)
               %m: f32[4,17,1] = aten::mean.dim(%p, [-1], true)
               %e: f32[4,17,1] = aten::add.Scalar(%m, 1e-06)
               %r: f32[4,17,1] = aten::rsqrt(%e)
               %n: f32[4,17,32] = aten::mul.Tensor(%f, %r)
               %h: f16[4,17,32] = aten::to.dtype(%n, f16)
               %o: f16[4,17,32] = aten::mul.Tensor(%w, %h)
               return (%o)
             }",
            (1, 0),
        ),
        (
            "two ops that read one tensor become one kernel",
            "graph(%x: f32[8,64]) {
               %a: f32[8,64] = aten::sigmoid(%x)
               %b: f32[8,64] = aten::tanh(%x)
               return (%a, %b)
             }",
            (1, 0),
        ),
        (
            "a product of the library's keeps its operands, and what follows is one kernel",
            "graph(%x: f64[32,40], %w: f64[32,40], %b: f64[32]) {
               %t: f64[40,32]{1,40} = aten::t(%w)
               %m: f64[32,32] = aten::mm(%x, %t)
               %a: f64[32,32] = aten::add.Tensor(%m, %b)
               %r: f64[32,32] = aten::relu(%a)
               %s: f64[32,32] = aten::softmax.int(%r, -1)
               return (%s)
             }",
            (1, 2),
        ),
        (
            "a product in tiles and what follows is one kernel, a softmax behind them another",
            "graph(%x: f16[32,40], %w: f16[32,40], %b: f16[32]) {
               %t: f16[40,32]{1,40} = aten::t(%w)
               %m: f16[32,32] = aten::mm(%x, %t)
               %a: f16[32,32] = aten::add.Tensor(%m, %b)
               %r: f16[32,32] = aten::relu(%a)
               %s: f16[32,32] = aten::softmax.int(%r, -1)
               return (%s)
             }",
            (2, 0),
        ),
        (
            "batch norm joins what follows the convolution, channels last as it is",
            "graph(%x: f32[2,17,6,6]{612,1,102,17}, %k: f32[17,17,3,3]{153,1,51,17}, %m: f32[17], %v: f32[17], %w: f32[17], %b: f32[17]) {
               %c: f32[2,17,6,6]{612,1,102,17} = aten::conv2d(%x, %k, none, [1, 1], [1, 1], [1, 1], 1)
               %n: f32[2,17,6,6]{612,1,102,17} = aten::batch_norm(%c, %w, %b, %m, %v, false, 0.1, 1e-05, true)
               %s: f32[2,17,6,6]{612,1,102,17} = aten::add.Tensor(%n, %x)
               %r: f32[2,17,6,6]{612,1,102,17} = aten::relu(%s)
               %o: f32[2,17,6,6]{612,1,102,17} = aten::conv2d(%r, %k, none, [1, 1], [1, 1], [1, 1], 1)
               return (%o)
             }",
            // The kernel writes in the order of memory, and a view names the dimensions as they were.
            (1, 3),
        ),
        (
            "a cast there and back is none, a clone is what it is a clone of",
            "graph(%x: f16[32,32], %w: f16[32,32]) {
               %f: f32[32,32] = aten::to.dtype(%x, f32)
               %h: f16[32,32] = aten::to.dtype(%f, f16)
               %c: f16[32,32] = aten::clone(%h)
               %m: f16[32,32] = aten::mm(%c, %w)
               %r: f16[32,32] = aten::relu(%m)
               return (%r)
             }",
            (1, 0),
        ),
        (
            "a cast to fewer digits and back is one",
            "graph(%x: f32[4,8]) {
               %h: f16[4,8] = aten::to.dtype(%x, f16)
               %f: f32[4,8] = aten::to.dtype(%h, f32)
               %n: f32[4,8] = aten::neg(%f)
               return (%n)
             }",
            (1, 0),
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(counts(text), expected, "{name}");
    }
}

#[test]
fn a_clone_that_is_returned_stays() {
    let (graph, ..) = rewritten("graph(%x: f32[4,8]) {\n %c: f32[4,8] = aten::clone(%x)\n return (%c)\n }", &H200);
    assert_eq!(graph.nodes.len(), 1);
    assert_ne!(graph.inputs, graph.outputs);
}

#[test]
fn what_does_not_gain_is_left_with_the_reason() {
    let cases = [
        (
            "a costly function is not repeated for a large tensor",
            "graph(%x: f32[131072,1024], %y: f32[1024]) {
               %t: f32[1024] = aten::tanh(%y)
               %n: f32[131072,1024] = aten::add.Tensor(%x, %t)
               return (%n)
             }",
            2,
            "not one kernel: costly ops would be repeated",
        ),
        (
            "few long rows that are gone over again would not fill the device",
            "graph(%x: f32[8388608]) {
               %m: f32[1] = aten::mean.dim(%x, [0], true)
               %d: f32[8388608] = aten::sub.Tensor(%x, %m)
               return (%d)
             }",
            2,
            "not one kernel: 1 rows of 8388608 elements would not fill a device",
        ),
        (
            "what crosses rows is two kernels",
            "graph(%x: f32[512,512]) {
               %a: f32[512,512] = aten::softmax.int(%x, -1)
               %b: f32[512,512] = aten::softmax.int(%a, 0)
               return (%b)
             }",
            2,
            "not one kernel: aten::softmax.int is needed for other rows than that of the element",
        ),
        (
            "a path through a call forbids it",
            "graph(%x: f64[64,64]) {
               %a: f64[64,64] = aten::relu(%x)
               %m: f64[64,64] = aten::mm(%a, %a)
               %b: f64[64,64] = aten::add.Tensor(%m, %a)
               return (%b)
             }",
            2,
            "not one kernel: a path between them leads through other nodes",
        ),
    ];
    for (name, text, kernels, reason) in cases {
        let (_, found, _, reasons) = rewritten(text, &H200);
        assert_eq!(found, kernels, "{name}");
        assert!(reasons.iter().any(|found| found.starts_with(reason)), "{name}: {reasons:#?}");
    }
}

#[test]
fn few_long_rows_are_shared() {
    let text = "graph(%x: f32[4,8388608]) {
      %a: f32[4,8388608] = aten::exp(%x)
      %b: f32[4] = aten::sum.dim_IntList(%a, [-1])
      return (%b)
    }";
    let (graph, kernels, others, _) = rewritten(text, &H200);
    assert_eq!((kernels, others), (1, 0), "{graph}");
}

#[test]
fn a_lookup_reads_what_it_gives_and_not_its_table() {
    let text = "graph(%i: i64[1,40], %t: f32[61272,512], %p: f32[40,512]) {
      %e: f32[1,40,512] = aten::embedding(%t, %i)
      %s: f32[1,40,512] = aten::mul.Scalar(%e, 22.6)
      %o: f32[1,40,512] = aten::add.Tensor(%s, %p)
      return (%o)
    }";
    let (graph, kernels, others, _) = rewritten(text, &H200);
    assert_eq!((kernels, others), (1, 0), "{graph}");
}

#[test]
fn products_that_are_few_for_each_element_become_part_of_kernels() {
    let mixed = |dtype: &str, n: i64| {
        let (batch, row) = (n * 361, n * 19);
        format!(
            "graph(%x: {dtype}[2,{n},19,19], %w: {dtype}[{n},{n}], %b: {dtype}[{n}]) {{
               %p: {dtype}[2,19,19,{n}]{{{batch},19,1,361}} = aten::permute(%x, [0, 2, 3, 1])
               %l: {dtype}[2,19,19,{n}] = aten::linear(%p, %w, %b)
               %q: {dtype}[2,{n},19,19]{{{batch},1,{row},{n}}} = aten::permute(%l, [0, 3, 1, 2])
               %s: {dtype}[2,{n},19,19] = aten::softmax.int(%q, -1)
               return (%s)
             }}"
        )
    };
    // A library adds up half types on tensor cores: sums of more than a few differ.
    let found = [("f32", 6), ("f16", 4), ("f16", 6)].map(|(dtype, n)| counts(&mixed(dtype, n)));
    assert_eq!(found, [(1, 0), (1, 0), (1, 2)]);
    // It may round the factors of a convolution.
    let convolution = "graph(%x: f32[1,16,33,33], %w: f32[8,16,2,2]) {
      %c: f32[1,8,32,32] = aten::conv2d(%x, %w, none, [1, 1], [0, 0], [1, 1], 1)
      %r: f32[1,8,32,32] = aten::relu(%c)
      return (%r)
    }";
    assert_eq!(counts(convolution), (1, 1));
}

#[test]
fn products_of_floats_with_few_tiles_become_kernels() {
    // Blocks share the terms: without that these few would take longer than a library.
    let text = "graph(%x: f32[64,768], %w: f32[768,768], %b: f32[768]) {
      %l: f32[64,768] = aten::linear(%x, %w, %b)
      %g: f32[64,768] = aten::gelu(%l)
      return (%g)
    }";
    let (graph, kernels, others, _) = rewritten(text, &H200);
    assert_eq!((kernels, others), (1, 0), "{graph}");
}

#[test]
fn results_of_one_size_become_one_kernel_whatever_they_have_to_do_with_each_other() {
    let rotary = "graph(%q: f32[2,3,16,8], %k: f32[2,3,16,8], %i: i64[16], %t: f32[64,8]) {
      %c: f32[16,8] = aten::embedding(%t, %i)
      %a: f32[2,3,16,8] = aten::mul.Tensor(%q, %c)
      %b: f32[2,3,16,8] = aten::mul.Tensor(%k, %c)
      return (%a, %b)
    }";
    let otherwise_in_memory = "graph(%q: f32[2,3,16,8], %k: f32[2,16,3,8], %t: f32[16,8]) {
      %a: f32[2,3,16,8] = aten::mul.Tensor(%q, %t)
      %p: f32[2,3,16,8]{384,8,24,1} = aten::transpose.int(%k, 1, 2)
      %b: f32[2,3,16,8]{384,8,24,1} = aten::mul.Tensor(%p, %t)
      return (%a, %b)
    }";
    let beside_rows = "graph(%x: f32[2,3,40], %y: f32[1,3,40], %z: f32[2,3,40]) {
      %p: f32[2,3,40] = aten::mul.Tensor(%x, %y)
      %s: f32[2,3,1] = aten::sum.dim_IntList(%p, [-1], true)
      %r: f32[2,3,40] = aten::relu(%z)
      %o: f32[2,3,40] = aten::mul.Tensor(%r, %s)
      return (%o)
    }";
    // A result that lies otherwise in memory is a view of what the kernel writes.
    for (text, expected) in [(rotary, (1, 0)), (otherwise_in_memory, (1, 1)), (beside_rows, (1, 0))] {
        assert_eq!(counts(text), expected, "{text}");
    }
}

#[test]
fn what_follows_a_product_becomes_part_of_the_norm_behind_it() {
    let text = "graph(%x: f32[1,64], %w: f32[48,64], %y: f32[1,48], %g: f32[48]) {
      %l: f32[1,48] = aten::linear(%x, %w)
      %a: f32[1,48] = aten::add.Tensor(%y, %l)
      %p: f32[1,48] = aten::pow.Tensor_Scalar(%a, 2)
      %m: f32[1,1] = aten::mean.dim(%p, [-1], true)
      %e: f32[1,1] = aten::add.Scalar(%m, 1e-06)
      %r: f32[1,1] = aten::rsqrt(%e)
      %n: f32[1,48] = aten::mul.Tensor(%a, %r)
      %o: f32[1,48] = aten::mul.Tensor(%g, %n)
      return (%a, %o)
    }";
    assert_eq!(counts(text), (2, 0));
}

#[test]
fn a_graph_without_gain_gets_the_kernel_that_costs_least() {
    // A block scans a row by itself, and leaves most of the device idle; ATen divides a single one.
    let text = "graph(%x: f32[262144], %y: f32[8192,8192]) {
      %a: f32[262144] = aten::cumsum(%x, 0)
      %m: f32[8192,8192] = aten::mm(%y, %y)
      return (%a, %m)
    }";
    let graph = parse(text);
    let plan = lower::fuse(&graph, &H200, Group::ALL);
    assert!(plan.is_forced && plan.kernels.len() == 1, "{plan:#?}");
    assert!(plan.kernels[0].kernel > plan.kernels[0].calls);
    assert!(plan.rewritten <= plan.eager / 0.97, "{} of {}", plan.rewritten, plan.eager);
}

/// The mask of shifted windows of Swin: written part by part in place, which a functional graph has as copies.
fn swin() -> String {
    let mut text = "graph(%s: f32[128,3,64,64], %b: f32[1,3,64,64], %x: f32[128,64,96]) {
      %m0: f32[64,64] = aten::new_zeros(%x, [64, 64])\n"
        .to_owned();
    let parts = [(0, -8, 56), (-8, -4, 4), (-4, 64, 4)];
    for (number, ((top, bottom, height), (left, right, width))) in
        parts.iter().flat_map(|rows| parts.iter().map(move |columns| (rows, columns))).enumerate()
    {
        let (n, next) = (number, number + 1);
        text += &format!(
            "%r{n}: f32[{height},64] = aten::slice.Tensor(%m{n}, start={top}, end={bottom})
             %c{n}: f32[{height},{width}]{{64,1}} = aten::slice.Tensor(%r{n}, dim=1, start={left}, end={right})
             %f{n}: f32[{height},{width}] = aten::fill.Scalar(%c{n}, {n})
             %p{n}: f32[{height},64] = aten::slice_scatter(%r{n}, %f{n}, dim=1, start={left}, end={right})
             %m{next}: f32[64,64] = aten::slice_scatter(%m{n}, %p{n}, start={top}, end={bottom})\n"
        );
    }
    text + "%u: f32[64,1,64] = aten::unsqueeze(%m9, 1)
      %v: f32[64,64,1] = aten::unsqueeze(%m9, 2)
      %d: f32[64,64,64] = aten::sub.Tensor(%u, %v)
      %n: bool[64,64,64] = aten::ne.Scalar(%d, 0)
      %k: f32[64,64,64] = aten::masked_fill.Scalar(%d, %n, -100.0)
      %a: f32[128,3,64,64] = aten::add.Tensor(%s, %b)
      %w: f32[2,64,3,64,64] = aten::view(%a, [2, 64, 3, 64, 64])
      %q: f32[64,1,64,64] = aten::unsqueeze(%k, 1)
      %r: f32[2,64,3,64,64] = aten::add.Tensor(%w, %q)
      %t: f32[128,3,64,64] = aten::view(%r, [128, 3, 64, 64])
      %o: f32[128,3,64,64] = aten::softmax.int(%t, -1)
      return (%o)
    }"
}

#[test]
fn writes_in_place_do_not_become_copies_beside_kernels() {
    let graph = parse(&swin());
    for device in [&DEVICE, &H200] {
        let plan = lower::fuse(&graph, device, Group::ALL);
        assert!(plan.rewritten <= plan.eager / 0.97, "{} of {}", plan.rewritten, plan.eager);
    }
    // Where the scatters do not become kernels too, copies cost more than the kernels save on a GPU.
    let (graph, kernels, ..) = rewritten(&swin(), &H200);
    let copies = graph
        .nodes
        .iter()
        .filter(|node| matches!(&node.kind, NodeKind::Aten { op, .. } if op.name == "aten::slice_scatter"));
    assert!(kernels == 0 || copies.count() == 0, "{graph}");
}

#[test]
fn large_graphs_get_the_same_kernels_again() {
    for (name, graph) in sized::all(300).unwrap() {
        let once = rewrite_for(&Autofuse, graph.clone(), &H200).unwrap();
        let again = rewrite_for(&Autofuse, graph.clone(), &H200).unwrap();
        assert!(once == again, "{name}");
        let kernels = once.0.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Kernel { .. })).count();
        assert!(kernels > 0 && once.0.nodes.len() < graph.nodes.len() / 2 + 100, "{name}: {}", once.0);
    }
}
