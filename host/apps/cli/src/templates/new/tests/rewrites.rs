//! What the pass does to graphs in the text form, tested natively: `cargo test`.

use @CRATE@::OwnPass;
use passhost_guest_sdk::ir::{Graph, NodeKind};
use passhost_guest_sdk::testing;

const NORM: &str = "graph(%x: f32[4,64], %weight: f32[64]) {
  %square: f32[4,64] = aten::pow.Tensor_Scalar(%x, 2)
  %mean: f32[4,1] = aten::mean.dim(%square, [-1], keepdim=true)
  %bounded: f32[4,1] = aten::add.Scalar(%mean, 1e-6)
  %scale: f32[4,1] = aten::rsqrt(%bounded)
  %scaled: f32[4,64] = aten::mul.Tensor(%x, %scale)
  %out: f32[4,64] = aten::mul.Tensor(%scaled, %weight)
  return (%out)
}";

#[test]
fn a_norm_becomes_one_kernel() -> Result<(), Box<dyn std::error::Error>> {
    let (rewritten, refusals) = testing::rewrite(&OwnPass, Graph::parse(NORM)?)?;
    assert!(refusals.is_empty(), "{refusals:?}");
    assert_eq!(rewritten.nodes.len(), 1);
    assert!(matches!(rewritten.nodes[0].kind, NodeKind::Kernel { .. }));
    Ok(())
}

#[test]
fn the_kernel_gives_what_the_ops_give() {
    testing::assert_same(&OwnPass, NORM);
}
