//! What the pass makes of whole graphs, and that it changes no bit of their results.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use expect_test::{Expect, expect};
use fuse_pointwise::FusePointwise;
use passhost_guest_sdk::ir::{Graph, NodeKind};
use passhost_guest_sdk::testing::{expect_same_bits, rewrite};

/// Why some of the cases below cannot be evaluated. All others are.
const NOT_EVALUATED: [&str; 1] = ["%a has no elements"];

fn check_bits(graph: &Graph, rewritten: &Graph) {
    if let Err(error) = expect_same_bits(graph, rewritten) {
        assert!(NOT_EVALUATED.contains(&&*error.to_string()), "{error}\n{graph}");
    }
}

/// The rewritten graph and the refusals. Both give the same bits.
fn check(text: &str, expected: Expect) -> Graph {
    let graph = Graph::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let (rewritten, refusals) = rewrite(&FusePointwise, graph.clone()).unwrap();
    assert_eq!(rewritten.inputs, graph.inputs);
    for (&new, &old) in rewritten.outputs.iter().zip(&graph.outputs) {
        let (new, old) = (rewritten.ty(new), graph.ty(old));
        assert_eq!((new.dtype, &new.shape), (old.dtype, &old.shape));
    }
    check_bits(&graph, &rewritten);
    let mut shown = rewritten.to_string();
    for refusal in refusals {
        let nodes: Vec<String> = refusal.nodes.iter().map(ToString::to_string).collect();
        shown += &format!("refused {}: {}\n", nodes.join(" "), refusal.reason);
    }
    expected.assert_eq(&shown);
    rewritten
}

/// How many kernels and other nodes the pass leaves.
fn counts(text: &str) -> (usize, usize) {
    let graph = Graph::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let (rewritten, _) = rewrite(&FusePointwise, graph.clone()).unwrap();
    check_bits(&graph, &rewritten);
    let kernels = rewritten.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Kernel { .. })).count();
    (kernels, rewritten.nodes.len() - kernels)
}

#[test]
fn a_chain_becomes_one_kernel_that_rounds_after_every_op() {
    check(
        "graph(%x: f16[1,7,64]) {
           %half: f16[1,7,64] = aten::mul.Scalar(%x, 0.5)
           %cube: f16[1,7,64] = aten::pow.Tensor_Scalar(%x, 3.0)
           %small: f16[1,7,64] = aten::mul.Scalar(%cube, 0.044715)
           %sum: f16[1,7,64] = aten::add.Tensor(%x, %small)
           %scaled: f16[1,7,64] = aten::mul.Scalar(%sum, 0.7978845608028654)
           %tanh: f16[1,7,64] = aten::tanh(%scaled)
           %grown: f16[1,7,64] = aten::add.Scalar(%tanh, 1.0)
           %out: f16[1,7,64] = aten::mul.Tensor(%half, %grown)
           return (%out)
         }",
        expect![[r#"
            graph(%x: f16[1,7,64]) {
              #8 %out: f16[1,7,64] = kernel(%x) {
                space p0=7, p1=64
                in x0: f16[1,7,64]
                i0 = 0
                i1 = p0
                i2 = p1
                v0: f16 = load x0[i0, i1, i2] clamp
                v1: f32 = cast v0
                v2: f32 = const 0.5
                v3: f32 = mul v1, v2
                v4: f16 = cast v3
                v5: f32 = mul v1, v1
                v6: f16 = cast v5
                v7: f32 = cast v6
                v8: f32 = mul v7, v1
                v9: f16 = cast v8
                v10: f32 = cast v9
                v11: f32 = const 0.044715
                v12: f32 = mul v10, v11
                v13: f16 = cast v12
                v14: f32 = cast v13
                v15: f32 = add v1, v14
                v16: f16 = cast v15
                v17: f32 = cast v16
                v18: f32 = const 0.7978845608028654
                v19: f32 = mul v17, v18
                v20: f16 = cast v19
                v21: f32 = cast v20
                v22: f32 = tanh v21
                v23: f16 = cast v22
                v24: f32 = cast v23
                v25: f32 = const 1.0
                v26: f32 = add v24, v25
                v27: f16 = cast v26
                v28: f32 = cast v4
                v29: f32 = cast v27
                v30: f32 = mul v28, v29
                v31: f16 = cast v30
                out v31 over [p0, p1] as [1,7,64]
              }
              return (%out)
            }
        "#]],
    );
}

