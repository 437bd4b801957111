//! Attention that a graph spells out: `softmax(query @ key^T * scale + mask) @ value` is one call of the library's, which
//! keeps no scores.
//!
//! Only of `f32` and `f64`: for half types eager rounds scores and weights to what a tensor of them holds, and the one call
//! does not. And only where nothing else reads what lies between, and the call is estimated to take less than the products
//! and the softmax.

use passhost_guest_sdk::ir::{Arg, Dtype, Graph, MemoryFormat, Node, NodeId, NodeKind, OpName, ValueId};
use passhost_guest_sdk::lower::call_times;
use passhost_guest_sdk::{Args, DeviceFacts, Index, Infer, PassError, Rewriter, Uses, view};

/// The dimensions of what is multiplied: batches, heads, rows, columns.
const RANK: usize = 4;

/// An op, and its overload.
type Known = (&'static str, &'static str);

const MATMUL: Known = ("aten::matmul", "");
const ADD: Known = ("aten::add", "Tensor");
const MUL: Known = ("aten::mul", "Scalar");
const DIV: Known = ("aten::div", "Scalar");
const SOFTMAX: [Known; 2] = [("aten::softmax", "int"), ("aten::_softmax", "")];

/// Attention in a graph.
struct Attention {
    /// The product of query and key, the softmax, and the product with the value.
    nodes: [NodeId; 3],
    query: ValueId,
    /// The second factor of the first product.
    transposed_key: ValueId,
    value: ValueId,
    mask: Option<ValueId>,
    scale: f64,
    result: ValueId,
}

/// Calls the library's attention where a graph spells it out, and says how often.
pub(crate) fn call(rewriter: &mut Rewriter, device: &DeviceFacts, host: &mut dyn Infer) -> Result<usize, PassError> {
    let op = OpName::new("aten::scaled_dot_product_attention", "");
    let found = found(rewriter.graph());
    if found.is_empty() || !host.may_insert(&op) {
        return Ok(0);
    }
    let mut inserted = vec![];
    for attention in found {
        match insert(rewriter, &attention, &op, host) {
            Ok((result, nodes)) => inserted.push((attention, result, nodes)),
            Err(error) => rewriter.refuse(attention.nodes, format!("attention is not one call: {error}")),
        }
    }
    let times = call_times(rewriter.graph(), device);
    let ids: Vec<NodeId> = rewriter.graph().nodes.iter().map(|node| node.id).collect();
    let time = |nodes: &[NodeId]| -> f64 {
        let of_nodes = ids.iter().zip(&times).filter(|(id, _)| nodes.contains(id));
        of_nodes.map(|(_, time)| time).sum()
    };
    let mut calls = 0;
    for (attention, result, nodes) in inserted {
        let [together, apart] = [time(&nodes), time(&attention.nodes)];
        if together < apart && rewriter.replace_all_uses(attention.result, result).is_ok() {
            calls += 1;
        }
    }
    rewriter.remove_dead_code();
    Ok(calls)
}

/// Inserts the call in front of the second product, and returns what has the type of its result and the nodes inserted.
fn insert(
    rewriter: &mut Rewriter,
    attention: &Attention,
    op: &OpName,
    host: &mut dyn Infer,
) -> Result<(ValueId, Vec<NodeId>), PassError> {
    let mut nodes = vec![];
    let mut add = |rewriter: &mut Rewriter, op: OpName, args: Vec<Arg>| -> Result<ValueId, PassError> {
        let position = rewriter.position(attention.nodes[2])?;
        let results = rewriter.insert_aten(position, op, args, host)?;
        nodes.push(rewriter.graph().nodes[position].id);
        results.first().copied().ok_or_else(|| "the host gives it no result".into())
    };
    let key = match swapped(rewriter.graph(), attention.transposed_key) {
        Some(key) => key,
        None => {
            let args = vec![Arg::Value(attention.transposed_key), Arg::Int(-2), Arg::Int(-1)];
            add(rewriter, OpName::new("aten::transpose", "int"), args)?
        }
    };
    let tensors = [attention.query, key, attention.value].map(Arg::Value);
    let mask = attention.mask.map_or(Arg::None, Arg::Value);
    let others = [mask, Arg::Float(0.0), Arg::Bool(false), Arg::Float(attention.scale), Arg::Bool(false)];
    let mut result = add(rewriter, op.clone(), tensors.into_iter().chain(others).collect())?;
    if rewriter.graph().ty(result) != rewriter.graph().ty(attention.result) {
        // The library's call may write heads beside each other.
        let args = vec![Arg::Value(result), Arg::MemoryFormat(MemoryFormat::Contiguous)];
        result = add(rewriter, OpName::new("aten::clone", ""), args)?;
    }
    Ok((result, nodes))
}

