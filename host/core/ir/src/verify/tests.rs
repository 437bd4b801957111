#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use crate::{Dtype, Infer, InferError, NodeId};

/// Knows the types of a few ops, as PyTorch gives them.
struct Table;

impl Infer for Table {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let first = || args.iter().flat_map(Arg::values).next().cloned().unwrap();
        match op.to_string().as_str() {
            "aten::relu" | "aten::clone" | "aten::alias" | "aten::exp" | "aten::add.Tensor" => Ok(vec![first()]),
            "aten::t" => {
                let mut ty = first();
                ty.shape.reverse();
                ty.strides.reverse();
                Ok(vec![ty])
            }
            "aten::mm" => {
                let shapes: Vec<_> = args.iter().flat_map(Arg::values).map(|ty| ty.shape.clone()).collect();
                Ok(vec![TensorType::contiguous(Dtype::F32, [shapes[0][0], shapes[1][1]])])
            }
            "aten::expand" => match &args[1] {
                Arg::Ints(size) => {
                    Ok(vec![TensorType { dtype: Dtype::F32, shape: size.clone(), strides: vec![0; size.len()] }])
                }
                _ => Err(InferError::Unknown(op.to_string())),
            },
            "aten::zeros" => match &args[0] {
                Arg::Ints(size) => Ok(vec![TensorType::contiguous(Dtype::F32, size.clone())]),
                _ => Err(InferError::Unknown(op.to_string())),
            },
            _ => Err(InferError::Unknown(op.to_string())),
        }
    }
}

fn graph(text: &str) -> Graph {
    Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A correct graph: an ATen op and a kernel.
const GOOD: &str = "graph(%x: f32[2,3], %y: f32[3]) {
  %a: f32[2,3] = aten::relu(%x)
  %k: f32[2,3], %s: f32[2] = kernel(%a, %y) {
    space p0=2; reduce r0=3
    in x0: f32[2,3]
    in x1: f32[3]
    i0 = p0
    i1 = r0
    v0: f32 = load x0[i0, i1] clamp
    v1: f32 = load x1[i1] clamp
    v2: f32 = mul v0, v1
    v3: f32 = reduce sum v2
    out v2 over [p0, r0] as [2,3]
    out v3 over [p0] as [2]
  }
  %b: f32[2,3] = aten::add.Tensor(%k, %a)
  return (%b, %s)
}
";

#[test]
fn a_correct_graph_passes() {
    assert_eq!(verify_graph(&graph(GOOD), OpTable::sample()), Ok(()));
}

/// Seeds one mistake into the correct graph.
fn spoiled(spoil: impl FnOnce(&mut Graph)) -> GraphError {
    let mut graph = graph(GOOD);
    spoil(&mut graph);
    verify_graph(&graph, OpTable::sample()).unwrap_err()
}

fn aten(graph: &mut Graph, node: usize) -> (&mut OpName, &mut Vec<Arg>) {
    match &mut graph.nodes[node].kind {
        NodeKind::Aten { op, args } => (op, args),
        NodeKind::Kernel { .. } => panic!("node {node} is a kernel"),
    }
}

fn kernel(graph: &mut Graph) -> (&mut Kernel, &mut Vec<ValueId>) {
    match &mut graph.nodes[1].kind {
        NodeKind::Kernel { kernel, inputs } => (kernel, inputs),
        NodeKind::Aten { .. } => panic!("node 1 is no kernel"),
    }
}

macro_rules! assert_refused {
    ($($what:literal: $spoil:expr => $pattern:pat),* $(,)?) => {
        $({
            let error = spoiled($spoil);
            assert!(matches!(error, $pattern), "{}: {error}", $what);
        })*
    };
}

