//! Which matrix products and convolutions are left to libraries.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_guest_sdk::ir::kernel::scalar::Num;
use passhost_guest_sdk::ir::kernel::{Inst, Op};
use passhost_guest_sdk::ir::{Dtype, Graph, NodeId};
use passhost_guest_sdk::lower::{Group, is_small_contraction, partition, region};
use passhost_guest_sdk::testing::{draw, evaluate};

fn parse(text: &str) -> Graph {
    Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_short_side_and_few_products_make_a_contraction_small() {
    let cases = [
        (
            "a depthwise convolution",
            "graph(%x: f16[8,64,56,56], %w: f16[64,1,7,7]) {
               %r: f16[8,64,56,56] = aten::conv2d(%x, %w, none, [1, 1], [3, 3], [1, 1], 64)
               return (%r)
             }",
            true,
        ),
        (
            "a convolution of many channels",
            "graph(%x: f16[8,64,56,56], %w: f16[64,64,3,3]) {
               %r: f16[8,64,56,56] = aten::conv2d(%x, %w, none, [1, 1], [1, 1])
               return (%r)
             }",
            false,
        ),
        (
            "a convolution to one channel of a window of many",
            "graph(%x: f16[8,64,56,56], %w: f16[1,64,9,9]) {
               %r: f16[8,1,56,56] = aten::conv2d(%x, %w, none, [1, 1], [4, 4])
               return (%r)
             }",
            false,
        ),
        (
            "a linear layer to two classes",
            "graph(%x: f16[512,768], %w: f16[2,768], %b: f16[2]) {
               %r: f16[512,2] = aten::linear(%x, %w, %b)
               return (%r)
             }",
            true,
        ),
        (
            "a linear layer of one row",
            "graph(%x: f16[1,768], %w: f16[3072,768]) {
               %r: f16[1,3072] = aten::linear(%x, %w)
               return (%r)
             }",
            true,
        ),
        (
            "a linear layer",
            "graph(%x: f16[512,768], %w: f16[768,768]) {
               %r: f16[512,768] = aten::linear(%x, %w)
               return (%r)
             }",
            false,
        ),
        (
            "the scores of an attention, in batches of matrices",
            "graph(%x: f16[4,12,128,64], %y: f16[4,12,64,128]) {
               %r: f16[4,12,128,128] = aten::matmul(%x, %y)
               return (%r)
             }",
            false,
        ),
        (
            "an outer product",
            "graph(%x: f32[256], %y: f32[256]) {
               %r: f32[256,256] = aten::outer(%x, %y)
               return (%r)
             }",
            true,
        ),
        (
            "no product",
            "graph(%x: f32[256]) {
               %r: f32[256] = aten::neg(%x)
               return (%r)
             }",
            false,
        ),
    ];
    for (name, text, expected) in cases {
        let graph = parse(text);
        assert_eq!(is_small_contraction(&graph, &graph.nodes[0]), expected, "{name}");
    }
}

#[test]
fn what_is_large_lowers_but_is_not_taken_into_a_region() {
    let graph = parse(
        "graph(%x: f16[64,96], %w: f16[48,96]) {
           %a: f16[64,96] = aten::relu(%x)
           %l: f16[64,48] = aten::linear(%a, %w)
           %r: f16[64,48] = aten::relu(%l)
           %s: f16[64,48] = aten::neg(%r)
           return (%s)
         }",
    );
    let found = partition(&graph, Group::ALL);
    assert_eq!(found.regions, [vec![NodeId(2), NodeId(3)]]);
    let reason = "aten::linear adds up so many products that a library's kernel is faster";
    assert!(found.refusals.iter().any(|refusal| refusal.nodes == [NodeId(1)] && refusal.reason == reason));
    let nodes: Vec<NodeId> = graph.nodes.iter().map(|node| node.id).collect();
    let lowered = region(&graph, &nodes, Group::ALL).unwrap();
    assert_eq!((lowered.kernel().rows(), lowered.kernel().row_length()), (64 * 48, 96));
}

