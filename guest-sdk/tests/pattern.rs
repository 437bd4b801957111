//! Patterns: what matches, what is captured, and what is said when nothing does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use expect_test::{Expect, expect};
use passhost_guest_sdk::ir::{Arg, Graph};
use passhost_guest_sdk::pattern::{Pattern, any, anything, argument, exactly, list, number, one_of, op};

const GATED: &str = "graph(%x: f16[4,8], %g: f16[4,8], %w: f16[8]) {
  %s: f16[4,8] = aten::sigmoid(%g)
  %m: f16[4,8] = aten::mul.Tensor(%s, %x)
  %a: f16[4,8] = aten::add.Tensor(%m, %x)
  %r: f16[4,8] = aten::relu(%a)
  %mean: f16[4,1] = aten::mean.dim(%r, [-1], keepdim=true)
  return (%r, %mean)
}";

/// The matches of a pattern, or why there are none.
fn check(pattern: &Pattern, graph: &str, expected: Expect) {
    let graph = Graph::parse(graph).unwrap();
    let matches = pattern.find(&graph);
    let text = match pattern.explain(&graph) {
        Some(miss) => miss.to_string(),
        None => {
            let nodes = |found: &passhost_guest_sdk::pattern::Match| {
                found.nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
            };
            matches.iter().map(|found| format!("{} of {}", found.root, nodes(found))).collect::<Vec<_>>().join("; ")
        }
    };
    assert_eq!(matches.is_empty(), pattern.explain(&graph).is_some());
    expected.assert_eq(&text);
}

#[test]
fn commutative_ops_match_either_way_round() {
    let gate = op("aten::sigmoid", [any("g")]);
    check(&op("aten::mul", [any("x"), gate.clone()]), GATED, expect!["#1 of #0 #1"]);
    check(&op("aten::mul.Tensor", [gate, any("x")]), GATED, expect!["#1 of #0 #1"]);
}

#[test]
fn captures_that_occur_twice_must_agree_and_decide_the_order() {
    // `x` is the second operand of both; taken as the first operand of the product it would not be that of the sum.
    let product = op("aten::mul", [any("x"), any("s")]);
    let pattern = op("aten::add", [any("x"), product]);
    check(&pattern, GATED, expect!["#2 of #1 #2"]);
    let graph = Graph::parse(GATED).unwrap();
    let found = &pattern.find(&graph)[0];
    assert_eq!(graph.value(found.value("x").unwrap()).name, "x");
    assert_eq!(graph.value(found.value("s").unwrap()).name, "s");
}

#[test]
fn named_ops_and_arguments_are_captured() {
    let relu = op("aten::relu", [anything()]).named("act");
    let pattern = op("aten::mean.dim", [relu, argument("dims"), exactly(Arg::Bool(true))]);
    let graph = Graph::parse(GATED).unwrap();
    let found = &pattern.find(&graph)[0];
    assert_eq!(graph.value(found.value("act").unwrap()).name, "r");
    assert_eq!(found.argument("dims"), Ok(&Arg::Ints(vec![-1])));
    assert!(found.argument("dim").unwrap_err().to_string().contains("dims"));
}

#[test]
fn alternatives_and_numbers_match() {
    let activation = one_of([op("aten::gelu", [any("a")]), op("aten::relu", [any("a")])]);
    check(&activation, GATED, expect!["#3 of #3"]);
    let scaled = "graph(%x: f32[4]) { %1: f32[4] = aten::mul.Scalar(%x, 2) return (%1) }";
    check(&op("aten::mul", [any("x"), number(2.0)]), scaled, expect!["#0 of #0"]);
}

#[test]
fn a_scaled_sum_is_no_plain_sum() {
    let scaled = "graph(%x: f32[4], %y: f32[4]) { %1: f32[4] = aten::add.Tensor(%x, %y, alpha=2) return (%1) }";
    check(
        &op("aten::add", [any("x"), any("y")]),
        scaled,
        expect![
            "no match; the best attempt matched #0 and stopped at aten::add.Tensor argument 2: expected alpha = 1, found 2"
        ],
    );
    check(&op("aten::add", [any("x"), any("y"), number(2.0)]), scaled, expect!["#0 of #0"]);
}

#[test]
fn the_best_partial_match_says_where_it_stopped() {
    let tanh = op("aten::tanh", [any("g")]);
    let pattern = op("aten::relu", [op("aten::add", [op("aten::mul", [any("x"), tanh]), any("y")])]);
    check(
        &pattern,
        GATED,
        expect![
            "no match; the best attempt matched #1, #2, #3 and stopped at aten::mul.Tensor argument 1: expected aten::tanh(a tensor g), found %x, an input of the graph"
        ],
    );
    check(
        &op("aten::softmax", [any("x")]),
        GATED,
        expect![
            "no match; no node matches the outermost op: expected aten::softmax(a tensor x), found %s = aten::sigmoid (node #0)"
        ],
    );
}

#[test]
fn a_mistyped_op_is_told_with_the_one_of_the_graph_that_may_be_meant() {
    check(
        &op("aten::sigmiod", [any("x")]),
        GATED,
        expect![
            "no match; no node matches the outermost op: expected aten::sigmiod(a tensor x) (did you mean `aten::sigmoid`?), found %s = aten::sigmoid (node #0)"
        ],
    );
}

#[test]
fn a_list_of_optional_tensors_is_captured_as_an_argument() {
    let gather = "graph(%x: f32[4], %i: i64[2]) { %1: f32[2] = aten::index.Tensor(%x, [%i]) return (%1) }";
    let indexed = |indices| op("aten::index", [any("x"), indices]);
    check(
        &indexed(list([any("i")])),
        gather,
        expect![
            "no match; the best attempt matched #0 and stopped at aten::index.Tensor argument 1: expected a list of 1 tensors, found a list of optional tensors, which `argument` captures as Arg::OptionalValues"
        ],
    );
    check(&indexed(argument("indices")), gather, expect!["#0 of #0"]);
}

#[test]
fn lists_match_tensor_by_tensor() {
    let halves = "graph(%x: f32[2,8]) {
      %low: f32[2,4]{8,1} = aten::slice.Tensor(%x, 1, 0, 4)
      %high: f32[2,4]{8,1} = aten::slice.Tensor(%x, 1, 4, 8)
      %n: f32[2,4] = aten::neg(%high)
      %r: f32[2,8] = aten::cat([%n, %low], 1)
      return (%r)
    }";
    let slice = || op("aten::slice", [any("x")]);
    let rotated = |parts: [Pattern; 2]| op("aten::cat", [list(parts), number(1.0)]);
    check(&rotated([op("aten::neg", [slice()]), slice()]), halves, expect!["#3 of #0 #1 #2 #3"]);
    check(
        &rotated([slice(), op("aten::neg", [slice()])]),
        halves,
        expect![
            "no match; the best attempt matched #3 and stopped at aten::cat argument 0, tensor 0: expected aten::slice(a tensor x), found %n = aten::neg (node #2)"
        ],
    );
}