#[test]
fn each_structural_rule_catches_its_mistake() {
    assert_refused! {
        "operand past the end": |g| *aten(g, 0).1 = vec![Arg::Value(ValueId(99))] => GraphError::ValueRange(_, 99, 6),
        "result past the end": |g| g.nodes[0].outputs = vec![ValueId(99)] => GraphError::ValueRange { .. },
        "output past the end": |g| g.outputs[0] = ValueId(99) => GraphError::ValueRange { .. },
        "input past the end": |g| g.inputs[0] = ValueId(99) => GraphError::ValueRange { .. },
        "two definitions": |g| g.nodes[2].outputs = vec![ValueId(2)] => GraphError::DefinedTwice { .. },
        "an input twice": |g| g.inputs[1] = ValueId(0) => GraphError::DefinedTwice { .. },
        "a node defines an input": |g| g.nodes[0].outputs = vec![ValueId(0)] => GraphError::DefinedTwice { .. },
        "use before definition": |g| g.nodes.swap(0, 2) => GraphError::Undefined { .. },
        "a node reads its own result": |g| *aten(g, 0).1 = vec![Arg::Value(ValueId(2))] => GraphError::Undefined { .. },
        "an output nobody defines": |g| { g.nodes.pop(); } => GraphError::Undefined { .. },
        "an empty name": |g| g.values[2].name = String::new() => GraphError::Name { .. },
        "a name with a space": |g| g.values[2].name = "a b".into() => GraphError::Name { .. },
        "a long name": |g| g.values[2].name = "a".repeat(65) => GraphError::Name { .. },
        "a repeated name": |g| g.values[2].name = "x".into() => GraphError::RepeatedName { .. },
        "a node id with none above it": |g| g.nodes[2].id = NodeId(u32::MAX) => GraphError::LargeNodeId(NodeId(u32::MAX)),
        "a repeated node id": |g| g.nodes[2].id = NodeId(0) => GraphError::RepeatedNodeId(NodeId(0)),
        "an impossible type": |g| g.values[2].ty.shape[0] = -1 => GraphError::Type { .. },
        "an unknown op": |g| aten(g, 0).0.name = "aten::_print".into() => GraphError::Node(_, NodeRule::UnknownOp { .. }),
        "a missing argument": |g| { aten(g, 2).1.pop(); } => GraphError::Node(_, NodeRule::Call { .. }),
        "a wrong argument": |g| aten(g, 2).1[2] = Arg::Device => GraphError::Node(_, NodeRule::Call { .. }),
        "random dropout": |g| {
            let x = Arg::Value(ValueId(0));
            *aten(g, 0).0 = OpName::parse("aten::dropout");
            *aten(g, 0).1 = vec![x, Arg::Float(0.1), Arg::Bool(true)];
        } => GraphError::Node(_, NodeRule::Argument { .. }),
        "a result too many": |g| { let v = g.add_value("z", TensorType::contiguous(Dtype::F32, [1])); g.nodes[0].outputs.push(v); } => GraphError::Node(_, NodeRule::ResultCount(_, _, 2)),
        "no result": |g| g.nodes[2].outputs.clear() => GraphError::Node(_, NodeRule::ResultCount(_, _, 0)),
        "a broken kernel": |g| kernel(g).0.stores[0].order = vec![0, 0] => GraphError::Kernel { .. },
        "a kernel's input missing": |g| { kernel(g).1.pop(); } => GraphError::Node(_, NodeRule::KernelInputCount(1, 2)),
        "a kernel's input of another shape": |g| kernel(g).1[1] = ValueId(0) => GraphError::Node(_, NodeRule::KernelInput(1, _)),
        "a kernel's input of another dtype": |g| g.values[1].ty.dtype = Dtype::F16 => GraphError::Node(_, NodeRule::KernelInput(1, _)),
        "a kernel's result missing": |g| { g.nodes[1].outputs.pop(); } => GraphError::Node(_, NodeRule::ResultCount(_, _, 1)),
        "a kernel's result of another type": |g| g.values[4].ty.dtype = Dtype::F64 => GraphError::Node(_, NodeRule::KernelOutput { .. }),
        "a kernel's result with strides": |g| g.values[3].ty.strides = vec![1, 2] => GraphError::Node(_, NodeRule::KernelOutput { .. }),
    }
}

/// What the rewrites below are checked against.
const ORIGINAL: &str = "graph(%x: f32[2,3], %y: f32[3,3], %w: f32[9,3], %i: i64[2]) {
  #0 %e: f32[2,3] = aten::embedding(%w, %i)
  #1 %a: f32[2,3] = aten::add.Tensor(%x, %e)
  #2 %r: f32[2,3] = aten::relu(%a)
  #3 %m: f32[2,3] = aten::mm(%r, %y)
  #4 %v: f32[3,3] = aten::alias(%y)
  return (%m, %v)
}
";

fn rewrite(text: &str) -> Result<RewriteSummary, GraphError> {
    let original = graph(ORIGINAL);
    verify_graph(&original, OpTable::sample()).unwrap();
    verify_rewrite(&original, &graph(text), OpTable::insert(), &mut Table)
}