#[test]
fn what_is_small_is_taken_in_where_products_are_asked_for() {
    let graph = parse(
        "graph(%x: f16[2,8,16,16], %w: f16[8,1,3,3]) {
           %a: f16[2,8,16,16] = aten::relu(%x)
           %c: f16[2,8,16,16] = aten::conv2d(%a, %w, none, [1, 1], [1, 1], [1, 1], 8)
           %r: f16[2,8,16,16] = aten::relu(%c)
           return (%r)
         }",
    );
    // What comes before is not calculated anew for each product.
    assert_eq!(partition(&graph, Group::ALL).regions, [vec![NodeId(1), NodeId(2)]]);
    let found = partition(&graph, &[Group::POINTWISE]);
    assert_eq!(found.regions, Vec::<Vec<NodeId>>::new());
    let reason = "aten::conv2d has no lowering among those that the pass names";
    assert!(found.refusals.iter().any(|refusal| refusal.nodes == [NodeId(1)] && refusal.reason == reason));
}

#[test]
fn large_windows_that_overlap_are_reduced_line_by_line() {
    let cases = [
        (
            "a depthwise convolution",
            "graph(%x: f16[2,8,16,16], %w: f16[8,1,7,7]) {
               %r: f16[2,8,16,16] = aten::conv2d(%x, %w, none, [1, 1], [3, 3], [1, 1], 8)
               return (%r)
             }",
            (vec![2, 8, 16, 16], vec![7]),
        ),
        (
            "channels of small windows",
            "graph(%x: f16[2,8,16,16], %w: f16[8,8,3,3]) {
               %r: f16[2,8,14,14] = aten::conv2d(%x, %w)
               return (%r)
             }",
            (vec![2, 8, 14, 14], vec![8]),
        ),
        (
            "a pool",
            "graph(%x: f16[2,8,16,16]) {
               %r: f16[2,8,16,16] = aten::max_pool2d(%x, [5, 5], [1, 1], [2, 2])
               return (%r)
             }",
            (vec![2, 8, 16, 16], vec![5]),
        ),
        (
            "small windows",
            "graph(%x: f16[2,8,16,16], %w: f16[8,1,3,3]) {
               %r: f16[2,8,14,14] = aten::conv2d(%x, %w, none, [1, 1], [0, 0], [1, 1], 8)
               return (%r)
             }",
            (vec![2, 8, 14, 14], vec![]),
        ),
        (
            "windows side by side",
            "graph(%x: f16[2,8,16,16]) {
               %r: f16[2,8,2,2] = aten::avg_pool2d(%x, [8, 8])
               return (%r)
             }",
            (vec![2, 8, 2, 2], vec![8, 8]),
        ),
    ];
    for (name, text, expected) in cases {
        let kernel = region(&parse(text), &[NodeId(0)], Group::ALL).unwrap().kernel().clone();
        assert_eq!((kernel.parallel, kernel.reduce), expected, "{name}");
    }
}

/// Which types are added up over the axes of a row.
#[test]
fn long_sums_of_single_precision_are_exact_but_for_their_end() {
    let sums = |text: &str| {
        let kernel = region(&parse(text), &[NodeId(0)], Group::ALL).unwrap().kernel().clone();
        let reduces = kernel.body.iter().filter(|inst| matches!(inst.op, Op::Reduce(..)));
        reduces.map(|inst| inst.dtype).collect::<Vec<_>>()
    };
    let linear = |ty: &str| {
        format!(
            "graph(%x: {ty}[1,768], %w: {ty}[96,768]) {{
               %r: {ty}[1,96] = aten::linear(%x, %w)
               return (%r)
             }}"
        )
    };
    assert_eq!(sums(&linear("f32")), [Dtype::F64]);
    assert_eq!(sums(&linear("f16")), [Dtype::F32], "products of half types are exact");
    let slides = "graph(%x: f32[2,8,16,16], %w: f32[8,1,7,7]) {
           %r: f32[2,8,16,16] = aten::conv2d(%x, %w, none, [1, 1], [3, 3], [1, 1], 8)
           return (%r)
         }";
    assert_eq!(sums(slides), [Dtype::F32], "windows that overlap convert each element many times");
}

