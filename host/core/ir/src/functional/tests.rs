#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use super::error::MAX_VIEWS;
use super::*;
use crate::verify_graph;
use expect_test::expect_file;

fn graph(text: &str) -> Graph {
    Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn functional(text: &str) -> Result<Functional, FunctionalError> {
    functionalise(&graph(text), OpTable::sample())
}

/// Title and text of each program.
fn programs() -> Vec<(&'static str, &'static str)> {
    let blocks = include_str!("programs.txt").split("\n\n# ").skip(1);
    blocks.filter_map(|block| block.split_once('\n')).collect()
}

fn has_in_place_ops(graph: &Graph) -> bool {
    let in_place = |op: &OpName| OpTable::sample().get(op).is_none_or(crate::Schema::is_in_place);
    graph.nodes.iter().any(|node| matches!(&node.kind, crate::NodeKind::Aten { op, .. } if in_place(op)))
}

/// The graphs of all programs. `UPDATE_EXPECT=1` writes them anew; `host/run/torch/tests/functional` then proves them.
#[test]
fn writes_through_views_become_scatters_where_somebody_reads() {
    let mut found = String::new();
    for (title, text) in programs() {
        let program = graph(text);
        verify_graph(&program, OpTable::sample()).unwrap_or_else(|error| panic!("{title}: {error}"));
        let functional = functional(text).unwrap_or_else(|error| panic!("{title}: {error}"));
        let verified = verify_graph(&functional.graph, OpTable::sample());
        assert_eq!(verified, Ok(()), "{title}\n{}", functional.graph);
        assert!(!has_in_place_ops(&functional.graph), "{title}\n{}", functional.graph);
        for (&before, &after) in program.outputs.iter().zip(&functional.graph.outputs) {
            assert_eq!(program.ty(before), functional.graph.ty(after), "{title}\n{}", functional.graph);
        }
        for (id, op) in &functional.in_place {
            let stays = functional.graph.nodes.iter().any(|node| node.id == *id);
            assert!(stays, "{title}: {id} {op} may run in place, but is gone\n{}", functional.graph);
        }
        let ids: Vec<String> = functional.in_place.iter().map(|(id, op)| format!("{id} {op}")).collect();
        let mutated = functional.mutated_inputs;
        found +=
            &format!("# {title}\n{}in place again: {ids:?}, overwritten inputs: {mutated:?}\n\n", functional.graph);
    }
    expect_file!["graphs.txt"].assert_eq(&found);
}

#[test]
fn in_place_ops_become_functional_and_later_reads_see_the_result() {
    let text = "graph(%x: f32[2,3], %y: f32[2,3]) {
  %a: f32[2,3] = aten::add.Tensor(%x, %y)
  %b: f32[2,3] = aten::relu_(%a)
  %c: f32[2,3] = aten::dropout(%b, 0.1, false)
  %d: f32[2,3] = aten::mul_.Tensor(%c, %y)
  %e: f32[2,3] = aten::add.Tensor(%a, %c)
  return (%e, %a)
}
";
    let found = functional(text).unwrap();
    assert_eq!(
        found.graph.to_string(),
        "graph(%x: f32[2,3], %y: f32[2,3]) {
  %a: f32[2,3] = aten::add.Tensor(%x, %y)
  %b: f32[2,3] = aten::relu(%a)
  %c: f32[2,3] = aten::dropout(%b, 0.1, false)
  %d: f32[2,3] = aten::mul.Tensor(%b, %y)
  %e: f32[2,3] = aten::add.Tensor(%d, %d)
  return (%e, %d)
}
"
    );
    assert_eq!(found.mutated_inputs, []);
    let expected = [(NodeId(1), OpName::parse("aten::relu_")), (NodeId(3), OpName::parse("aten::mul_.Tensor"))];
    assert_eq!(in_place_nodes(&graph(text), OpTable::sample()), expected);
}