/// The original with one piece of its text replaced.
fn replaced(from: &str, to: &str) -> Result<RewriteSummary, GraphError> {
    assert!(ORIGINAL.contains(from), "{from}");
    rewrite(&ORIGINAL.replacen(from, to, 1))
}

const FUSED: &str = "#9 %r: f32[2,3] = kernel(%x, %e) {
    space p0=2, p1=3
    in x0: f32[2,3]
    in x1: f32[2,3]
    i0 = p0
    i1 = p1
    v0: f32 = load x0[i0, i1] clamp
    v1: f32 = load x1[i0, i1] clamp
    v2: f32 = add v0, v1
    v3: f32 = const 0.0
    v4: f32 = max v2, v3
    out v4 over [p0, p1] as [2,3]
  }
";
const UNFUSED: &str = "#1 %a: f32[2,3] = aten::add.Tensor(%x, %e)
  #2 %r: f32[2,3] = aten::relu(%a)
";

#[test]
fn a_fusion_is_summarised() {
    let text =
        ORIGINAL.replace(UNFUSED, FUSED).replace("  #4 %v: f32[3,3] = aten::alias(%y)\n", "").replace("%v)", "%y)");
    let summary = rewrite(&text).unwrap();
    let expected = RewriteSummary {
        nodes_before: 5,
        nodes_after: 3,
        kernels: 1,
        removed: vec![NodeId(1), NodeId(2), NodeId(4)],
        removed_views: 1,
        inserted: vec![NodeId(9)],
        pass_miss: false,
    };
    assert_eq!(summary, expected);
}

#[test]
fn the_original_itself_is_a_pass_miss() {
    let summary = rewrite(ORIGINAL).unwrap();
    assert!(summary.pass_miss && summary.removed.is_empty() && summary.inserted.is_empty());
}

#[test]
fn legal_rewrites_pass() {
    for (what, from, to) in [
        ("an inserted op", "#3 %m:", "#8 %c: f32[2,3] = aten::clone(%r) #3 %m:"),
        ("operands swapped", "(%x, %e)", "(%e, %x)"),
        (
            "an output with other strides",
            "#3 %m: f32[2,3] = aten::mm(%r, %y)",
            "#3 %n: f32[2,3] = aten::mm(%r, %y) #7 %t: f32[3,2]{1,3} = aten::t(%n)
             #8 %c: f32[3,2]{1,3} = aten::clone(%t) #9 %m: f32[2,3] = aten::t(%c)",
        ),
        (
            "a kept op re-typed by its operands",
            "#2 %r: f32[2,3] = aten::relu(%a)",
            "#7 %b: f32[3,2]{1,3} = aten::t(%a) #2 %s: f32[3,2]{1,3} = aten::relu(%b) #8 %r: f32[2,3] = aten::t(%s)",
        ),
    ] {
        if let Err(error) = replaced(from, to) {
            panic!("{what}: {error}");
        }
    }
}

macro_rules! assert_rewrite_refused {
    ($($what:literal: $from:expr => $to:expr => $pattern:pat),* $(,)?) => {
        $(match replaced($from, $to) {
            Err($pattern) => {}
            other => panic!("{}: {other:?}", $what),
        })*
    };
}