/// What a tensor is a view of, with the last two dimensions swapped.
fn swapped(graph: &Graph, value: ValueId) -> Option<ValueId> {
    let node = graph.nodes.iter().find(|node| node.outputs.contains(&value))?;
    let step = view::step(graph, node, value)?;
    let mut axes = Index::axes(&graph.ty(value).shape);
    axes.swap(RANK - 2, RANK - 1);
    (step.coordinates == axes).then_some(step.source)
}

/// All attention of a graph, in graph order.
fn found(graph: &Graph) -> Vec<Attention> {
    if !graph.nodes.iter().any(|node| call_of(node, &SOFTMAX).is_some()) {
        return vec![];
    }
    let search = Search { graph, uses: Uses::of(graph), definitions: graph.definitions() };
    graph.nodes.iter().filter_map(|node| search.attention(node)).collect()
}

struct Search<'g> {
    graph: &'g Graph,
    uses: Uses,
    /// For each value the position of the node that defines it.
    definitions: Vec<Option<usize>>,
}

impl<'g> Search<'g> {
    /// Whether a node is the second product of attention.
    fn attention(&self, node: &'g Node) -> Option<Attention> {
        let args = call_of(node, &[MATMUL])?;
        let (weights, value, result) = (args.tensor(0)?, args.tensor(1)?, *node.outputs.first()?);
        let (softmax, args) = self.between(weights, &SOFTMAX)?;
        let is_along_rows = matches!(args.int(1), Some(-1 | 3));
        let is_plain = matches!(args.get(2), None | Some(Arg::None | Arg::Bool(false)));
        let mut scores = args.tensor(0).filter(|_| is_along_rows && is_plain)?;
        let mut mask = None;
        if let Some((_, args)) = self.between(scores, &[ADD]) {
            let [first, second] = [args.tensor(0)?, args.tensor(1)?];
            let is_scores = |value: ValueId| self.scaled(value).is_some();
            (scores, mask) = match (is_scores(first), is_scores(second)) {
                (true, false) => (first, Some(second)),
                (false, true) => (second, Some(first)),
                _ => return None,
            };
            args.number(2).filter(|&alpha| alpha == 1.0)?;
        }
        let (product, scale) = self.scaled(scores)?;
        let args = call_of(product, &[MATMUL])?;
        let (query, transposed_key) = (args.tensor(0)?, args.tensor(1)?);
        let nodes = [product.id, softmax.id, node.id];
        let found = Attention { nodes, query, transposed_key, value, mask, scale, result };
        self.fits(&found, scores).then_some(found)
    }

    /// The product that scores are, and what they are multiplied with.
    fn scaled(&self, scores: ValueId) -> Option<(&'g Node, f64)> {
        if let Some((node, _)) = self.between(scores, &[MATMUL]) {
            return Some((node, 1.0));
        }
        let (_, args) = self.between(scores, &[MUL, DIV])?;
        let (node, number) = (self.between(args.tensor(0)?, &[MATMUL])?.0, args.number(1)?);
        let divides = self.between(scores, &[DIV]).is_some();
        Some((node, if divides { number.recip() } else { number }))
    }

    /// The node of one of these ops that defines a value which a single node reads.
    fn between(&self, value: ValueId, ops: &[Known]) -> Option<(&'g Node, Args<'g>)> {
        let node = &self.graph.nodes[self.definitions[value.index()]?];
        let is_inner = self.uses.readers(value).len() == 1 && !self.uses.is_output(value);
        Some((node, call_of(node, ops).filter(|_| is_inner)?))
    }

    /// Whether types and shapes are those of attention without anything broadcast but the mask.
    fn fits(&self, found: &Attention, scores: ValueId) -> bool {
        let ty = |value: ValueId| self.graph.ty(value);
        let dtype = ty(found.query).dtype;
        let factors = [found.query, found.transposed_key, found.value];
        let outer = |value: ValueId| &ty(value).shape[..RANK - 2];
        let is_mask = |mask: ValueId| {
            let shape = &ty(mask).shape;
            ty(mask).dtype == dtype && shape.len() >= 2 && view::broadcast(shape, &ty(scores).shape).is_some()
        };
        matches!(dtype, Dtype::F32 | Dtype::F64)
            && factors.iter().all(|&factor| ty(factor).dtype == dtype && ty(factor).rank() == RANK)
            && factors.iter().all(|&factor| outer(factor) == outer(found.query))
            && found.scale.is_finite()
            && found.mask.is_none_or(is_mask)
    }
}

/// The arguments of a node that calls one of these ops.
fn call_of<'g>(node: &'g Node, ops: &[Known]) -> Option<Args<'g>> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    ops.contains(&(op.name.as_str(), op.overload.as_str())).then(|| Args::new(args))
}
