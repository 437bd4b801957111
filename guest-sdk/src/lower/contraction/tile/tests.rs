//! Graphs that become one kernel in tiles each, and what that calculates.

use super::*;
use crate::lower::{FusionPlan, Group, LowerError, fuse};
use crate::testing::{draw, evaluate};
use crate::{Rewriter, view};
use passhost_ir::kernel::Tensor;
use passhost_ir::kernel::scalar::Num;
use passhost_ir::{DeviceFacts, DeviceKind, Graph, NodeKind};

const GPU: DeviceFacts = DeviceFacts {
    kind: DeviceKind::Cuda,
    multiprocessors: 132,
    l2_bytes: 50 << 20,
    bandwidth: 4_800_000_000_000,
    launch_ns: 2_000,
};

fn parse(text: &str) -> Graph {
    Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn planned(graph: &Graph) -> FusionPlan {
    fuse(graph, &GPU, Group::ALL)
}

/// The graph with the kernels of its plan.
fn rewritten(graph: &Graph, plan: &FusionPlan) -> Graph {
    let mut rewriter = Rewriter::new(graph.clone());
    rewriter.replace_all(plan.kernels.iter().map(|fused| &fused.lowered)).unwrap();
    rewriter.finish().0
}

fn inputs(graph: &Graph) -> Vec<Tensor> {
    (1..).zip(&graph.inputs).map(|(salt, &id)| draw(graph.ty(id), salt)).collect()
}

/// Fails unless a graph and its rewrite give about the same: sums in another order, of half types rounded to a neighbour.
fn expect_close(graph: &Graph, plan: &FusionPlan, inputs: &[Tensor]) {
    let found = evaluate(&rewritten(graph, plan), inputs).unwrap();
    for (expected, found) in evaluate(graph, inputs).unwrap().iter().zip(&found) {
        let digits = if expected.dtype.size() == 2 { 1.0 / 64.0 } else { 1.0 / 65_536.0 };
        for at in 0..expected.len() {
            let (expected, found) = (expected.get_f64(at), found.get_f64(at));
            let is_close = expected == found
                || expected.is_nan() && found.is_nan()
                || (expected - found).abs() <= digits * expected.abs().max(1.0);
            assert!(is_close, "{found} in place of {expected} at {at}\n{graph}");
        }
    }
}

/// A graph as one kernel in tiles: products of matrices, their two sides and their terms.
fn expect_one(name: &str, text: &str, expected: (u64, [u64; 2], u64)) {
    let dtypes = ["f32", "f16", "bf16"].into_iter().filter(|dtype| *dtype != "f32" || !text.contains("aten::conv"));
    for dtype in dtypes {
        let graph = parse(&text.replace("T[", &format!("{dtype}[")));
        let plan = planned(&graph);
        let calculates = |kind: &NodeKind| matches!(kind, NodeKind::Aten { .. });
        let nodes = graph.nodes.iter().filter(|node| {
            calculates(&node.kind) && node.outputs.iter().any(|&output| view::step(&graph, node, output).is_none())
        });
        let [fused] = &plan.kernels[..] else { panic!("{name}: {:#?}", plan.refusals) };
        assert_eq!(fused.lowered.nodes().len(), nodes.count(), "{name}: {:#?}", plan.refusals);
        let kernel = fused.lowered.kernel();
        let kind = TileKind { is_half: dtype != "f32", windows: None };
        let tile = Tile::of_kernel(kernel, kind).unwrap_or_else(|error| panic!("{name}: {error}\n{kernel}"));
        assert_eq!((tile.batches, tile.sides, tile.terms), expected, "{name}\n{kernel}");
        expect_close(&graph, &plan, &inputs(&graph));
    }
}

#[test]
fn products_of_matrices_and_what_follows_are_one_kernel() {
    expect_one(
        "a linear layer with its activation",
        "graph(%x: T[2,10,32], %w: T[48,32], %b: T[48]) {
           %l: T[2,10,48] = aten::linear(%x, %w, %b)
           %g: T[2,10,48] = aten::gelu(%l)
           return (%g)
         }",
        (1, [20, 48], 32),
    );
    expect_one(
        "a linear layer that is divided into heads, each copied",
        "graph(%x: T[2,9,80], %w: T[96,80], %b: T[96]) {
           %l: T[2,9,96] = aten::linear(%x, %w, %b)
           %v: T[2,9,3,4,8] = aten::view(%l, [2, 9, 3, 4, 8])
           %p: T[3,2,4,9,8]{32,864,8,96,1} = aten::permute(%v, [2, 0, 3, 1, 4])
           %c: T[3,2,4,9,8] = aten::contiguous(%p)
           return (%c)
         }",
        (1, [18, 96], 80),
    );
    expect_one(
        "products of heads that are merged",
        "graph(%p: T[2,4,10,80], %v: T[2,4,80,16]) {
           %m: T[2,4,10,16] = aten::matmul(%p, %v)
           %t: T[2,10,4,16]{640,16,160,1} = aten::transpose.int(%m, 1, 2)
           %r: T[2,10,64] = aten::reshape(%t, [2, 10, 64])
           return (%r)
         }",
        (8, [10, 16], 80),
    );
    expect_one(
        "scores of an attention, scaled and masked",
        "graph(%q: T[2,9,3,24], %k: T[2,9,3,24], %m: T[2,1,1,9]) {
           %a: T[2,3,9,24]{648,24,72,1} = aten::permute(%q, [0, 2, 1, 3])
           %b: T[2,3,24,9]{648,24,1,72} = aten::permute(%k, [0, 2, 3, 1])
           %s: T[2,3,9,9] = aten::matmul(%a, %b)
           %d: T[2,3,9,9] = aten::mul.Scalar(%s, 0.125)
           %e: T[2,3,9,9] = aten::add.Tensor(%d, %m)
           return (%e)
         }",
        (6, [9, 9], 24),
    );
    expect_one(
        "heads that are merged by a view of the operand, and a gate",
        "graph(%x: T[6,4,20], %w: T[30,20], %y: T[2,12,30]) {
           %v: T[2,12,20] = aten::view(%x, [2, 12, 20])
           %l: T[2,12,30] = aten::linear(%v, %w)
           %g: T[2,12,30] = aten::mul.Tensor(%y, %l)
           return (%l, %g)
         }",
        (1, [24, 30], 20),
    );
    expect_one(
        "a product of few rows, of an operand that is copied from other dimensions",
        "graph(%x: T[2,5,3,20], %w: T[40,60]) {
           %t: T[2,3,5,20]{300,20,60,1} = aten::transpose.int(%x, 1, 2)
           %s: T[2,3,20]{300,20,1} = aten::select.int(%t, 2, 3)
           %r: T[2,60] = aten::reshape(%s, [2, 60])
           %l: T[2,40] = aten::linear(%r, %w)
           return (%l)
         }",
        (1, [2, 40], 60),
    );
    expect_one(
        "a query's heads share the key of their group",
        "graph(%q: T[2,6,5,24], %k: T[2,3,7,24]) {
           %u: T[2,3,1,7,24] = aten::unsqueeze(%k, 2)
           %e: T[2,3,2,7,24]{504,168,0,24,1} = aten::expand(%u, [2, 3, 2, 7, 24])
           %v: T[2,3,2,5,24] = aten::view(%q, [2, 3, 2, 5, 24])
           %t: T[2,3,2,24,7]{504,168,0,1,24} = aten::transpose.int(%e, 3, 4)
           %s: T[2,3,2,5,7] = aten::matmul(%v, %t)
           return (%s)
         }",
        (6, [10, 7], 24),
    );
}