#[test]
fn each_rule_of_rewrites_catches_its_mistake() {
    let mm = "#3 %m: f32[2,3] = aten::mm(%r, %y)";
    let relu = "#2 %r: f32[2,3] = aten::relu(%a)";
    assert_rewrite_refused! {
        "an input added": ", %i: i64[2])" => ", %i: i64[2], %j: i64[2])" => GraphError::Count("inputs", 5, 4),
        "an input of another shape": "%x: f32[2,3]" => "%x: f32[2,4]" => GraphError::InputType(0, ..),
        "an input of other strides": "%x: f32[2,3]" => "%x: f32[2,3]{1,2}" => GraphError::InputType(0, ..),
        "an output dropped": "(%m, %v)" => "(%m)" => GraphError::Count("outputs", 1, 2),
        "an output of another shape": "(%m, %v)" => "(%v, %v)" => GraphError::OutputType(0, _),
        "an output that is an input": "(%m, %v)" => "(%x, %v)" => GraphError::OutputAlias(0, _, 0),
        "an output that is a view of an input": mm => "#9 %n: f32[3,2]{1,3} = aten::t(%x) #10 %m: f32[2,3] = aten::t(%n)" => GraphError::OutputAlias(0, ..),
        "another op under the same id": relu => "#2 %r: f32[2,3] = aten::exp(%a)" => GraphError::Node(NodeId(2), NodeRule::ReusedId { .. }),
        "other arguments under the same id": "aten::add.Tensor(%x, %e)" => "aten::add.Tensor(%x, %e, alpha=2)" => GraphError::Node(NodeId(1), NodeRule::ReusedId { .. }),
        "an embedding inserted": relu => "#9 %r: f32[2,3] = aten::embedding(%w, %i)" => GraphError::Node(_, NodeRule::NotInsertable { .. }),
        "an in-place op inserted": relu => "#9 %r: f32[2,3] = aten::relu_(%a)" => GraphError::Node(_, NodeRule::NotInsertable { .. }),
        "an op on no list": relu => "#9 %r: f32[2,3] = aten::bernoulli(%a)" => GraphError::Node(_, NodeRule::UnknownOp { .. }),
        "a kept node of another type": "%a: f32[2,3]" => "%a: f32[2,3]{1,2}" => GraphError::Node(NodeId(1), NodeRule::KeptType { .. }),
        "an inserted node of another type": relu => "#9 %r: f16[2,3] = aten::exp(%a)" => GraphError::Node(NodeId(9), NodeRule::InferredType { .. }),
        "an op whose type nobody knows": relu => "#9 %r: f32[2,3] = aten::sin(%a)" => GraphError::Node(NodeId(9), NodeRule::Infer { .. }),
        "a smaller tensor indexed": "aten::embedding(%w, %i)" => "aten::embedding(%y, %i)" => GraphError::Node(_, NodeRule::Index { .. }),
        "indices computed anew": "#0 %e: f32[2,3] = aten::embedding(%w, %i)" => "#9 %j: i64[2] = aten::add.Tensor(%i, %i) #0 %e: f32[2,3] = aten::embedding(%w, %j)" => GraphError::Node(_, NodeRule::Index { .. }),
    }
}

#[test]
fn an_op_of_a_training_step_is_kept_with_operands_of_the_types_it_had_and_never_inserted() {
    let with = |relu: &str, gradient: &str| {
        graph(&format!(
            "graph(%g: f32[2,1,1], %x: f32[2,3,3]) {{\n  {relu}\n  {gradient}: f32[2,3,3] = {POOL}\n  return (%a)\n}}\n"
        ))
    };
    const POOL: &str = "aten::_adaptive_avg_pool2d_backward(%r, %x)";
    let original = with("#0 %r: f32[2,1,1] = aten::relu(%g)", "#1 %a");
    verify_graph(&original, OpTable::all()).unwrap();
    assert!(matches!(verify_graph(&original, OpTable::sample()), Err(GraphError::Node(_, NodeRule::UnknownOp { .. }))));
    let verified = |rewritten: &Graph| verify_rewrite(&original, rewritten, OpTable::insert(), &mut Table);
    assert!(verified(&with("#2 %r: f32[2,1,1] = aten::exp(%g)", "#1 %a")).is_ok());
    let inserted = verified(&with("#0 %r: f32[2,1,1] = aten::relu(%g)", "#3 %a"));
    assert!(matches!(inserted, Err(GraphError::Node(NodeId(3), NodeRule::NotInsertable { .. }))), "{inserted:?}");
    let larger = verified(&with("#2 %r: f32[2,3,3] = aten::exp(%x)", "#1 %a"));
    assert!(matches!(larger, Err(GraphError::Node(NodeId(1), NodeRule::TrustedOperands { .. }))), "{larger:?}");
}

