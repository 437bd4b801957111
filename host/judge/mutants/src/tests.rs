use super::*;
use passhost_ir::{OpTable, verify_graph};
use std::collections::BTreeSet;

#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn graph() -> Graph {
    Graph::parse(
        "graph(%x: f32[32,32], %w: f32[32], %m: bool[32,32], %i: i64[4], %t: f32[9,32]) {
  %a: f32[32,32] = aten::mul.Tensor(%x, %w)
  %b: f32[32,32] = aten::relu(%a)
  %c: f32[32,32] = aten::relu(%b)
  %d: f32[32,32] = aten::add.Scalar(%c, 1e-5)
  %s: f32[32,1] = aten::sum.dim_IntList(%d, [-1], keepdim=true)
  %e: f32[32,32] = aten::div.Tensor(%d, %s)
  %p: f32[32,32] = aten::softmax.int(%e, -1)
  %k: bool[32,32] = aten::gt.Scalar(%p, 0.25)
  %q: f32[32,32] = aten::where.self(%k, %p, %e)
  %g: f32[32,32] = aten::gelu(%q)
  %n: f32[32,34] = aten::constant_pad_nd(%g, [2, 0])
  %v: f32[4,32] = aten::embedding(%t, %i)
  %u: f32[4,32] = aten::exp(%v)
  %l: f32[4,32] = aten::layer_norm(%u, [32], %w, %w, 1e-5)
  %h: f16[4,32] = aten::to.dtype(%l, f16)
  return (%n, %u, %h)
}
",
    )
    .unwrap()
}

#[test]
fn mutants_are_graphs_of_the_same_inputs_and_outputs_of_every_class_that_has_a_place() {
    let original = graph();
    let all = mutants(&original);
    let classes: BTreeSet<&str> = all.iter().map(|mutant| mutant.class.as_str()).collect();
    let without = ["integers narrowed", "operands exchanged"];
    for (class, _) in CLASSES.iter().filter(|(class, _)| !without.contains(class)) {
        assert!(classes.contains(class), "no mutant of the class `{class}`");
    }
    for mutant in &all {
        let types = |graph: &Graph, values: &[passhost_ir::ValueId]| -> Vec<_> {
            values.iter().map(|&value| (graph.ty(value).dtype, graph.ty(value).shape.clone())).collect()
        };
        assert_eq!(mutant.graph.inputs, original.inputs);
        assert_eq!(types(&mutant.graph, &mutant.graph.outputs), types(&original, &original.outputs));
        assert_ne!(mutant.graph.to_string(), original.to_string());
        let verified = verify_graph(&mutant.graph, OpTable::sample());
        assert!(verified.is_ok(), "{} at {}: {verified:?}\n{}", mutant.class, mutant.at, mutant.graph);
    }
}

#[test]
fn what_a_rule_says_is_equivalent_is_argued_from_the_graph() {
    let of = |at: &str| mutants(&graph()).into_iter().find(|mutant| mutant.class == "guard" && mutant.at == at);
    assert!(of("%b").is_some_and(|mutant| mutant.equivalent.is_none()), "of any number");
    assert!(of("%c").is_some_and(|mutant| mutant.equivalent.is_some()), "of what is bounded already");
}

#[test]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn positions_and_what_is_calculated_of_them_are_bounded() {
    let graph = Graph::parse(
        "graph(%i: i64[4]) {
  %a: i64[4] = aten::arange(4)
  %b: i64[4] = aten::mul.Tensor(%a, %a)
  %c: i64[4] = aten::clamp(%i, 0, 15)
  %d: i64[4] = aten::add.Tensor(%b, %c)
  %e: i64[4] = aten::add.Tensor(%d, %i)
  %f: i64[4] = aten::mul.Scalar(%d, 4000)
  %u: u8[4] = aten::to.dtype(%c, u8)
  %w: u8[4] = aten::neg(%u)
  %k: i64[4] = aten::to.dtype(%w, i64)
  %l: i64[4] = aten::mul.Scalar(%k, 200)
  return (%e, %f, %l)
}
",
    )
    .unwrap();
    let all = mutants(&graph);
    let is_equivalent = |at: &str| {
        let mutant = all.iter().find(|mutant| mutant.class == "integers narrowed" && mutant.at == at).unwrap();
        mutant.equivalent.is_some()
    };
    assert!(is_equivalent("%c") && is_equivalent("%d"));
    assert!(!is_equivalent("%e"), "it has an input in it");
    assert!(!is_equivalent("%f"), "it may exceed 16 bits");
    assert!(is_equivalent("%k") && !is_equivalent("%l"), "a byte wraps around to 255");
}

