//! The lowering rules against ATen: what eager's CPU kernels made of the inputs in `eager.txt`, bit for bit where the op
//! is exact. `eager.py` wrote that file.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod golden;

use golden::{agrees, tensor};
use passhost_guest_sdk::ir::Graph;
use passhost_guest_sdk::ir::kernel::Tensor;
use passhost_guest_sdk::lower::Group;
use passhost_guest_sdk::testing::evaluate;

#[test]
fn every_rule_gives_what_eager_gives() {
    let text = include_str!("eager.txt");
    let mut wrong = Vec::new();
    let mut cases = 0;
    for case in text.split_terminator("\n\n") {
        let lines: Vec<&str> = case.lines().collect();
        let graph = Graph::parse(lines[0]).unwrap_or_else(|error| panic!("{error}\n{}", lines[0]));
        let types = graph.inputs.iter().map(|&id| graph.ty(id));
        let inputs: Vec<Tensor> = types.zip(&lines[1..]).map(|(ty, line)| tensor(ty, line)).collect();
        let [.., near, expected] = lines[..] else { panic!("a case without a result: {case}") };
        let expected = tensor(graph.ty(graph.outputs[0]), expected);
        let found = evaluate(&graph, &inputs).unwrap_or_else(|error| panic!("{error}\n{}", lines[0]));
        cases += 1;
        let close = (near == "close").then_some(0.0);
        for position in 0..expected.len() {
            let (found, expected) = (found[0].get_f64(position), expected.get_f64(position));
            if !agrees(graph.ty(graph.outputs[0]).dtype, close, found, expected) {
                let operands: Vec<f64> = inputs.iter().map(|input| input.get_f64(position)).collect();
                wrong.push(format!("{}\n    of {operands:?}: found {found:e}, eager has {expected:e}", lines[0]));
                break;
            }
        }
    }
    assert!(cases > 400, "only {cases} cases");
    assert!(wrong.is_empty(), "{} of {cases} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_op_in_the_table_has_a_case() {
    let text = include_str!("eager.txt");
    let untested: Vec<String> = [Group::POINTWISE, Group::CREATION, Group::SPREAD]
        .into_iter()
        .flat_map(Group::ops)
        .filter(|op| !text.contains(&format!("= {op}(")))
        // Overloads and names of a rule that is tested under another one, and copies, which have nothing to get wrong.
        .filter(|op| {
            let (name, overload) = op.split_once('.').unwrap_or((op, ""));
            let other_overload = !overload.is_empty() && text.contains(&format!("= {name}"));
            let other_name = ["aten::__and__", "aten::__xor__", "aten::sgn", "aten::greater_equal", "aten::less"];
            let copy = ["aten::_to_copy", "aten::type_as", "aten::contiguous"];
            let extremum = ["aten::max", "aten::min"];
            let regions = [include_str!("regions.txt"), include_str!("calculations.txt")];
            let is_a_region = regions.iter().any(|text| text.contains(&format!("= {op}(")));
            !other_overload && !is_a_region && ![&other_name[..], &copy, &extremum].concat().contains(&name)
        })
        .collect();
    assert!(untested.is_empty(), "no case in eager.txt for {untested:?}");
}