#[test]
fn convolutions_of_single_elements_and_what_follows_are_one_kernel() {
    expect_one(
        "a window of one element, channels last",
        "graph(%x: T[2,20,5,3]{300,1,60,20}, %w: T[12,20,1,1], %y: T[2,12,5,3]{180,1,36,12}) {
           %c: T[2,12,5,3]{180,1,36,12} = aten::conv2d(%x, %w)
           %s: T[2,12,5,3]{180,1,36,12} = aten::add.Tensor(%c, %y)
           return (%s)
         }",
        (1, [30, 12], 20),
    );
    expect_one(
        "windows that reach beyond the input, in strides, and what follows",
        "graph(%x: T[2,128,7,6], %w: T[64,128,3,3]) {
           %c: T[2,64,4,3] = aten::conv2d(%x, %w, none, [2, 2], [1, 1])
           %g: T[2,64,4,3] = aten::gelu(%c)
           return (%g)
         }",
        (1, [24, 64], 1152),
    );
    expect_one(
        "a transposed convolution whose windows lie side by side",
        "graph(%x: T[2,64,5,3], %w: T[64,64,2,2], %b: T[64]) {
           %c: T[2,64,10,6] = aten::conv_transpose2d.input(%x, %w, %b, [2, 2])
           return (%c)
         }",
        (1, [30, 256], 64),
    );
    expect_one(
        "windows of groups",
        "graph(%x: T[1,32,9], %w: T[128,16,3]) {
           %c: T[1,128,9] = aten::conv1d(%x, %w, none, [1], [1], [1], 2)
           return (%c)
         }",
        (2, [9, 64], 48),
    );
}

/// A library multiplies by zero what lies beside the input: an infinite weight gives NaN there, and nowhere else.
#[test]
fn padding_is_multiplied_in_tiles() {
    let graph = parse(
        "graph(%x: f16[1,16,8,8], %w: f16[64,16,3,3]) {
           %c: f16[1,64,8,8] = aten::conv2d(%x, %w, none, [1, 1], [1, 1])
           return (%c)
         }",
    );
    let plan = planned(&graph);
    assert_eq!(plan.kernels.len(), 1, "{:#?}", plan.refusals);
    let mut inputs = inputs(&graph);
    inputs[0] = Tensor::from_fn(Dtype::F16, vec![1, 16, 8, 8], |_| Num::Float(1.0));
    inputs[1].set(0, Num::Float(f64::INFINITY));
    let [found] = &evaluate(&rewritten(&graph, &plan), &inputs).unwrap()[..] else { panic!() };
    for at in 0..found.len() {
        let (result, row, column) = (at / 64, at / 8 % 8, at % 8);
        let is_beside = row == 0 || column == 0;
        assert_eq!(
            (found.get_f64(at).is_nan(), found.get_f64(at).is_finite()),
            (result == 0 && is_beside, result != 0)
        );
    }
}