#[test]
fn a_costly_gate_is_computed_once_per_row() {
    check(
        "graph(%g: f16[2,3,1,1], %x: f16[2,3,7,7], %y: f16[2,3,7,7]) {
           %s: f16[2,3,1,1] = aten::sigmoid(%g)
           %m: f16[2,3,7,7] = aten::mul.Tensor(%x, %s)
           %a: f16[2,3,7,7] = aten::add.Tensor(%m, %y)
           %r: f16[2,3,7,7] = aten::relu(%a)
           return (%r)
         }",
        expect![[r#"
            graph(%g: f16[2,3,1,1], %x: f16[2,3,7,7], %y: f16[2,3,7,7]) {
              #4 %r: f16[2,3,7,7] = kernel(%x, %g, %y) {
                space p0=2, p1=3; reduce r0=7, r1=7
                in x0: f16[2,3,7,7]
                in x1: f16[2,3,1,1]
                in x2: f16[2,3,7,7]
                i0 = p0
                i1 = p1
                i2 = r0
                i3 = r1
                v0: f16 = load x0[i0, i1, i2, i3] clamp
                i4 = 0
                v1: f16 = load x1[i0, i1, i4, i4] clamp
                v2: f32 = cast v1
                v3: f32 = neg v2
                v4: f32 = exp v3
                v5: f32 = const 1.0
                v6: f32 = add v5, v4
                v7: f32 = div v5, v6
                v8: f16 = cast v7
                v9: f32 = cast v0
                v10: f32 = cast v8
                v11: f32 = mul v9, v10
                v12: f16 = cast v11
                v13: f16 = load x2[i0, i1, i2, i3] clamp
                v14: f32 = cast v12
                v15: f32 = cast v13
                v16: f32 = add v14, v15
                v17: f16 = cast v16
                v18: f32 = cast v17
                v19: f32 = const 0.0
                v20: f32 = max v18, v19
                v21: f16 = cast v20
                out v21 over [p0, p1, r0, r1] as [2,3,7,7]
              }
              return (%r)
            }
        "#]],
    );
}

#[test]
fn what_is_not_pointwise_stays_and_is_named() {
    check(
        "graph(%scores: f32[2,4,8,8], %bias: f32[1,4,8,8], %mask: f32[2,1,1,8]) {
           %0: f32[2,4,8,8] = aten::div.Scalar(%scores, 8.0)
           %1: f32[2,4,8,8] = aten::add.Tensor(%0, %bias)
           %2: f32[2,4,8,8] = aten::add.Tensor(%1, %mask)
           %3: f32[2,4,8,8] = aten::softmax.int(%2, -1)
           %4: f32[2,4,8,8] = aten::dropout(%3, 0.1, false)
           return (%4)
         }",
        expect![[r#"
            graph(%scores: f32[2,4,8,8], %bias: f32[1,4,8,8], %mask: f32[2,1,1,8]) {
              #5 %2: f32[2,4,8,8] = kernel(%scores, %bias, %mask) {
                space p0=2, p1=4, p2=8, p3=8
                in x0: f32[2,4,8,8]
                in x1: f32[1,4,8,8]
                in x2: f32[2,1,1,8]
                i0 = p0
                i1 = p1
                i2 = p2
                i3 = p3
                v0: f32 = load x0[i0, i1, i2, i3] clamp
                v1: f32 = const 8.0
                v2: f32 = div v0, v1
                i4 = 0
                v3: f32 = load x1[i4, i1, i2, i3] clamp
                v4: f32 = add v2, v3
                v5: f32 = load x2[i0, i4, i4, i3] clamp
                v6: f32 = add v4, v5
                out v6 over [p0, p1, p2, p3] as [2,4,8,8]
              }
              #3 %3: f32[2,4,8,8] = aten::softmax.int(%2, -1)
              return (%3)
            }
            refused #3: aten::softmax.int has no lowering among those that the pass names
        "#]],
    );
}

