//! What a run in double precision says of a rewrite and of eager.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::tests::{alone, bytes, evaluate, evaluate_on, judged_externally, reference};
use passhost_ir::{Dtype, TensorType};
use passhost_protocol::device::Draws;
use passhost_result::{Finding, OtherRounds};

#[test]
fn only_what_is_less_precise_in_every_round_is_accused() {
    let _alone = alone();
    let reference = reference("graph(%x: f32[64]) {\n  %y: f32[64] = aten::mul.Scalar(%x, 2.0)\n  return (%y)\n}\n");
    let ty = TensorType::contiguous(Dtype::F32, [64]);
    // Twice its input, but for some last places in the first so many rounds.
    let accused = |rounds: usize| {
        let round = std::cell::Cell::new(0);
        let evaluation = judged_externally(&reference, std::slice::from_ref(&ty), |inputs| {
            let is_off = round.replace(round.get() + 1) < rounds;
            let off = if is_off { 8.0 * f32::EPSILON } else { 0.0 };
            let inputs = inputs.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
            bytes(&inputs.map(|value| value * 2.0 * (1.0 + off)).collect::<Vec<f32>>())
        });
        assert_eq!(evaluation.error, None);
        evaluation.findings.len()
    };
    assert_eq!([accused(0), accused(1), accused(2)], [0, 0, 1]);
}

#[test]
fn a_run_in_double_precision_decides_where_programs_differ_and_rounds_where_the_graph_does() {
    let _alone = alone();
    let graph = |body: &str| format!("graph(%x: f16[64,256]) {{\n{body}  return (%r)\n}}\n");
    // Each sum of 100 and a number about 1 loses half of the number's digits in f16.
    let in_f16 =
        graph("  %a: f16[64,256] = aten::add.Scalar(%x, 100.0)\n  %r: f16[64,256] = aten::sub.Scalar(%a, 100.0)\n");
    let converted = graph(
        "  %w: f32[64,256] = aten::to.dtype(%x, f32)\n  %s: f32[64,256] = aten::add.Scalar(%w, 100.0)\n  %a: f16[64,256] = aten::to.dtype(%s, f16)\n  %r: f16[64,256] = aten::sub.Scalar(%a, 100.0)\n",
    );
    let in_f32 = graph(
        "  %w: f32[64,256] = aten::to.dtype(%x, f32)\n  %s: f32[64,256] = aten::add.Scalar(%w, 100.0)\n  %d: f32[64,256] = aten::sub.Scalar(%s, 100.0)\n  %r: f16[64,256] = aten::to.dtype(%d, f16)\n",
    );
    let decided = |original: &str, rewrite: &str| {
        let evaluation = evaluate(&reference(original), rewrite, 1 << 30);
        let [output] = &evaluation.outputs[..] else { unreachable!("{evaluation:?}") };
        (output.passes_at.is_some_and(|t| t <= -5), output.decided)
    };
    assert_eq!(decided(&in_f16, &in_f16), (true, None), "nobody is asked");
    let (agrees, sides) = decided(&in_f16, &in_f32);
    let sides = sides.unwrap();
    assert!(!agrees && sides.passes_at.is_some_and(|t| t <= -5), "the rewrite is right: {sides:?}");
    assert!(sides.eager_passes_at.is_none_or(|t| t > -5), "eager is not: {sides:?}");
    let (agrees, sides) = decided(&converted, &in_f32);
    let sides = sides.unwrap();
    assert!(!agrees && sides.passes_at.is_none_or(|t| t > -5), "the graph asks for the rounding: {sides:?}");
    assert!(sides.eager_passes_at.is_some_and(|t| t <= -5), "{sides:?}");
}

#[test]
fn a_run_in_double_precision_decides_where_an_input_grows_as_well() {
    let _alone = alone();
    // Above 6, where no ordinary element is, 200 is added and taken off, which f16 has no digits for.
    let body = |dtype: &str, x: &str| {
        format!(
            "  %d: {dtype}[64,64] = aten::sub.Scalar(%{x}, 6.0)
  %e: {dtype}[64,64] = aten::relu(%d)
  %a: {dtype}[64,64] = aten::add.Scalar(%e, 200.0)
  %b: {dtype}[64,64] = aten::sub.Scalar(%a, 200.0)
  %s: {dtype}[64,64] = aten::add.Tensor(%{x}, %b)
"
        )
    };
    let in_f16 = format!("graph(%x: f16[64,64]) {{\n{}  return (%s)\n}}\n", body("f16", "x"));
    let in_f32 = format!(
        "graph(%x: f16[64,64]) {{\n  %w: f32[64,64] = aten::to.dtype(%x, f32)\n{}  %r: f16[64,64] = aten::to.dtype(%s, f16)\n  return (%r)\n}}\n",
        body("f32", "w")
    );
    let evaluation = evaluate(&reference(&in_f16), &in_f32, 1 << 30);
    let [output] = &evaluation.outputs[..] else { unreachable!("{evaluation:?}") };
    assert!(output.passes_at.is_some_and(|t| (-4..=0).contains(&t)), "programs differ by little: {output:?}");
    let sides = output.decided.unwrap();
    assert!(sides.passes_at.is_some_and(|t| t <= -5), "the rewrite is right: {sides:?}");
    assert!(sides.eager_passes_at.is_none_or(|t| t > -5), "eager is not: {sides:?}");
}

#[test]
fn a_sum_in_another_order_is_no_offence_where_whole_rows_share_its_error() {
    let _alone = alone();
    let with = |sum: &str| {
        format!(
            "graph(%x: f32[32,512]) {{
  %c: f32[32,512] = aten::cos(%x)
  %t: f32[32,512] = aten::mul.Tensor(%x, %c)
{sum}  %y: f32[32,512] = aten::sub.Tensor(%t, %r)
  return (%y)
}}
"
        )
    };
    let in_rows = with("  %r: f32[32,1] = aten::sum.dim_IntList(%t, [-1], true)\n");
    let in_parts = with(
        "  %p: f32[32,8,64] = aten::view(%t, [32, 8, 64])
  %q: f32[32,64] = aten::sum.dim_IntList(%p, [1])
  %r: f32[32,1] = aten::sum.dim_IntList(%q, [-1], true)
",
    );
    let in_fewer_digits = in_parts.replace(
        "  %p: f32[32,8,64] = aten::view(%t,",
        "  %n: f16[32,512] = aten::to.dtype(%t, f16)
  %w: f32[32,512] = aten::to.dtype(%n, f32)
  %p: f32[32,8,64] = aten::view(%w,",
    );
    let reference = reference(&in_rows);
    let findings = |rewrite: &str, seed| {
        let draws = Draws::repeated(seed, OtherRounds::default());
        evaluate_on(&reference, rewrite, draws, 1 << 30).findings
    };
    for seed in 0..6 {
        assert_eq!(findings(&in_parts, seed), [], "seed {seed}");
        let found = findings(&in_fewer_digits, seed);
        assert!(matches!(found[..], [Finding::Precision { .. }]), "seed {seed}: {found:?}");
    }
}