#[test]
fn results_keep_the_type_of_what_was_overwritten() {
    for (x, y, call, wide) in [
        ("f16[2]", "f32[2]", "aten::add_.Tensor(%x, %y)", Some("f32[2]")),
        ("f16[2]", "f32[]", "aten::add_.Tensor(%x, %y)", None),
        ("f16[2]", "f32[2]", "aten::copy_(%x, %y)", None),
        ("f16[2]", "f32[2]", "aten::mul_.Scalar(%x, 2.5)", None),
        ("i64[2]", "bool[2]", "aten::eq_.Tensor(%x, %y)", Some("bool[2]")),
        ("bf16[2]", "f16[2]", "aten::mul_.Tensor(%x, %y)", Some("f32[2]")),
        ("i32[2]", "i64[2]", "aten::bitwise_and_.Tensor(%x, %y)", Some("i64[2]")),
        ("i32[2]", "i64[2]", "aten::cumsum_(%x, 0)", Some("i64[2]")),
        ("f32[2,3]{1,2}", "bool[2,3]", "aten::masked_fill_.Scalar(%x, %y, 0.0)", Some("f32[2,3]")),
        ("f32[2,3]{1,2}", "f32[2,3]", "aten::add_.Tensor(%x, %y)", None),
        ("f32[2,3]{6,2}", "f32[2,3]", "aten::add_.Tensor(%x, %y)", Some("f32[2,3]")),
        ("f32[2,3]{6,2}", "f32[2,3]", "aten::copy_(%x, %y)", None),
        ("f16[2,3]{6,2}", "f32[2,3]", "aten::add_.Tensor(%x, %y)", Some("f32[2,3]")),
    ] {
        let text = format!("graph(%x: {x}, %y: {y}) {{\n  %r: {x} = {call}\n  return (%r)\n}}\n");
        let found = functional(&text).unwrap().graph;
        let result = found.outputs[0];
        assert_eq!(found.ty(result).to_string(), x, "{call}");
        assert_eq!(found.ty(found.nodes[0].outputs[0]).to_string(), wide.unwrap_or(x), "{x} {y} {call}");
        assert_eq!(found.nodes.len(), if wide.is_some() { 2 } else { 1 }, "{call}");
        assert_eq!(in_place_nodes(&graph(&text), OpTable::sample()).is_empty(), wide.is_some(), "{call}");
        verify_graph(&found, OpTable::sample()).unwrap();
    }
}