#[test]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn what_becomes_an_index_has_no_more_numbers_than_a_table_has_rows() {
    let graph = Graph::parse(
        "graph(%i: i64[4], %n: i64[4], %t: f32[9,3], %u: f32[40000,3]) {
  %a: i64[4] = aten::add.Scalar(%i, 2)
  %b: i64[2,2] = aten::view(%a, [2, 2])
  %e: f32[2,2,3] = aten::embedding(%t, %b)
  %f: f32[4,3] = aten::index.Tensor(%u, [%n])
  %k: i64[4] = aten::mul.Tensor(%n, %i)
  return (%e, %f, %k)
}
",
    )
    .unwrap();
    let all = mutants(&graph);
    let narrowed = all.iter().filter(|mutant| mutant.class == "integers narrowed");
    let is_equivalent =
        |at: &str| narrowed.clone().find(|mutant| mutant.at == at).map(|found| found.equivalent.is_some());
    assert_eq!(["%i", "%a", "%n", "%k"].map(is_equivalent), [Some(true), Some(true), Some(false), Some(false)]);
}

#[test]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn what_adds_nothing_is_dropped_without_a_change() {
    let graph = Graph::parse(
        "graph(%x: f32[4]) {
  %a: f32[4] = aten::add.Scalar(%x, 0)
  %b: f32[4] = aten::mul.Scalar(%a, 1.0)
  %c: f32[4] = aten::mul.Scalar(%b, 0)
  %d: f32[4] = aten::add.Scalar(%c, 3)
  return (%b, %d)
}
",
    )
    .unwrap();
    let dropped = mutants(&graph).into_iter().filter(|mutant| mutant.class == "term");
    let found: Vec<(String, bool)> = dropped.map(|mutant| (mutant.at, mutant.equivalent.is_some())).collect();
    assert_eq!(found, [("%a", true), ("%b", true), ("%c", false), ("%d", false)].map(|(at, is)| (at.to_owned(), is)));
}

#[test]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn bounds_of_a_value_that_is_used_twice_at_each_step_end() {
    let steps: String =
        (0..200).map(|step| format!("  %v{}: i64[4] = aten::mul.Tensor(%v{step}, %v{step})\n", step + 1)).collect();
    let text = format!("graph(%i: i64[4]) {{\n  %v0: i64[4] = aten::clamp(%i, 0, 1)\n{steps}  return (%v200)\n}}\n");
    let all = mutants(&Graph::parse(&text).unwrap());
    let last = all.iter().find(|mutant| mutant.class == "integers narrowed" && mutant.at == "%v200");
    assert!(last.unwrap().equivalent.is_some(), "a power of 0 or 1");
}

#[test]
fn what_a_graph_rounds_itself_is_not_rounded_once_more() {
    let text = "graph(%x: f16[4,32]) {
  %a: f32[4,32] = aten::to.dtype(%x, f32)
  %b: f32[4,32] = aten::exp(%a)
  %c: f16[4,32] = aten::to.dtype(%b, f16)
  return (%c)
}
";
    let all = Graph::parse(text).map(|graph| mutants(&graph)).unwrap_or_default();
    let narrowed: Vec<(&str, bool)> = all
        .iter()
        .filter(|mutant| mutant.class == "precision")
        .map(|mutant| (mutant.at.as_str(), mutant.graph.to_string().contains("bf16")))
        .collect();
    assert_eq!(narrowed, [("%a", true), ("%b", true)], "by way of the other half type alone");
}

#[test]
fn a_sample_of_mutants_has_each_class_and_follows_from_its_seed() {
    let all = mutants(&graph());
    let texts = |some: &[Mutant]| -> Vec<String> { some.iter().map(|mutant| mutant.graph.to_string()).collect() };
    let classes = |some: &[Mutant]| some.iter().map(|mutant| mutant.class.clone()).collect::<BTreeSet<_>>();
    let some = sampled(all.clone(), 24, 7);
    assert_eq!(some.len(), 24);
    assert_eq!(classes(&some), classes(&all));
    assert_eq!(texts(&some), texts(&sampled(all.clone(), 24, 7)));
    assert_ne!(texts(&some), texts(&sampled(all.clone(), 24, 8)));
    assert_eq!(sampled(all.clone(), 1000, 1).len(), all.len());
}

#[test]
fn compositions_are_of_two_classes() {
    let made = compositions(&graph(), 60, 3);
    assert!(made.len() > 30, "{}", made.len());
    for mutant in &made {
        let (one, other) = mutant.class.split_once(" + ").unwrap_or_default();
        assert_ne!(one, other);
        let second = mutant.at.rsplit_once(", %").map_or("", |(_, name)| name);
        assert!(graph().values.iter().any(|value| value.name == second), "{second} is of the first mutant");
        assert!(verify_graph(&mutant.graph, OpTable::sample()).is_ok(), "{}", mutant.class);
    }
}

#[test]
fn large_graphs_are_beyond_the_limits() {
    assert!(is_within_limits(&graph()));
    let mut large = graph();
    large.values[0].ty.shape = vec![1 << 11, 1 << 10];
    assert!(!is_within_limits(&large));
}
