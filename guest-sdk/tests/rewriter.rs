//! Editing: what every change keeps, and which changes are refused.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_guest_sdk::ir::{Arg, Graph, InferError, NodeId, OpName, TensorType, ValueId};
use passhost_guest_sdk::lower::{self, Group, KernelBuilder};
use passhost_guest_sdk::pattern::{any, one_of, op};
use passhost_guest_sdk::testing::Types;
use passhost_guest_sdk::{EditError, Infer, PassError, Rewriter, args};

const POINTWISE: &[Group] = &[Group::POINTWISE];

/// Knows one op: relu returns the type it is given.
struct ReluHost;

impl Infer for ReluHost {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        match args {
            [Arg::Value(ty)] if op.name == "aten::relu" => Ok(vec![ty.clone()]),
            _ => Err(InferError::NotAllowed(op.to_string())),
        }
    }
}

fn parse(text: &str) -> Rewriter {
    Rewriter::new(Graph::parse(text).unwrap())
}

fn named(rewriter: &Rewriter, name: &str) -> ValueId {
    let position = rewriter.graph().values.iter().position(|value| value.name == name).unwrap();
    ValueId(position as u32)
}

const CHAIN: &str = "graph(%x: f32[4]) {
  %a: f32[4] = aten::exp(%x)
  %b: f32[4] = aten::neg(%a)
  %c: f32[4] = aten::abs(%b)
  return (%c)
}";

#[test]
fn inserted_ops_are_typed_by_the_host_and_take_fresh_ids() {
    let mut rewriter = parse(CHAIN);
    let a = named(&rewriter, "a");
    let new = rewriter.insert_aten(1, OpName::parse("aten::relu"), vec![Arg::Value(a)], &mut ReluHost).unwrap()[0];
    assert_eq!(rewriter.graph().ty(new).to_string(), "f32[4]");
    assert_eq!(rewriter.graph().nodes[1].id, NodeId(3));
    let refused = rewriter.insert_aten(1, OpName::parse("aten::rand"), vec![], &mut ReluHost).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`aten::rand` is not an op that may be used here; use one of `passhost ops`, or a kernel"
    );
}

#[test]
fn an_op_cannot_read_what_is_defined_below_it() {
    let mut rewriter = parse(CHAIN);
    let b = named(&rewriter, "b");
    let error = rewriter.insert_aten(1, OpName::parse("aten::relu"), vec![Arg::Value(b)], &mut ReluHost).unwrap_err();
    assert!(error.to_string().starts_with("%b would be read at position 1"), "{error}");
    let a = named(&rewriter, "a");
    let c = named(&rewriter, "c");
    assert!(matches!(rewriter.replace_all_uses(a, c), Err(EditError::NotYetDefined { .. })));
}

#[test]
fn ids_of_removed_nodes_are_not_used_again() {
    let mut rewriter = parse(CHAIN);
    let (b, c) = (named(&rewriter, "b"), named(&rewriter, "c"));
    rewriter.replace_all_uses(c, b).unwrap();
    assert_eq!(rewriter.remove_dead_code(), [NodeId(2)]);
    let lowered = lower::region(rewriter.graph(), &[NodeId(0), NodeId(1)], POINTWISE).unwrap();
    assert_eq!(rewriter.replace(&lowered), Ok(NodeId(3)));
}

#[test]
fn values_of_other_types_do_not_stand_for_each_other() {
    let mut rewriter = parse("graph(%x: f32[4], %y: f16[4]) { %1: f32[4] = aten::neg(%x) return (%1) }");
    let (x, y) = (named(&rewriter, "x"), named(&rewriter, "y"));
    let error = rewriter.replace_all_uses(x, y).unwrap_err();
    assert!(error.to_string().starts_with("%x is f32[4] and cannot be replaced by %y, which is f16[4]"));
}

#[test]
fn a_path_that_leaves_and_comes_back_cannot_be_closed() {
    let mut rewriter = parse(
        "graph(%x: f32[4,4]) {
           %a: f32[4,4] = aten::exp(%x)
           %b: f32[4,4] = aten::softmax.int(%a, -1)
           %c: f32[4,4] = aten::add.Tensor(%a, %b)
           return (%c)
         }",
    );
    let lowered = lower::region(rewriter.graph(), &[NodeId(0), NodeId(2)], POINTWISE).unwrap();
    let error = rewriter.replace(&lowered).unwrap_err();
    assert!(error.to_string().contains("%b is read by them and depends on them"), "{error}");
}

