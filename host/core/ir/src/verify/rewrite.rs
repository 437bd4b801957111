//! A rewrite against its original.

use super::{GraphError, NodeRule, TypeMismatch, check_result_count, cost, shown, unknown_op, verify_structure};
use crate::alias::{Aliasing, aliasing, same_layout};
use crate::exact::exact;
use crate::ops::index;
use crate::{Arg, Graph, Infer, Node, NodeId, NodeKind, OpName, OpTable, TensorType, ValueId, is_pass_miss};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What a pass did to a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteSummary {
    /// Nodes of the original.
    pub nodes_before: usize,
    /// Nodes of the rewrite.
    pub nodes_after: usize,
    /// Kernel nodes of the rewrite.
    pub kernels: usize,
    /// Original nodes that are gone, in their order.
    pub removed: Vec<NodeId>,
    /// How many of those were views or identities, which calculate nothing.
    pub removed_views: usize,
    /// New nodes, in their order.
    pub inserted: Vec<NodeId>,
    /// Whether the pass changed nothing that counts; see [`is_pass_miss`].
    pub pass_miss: bool,
}

/// Limits that do not shrink below these, however small the original is.
const LEAST_NODES: u64 = 64;
const LEAST_SIZE: u64 = 1 << 20;
const LEAST_BYTES: u64 = 1 << 30;
const LEAST_WORK: u64 = 1 << 24;

/// Checks what a pass returned.
///
/// - Inputs are those of the original: as many, of the same types. Outputs have the original's element types and
///   shapes, and lie as they do: strides may differ only where the original is not dense, from which the rewrite may
///   make a dense tensor with the dimensions in the same order. So no copy is left out, and no overlap added.
/// - A node with the id of an original node is that node, *kept*: same op, same arguments but for the tensors.
///   Where the operands have the types they had, so must the results. Tensors of indices must be computed as
///   they were. An op of training steps must have operands of the types it had: it trusts that they fit.
/// - Every other node is *inserted*: a kernel, or an op on `insert`.
/// - The types that inserted nodes declare, and kept ones with operands of new types, are those that `infer` gives.
/// - An output may share memory with an input only where the original's does.
/// - The graph's size, its nodes, memory and work stay within limits.
///
/// `original` must be verified and functional, with its ops on the lists.
pub fn verify_rewrite(
    original: &Graph,
    rewritten: &Graph,
    insert: &OpTable,
    infer: &mut dyn Infer,
) -> Result<RewriteSummary, GraphError> {
    check_counts(original, rewritten)?;
    let ops = OpTable::all();
    let originals: HashMap<NodeId, &Node> = original.nodes.iter().map(|node| (node.id, node)).collect();
    check_inserted_ops(rewritten, &originals, insert)?;
    verify_structure(rewritten, |op| ops.get(op).or_else(|| insert.get(op)))?;
    check_signature(original, rewritten)?;
    let mut kept = KeptNodes::new(original, rewritten);
    for node in &rewritten.nodes {
        let Some(before) = originals.get(&node.id) else {
            check_types(rewritten, node, infer)?;
            continue;
        };
        kept.check_indices(before, node, insert)?;
        if !kept.check(before, node)? {
            check_types(rewritten, node, infer)?;
        }
    }
    check_aliases(original, rewritten, ops)?;
    check_cost(original, rewritten, &originals, ops)?;

    let after: HashSet<NodeId> = rewritten.nodes.iter().map(|node| node.id).collect();
    let removed: Vec<&Node> = original.nodes.iter().filter(|node| !after.contains(&node.id)).collect();
    let is_view = |node: &&&Node| matches!(aliasing(original, node, ops), Aliasing::Identity(_) | Aliasing::View(_));
    Ok(RewriteSummary {
        nodes_before: original.nodes.len(),
        nodes_after: rewritten.nodes.len(),
        kernels: kernels(rewritten),
        removed_views: removed.iter().filter(is_view).count(),
        removed: removed.iter().map(|node| node.id).collect(),
        inserted: rewritten.nodes.iter().map(|node| node.id).filter(|id| !originals.contains_key(id)).collect(),
        pass_miss: is_pass_miss(original, rewritten, ops),
    })
}

fn kernels(graph: &Graph) -> usize {
    graph.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Kernel { .. })).count()
}