/// ATen multiplies batches that do not lie behind each other first, and adds the bias by a call of its own.
#[test]
fn a_sum_is_rounded_before_a_bias_that_is_added_later() {
    let roundings = |ty: &str| {
        let graph = parse(&format!(
            "graph(%x: {ty}, %w: f16[6,4], %b: f16[6]) {{
               %r: f16[2,3,6] = aten::linear(%x, %w, %b)
               return (%r)
             }}"
        ));
        let kernel = region(&graph, &[NodeId(0)], &[Group::PRODUCTS]).unwrap().kernel().clone();
        let is_rounding = |inst: &&Inst| matches!(inst.op, Op::Cast(_)) && inst.dtype == Dtype::F16;
        kernel.body.iter().filter(is_rounding).count()
    };
    assert_eq!(roundings("f16[2,3,4]"), 1);
    assert_eq!(roundings("f16[2,3,4]{12,1,3}"), 2);
}

/// Zero times an infinite weight is NaN. Eager leaves out the product of a tap that lies outside of the input.
#[test]
fn a_tap_outside_of_the_input_contributes_nothing() {
    let cases = [
        "graph(%x: f32[2,3,7], %w: f32[2,3,3]) {
           %r: f32[2,2,7] = aten::conv1d(%x, %w, none, [1], [2], [2])
           return (%r)
         }",
        "graph(%x: f16[1,4,6,5], %w: f16[4,1,3,3]) {
           %r: f16[1,4,6,5] = aten::conv2d(%x, %w, none, [1, 1], [1, 1], [1, 1], 4)
           return (%r)
         }",
        "graph(%x: f32[1,3,9,8], %w: f32[3,1,7,7]) {
           %r: f32[1,3,9,8] = aten::conv2d(%x, %w, none, [1, 1], [3, 3], [1, 1], 3)
           return (%r)
         }",
        "graph(%x: f32[1,4,6,5], %w: f32[4,2,3,3]) {
           %a: f32[1,4,6,5] = aten::abs(%x)
           %c: f32[1,4,3,3] = aten::conv2d(%a, %w, none, [2, 2], [1, 1], [1, 1], 2)
           %r: f32[1,4,3,3] = aten::neg(%c)
           return (%r)
         }",
        "graph(%x: bf16[1,4,6,5], %w: bf16[4,1,4,3]) {
           %r: bf16[1,4,6,5] = aten::conv2d.padding(%x, %w, none, [1, 1], \"same\", [1, 1], 4)
           return (%r)
         }",
        "graph(%x: f64[1,2,3,4,3], %w: f64[2,2,2,2,2]) {
           %r: f64[1,2,4,3,4] = aten::conv3d(%x, %w, none, [1, 1, 1], [1, 0, 1])
           return (%r)
         }",
        "graph(%x: f32[2,3,4], %w: f32[3,2,4]) {
           %r: f32[2,2,11] = aten::conv_transpose1d(%x, %w, none, [3], [1])
           return (%r)
         }",
        "graph(%x: f32[1,4,6,5], %w: f32[4,1,3,3]) {
           %r: f32[1,4,11,9] = aten::conv_transpose2d.input(%x, %w, none, [2, 2], [1, 1], [0, 0], 4)
           return (%r)
         }",
    ];
    for text in cases {
        let graph = parse(text);
        let [x, weight] = [0, 1].map(|input| draw(graph.ty(graph.inputs[input]), 5));
        let with_last_tap = |value: f64| {
            let mut weight = weight.clone();
            weight.set(weight.len() - 1, Num::Float(value));
            evaluate(&graph, &[x.clone(), weight]).unwrap_or_else(|error| panic!("{error}\n{text}")).remove(0)
        };
        let [without, with] = [0.0, 16.0].map(with_last_tap);
        let elements = 0..without.len();
        let is_reached = |&at: &usize| without.get_f64(at) != with.get_f64(at);
        let (reached, others): (Vec<usize>, Vec<usize>) = elements.partition(is_reached);
        assert!(!reached.is_empty() && !others.is_empty(), "{text}");
        for special in [f64::INFINITY, f64::NAN] {
            let found = with_last_tap(special);
            assert!(reached.iter().all(|&at| !found.get_f64(at).is_finite()), "{special} at\n{text}");
            assert!(others.iter().all(|&at| found.get_f64(at) == without.get_f64(at)), "{special} at\n{text}");
        }
    }
}