#[test]
fn an_output_lies_where_the_original_does_or_densely_in_its_order() {
    for (original, found, allowed) in [
        ("f32[2,3]", "f32[2,3]", true),
        ("f32[2,3]", "f32[2,3]{1,2}", false),
        ("f32[2,3]{1,2}", "f32[2,3]", false),
        ("f32[2,3]", "f32[2,3]{0,1}", false),
        ("f32[2,3]", "f32[2,3]{6,1}", false),
        ("f32[1,3]", "f32[1,3]{9,1}", true),
        ("f32[0,3]", "f32[0,3]{1,7}", true),
        // Of every second element.
        ("f32[2,3]{6,2}", "f32[2,3]{6,2}", true),
        ("f32[2,3]{6,2}", "f32[2,3]", true),
        ("f32[2,3]{6,2}", "f32[2,3]{1,2}", false),
        ("f32[2,3]{6,2}", "f32[2,3]{12,4}", false),
        // Expanded: a dimension that takes no step is in no order.
        ("f32[2,3]{0,1}", "f32[2,3]{0,1}", true),
        ("f32[2,3]{0,1}", "f32[2,3]", true),
        ("f32[2,3]{0,1}", "f32[2,3]{1,2}", true),
        ("f32[2,3]{0,1}", "f32[2,3]{0,0}", false),
        ("f32[2,3,4]{4,0,1}", "f32[2,3,4]{1,2,6}", false),
    ] {
        let rewrite = |ty: &str| graph(&format!("graph(%x: {original}, %y: {ty}) {{\n  return (%y)\n}}\n"));
        let mut before = rewrite(found);
        before.outputs = vec![before.inputs[0]];
        let verified = verify_rewrite(&before, &rewrite(found), OpTable::insert(), &mut Table);
        let refused = matches!(verified, Err(GraphError::OutputLayout(0, ..)));
        assert_eq!(refused, !allowed, "{original} as {found}: {verified:?}");
    }
}

#[test]
fn outputs_share_memory_with_each_other_where_the_originals_do() {
    let with = |second: &str, outputs: &str| {
        graph(&format!(
            "graph(%x: f32[2,3]) {{\n  #0 %a: f32[2,3] = aten::relu(%x)\n  #1 %b: f32[2,3] = {second}\n  return ({outputs})\n}}\n"
        ))
    };
    let verified = |before: &Graph, after: &Graph| verify_rewrite(before, after, OpTable::insert(), &mut Table);
    let (copied, shown) = (with("aten::clone(%a)", "%a, %b"), with("aten::alias(%a)", "%a, %b"));
    for shared in [with("aten::clone(%a)", "%a, %a"), with("aten::clone(%a)", "%b, %b")] {
        assert!(matches!(verified(&copied, &shared), Err(GraphError::OutputsShare(0, 1, _))));
        assert!(verified(&shown, &with("aten::alias(%a)", "%a, %a")).is_ok());
    }
    assert!(verified(&copied, &copied).is_ok() && verified(&shown, &shown).is_ok());
}

#[test]
fn limits_hold() {
    let many = |line: &dyn Fn(usize) -> String, count: usize| {
        let lines: String = (0..count).map(|n| line(n + 100)).collect();
        rewrite(&ORIGINAL.replace("  return", &format!("{lines}  return")))
    };
    let copies = |n: usize| format!("  #{n} %c{n}: f32[2,3] = aten::clone(%x)\n");
    assert!(many(&copies, 59).is_ok());
    assert!(matches!(many(&copies, 60), Err(GraphError::Limit("nodes", 65, 64, _))));
    let big = |n: usize| format!("  #{n} %c{n}: f32[268435457] = aten::zeros([268435457])\n");
    assert!(matches!(
        many(&big, 1),
        Err(GraphError::Limit("bytes of intermediate tensors at once", _, 1_073_741_824, _))
    ));
    let product = |n: usize| {
        format!(
            "  #{n} %p{n}: f32[4096,3]{{0,0}} = aten::expand(%x, [4096, 3])\n  #{m} %q{n}: f32[3,4096]{{1,3}} = aten::t(%p{n})\n",
            m = n + 1000
        )
        .replace("{1,3}", "{0,0}")
            + &format!("  #{m} %s{n}: f32[4096,4096] = aten::mm(%p{n}, %q{n})\n", m = n + 2000)
    };
    assert!(matches!(
        many(&product, 1),
        Err(GraphError::Limit("estimated operations in inserted nodes", _, 16_777_216, _))
    ));
}

#[test]
fn every_op_that_takes_tensors_as_indices_is_known_for_it() {
    use crate::schema::BaseType;
    let is_index = |name: &str, op: &OpName| {
        matches!(name, "index" | "indices" | "repeats")
            || (op.name.starts_with("aten::masked_scatter") && name == "mask")
            || (op.name != "aten::binary_cross_entropy" && name == "target")
    };
    for schema in OpTable::all().iter().filter(|schema| OpTable::insert().get(&schema.op).is_none()) {
        let indices =
            |arg: &crate::schema::SchemaArg| arg.ty.base == BaseType::Tensor && is_index(&arg.name, &schema.op);
        assert_eq!(index_argument(&schema.op), schema.args.iter().position(indices), "{}", schema.op);
    }
}