#[test]
fn nodes_between_the_replaced_ones_move_to_the_side_they_belong_to() {
    let mut rewriter = parse(
        "graph(%x: f32[4,4], %y: f32[4,4]) {
           %a: f32[4,4] = aten::exp(%x)
           %late: f32[4,4] = aten::softmax.int(%a, -1)
           %early: f32[4,4] = aten::softmax.int(%y, -1)
           %c: f32[4,4] = aten::mul.Tensor(%a, %early)
           return (%c, %late)
         }",
    );
    let lowered = lower::region(rewriter.graph(), &[NodeId(0), NodeId(3)], POINTWISE).unwrap();
    let kernel = rewriter.replace(&lowered).unwrap();
    let order: Vec<NodeId> = rewriter.graph().nodes.iter().map(|node| node.id).collect();
    assert_eq!(order, [NodeId(2), kernel, NodeId(1)]);
}

#[test]
fn nodes_of_which_another_result_is_still_read_stay() {
    let mut rewriter = parse(CHAIN);
    let lowered = lower::region(rewriter.graph(), &[NodeId(0), NodeId(1)], POINTWISE).unwrap();
    let (nodes, a) = (lowered.nodes(), named(&rewriter, "a"));
    rewriter.replace_with(nodes, lowered.kernel().clone(), lowered.inputs(), [a]).unwrap();
    let order: Vec<NodeId> = rewriter.graph().nodes.iter().map(|node| node.id).collect();
    assert_eq!(order, [NodeId(3), NodeId(1), NodeId(2)]);
}

#[test]
fn nodes_that_an_input_comes_from_stay() {
    let mut rewriter = parse(
        "graph(%x: f32[4]) {
           %a: f32[4] = aten::relu(%x)
           %b: f32[4] = aten::neg(%a)
           %c: f32[4] = aten::abs(%b)
           return (%c)
         }",
    );
    let (a, c) = (named(&rewriter, "a"), named(&rewriter, "c"));
    let kernel = "space p0=4
        in x0: f32[4]
        v0: f32 = load x0[p0] clamp
        v1: f32 = neg v0
        v2: f32 = abs v1
        out v2 over [p0] as [4]";
    let kernel = rewriter.replace_with(&[NodeId(0), NodeId(1), NodeId(2)], kernel, [a], [c]).unwrap();
    let order: Vec<NodeId> = rewriter.graph().nodes.iter().map(|node| node.id).collect();
    assert_eq!(order, [NodeId(0), kernel]);
}

#[test]
fn identities_go_and_their_readers_stay() {
    let mut rewriter = parse(
        "graph(%x: f32[4]) {
           %a: f32[4] = aten::relu(%x)
           %b: f32[4] = aten::dropout(%a, 0.1, false)
           %c: f32[4] = aten::to.dtype(%b, f32)
           %d: f32[4] = aten::dropout(%c, 0.1, true)
           return (%d, %c)
         }",
    );
    assert_eq!(rewriter.remove_identities(), [NodeId(1), NodeId(2)]);
    let left: Vec<NodeId> = rewriter.graph().nodes.iter().map(|node| node.id).collect();
    assert_eq!(left, [NodeId(0), NodeId(3)]);
    assert_eq!(rewriter.graph().outputs[1], named(&rewriter, "a"));
}

#[test]
fn writes_that_change_nothing_go() {
    let mut rewriter = parse(
        "graph(%x: f32[4,4], %y: f32[2,4]) {
           %a: f32[4,4] = aten::relu(%x)
           %b: f32[2,4] = aten::slice.Tensor(%a, 0, 0, 2, 1)
           %c: f32[2,0]{4,1} = aten::slice.Tensor(%b, 1, 4, 9, 1)
           %d: f32[2,0] = aten::fill.Scalar(%c, 1)
           %e: f32[2,4] = aten::slice_scatter(%b, %d, 1, 4, 9, 1)
           %f: f32[4,4] = aten::slice_scatter(%a, %e, 0, 0, 2, 1)
           %g: f32[4,4] = aten::slice_scatter(%f, %y, 0, 0, 2, 1)
           %h: f32[4,4] = aten::neg(%g)
           %i: f32[4,4] = aten::slice_scatter(%h, %d, 1, 4, 9, 1)
           return (%i)
         }",
    );
    // First the part without elements, and then what lies there already; what is returned has memory of its own.
    assert_eq!(rewriter.remove_idle_writes(), [NodeId(4), NodeId(5)]);
    assert_eq!(rewriter.node(NodeId(6)).unwrap().operands()[0], named(&rewriter, "a"));
    assert!(rewriter.node(NodeId(8)).is_some());
}

