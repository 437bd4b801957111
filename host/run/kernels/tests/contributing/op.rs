//! What shows that the op of CONTRIBUTING.md is there. It is compiled and run with the SDK of the copy of the sources in which
//! `contributing.rs` made it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_guest_sdk::ir::kernel::{Tensor, scalar::Num};
use passhost_guest_sdk::ir::{Dtype, Graph, OpName, OpTable, canonical_text};
use passhost_guest_sdk::lower::{LoweringCoverage, coverage};
use passhost_guest_sdk::pattern::{any, op};
use passhost_guest_sdk::testing::evaluate;

fn graph(nodes: &str) -> Graph {
    Graph::parse(&format!("graph(%x: f32[4], %y: f32[4]) {{\n{nodes}\n  return (%r)\n}}")).unwrap()
}

#[test]
fn the_op_is_on_both_lists_and_commutes_everywhere() {
    let fmax = OpName::new("aten::fmax", "");
    assert!(OpTable::sample().get(&fmax).is_some() && OpTable::insert().get(&fmax).is_some());
    let of = |operands: &str| {
        graph(&format!("%z: f32[4] = aten::exp(%y)\n  %r: f32[4] = aten::fmax({operands})"))
    };
    let [one, other] = ["%x, %z", "%z, %x"].map(of);
    assert_eq!(canonical_text(&one, OpTable::sample()), canonical_text(&other, OpTable::sample()));
    let pattern = op("aten::fmax", [op("aten::exp", [any("y")]), any("x")]);
    assert_eq!([one, other].map(|graph| pattern.find(&graph).len()), [1, 1]);
}

#[test]
fn the_op_becomes_a_kernel_that_ignores_nan() {
    assert_eq!(coverage(&OpName::new("aten::fmax", "")), Some(LoweringCoverage::Kernel { condition: None }));
    let inputs = [[1.0, f64::NAN, 3.0, f64::NAN], [0.0, 0.0, 1.5, f64::NAN]]
        .map(|values| Tensor::from_fn(Dtype::F32, vec![4], |at| Num::Float(values[at])));
    let found = evaluate(&graph("%r: f32[4] = aten::fmax(%x, %y)"), &inputs).unwrap();
    let found: Vec<f64> = (0..4).map(|at| found[0].get_f64(at)).collect();
    assert!(found[..3] == [1.0, 0.0, 3.0] && found[3].is_nan(), "{found:?}");
}
