//! The node that is named, for rewrites that are wrong on ordinary, scaled and edge-case inputs.

use crate::session::tests::{alone, job, reference};
use passhost_ir::NodeId;
use passhost_protocol::device::Draws;
use passhost_result::{DivergentNode, Settings, ShownBy};

const CHAIN: &str = "graph(%x: f32[64,32]) {
  #0 %a: f32[64,32] = aten::exp(%x)
  #1 %b: f32[64,32] = aten::relu(%a)
  #2 %c: f32[64,1] = aten::sum.dim_IntList(%b, [-1], keepdim=true)
  #3 %d: f32[64,32] = aten::div.Tensor(%b, %c)
  return (%d)
}";

fn traced(rewrite: &str, shown_by: &ShownBy) -> Option<DivergentNode> {
    traced_beside(CHAIN, rewrite, shown_by)
}

fn traced_beside(original: &str, rewrite: &str, shown_by: &ShownBy) -> Option<DivergentNode> {
    let _alone = alone();
    let draws = Draws::of(5);
    reference(original).trace(&job(rewrite, draws, Settings::default()), shown_by).unwrap()
}

#[test]
fn the_first_node_that_makes_something_wrong_of_what_is_right_is_named() {
    // The sum is of something else, and everything after it is wrong.
    let found = traced(
        "graph(%x: f32[64,32]) {
          #0 %a: f32[64,32] = aten::exp(%x)
          #1 %b: f32[64,32] = aten::relu(%a)
          #7 %s: f32[64,1] = kernel(%b) {
            space p0=64; reduce r0=32
            in x0: f32[64,32]
            i0 = p0
            i1 = r0
            v0: f32 = load x0[i0, i1] pad 0.0
            v1: f32 = reduce max v0
            out v1 over [p0] as [64,1]
          }
          #3 %d: f32[64,32] = aten::div.Tensor(%b, %s)
          return (%d)
        }",
        &ShownBy::Ordinary,
    )
    .unwrap();
    assert_eq!((found.node, found.op.as_str(), found.is_kept), (NodeId(7), "kernel", false));
    assert_eq!((found.value.as_str(), found.original.as_str(), &found.element[..]), ("s", "c", &[0, 0][..]));
    assert_eq!((found.wrong, found.elements), (64, 64));
    assert!(found.unknown.is_empty());
}

#[test]
fn nodes_of_which_nothing_is_known_are_listed_beside_the_one_that_shows_it() {
    let found = traced(
        "graph(%x: f32[64,32]) {
          #5 %p: f32[64,32] = aten::sin(%x)
          #6 %q: f32[64,32] = aten::exp(%p)
          #8 %d: f32[64,32] = aten::relu(%q)
          return (%d)
        }",
        &ShownBy::Ordinary,
    )
    .unwrap();
    assert_eq!((found.node, found.op.as_str()), (NodeId(8), "aten::relu"));
    assert_eq!(found.unknown, [NodeId(5), NodeId(6)]);
}

#[test]
fn what_only_a_stressed_input_shows_is_found_there() {
    // What is clipped where ordinary inputs do not reach, and not by the rewrite.
    let original = "graph(%x: f32[64,32]) {
      #0 %k: f32[64,32] = aten::clamp(%x, -15.0, 15.0)
      #1 %a: f32[64,32] = aten::exp(%k)
      #2 %b: f32[64,32] = aten::relu(%a)
      return (%b)
    }";
    let rewrite = "graph(%x: f32[64,32]) {
      #9 %a: f32[64,32] = aten::exp(%x)
      #2 %b: f32[64,32] = aten::relu(%a)
      return (%b)
    }";
    let shown_by = ShownBy::Scaled { input: "x".into() };
    assert_eq!(traced_beside(original, rewrite, &ShownBy::Ordinary), None);
    let found = traced_beside(original, rewrite, &shown_by).unwrap();
    assert_eq!((found.node, found.is_kept, found.shown_by), (NodeId(9), false, shown_by));
}

#[test]
fn what_only_an_unusual_input_shows_is_found_there() {
    // The sign of what is drawn is never zero.
    let other = CHAIN
        .replace("#0 %a: f32[64,32] = aten::exp(%x)", "#9 %a: f32[64,32] = aten::mul.Tensor(%e, %s)")
        .replace("#9", "#6 %e: f32[64,32] = aten::exp(%x)\n#7 %g: f32[64,32] = aten::sign(%x)\n#8 %s: f32[64,32] = aten::abs(%g)\n#9");
    let shown_by = ShownBy::EdgeCase { input: "x".into(), draw: "is all zeros".into() };
    assert_eq!(traced(&other, &ShownBy::Ordinary), None);
    let found = traced(&other, &shown_by).unwrap();
    assert_eq!((found.node, found.op.as_str(), found.is_kept), (NodeId(9), "aten::mul.Tensor", false));
    assert_eq!((found.rewritten.as_str(), found.expected.as_str(), found.wrong), ("0", "1", 64 * 32));
    assert_eq!(found.shown_by, shown_by);
}

#[test]
fn what_eager_does_not_know_of_an_unusual_input_is_no_nodes_doing() {
    let original = "graph(%x: f32[64,32]) {
      #0 %a: f32[64,32] = aten::exp(%x)
      #1 %d: f32[64,32] = aten::sub.Tensor(%a, %a)
      #2 %b: f32[64,32] = aten::add.Tensor(%d, %x)
      #3 %c: f32[64,32] = aten::relu(%x)
      return (%b, %c)
    }";
    // The difference of two infinities is left out, which eager does not say anything of; the clamp is wrong.
    let rewrite = "graph(%x: f32[64,32]) {
      #7 %b: f32[64,32] = aten::mul.Scalar(%x, 1.0)
      #9 %k: f32[64,32] = aten::clamp(%x, -1048576.0, 1048576.0)
      #3 %c: f32[64,32] = aten::relu(%k)
      return (%b, %c)
    }";
    let shown_by = ShownBy::EdgeCase { input: "x".into(), draw: "has infinities in single places".into() };
    let found = traced_beside(original, rewrite, &shown_by).unwrap();
    assert_eq!((found.node, found.rewritten.as_str(), found.wrong), (NodeId(9), "1048576", 2), "{found:?}");
}

#[test]
fn what_is_right_departs_nowhere() {
    assert_eq!(traced(CHAIN, &ShownBy::Ordinary), None);
}
