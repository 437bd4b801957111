//! What the pass does to graphs in the text form, tested natively: `cargo test`.

use @CRATE@::OwnPass;
use passhost_guest_sdk::ir::{Graph, NodeKind};
use passhost_guest_sdk::testing;

#[test]
fn a_gate_becomes_one_kernel() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Graph::parse(
        "graph(%x: f32[4,64], %y: f32[4,64]) {
           %gate: f32[4,64] = aten::silu(%x)
           %out: f32[4,64] = aten::mul.Tensor(%gate, %y)
           return (%out)
         }",
    )?;
    let (rewritten, refusals) = testing::rewrite(&OwnPass, graph)?;
    assert!(refusals.is_empty(), "{refusals:?}");
    assert_eq!(rewritten.nodes.len(), 1);
    assert!(matches!(rewritten.nodes[0].kind, NodeKind::Kernel { .. }));
    Ok(())
}
