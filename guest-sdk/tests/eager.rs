//! The lowering rules against ATen: what eager's CPU kernels made of the inputs in `eager.txt`, bit for bit where the op
//! is exact. `eager.py` wrote that file.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_guest_sdk::ir::kernel::Tensor;
use passhost_guest_sdk::ir::{Dtype, Graph, TensorType};
use passhost_guest_sdk::testing::evaluate;

/// Elements written as hexadecimal bits.
fn tensor(ty: &TensorType, line: &str) -> Tensor {
    let width = ty.dtype.size() as usize;
    let mut tensor = Tensor::zeros(ty.dtype, ty.shape.clone());
    tensor.data.clear();
    for word in line.split(' ') {
        tensor.data.extend(&u64::from_str_radix(word, 16).unwrap().to_le_bytes()[..width]);
    }
    assert_eq!(tensor.data.len(), tensor.len() * width);
    tensor
}

/// The distance between neighbouring values of a float type around `x`.
fn ulp(dtype: Dtype, x: f64) -> f64 {
    let (digits, smallest) = match dtype {
        Dtype::F16 => (11, -24),
        Dtype::Bf16 => (8, -133),
        Dtype::F32 => (24, -149),
        _ => (53, -1074),
    };
    let exponent = if x == 0.0 { smallest } else { x.abs().log2().floor() as i32 };
    2f64.powi((exponent + 1 - digits).max(smallest))
}

/// Whether a result is what eager has: the same number or both NaN. `close` results of transcendental functions may
/// differ by the last place of a half type, and by eight last places of a wider one; where terms cancel, of 1.
fn agrees(dtype: Dtype, close: bool, found: f64, expected: f64) -> bool {
    if found == expected || (found.is_nan() && expected.is_nan()) {
        return true;
    }
    if !close || !found.is_finite() || !expected.is_finite() {
        return false;
    }
    let tolerance = match dtype {
        Dtype::F16 | Dtype::Bf16 => ulp(dtype, expected),
        _ => 8.0 * ulp(dtype, expected.abs().max(1.0)),
    };
    (found - expected).abs() <= tolerance
}

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
        for position in 0..expected.len() {
            let (found, expected) = (found[0].get_f64(position), expected.get_f64(position));
            if !agrees(graph.ty(graph.outputs[0]).dtype, near == "close", found, expected) {
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
    let untested: Vec<String> = passhost_guest_sdk::lower::pointwise_ops()
        .into_iter()
        .filter(|op| !text.contains(&format!("= {op}(")))
        // Overloads and names of a rule that is tested under another one, and copies, which have nothing to get wrong.
        .filter(|op| {
            let (name, overload) = op.split_once('.').unwrap_or((op, ""));
            let other_overload = !overload.is_empty() && text.contains(&format!("= {name}"));
            let alias = ["aten::__and__", "aten::__or__", "aten::__xor__", "aten::true_divide", "aten::sgn"];
            let copy = ["aten::_to_copy", "aten::type_as", "aten::contiguous"];
            let extremum = ["aten::max", "aten::min"];
            // With the graphs of tests/regions.rs.
            if name == "aten::batch_norm" {
                return false;
            }
            !other_overload && ![&alias[..], &copy, &extremum].concat().contains(&name)
        })
        .collect();
    assert!(untested.is_empty(), "no case in eager.txt for {untested:?}");
}
