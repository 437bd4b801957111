#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use expect_test::{Expect, expect};
use passhost_ir::{Dtype, NodeId, OpName};

/// A program as lines: names, ops and arguments as they go to Python.
fn check(graph: &str, expected: &Expect) {
    let program = PythonProgram::of(&Graph::parse(graph).unwrap(), "cuda:0");
    expected.assert_eq(&program.map_or_else(|error| format!("{error}\n"), |program| lines(&program)));
}

fn lines(program: &PythonProgram) -> String {
    let mut text = format!("({})\n", program.inputs.join(", "));
    for call in &program.calls {
        let keywords = call.keywords.iter().map(|(name, value)| format!("{name}={value}"));
        let arguments: Vec<String> = call.arguments.iter().cloned().chain(keywords).collect();
        let comma = if call.unpacks { "," } else { "" };
        let op = format!("{}.{}", call.op, call.overload);
        text.push_str(&format!("{}{comma} = {op}({})\n", call.results.join(", "), arguments.join(", ")));
        if !call.dead.is_empty() {
            text.push_str(&format!("  lets go of {}\n", call.dead.join(", ")));
        }
    }
    text + &format!("({})\n", program.outputs.join(", "))
}

#[test]
fn names_are_our_own_and_defaults_at_the_end_are_left_out() {
    check(
        "graph(%torch: f32[4,6], %y: f32[4,6]) {
  %exec: f32[4,6] = aten::add.Tensor(%torch, %y)
  %b: f32[4,6] = aten::add.Tensor(%exec, %y, alpha=2)
  %c: f32[4,6] = aten::add_.Tensor(%b, %torch)
  %d: f32[4] = aten::mean.dim(%c, [-1])
  %e: f32[4,1] = aten::mean.dim(%c, [-1], true)
  return (%d, %e, %y)
}",
        &expect![[r#"
            (v0, v1)
            v2 = add.Tensor(v0, v1)
            v3 = add.Tensor(v2, v1, alpha=2)
              lets go of v2
            v4 = add_.Tensor(v3, v0)
              lets go of v3
            v5 = mean.dim(v4, [-1])
            v6 = mean.dim(v4, [-1], True)
              lets go of v4
            (v5, v6, v1)
        "#]],
    );
}

#[test]
fn the_reduction_of_a_loss_is_always_given() {
    check(
        "graph(%x: f32[4,6], %y: f32[4,6], %i: i64[4]) {
  %a: f32[] = aten::mse_loss(%x, %y)
  %b: f32[] = aten::cross_entropy_loss(%x, %i)
  return (%a, %b)
}",
        &expect![[r#"
            (v0, v1, v2)
            v3 = mse_loss.(v0, v1, 1)
            v4 = cross_entropy_loss.(v0, v2, None, 1)
            (v3, v4)
        "#]],
    );
}

#[test]
fn a_factor_behind_a_number_is_given_by_name() {
    check(
        "graph(%x: i64[4]) {
  %a: f32[4] = aten::add.Scalar(%x, 2.5, 2)
  %b: f32[4] = aten::celu(%a, 0.5)
  return (%b)
}",
        &expect![[r#"
            (v0)
            v1 = add.Scalar(v0, 2.5, alpha=2)
            v2 = celu.(v1, alpha=0.5)
              lets go of v1
            (v2)
        "#]],
    );
}

#[test]
fn arguments_of_every_kind_are_literals() {
    check(
        "graph(%x: f32[4,6], %i: i64[4]) {
  %a: f16[4,6] = aten::to.dtype(%x, f16)
  %b: f32[4,6] = aten::gelu(%x, approximate=\"tanh\")
  %c: f32[4,6] = aten::clamp(%x, max=inf)
  %d: f32[4,6] = aten::masked_fill.Scalar(%x, %x, -inf)
  %e: f32[4,6] = aten::clone(%x, memory_format=channels_last)
  %f: f32[4] = aten::arange(4, dtype=f32)
  %g: f32[2,6], %h: f32[2,6] = aten::split.Tensor(%x, 2)
  %j: f32[4,6] = aten::index.Tensor(%x, [%i])
  %k: f32[8,6] = aten::cat([%x, %b])
  return (%a, %b, %c, %d, %e, %f, %g, %h, %j, %k)
}",
        &expect![[r#"
            (v0, v1)
            v2 = to.dtype(v0, torch.float16)
            v3 = gelu.(v0, approximate='tanh')
            v4 = clamp.(v0, None, 1e999)
            v5 = masked_fill.Scalar(v0, v0, -1e999)
            v6 = clone.(v0, memory_format=torch.channels_last)
            v7 = arange.(4, dtype=torch.float32)
            v8, v9, = split.Tensor(v0, 2)
            v10 = index.Tensor(v0, [v1])
            v11 = cat.([v0, v3])
            (v2, v3, v4, v5, v6, v7, v8, v9, v10, v11)
        "#]],
    );
}

#[test]
fn text_that_could_end_a_literal_is_refused() {
    let mut graph = Graph::default();
    let ty = TensorType::contiguous(Dtype::F32, [4]);
    let (x, y) = (graph.add_value("x", ty.clone()), graph.add_value("y", ty));
    (graph.inputs, graph.outputs) = (vec![x], vec![y]);
    for (op, approximate, expected) in [
        ("aten::gelu", "tanh'); import os; ('", "node 0 (`aten::gelu`): `approximate` is no word"),
        ("aten::gelu", "a\nb", "node 0 (`aten::gelu`): `approximate` is no word"),
        ("aten::system", "ls", "node 0 calls `aten::system`, which is not on the list of ops"),
    ] {
        let args = vec![Arg::Value(x), Arg::Str(approximate.into())];
        let kind = NodeKind::Aten { op: OpName::new(op, ""), args };
        graph.nodes = vec![Node { id: NodeId(0), kind, outputs: vec![y] }];
        let error = PythonProgram::of(&graph, "cpu").unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_type_that_python_names_is_read_back_and_nonsense_is_none() {
    let ty = TensorType::contiguous(Dtype::Bf16, [2, 3]);
    assert_eq!(Spec::of(&ty).ty(), Some(ty.clone()));
    let spec = |dtype: &str, shape: &[i64], strides: &[i64]| Spec {
        dtype: dtype.into(),
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    };
    for bad in [spec("float8", &[2], &[1]), spec("float32", &[-1], &[1]), spec("float32", &[2], &[])] {
        assert_eq!(bad.ty(), None, "{bad:?}");
    }
}