#[test]
fn what_cannot_be_followed_is_refused() {
    for (body, expected) in [
        (
            "%e: f32[2,4]{0,1} = aten::expand(%x, [2, 4]) %r: f32[2,4]{0,1} = aten::relu_(%e)",
            "node #1 (`aten::relu_`) overwrites `%e`, a f32[2,4]{0,1}, several of whose elements may lie in one place; \
             write to a clone of it",
        ),
        (
            "%u: f32[3,2]{1,1} = aten::unfold(%x, 0, 2, 1) %r: f32[3,2]{1,1} = aten::relu_(%u)",
            "node #1 (`aten::relu_`) overwrites `%u`, a f32[3,2]{1,1}, several of whose elements may lie in one place; \
             write to a clone of it",
        ),
        (
            "%e: f32[2,4]{0,1} = aten::expand(%x, [2, 4]) %a: f32[4] = aten::select.int(%e, 0, 1) \
             %r: f32[4] = aten::relu_(%a) %s: f32[4] = aten::exp(%x)",
            "node #2 (`aten::relu_`) overwrites `%a`, memory that node #3 reads later as `%x`; writes through \
             `aten::expand` are not supported: write to the tensor that it is a view of, or to a clone",
        ),
        (
            "%u: f32[2,2]{2,1} = aten::unfold(%x, 0, 2, 2) %r: f32[2,2]{2,1} = aten::relu_(%u)",
            "node #1 (`aten::relu_`) overwrites `%u`, memory that the list of outputs reads later as `%x`; writes \
             through `aten::unfold` are not supported: write to the tensor that it is a view of, or to a clone",
        ),
        (
            "%a: f32[2] = aten::as_strided(%x, [2], [1], 1) %r: f32[2] = aten::relu_(%a) %s: f32[4] = aten::exp(%x)",
            "node #1 (`aten::relu_`) overwrites `%a`, memory that node #2 reads later as `%x`; writes through \
             `aten::as_strided` are not supported: write to the tensor that it is a view of, or to a clone",
        ),
        (
            "%a: f32[2] = aten::slice.Tensor(%x, 0, 2) %b: f32[1] = aten::as_strided(%a, [1], [1], 1) \
             %r: f32[4] = aten::relu_(%x) %s: f32[1] = aten::exp(%b)",
            "node #2 (`aten::relu_`) overwrites `%x`, whose memory `%b` may share and which node #3 reads later; what \
             `aten::as_strided` makes of overwritten memory cannot be followed: clone `%b` before node #2",
        ),
        (
            "%r: f32[4] = aten::relu_(%x) %a: f32[2] = aten::slice.Tensor(%x, 0, 2) \
             %b: f32[1] = aten::as_strided(%a, [1], [1], 1)",
            "node #0 (`aten::relu_`) overwrites `%x`, whose memory `%b` may share and which node #2 reads later; what \
             `aten::as_strided` makes of overwritten memory cannot be followed: clone `%b` before node #0",
        ),
        (
            "%g: f32[4,4]{1,0}, %h: f32[4,4]{0,1} = aten::meshgrid([%x, %x]) %r: f32[4] = aten::relu_(%x) \
             %s: f32[4,4] = aten::exp(%g)",
            "node #1 (`aten::relu_`) overwrites `%x`, whose memory `%g` may share and which node #2 reads later; what \
             `aten::meshgrid` makes of overwritten memory cannot be followed: clone `%g` before node #1",
        ),
        (
            "%d: f32[] = aten::einsum(\"i->\", [%x]) %r: f32[4] = aten::relu_(%x) %s: f32[] = aten::exp(%d)",
            "node #1 (`aten::relu_`) overwrites `%x`, whose memory `%d` may share and which node #2 reads later; what \
             `aten::einsum` makes of overwritten memory cannot be followed: clone `%d` before node #1",
        ),
        (
            "%a: f32[3] = aten::slice.Tensor(%x, 0, 0, 3) %b: f32[3] = aten::slice.Tensor(%x, 0, 1, 4) \
             %r: f32[3] = aten::add_.Tensor(%a, %b)",
            "node #2 (`aten::add_.Tensor`) overwrites `%a` while it reads `%b`, which may share part of its memory; \
             pass it a clone of `%b`",
        ),
        (
            "%a: f32[1] = aten::slice.Tensor(%x, 0, 0, 1) %r: f32[4] = aten::add_.Tensor(%x, %a)",
            "node #1 (`aten::add_.Tensor`) overwrites `%x` while it reads `%a`, which may share part of its memory; \
             pass it a clone of `%a`",
        ),
        ("%r: f32[4] = aten::bernoulli(%x)", "node #0 calls `aten::bernoulli`, which is on no list of ops"),
    ] {
        let text = format!("graph(%x: f32[4]) {{\n{body}\n  return (%x)\n}}\n");
        let error = functional(&text).map(|found| found.graph.to_string()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{body}");
    }
}

/// A program of `count` steps with one tensor `%x` of 1,000 elements.
fn long_program(count: usize, step: impl Fn(usize) -> String, output: &str) -> String {
    let steps: String = (0..count).map(step).collect();
    format!("graph(%x: f32[1000]) {{\n{steps}  return ({output})\n}}\n")
}

#[test]
fn graphs_grow_with_the_number_of_writes_only() {
    let whole = |i: usize| format!("  %r{i}: f32[1000] = aten::add_.Scalar(%x, {i})\n");
    let found = functional(&long_program(1_000, whole, "%x")).unwrap();
    assert_eq!(found.graph.nodes.len(), 1_000);
    let parts = |i: usize| {
        let row = i % 1_000;
        format!(
            "  %v{i}: f32[1] = aten::slice.Tensor(%x, 0, {row}, {})\n  %r{i}: f32[1] = aten::neg_(%v{i})\n",
            row + 1
        )
    };
    let found = functional(&long_program(1_000, parts, "%x")).unwrap();
    assert_eq!(found.graph.nodes.len(), 3_000);
    let views = |i: usize| {
        let from = i.checked_sub(1).map_or("x".to_owned(), |before| format!("v{before}"));
        format!("  %v{i}: f32[1000] = aten::slice.Tensor(%{from}, 0, 0, 1001)\n")
    };
    let found = functional(&long_program(1_000, views, "%v999")).unwrap();
    assert_eq!(found.graph.nodes.len(), 1_000);
}

#[test]
fn chains_of_views_that_are_too_long_to_be_followed_are_refused() {
    let narrower = |i: usize| {
        let from = i.checked_sub(1).map_or("x".to_owned(), |before| format!("v{before}"));
        format!("  %v{i}: f32[{0}] = aten::slice.Tensor(%{from}, 0, 0, {0})\n", 999 - i)
    };
    let program = |views: usize| {
        let last = format!("%v{}", views - 1);
        let ty = format!("f32[{}]", 1_000 - views);
        let views = long_program(views, narrower, "%x");
        views.replace("  return", &format!("  %w: {ty} = aten::relu_({last})\n  return"))
    };
    assert!(functional(&program(MAX_VIEWS)).is_ok());
    let error = functional(&program(MAX_VIEWS + 1)).unwrap_err();
    let expected = "node #65 uses `%v64`, more than 64 views away from the tensor that its memory was last read or written \
                    as; make views of that tensor, not of its views";
    assert_eq!(error.to_string(), expected);
}