#[test]
fn a_single_addition_is_left_to_aten() {
    check(
        "graph(%x: f32[4,8], %y: f32[4,8], %w: f32[8], %b: f32[8]) {
           %s: f32[4,8] = aten::add.Tensor(%x, %y)
           %n: f32[4,8] = aten::layer_norm(%s, [8], %w, %b, 1e-06)
           return (%s, %n)
         }",
        expect![[r#"
            graph(%x: f32[4,8], %y: f32[4,8], %w: f32[8], %b: f32[8]) {
              %s: f32[4,8] = aten::add.Tensor(%x, %y)
              %n: f32[4,8] = aten::layer_norm(%s, [8], weight=%w, bias=%b, eps=1e-6)
              return (%s, %n)
            }
            refused #0: a pointwise op with no other to fuse with is left to ATen
            refused #1: aten::layer_norm has no lowering among those that the pass names
        "#]],
    );
}

#[test]
fn channels_last_results_keep_their_layout() {
    check(
        "graph(%x: f32[2,3,4,5]{60,1,15,3}, %b: f32[3,1,1]) {
           %1: f32[2,3,4,5]{60,1,15,3} = aten::add.Tensor(%x, %b)
           %2: f32[2,3,4,5]{60,1,15,3} = aten::relu(%1)
           return (%2)
         }",
        expect![[r#"
            graph(%x: f32[2,3,4,5]{60,1,15,3}, %b: f32[3,1,1]) {
              #2 %4: f32[2,4,5,3] = kernel(%x, %b) {
                space p0=2, p1=4, p2=5, p3=3
                in x0: f32[2,3,4,5]
                in x1: f32[3,1,1]
                i0 = p0
                i1 = p3
                i2 = p1
                i3 = p2
                v0: f32 = load x0[i0, i1, i2, i3] clamp
                i4 = 0
                v1: f32 = load x1[i1, i4, i4] clamp
                v2: f32 = add v0, v1
                v3: f32 = const 0.0
                v4: f32 = max v2, v3
                out v4 over [p0, p1, p2, p3] as [2,4,5,3]
              }
              #3 %2: f32[2,3,4,5]{60,1,15,3} = aten::permute(%4, [0, 3, 1, 2])
              return (%2)
            }
        "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn regions_are_as_large_as_they_may_be() {
    let cases = [
        (
            "two regions around an op that is not pointwise",
            "graph(%x: f32[4,8]) {
               %a: f32[4,8] = aten::neg(%x)
               %b: f32[4,8] = aten::exp(%a)
               %c: f32[4,8] = aten::softmax.int(%b, -1)
               %d: f32[4,8] = aten::neg(%c)
               %e: f32[4,8] = aten::mul.Tensor(%d, %x)
               return (%e)
             }",
            (2, 1),
        ),
        (
            "a path that leaves and comes back",
            "graph(%x: f32[4,8]) {
               %a: f32[4,8] = aten::neg(%x)
               %b: f32[4,8] = aten::exp(%a)
               %c: f32[4,8] = aten::softmax.int(%b, -1)
               %d: f32[4,8] = aten::add.Tensor(%b, %c)
               %e: f32[4,8] = aten::relu(%d)
               return (%e)
             }",
            (2, 1),
        ),
        (
            "two regions, each of which would be convex alone, but not both",
            "graph(%x: f32[4,8], %y: f32[4,8]) {
               %a: f32[4,8] = aten::neg(%x)
               %s: f32[4,8] = aten::softmax.int(%a, -1)
               %b: f32[4,8] = aten::mul.Tensor(%s, %y)
               %c: f32[4,8] = aten::neg(%y)
               %t: f32[4,8] = aten::softmax.int(%c, -1)
               %d: f32[4,8] = aten::mul.Tensor(%t, %x)
               return (%b, %d)
             }",
            (1, 4),
        ),
        (
            "siblings that read the same tensor",
            "graph(%x: f32[4,8]) {
               %a: f32[4,8] = aten::sigmoid(%x)
               %b: f32[4,8] = aten::tanh(%x)
               return (%a, %b)
             }",
            (1, 0),
        ),
        (
            "results in the middle of the region",
            "graph(%x: f16[4,8]) {
               %a: f16[4,8] = aten::silu(%x)
               %b: f16[4,8] = aten::mul.Tensor(%a, %x)
               %c: f16[4,8] = aten::add.Scalar(%b, 1)
               return (%c, %a, %b)
             }",
            (1, 0),
        ),
        (
            "views between ops are read through",
            "graph(%x: f32[4,8], %m: bool[4]) {
               %a: f32[4,8] = aten::exp(%x)
               %u: bool[4,1] = aten::unsqueeze(%m, 1)
               %e: bool[4,8] = aten::expand(%u, [4, 8])
               %b: f32[4,8] = aten::masked_fill.Scalar(%a, %e, -1.0)
               return (%b)
             }",
            (1, 0),
        ),
        (
            "halves of a tensor, and its transpose",
            "graph(%x: f32[4,16], %y: f32[8,4]) {
               %a: f32[4,8], %b: f32[4,8] = aten::chunk(%x, 2, -1)
               %s: f32[4,8] = aten::silu(%a)
               %g: f32[4,8] = aten::mul.Tensor(%s, %b)
               %t: f32[4,8]{1,4} = aten::t(%y)
               %r: f32[4,8] = aten::add.Tensor(%g, %t)
               return (%r)
             }",
            (1, 0),
        ),
        (
            "rotary embedding",
            "graph(%x: f16[1,2,5,8], %cos: f16[1,5,8], %sin: f16[1,5,8]) {
               %c: f16[1,1,5,8] = aten::unsqueeze(%cos, 1)
               %s: f16[1,1,5,8] = aten::unsqueeze(%sin, 1)
               %a: f16[1,2,5,8] = aten::mul.Tensor(%x, %c)
               %l: f16[1,2,5,4]{80,40,8,1} = aten::slice.Tensor(%x, 3, 0, 4)
               %h: f16[1,2,5,4]{80,40,8,1} = aten::slice.Tensor(%x, 3, 4, 9223372036854775807)
               %n: f16[1,2,5,4] = aten::neg(%h)
               %j: f16[1,2,5,8] = aten::cat([%n, %l], -1)
               %b: f16[1,2,5,8] = aten::mul.Tensor(%j, %s)
               %r: f16[1,2,5,8] = aten::add.Tensor(%a, %b)
               return (%r)
             }",
            (1, 0),
        ),
        (
            "joined, regrouped, transposed, scaled and padded",
            "graph(%x: f32[1,4,3,3], %y: f32[1,12,3,3], %q: f32[1,2,9,8]) {
               %c: f32[1,16,3,3] = aten::cat([%x, %y], 1)
               %v: f32[1,2,8,9] = aten::reshape(%c, [1, 2, 8, 9])
               %t: f32[1,2,9,8]{144,72,1,9} = aten::transpose.int(%v, -1, -2)
               %m: f32[1,2,9,8] = aten::mul.Tensor(%q, %t)
               %r: f32[1,2,10,8] = aten::constant_pad_nd(%m, [0, 0, 1, 0, 0, 0], 0.0)
               return (%r)
             }",
            (1, 0),
        ),
        (
            "a copy of a transposed tensor goes with what reads it",
            "graph(%x: f32[2,3,4,5], %y: f32[2,4,15]) {
               %t: f32[2,4,3,5]{60,5,20,1} = aten::transpose.int(%x, 1, 2)
               %c: f32[2,4,15] = aten::reshape(%t, [2, 4, 15])
               %r: f32[2,4,15] = aten::add.Tensor(%c, %y)
               return (%r)
             }",
            (1, 0),
        ),
        (
            "rolled and sliced, then added",
            "graph(%x: f32[1,6,6,4], %y: f32[1,25,4]) {
               %o: f32[1,6,6,4] = aten::roll(%x, [2, 2], [1, 2])
               %a: f32[1,5,6,4]{144,24,4,1} = aten::slice.Tensor(%o, 1, 0, 5)
               %b: f32[1,5,5,4]{144,24,4,1} = aten::slice.Tensor(%a, 2, 0, 5)
               %c: f32[1,5,5,4] = aten::contiguous(%b)
               %v: f32[1,25,4] = aten::view(%c, [1, 25, 4])
               %r: f32[1,25,4] = aten::add.Tensor(%y, %v)
               return (%r)
             }",
            (1, 0),
        ),
        (
            "a joined tensor that is returned as well stays one kernel",
            "graph(%x: f32[2,3], %y: f32[2,4]) {
               %c: f32[2,7] = aten::cat([%x, %y], 1)
               %r: f32[2,7] = aten::relu(%c)
               return (%c, %r)
             }",
            (1, 0),
        ),
        (
            "a cheap bias chain is repeated in the large tensor",
            "graph(%b: f32[8], %x: f32[32,8]) {
               %c: f32[8] = aten::mul.Scalar(%b, 2.0)
               %d: f32[32,8] = aten::add.Tensor(%x, %c)
               return (%d)
             }",
            (1, 0),
        ),
        (
            "a costly one along the last axis as well, where that takes less than a launch",
            "graph(%b: f32[8], %x: f32[32,8]) {
               %c: f32[8] = aten::tanh(%b)
               %d: f32[32,8] = aten::add.Tensor(%x, %c)
               %e: f32[32,8] = aten::relu(%d)
               return (%e)
             }",
            (1, 0),
        ),
        (
            "a small tensor that is returned too is a step of its own",
            "graph(%b: f32[8], %x: f32[32,8]) {
               %c: f32[8] = aten::mul.Scalar(%b, 2.0)
               %d: f32[32,8] = aten::add.Tensor(%x, %c)
               %e: f32[32,8] = aten::relu(%d)
               return (%e, %c)
             }",
            (1, 1),
        ),
        (
            "a view of a result that is read outside keeps its result",
            "graph(%x: f32[4,8]) {
               %a: f32[4,8] = aten::neg(%x)
               %b: f32[4,8] = aten::exp(%a)
               %t: f32[8,4]{1,8} = aten::t(%a)
               %m: f32[4,4] = aten::mm(%b, %t)
               return (%m)
             }",
            (1, 2),
        ),
        (
            "types are promoted as eager promotes them",
            "graph(%x: f16[4,8], %y: f32[8], %n: i64[4,1], %s: f32[]) {
               %a: f32[4,8] = aten::mul.Tensor(%x, %y)
               %b: f32[4,8] = aten::add.Tensor(%a, %n)
               %c: bool[4,8] = aten::gt.Tensor(%b, %s)
               %d: f16[4,8] = aten::where.ScalarOther(%c, %x, 0.5)
               return (%d)
             }",
            (1, 0),
        ),
        (
            "training dropout and empty tensors stay",
            "graph(%x: f32[0,8], %y: f32[4]) {
               %a: f32[0,8] = aten::neg(%x)
               %b: f32[0,8] = aten::exp(%a)
               %c: f32[4] = aten::dropout(%y, 0.5, true)
               return (%b, %c)
             }",
            (0, 3),
        ),
        (
            "tensors without dimensions",
            "graph(%x: f32[], %y: f64[]) {
               %a: f32[] = aten::exp(%x)
               %b: f64[] = aten::mul.Tensor(%a, %y)
               return (%b)
             }",
            (1, 0),
        ),
    ];
    for (name, graph, expected) in cases {
        assert_eq!(counts(graph), expected, "{name}");
    }
}

#[test]
fn a_region_beyond_the_limits_is_split() {
    let mut text = "graph(%x: f32[4], %y: f32[4]) {\n  %v0: f32[4] = aten::gelu(%x, approximate=\"tanh\")\n".to_owned();
    for step in 1..100 {
        text += &format!("  %v{step}: f32[4] = aten::gelu(%v{}, approximate=\"tanh\")\n", step - 1);
    }
    text += "  return (%v99)\n}";
    let (kernels, others) = counts(&text);
    assert_eq!(others, 0);
    assert!((2..=4).contains(&kernels), "{kernels} kernels");
}
