//! Which calls of ATen ops a rewrite has that are not the sample's own.

use super::{GraphError, NodeRule};
use crate::alias::never_copies;
use crate::exact::exact;
use crate::{Dtype, Graph, Node, NodeId, NodeKind, OpName, OpTable, ValueId};
use std::collections::{HashMap, HashSet};

/// Refuses a verified rewrite that calls more of ATen than its original, views apart: what it makes faster, its kernels
/// then make faster.
///
/// A call is the original's own where op, arguments, and element types and shapes of operands and results are the same,
/// and only as often as the original has it: so a pass may keep `aten::addmm`, wherever it now stands, but not add a
/// second one, nor use it for matrices of another size. An op is a view only if it never copies: what returns a view of
/// some operands and a copy of others, such as `aten::reshape`, is work that a library does.
///
/// # Errors
///
/// [`NodeRule::LibraryCall`] with the first such node; nodes that kept their id come before those that did not.
pub fn check_own_calls(original: &Graph, rewritten: &Graph) -> Result<(), GraphError> {
    let mut left: HashMap<CallKey<'_>, usize> = HashMap::new();
    for call in original.nodes.iter().filter_map(|node| call(original, node)) {
        *left.entry(call).or_default() += 1;
    }
    let own = left.clone();
    let originals: HashSet<NodeId> = original.nodes.iter().map(|node| node.id).collect();
    let (kept, moved): (Vec<&Node>, Vec<&Node>) = rewritten.nodes.iter().partition(|node| originals.contains(&node.id));
    for node in kept.into_iter().chain(moved) {
        let Some(call) = call(rewritten, node) else { continue };
        match left.get_mut(&call) {
            Some(count) if *count > 0 => *count -= 1,
            _ => {
                let NodeKind::Aten { op, .. } = &node.kind else { continue };
                let own = own.get(&call).copied().unwrap_or(0);
                return Err(NodeRule::LibraryCall(op.to_string(), own).broken_by(node.id));
            }
        }
    }
    Ok(())
}

/// What a node calls: the same for calls of one op with equal arguments, on tensors of equal element types and shapes.
#[derive(PartialEq, Eq, Hash, Clone)]
struct CallKey<'g> {
    op: &'g OpName,
    args: Vec<String>,
    results: Vec<OperandKey<'g>>,
}

type OperandKey<'g> = (Dtype, &'g [i64]);

/// The call of a node. None of kernels and views.
fn call<'g>(graph: &'g Graph, node: &'g Node) -> Option<CallKey<'g>> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    if OpTable::sample().get(op).is_some_and(never_copies) {
        return None;
    }
    let tensor = |id: &ValueId| (graph.ty(*id).dtype, graph.ty(*id).shape.as_slice());
    let args = args.iter().map(|arg| exact(&arg.map(tensor))).collect();
    Some(CallKey { op, args, results: node.outputs.iter().map(tensor).collect() })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const ORIGINAL: &str = "graph(%x: f32[2,3], %w: f32[3,3]) {
  #0 %a: f32[2,3] = aten::mm(%x, %w)
  #1 %b: f32[2,3] = aten::relu(%a)
  return (%b)
}";

    fn graph(text: &str) -> Graph {
        Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn refused(nodes: &str) -> Option<String> {
        let rewritten = graph(&format!("graph(%x: f32[2,3], %w: f32[3,3]) {{\n{nodes}\n  return (%b)\n}}"));
        check_own_calls(&graph(ORIGINAL), &rewritten).err().map(|error| error.to_string())
    }

    #[test]
    fn what_the_sample_calls_may_stay_whatever_its_ids_and_operands() {
        for nodes in [
            "#0 %a: f32[2,3] = aten::mm(%x, %w) #1 %b: f32[2,3] = aten::relu(%a)",
            "#7 %a: f32[2,3] = aten::relu(%x) #8 %b: f32[2,3] = aten::mm(%a, %w)",
            "#0 %a: f32[2,3] = aten::mm(%x, %w) #7 %c: f32[3,2] = aten::t(%a) #8 %d: f32[2,3] = aten::t(%c)
             #1 %b: f32[2,3] = aten::relu(%d)",
        ] {
            assert_eq!(refused(nodes), None, "{nodes}");
        }
    }

    #[test]
    fn what_it_does_not_call_is_refused_and_so_is_a_second_call() {
        for (nodes, said) in [
            (
                "#0 %a: f32[2,3] = aten::mm(%x, %w) #7 %b: f32[2,3] = aten::clamp_min(%a, 0)",
                "node #7 calls `aten::clamp_min`, which the original does not call on tensors of these types",
            ),
            (
                "#7 %c: f32[2,3] = aten::mm(%x, %w) #0 %a: f32[2,3] = aten::mm(%c, %w)
                 #1 %b: f32[2,3] = aten::relu(%a)",
                "node #7 calls `aten::mm` once more than the original, which has 1",
            ),
            (
                "#0 %a: f32[2,3] = aten::mm(%x, %w) #7 %c: f32[6] = aten::reshape(%a, [6])
                 #8 %d: f32[2,3] = aten::view(%c, [2, 3]) #1 %b: f32[2,3] = aten::relu(%d)",
                "node #7 calls `aten::reshape`",
            ),
            (
                "#7 %w2: f32[3,2] = aten::slice.Tensor(%w, dim=1, end=2) #0 %a: f32[2,2] = aten::mm(%x, %w2)
                 #8 %c: f32[2,3] = aten::constant_pad_nd(%a, [0, 1]) #1 %b: f32[2,3] = aten::relu(%c)",
                "node #0 calls `aten::mm`, which the original does not call on tensors of these types",
            ),
        ] {
            let error = refused(nodes);
            assert!(error.as_ref().is_some_and(|error| error.contains(said)), "{nodes}\n{error:?}");
        }
    }
}