/// The largest [`Graph::size`] that a rewrite of this graph may have.
pub fn most_size(original: &Graph) -> u64 {
    original.size().saturating_mul(16).max(LEAST_SIZE)
}

/// Whether a rewrite is no larger than a rewrite of this graph may be. It comes before anything that takes longer with a
/// larger graph, and before there are copies of it.
pub fn check_counts(original: &Graph, rewritten: &Graph) -> Result<(), GraphError> {
    let nodes = (original.nodes.len() as u64).saturating_mul(4).max(LEAST_NODES);
    let (size, more) = ("ids, numbers and the like", "16 times the original's or 2^20");
    within(size, rewritten.size(), most_size(original), more)?;
    within("nodes", rewritten.nodes.len() as u64, nodes, "4 times the original's or 64")
}

fn within(what: &'static str, found: u64, limit: u64, why: &'static str) -> Result<(), GraphError> {
    if found > limit { Err(GraphError::Limit(what, found, limit, why)) } else { Ok(()) }
}

/// Which nodes are kept and which are inserted is decided before anything else, so that an op that may not be inserted
/// is refused as such, whatever else is wrong with it.
fn check_inserted_ops(
    rewritten: &Graph,
    originals: &HashMap<NodeId, &Node>,
    insert: &OpTable,
) -> Result<(), GraphError> {
    for node in &rewritten.nodes {
        match (originals.get(&node.id), &node.kind) {
            (Some(before), _) if !is_same_step(before, node) => {
                return Err(NodeRule::ReusedId(describe(before), describe(node)).broken_by(node.id));
            }
            (None, NodeKind::Aten { op, .. }) if insert.get(op).is_none() => {
                return Err(match OpTable::all().get(op) {
                    Some(_) => NodeRule::NotInsertable(shown(&op.to_string())).broken_by(node.id),
                    None => unknown_op(node.id, op),
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// What a node is, for a message: the call without its tensors.
fn describe(node: &Node) -> String {
    match &node.kind {
        NodeKind::Kernel { .. } => "a kernel".into(),
        NodeKind::Aten { op, .. } => shown(&op.to_string()),
    }
}

/// The same op with the same arguments, whichever tensors they name.
fn is_same_step(a: &Node, b: &Node) -> bool {
    match (&a.kind, &b.kind) {
        (NodeKind::Aten { op, args }, NodeKind::Aten { op: other, args: others }) => {
            op == other
                && a.outputs.len() == b.outputs.len()
                && args.len() == others.len()
                && args.iter().zip(others).all(|(a, b)| exact(&a.map(|_| ())) == exact(&b.map(|_| ())))
        }
        (NodeKind::Kernel { kernel, .. }, NodeKind::Kernel { kernel: other, .. }) => kernel == other,
        _ => false,
    }
}

fn check_signature(original: &Graph, rewritten: &Graph) -> Result<(), GraphError> {
    let ends = [("inputs", &original.inputs, &rewritten.inputs), ("outputs", &original.outputs, &rewritten.outputs)];
    if let Some((what, expected, found)) = ends.into_iter().find(|(_, expected, found)| expected.len() != found.len()) {
        return Err(GraphError::Count(what, found.len(), expected.len()));
    }
    for (position, (&a, &b)) in original.inputs.iter().zip(&rewritten.inputs).enumerate() {
        let (expected, found) = (original.ty(a), rewritten.ty(b));
        if expected != found {
            return Err(GraphError::InputType(position, found.to_string(), expected.to_string()));
        }
    }
    for (position, (&a, &b)) in original.outputs.iter().zip(&rewritten.outputs).enumerate() {
        let (expected, found) = (original.ty(a), rewritten.ty(b));
        if expected.dtype != found.dtype || expected.shape != found.shape {
            return Err(GraphError::OutputType(position, TypeMismatch::new(rewritten, b, expected)));
        }
        if !may_lie(expected, found) {
            let (ty, is_dense) = (TypeMismatch::new(rewritten, b, expected), expected.memory_order().is_some());
            return Err(GraphError::OutputLayout(position, ty, is_dense));
        }
    }
    Ok(())
}

/// Whether an output that the original has as `original` may lie as `found` does.
fn may_lie(original: &TensorType, found: &TensorType) -> bool {
    // A stride of 0 puts a dimension in no order.
    let in_order = |a: usize, b: usize| {
        let is_before = |ty: &TensorType| ty.strides[a] > ty.strides[b];
        let counts = |dim: usize| original.shape[dim] != 1 && original.strides[dim] != 0;
        !(counts(a) && counts(b) && is_before(original)) || is_before(found)
    };
    let all_in_order = || (0..original.rank()).all(|a| (0..original.rank()).all(|b| in_order(a, b)));
    same_layout(original, found)
        || (original.memory_order().is_none() && found.memory_order().is_some() && all_in_order())
}

/// Kept nodes, and which values of a rewrite are computed as in the original: by the same kept nodes from the same inputs.
struct KeptNodes<'a> {
    original: &'a Graph,
    rewritten: &'a Graph,
    /// For a value of the rewrite, the value of the original that it equals.
    equal: Vec<Option<ValueId>>,
}

impl<'a> KeptNodes<'a> {
    fn new(original: &'a Graph, rewritten: &'a Graph) -> KeptNodes<'a> {
        let mut equal = vec![None; rewritten.values.len()];
        for (&before, &after) in original.inputs.iter().zip(&rewritten.inputs) {
            equal[after.index()] = Some(before);
        }
        KeptNodes { original, rewritten, equal }
    }

    /// Checks the types of a kept node's results, and takes note of it. Says whether its operands have the types that they had:
    /// otherwise `infer` says what it returns.
    fn check(&mut self, before: &Node, after: &Node) -> Result<bool, GraphError> {
        let KeptNodes { original, rewritten, equal } = self;
        let (operands, now) = (before.operands(), after.operands());
        if operands.iter().zip(&now).all(|(&before, after)| equal[after.index()] == Some(before)) {
            for (&before, &after) in before.outputs.iter().zip(&after.outputs) {
                equal[after.index()] = Some(before);
            }
        }
        if !operands.iter().zip(&now).all(|(&a, &b)| same_layout(original.ty(a), rewritten.ty(b))) {
            return Ok(false);
        }
        for (&a, &b) in before.outputs.iter().zip(&after.outputs) {
            if !same_layout(original.ty(a), rewritten.ty(b)) {
                return Err(NodeRule::KeptType(TypeMismatch::new(rewritten, b, original.ty(a))).broken_by(after.id));
            }
        }
        Ok(true)
    }

    /// Indices must come from where they came from. What they index must stay as large, so that they still lie inside.
    fn check_indices(&self, before: &Node, after: &Node, insert: &OpTable) -> Result<(), GraphError> {
        let (NodeKind::Aten { op, args: before_args }, NodeKind::Aten { args, .. }) = (&before.kind, &after.kind)
        else {
            return Ok(());
        };
        let schema = OpTable::all().get(op).filter(|_| insert.get(op).is_none());
        let (Some(schema), Some(index)) = (schema, index_argument(op)) else { return Ok(()) };
        for (position, (before, now)) in before_args.iter().zip(args).enumerate() {
            for (&a, &b) in before.values().zip(now.values()) {
                let same_shape = self.original.ty(a).shape == self.rewritten.ty(b).shape;
                if !same_shape || (position == index && self.equal[b.index()] != Some(a)) {
                    let argument = schema.args.get(position).map(|declared| declared.name.clone()).unwrap_or_default();
                    return Err(NodeRule::Index(op.to_string(), argument).broken_by(after.id));
                }
            }
        }
        Ok(())
    }
}

/// The argument of an op that says which elements to take, or where to put them. Where that lies outside, a CUDA kernel
/// of PyTorch takes the whole process down: a rewrite may keep the op only with the tensors that it had there, or with
/// what kept ops make of those.
pub fn index_argument(op: &OpName) -> Option<usize> {
    let (position, _) = index(op.name.strip_suffix("_").unwrap_or(&op.name))?;
    Some(*position)
}

/// The declared types of an op's results against those that `infer` gives. Kernels say their types themselves. An op of
/// training steps is called by PyTorch's own code alone, and does not check what that gives it.
fn check_types(rewritten: &Graph, node: &Node, infer: &mut dyn Infer) -> Result<(), GraphError> {
    let NodeKind::Aten { op, args } = &node.kind else { return Ok(()) };
    if OpTable::all().get(op).is_some() && OpTable::sample().get(op).is_none() {
        return Err(NodeRule::TrustedOperands(op.to_string()).broken_by(node.id));
    }
    let typed: Vec<Arg<TensorType>> = args.iter().map(|arg| arg.map(|&id| rewritten.ty(id).clone())).collect();
    let types = infer.infer(op, &typed).map_err(|error| NodeRule::Infer(error).broken_by(node.id))?;
    check_result_count(node, &format!("`{op}`"), types.len())?;
    for (expected, &output) in types.iter().zip(&node.outputs) {
        if !same_layout(expected, rewritten.ty(output)) {
            let ty = TypeMismatch::new(rewritten, output, expected);
            return Err(NodeRule::InferredType(op.to_string(), ty).broken_by(node.id));
        }
    }
    Ok(())
}

fn check_aliases(original: &Graph, rewritten: &Graph, ops: &OpTable) -> Result<(), GraphError> {
    let [before, may, after] =
        [(original, true), (rewritten, true), (rewritten, false)].map(|(graph, may)| origins(graph, ops, may));
    let inputs = |graph: &Graph, origins: &BTreeSet<ValueId>| -> BTreeSet<usize> {
        (0..graph.inputs.len()).filter(|&position| origins.contains(&graph.inputs[position])).collect()
    };
    for (position, (a, b)) in original.outputs.iter().zip(&rewritten.outputs).enumerate() {
        let allowed = inputs(original, &before[a.index()]);
        if let Some(&input) = inputs(rewritten, &may[b.index()]).difference(&allowed).next() {
            return Err(GraphError::OutputAlias(position, rewritten.value(*b).name.clone(), input));
        }
    }
    let share =
        |origins: &[BTreeSet<ValueId>], [a, b]: [ValueId; 2]| !origins[a.index()].is_disjoint(&origins[b.index()]);
    for second in 1..original.outputs.len() {
        for first in 0..second {
            let of = |graph: &Graph| [first, second].map(|position| graph.outputs[position]);
            if share(&after, of(rewritten)) && !share(&before, of(original)) {
                let name = rewritten.value(rewritten.outputs[second]).name.clone();
                return Err(GraphError::OutputsShare(first, second, name));
            }
        }
    }
    Ok(())
}

/// For each value the values whose memory it shares and that share none before them; also where it only may.
fn origins(graph: &Graph, ops: &OpTable, may: bool) -> Vec<BTreeSet<ValueId>> {
    let mut origins: Vec<BTreeSet<ValueId>> = vec![BTreeSet::new(); graph.values.len()];
    for &input in &graph.inputs {
        origins[input.index()].insert(input);
    }
    for node in &graph.nodes {
        let aliasing = aliasing(graph, node, ops);
        let only_may = matches!(aliasing, Aliasing::Possible(_));
        let sources = aliasing.sources().iter().filter(|_| may || !only_may);
        let shared: BTreeSet<ValueId> = sources.flat_map(|id| origins[id.index()].clone()).collect();
        for &output in &node.outputs {
            origins[output.index()] = if shared.is_empty() { BTreeSet::from([output]) } else { shared.clone() };
        }
    }
    origins
}

fn check_cost(
    original: &Graph,
    rewritten: &Graph,
    originals: &HashMap<NodeId, &Node>,
    ops: &OpTable,
) -> Result<(), GraphError> {
    let limit = cost::peak_bytes(original, ops).saturating_mul(4).max(LEAST_BYTES);
    let what = "bytes of intermediate tensors at once";
    within(what, cost::peak_bytes(rewritten, ops), limit, "4 times the original's or 1 GiB")?;
    let total = |sum: u64, work: u64| sum.saturating_add(work);
    let limit = original.nodes.iter().map(|node| cost::work(original, node, ops)).fold(0, total);
    let limit = limit.saturating_mul(64).max(LEAST_WORK);
    let inserted = rewritten.nodes.iter().filter(|node| {
        // A kept node whose operands have grown works more than it did.
        originals
            .get(&node.id)
            .is_none_or(|before| cost::work(rewritten, node, ops) > cost::work(original, before, ops))
    });
    let found = inserted.map(|node| cost::work(rewritten, node, ops)).fold(0, total);
    within("estimated operations in inserted nodes", found, limit, "64 times the original's")
}