#[test]
fn a_kernel_must_fit_its_operands() {
    let mut rewriter = parse(CHAIN);
    let lowered = lower::region(rewriter.graph(), &[NodeId(0), NodeId(1), NodeId(2)], POINTWISE).unwrap();
    let error = rewriter.insert_kernel(0, lowered.kernel().clone(), []).unwrap_err();
    assert!(error.to_string().starts_with("the kernel declares (f32[4]), but it is given ()"));
}

/// Indices that a table is read at are a sum and then an identity; what is read is scaled.
const LOOKUP: &str = "graph(%i: i64[4], %j: i64[4], %w: f32[9,2]) {
  %a: i64[4] = aten::add.Tensor(%i, %j)
  %b: i64[4] = aten::abs(%a)
  %c: i64[4] = aten::alias(%b)
  %e: f32[4,2] = aten::embedding(%w, %c)
  %f: f32[4,2] = aten::neg(%e)
  %g: f32[4,2] = aten::abs(%f)
  return (%g)
}";

#[test]
fn what_an_index_comes_from_stays() {
    let mut rewriter = parse(LOOKUP);
    assert_eq!(rewriter.remove_identities(), []);
    let lowered = lower::region(rewriter.graph(), &[NodeId(0), NodeId(1)], POINTWISE).unwrap();
    let refused = rewriter.replace(&lowered).unwrap_err();
    assert_eq!(refused, EditError::Index("aten::embedding".into()));
    let partition = lower::partition(rewriter.graph(), &[Group::POINTWISE, Group::GATHERS]);
    assert_eq!(partition.regions, [vec![NodeId(3), NodeId(4), NodeId(5)]]);
    assert_eq!(partition.refusals[0].nodes, [NodeId(0), NodeId(1)]);
}

/// What an author writes in `run`: every error of the SDK becomes one of the pass.
fn square(rewriter: &mut Rewriter) -> Result<(), PassError> {
    let x: TensorType = "f32[4]".parse()?;
    let k = KernelBuilder::new([4], []);
    let value = k.element(k.input_like(&x), &[0]);
    k.store(k.mul(value, value), [0], [4]);
    let kernel = k.finish()?;
    let squared = rewriter.insert_kernel(0, kernel, [ValueId(0)])?;
    let doubled = rewriter.insert_aten(1, "aten::mul.Scalar", args![squared[0], 2.0], &mut Types::default())?;
    rewriter.replace_all_uses(ValueId(1), doubled[0])?;
    Ok(())
}

#[test]
fn errors_of_builders_texts_and_edits_are_errors_of_a_pass() {
    let mut rewriter = parse(CHAIN);
    square(&mut rewriter).unwrap();
    assert_eq!(rewriter.node(NodeId(1)).unwrap().operands(), [ValueId(5)]);
    assert!(matches!(KernelBuilder::new([4], []).finish().map_err(PassError::from), Err(PassError::Edit(_))));
}

#[test]
fn matches_that_a_change_took_apart_are_left_out() {
    let mut rewriter = parse(CHAIN);
    let pattern =
        one_of([op("aten::neg", [op("aten::exp", [any("x")])]), op("aten::abs", [op("aten::neg", [any("x")])])]);
    let changed = rewriter.for_each_match(&pattern, |rewriter, found| {
        let lowered = lower::region(rewriter.graph(), &found.nodes, POINTWISE)?;
        rewriter.replace(&lowered)?;
        Ok(())
    });
    assert_eq!((changed, rewriter.graph().nodes.len()), (1, 2));
    let refused = rewriter.for_each_match(&op("aten::abs", [any("x")]), |_, _| Err("not today".into()));
    assert_eq!((refused, &rewriter.refusals()[0].reason[..]), (0, "not today"));
}