#[test]
fn another_reduction_is_a_second_kernel() {
    let graph = parse(
        "graph(%x: f16[4,32,64], %w: f16[64,64], %y: f16[4,32,64], %g: f16[64], %b: f16[64]) {
           %l: f16[4,32,64] = aten::linear(%x, %w)
           %s: f16[4,32,64] = aten::add.Tensor(%l, %y)
           %n: f16[4,32,64] = aten::layer_norm(%s, [64], %g, %b, 0.00001)
           return (%s, %n)
         }",
    );
    let plan = planned(&graph);
    let nodes: Vec<usize> = plan.kernels.iter().map(|fused| fused.lowered.nodes().len()).collect();
    assert_eq!(nodes, [2, 1]);
    let reason = "not one kernel: products in tiles have a kernel of their own: another reduction needs a second one";
    assert!(plan.refusals.iter().any(|refusal| refusal.reason == reason), "{:#?}", plan.refusals);
}

#[test]
fn what_is_cheap_is_calculated_in_front_of_a_product() {
    let nodes = |dtype: &str| {
        let text = "graph(%x: T[20,64], %s: T[64], %w: T[40,64]) {
           %m: T[20,64] = aten::mul.Tensor(%x, %s)
           %l: T[20,40] = aten::linear(%m, %w)
           return (%l)
         }";
        let graph = parse(&text.replace("T[", &format!("{dtype}[")));
        let plan = planned(&graph);
        expect_close(&graph, &plan, &inputs(&graph));
        plan.kernels.iter().map(|fused| fused.lowered.nodes().len()).collect::<Vec<_>>()
    };
    assert_eq!([nodes("f32"), nodes("f16")], [[2], [2]]);
}

#[test]
fn kernels_of_other_forms_are_none_in_tiles() {
    let refused = |text: &str| Tile::of_kernel(&text.parse().unwrap(), TileKind::default()).unwrap_err();
    let mixed = "kernel { space p0=2, p1=6; reduce r0=4 in x0: f32[3,2,4] in x1: f32[4,6] i0 = p1 i1 = p0 i2 = r0
        i3 = i0 / 2 v0: f32 = load x0[i3, i1, i2] pad 0.0 v1: f32 = load x1[i2, i0] pad 0.0 v2: f32 = mul v0, v1
        v3: f32 = reduce sum v2 out v3 over [p0, p1] as [2,6] }";
    let squares = "kernel { space p0=2, p1=6; reduce r0=4 in x0: f32[2,6,4] i0 = p0 i1 = p1 i2 = r0
        v0: f32 = load x0[i0, i1, i2] pad 0.0 v1: f32 = mul v0, v0 v2: f32 = reduce sum v1 out v2 over [p0, p1] as [2,6] }";
    assert_eq!(refused(mixed), LowerError::Tile("have factors that lie along a part of an axis"));
    assert_eq!(refused(squares), LowerError::Tile("need two sides: one factor follows no axis alone"));
}

#[test]
fn more_results_than_a_kernel_in_tiles_counts_are_left_to_a_library() {
    for (images, is_kernel) in [(16, true), (128, false)] {
        let text = format!(
            "graph(%x: f32[{images},8,256,256], %w: f32[64,8,3,3]) {{
               %y: f32[{images},64,254,254] = aten::conv2d(%x, %w, none, [1, 1], [0, 0], [1, 1], 1)
               %z: f32[{images},64,254,254] = aten::gelu(%y)
               return (%z)
             }}"
        );
        let plan = planned(&parse(&text));
        let contains =
            |node: &passhost_ir::NodeId| plan.kernels.iter().any(|fused| fused.lowered.nodes().contains(node));
        assert_eq!(contains(&parse(&text).nodes[0].id), is_kernel, "{images} images");
    }
}

#[test]
fn convolutions_of_f32_that_a_library_may_round_stay() {
    for (channels, is_kernel) in [(20, false), (8, true), (3, true)] {
        let graph = parse(&format!(
            "graph(%x: f32[2,{channels},17,16], %w: f32[12,{channels},3,3]) {{
               %c: f32[2,12,17,16] = aten::conv2d(%x, %w, none, [1, 1], [1, 1])
               %r: f32[2,12,17,16] = aten::gelu(%c)
               return (%r)
             }}"
        ));
        let plan = planned(&graph);
        let is_in = plan.kernels.iter().any(|fused| fused.lowered.nodes().contains(&graph.nodes[0].id));
        assert_eq!(is_in, is_kernel, "{channels} channels: {:#?}", plan.refusals);
    }
}
