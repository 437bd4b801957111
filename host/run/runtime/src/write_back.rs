//! Parts that are put back into what they are parts of: `x[2:4].mul_(y)` is, in a functional graph, a slice of `x`, a product
//! and a scatter of that into a copy of `x`. Where nobody else reads the memory of `x`, the scatter writes into it, and the
//! product may be calculated where the slice lies, as eager does both.

use crate::arena::roots;
use passhost_ir::dims::wrap;
use passhost_ir::ops::{Puts, Shows};
use passhost_ir::{Arg, Graph, Node, NodeId, NodeKind, OpName, OpRow, ValueId, elements_are_distinct};
use std::collections::{HashMap, HashSet};

/// What stands for a scatter that may write into its first operand.
pub(crate) const PUT_BACK: &str = "aten::copy_";

/// Whether an op that stands for a node says that it is such a scatter.
pub(crate) fn is_written_back(op: &OpName) -> bool {
    OpRow::of(op).is_some_and(|row| row.puts == Some(Puts::Whole))
}

/// Nodes that write into memory that a functional graph copies.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PutBacks {
    /// Scatters that write into their first operand.
    pub(crate) scatters: HashSet<NodeId>,
    /// Those of them that have nothing to do, because the part is calculated in its place.
    pub(crate) done: HashSet<NodeId>,
    /// Other nodes that write into what they read first: a slice of what a scatter writes into, at the very place.
    pub(crate) writers: HashSet<NodeId>,
}

/// The scatters among the nodes of `in_place`, and what is calculated for them, that nobody can tell from copies. Values
/// that last keep their memory.
pub(crate) fn write_backs(graph: &Graph, in_place: &HashMap<NodeId, OpName>, lasting: &HashSet<ValueId>) -> PutBacks {
    let hinted = |node: &&Node| in_place.get(&node.id).is_some_and(is_written_back);
    let mut found = PutBacks::default();
    if !graph.nodes.iter().any(|node| hinted(&node)) {
        return found;
    }
    let memory = MemoryUse::of(graph, lasting);
    for (position, node) in graph.nodes.iter().enumerate().filter(|(_, node)| hinted(node)) {
        let Some(scatter) = Scatter::of(graph, node).filter(|scatter| memory.is_free(scatter, position)) else {
            continue;
        };
        memory.claim(&scatter, (node, position), in_place, &mut found);
    }
    found
}

/// The view that a scatter writes to: the op, with its arguments but the first.
pub(crate) fn view_of(node: &Node) -> Option<(OpName, Vec<Arg>)> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    Some((OpRow::of(op)?.puts?.view()?, args.get(2..)?.to_vec()))
}

/// A part of a tensor: dimension, first index, index behind the last, step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TensorPart(usize, i64, i64, i64);

impl TensorPart {
    /// What a slice or a selection of a tensor of this shape shows.
    fn of(op: &OpName, args: &[Arg], shape: &[i64]) -> Option<TensorPart> {
        let int = |position: usize, absent: i64| match args.get(position) {
            Some(Arg::Int(value)) => Some(*value),
            Some(Arg::None) | None => Some(absent),
            _ => None,
        };
        let dim = wrap(int(0, 0)?, shape.len())?;
        let extent = shape[dim];
        let within = |index: i64| if index < 0 { index.saturating_add(extent) } else { index };
        match OpRow::of(op)?.shows? {
            Shows::Slice => {
                let (start, end) = (within(int(1, 0)?), within(int(2, i64::MAX)?));
                Some(TensorPart(dim, start.clamp(0, extent), end.clamp(0, extent), int(3, 1)?))
            }
            Shows::Select => Some(TensorPart(dim, within(int(1, 0)?), within(int(1, 0)?) + 1, 1)),
            _ => None,
        }
    }
}

/// A scatter of a part into a whole.
#[derive(Debug, Clone)]
struct Scatter {
    whole: ValueId,
    part: ValueId,
    place: TensorPart,
}

impl Scatter {
    fn of(graph: &Graph, node: &Node) -> Option<Scatter> {
        let (op, args) = view_of(node)?;
        let (&[whole, part], &[result]) = (&node.operands()[..], &node.outputs[..]) else { return None };
        let ty = graph.ty(whole);
        let place = TensorPart::of(&op, &args, &ty.shape)?;
        (ty == graph.ty(result) && elements_are_distinct(ty)).then_some(Scatter { whole, part, place })
    }
}

/// Who reads what memory, and when.
struct MemoryUse<'a> {
    graph: &'a Graph,
    roots: HashMap<ValueId, Vec<ValueId>>,
    /// Memory that is not the program's to write to, or to forget.
    taken: HashSet<ValueId>,
    /// For each memory the positions of the nodes that read it.
    readers: HashMap<ValueId, Vec<usize>>,
    /// How often each value is read.
    uses: HashMap<ValueId, usize>,
}

impl<'a> MemoryUse<'a> {
    fn of(graph: &'a Graph, lasting: &HashSet<ValueId>) -> MemoryUse<'a> {
        let roots = roots(graph, &HashSet::new());
        let shared = |value: &ValueId| roots.get(value).cloned().unwrap_or_default();
        let taken = graph.inputs.iter().chain(&graph.outputs).chain(lasting).flat_map(shared).collect();
        let mut readers: HashMap<ValueId, Vec<usize>> = HashMap::new();
        let mut uses: HashMap<ValueId, usize> = HashMap::new();
        for (position, node) in graph.nodes.iter().enumerate() {
            for value in node.operands() {
                *uses.entry(value).or_default() += 1;
                for root in shared(&value) {
                    readers.entry(root).or_default().push(position);
                }
            }
        }
        graph.outputs.iter().for_each(|value| *uses.entry(*value).or_default() += 1);
        MemoryUse { graph, roots, taken, readers, uses }
    }

    fn share(&self, a: ValueId, b: ValueId) -> bool {
        let (a, b) = (self.roots.get(&a), self.roots.get(&b));
        a.zip(b).is_none_or(|(a, b)| a.iter().any(|root| b.contains(root)))
    }

    /// Whether the scatter at this position is the last to read what it would write into, and nobody else holds that.
    fn is_free(&self, scatter: &Scatter, position: usize) -> bool {
        let Some(roots) = self.roots.get(&scatter.whole) else { return false };
        let is_over = |root: &ValueId| self.readers.get(root).is_none_or(|all| all.iter().all(|at| *at <= position));
        roots.iter().all(|root| !self.taken.contains(root) && is_over(root)) && !self.share(scatter.whole, scatter.part)
    }

    /// Has a free scatter write into its first operand, and what it puts there be calculated in its place, as far as nobody
    /// looks there in between: by an op, or by a scatter of a part of that part, and so on.
    fn claim(
        &self,
        scatter: &Scatter,
        (node, position): (&Node, usize),
        in_place: &HashMap<NodeId, OpName>,
        found: &mut PutBacks,
    ) {
        let (mut scatter, mut last) = (scatter.clone(), node.id);
        let mut readers = vec![position];
        loop {
            found.scatters.insert(last);
            let writer = self.writer(&scatter, &readers).filter(|(_, writer)| in_place.contains_key(&writer.id));
            let Some((at, writer)) = writer else { return };
            match Scatter::of(self.graph, writer) {
                Some(inner) => scatter = inner,
                None if view_of(writer).is_none() => {
                    found.done.insert(last);
                    found.writers.insert(writer.id);
                    return;
                }
                None => return,
            }
            found.done.insert(last);
            readers.push(at);
            last = writer.id;
        }
    }

    /// The node that calculates the part from what lay in its place, with its position, if nobody but these reads the memory
    /// of the whole afterwards.
    fn writer(&self, scatter: &Scatter, readers: &[usize]) -> Option<(usize, &'a Node)> {
        let node_of = |value: ValueId| self.graph.nodes.iter().enumerate().find(|(_, node)| node.outputs == [value]);
        let (at, writer) = node_of(scatter.part)?;
        let operands = writer.operands();
        let (&before, others) = operands.split_first()?;
        let (_, seen) = node_of(before)?;
        let NodeKind::Aten { op, args } = &seen.kind else { return None };
        let shape = &self.graph.ty(scatter.whole).shape;
        let is_there =
            seen.operands() == [scatter.whole] && TensorPart::of(op, args.get(1..)?, shape) == Some(scatter.place);
        let (ty, result) = (self.graph.ty(before), self.graph.ty(scatter.part));
        let is_alike = ty.dtype == result.dtype && ty.shape == result.shape;
        let is_quiet = self.roots.get(&scatter.whole)?.iter().all(|root| {
            let all = self.readers.get(root).map_or(&[][..], Vec::as_slice);
            all.iter().all(|reader| *reader <= at || readers.contains(reader))
        });
        let is_read_once = self.uses.get(&scatter.part) == Some(&1);
        let is_apart = others.iter().all(|other| !self.share(*other, scatter.whole));
        (is_there && is_alike && is_quiet && is_read_once && is_apart).then_some((at, writer))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Numbers of the nodes that write where they would copy, of a graph in which each may: scatters, and other ops.
    fn found(body: &str, outputs: &str) -> (Vec<u32>, Vec<u32>) {
        let text =
            format!("graph(%x: f32[6,4], %y: f32[2,4], %z: f32[4], %w: f32[2,2]) {{\n{body}  return ({outputs})\n}}\n");
        let graph = Graph::parse(&text).unwrap();
        let hint = |node: &Node| match &node.kind {
            NodeKind::Aten { op, .. } if op.name.ends_with("_scatter") => Some((node.id, OpName::parse(PUT_BACK))),
            NodeKind::Aten { op, .. } if op.name == "aten::mul" => Some((node.id, OpName::parse("aten::mul_.Tensor"))),
            _ => None,
        };
        let in_place = graph.nodes.iter().filter_map(hint).collect();
        let PutBacks { scatters, writers, done } = write_backs(&graph, &in_place, &HashSet::new());
        let sorted = |ids: HashSet<NodeId>| {
            let mut ids: Vec<u32> = ids.into_iter().map(|id| id.0).collect();
            ids.sort_unstable();
            ids
        };
        let writes = |id: &NodeId| writers.contains(id) || scatters.contains(id);
        for node in graph.nodes.iter().filter(|node| done.contains(&node.id)) {
            let part = node.operands()[1];
            assert!(graph.nodes.iter().any(|node| node.outputs == [part] && writes(&node.id)), "{graph}");
        }
        (sorted(scatters), sorted(writers))
    }

    const FRESH: &str = "  %a: f32[6,4] = aten::relu(%x)\n";
    const SLICE: &str = "  %b: f32[2,4] = aten::slice.Tensor(%a, 0, 1, 3, 1)\n";
    const PRODUCT: &str = "  %c: f32[2,4] = aten::mul.Tensor(%b, %y)\n";
    const SCATTER: &str = "  %d: f32[6,4] = aten::slice_scatter(%a, %c, 0, 1, 3, 1)\n";

    #[test]
    fn a_part_is_calculated_in_its_place_where_nobody_else_looks() {
        let cases = [
            ("as eager does", [FRESH, SLICE, PRODUCT, SCATTER].concat(), "%d", (vec![3], vec![2])),
            ("indices from the end", [FRESH, "  %b: f32[2,4] = aten::slice.Tensor(%a, -2, -5, -3, 1)\n", PRODUCT, SCATTER].concat(), "%d", (vec![3], vec![2])),
            ("another place", [FRESH, "  %b: f32[2,4] = aten::slice.Tensor(%a, 0, 2, 4, 1)\n", PRODUCT, SCATTER].concat(), "%d", (vec![3], vec![])),
            ("another step", [FRESH, "  %b: f32[2,4]{8,1} = aten::slice.Tensor(%a, 0, 1, 5, 2)\n", PRODUCT, SCATTER].concat(), "%d", (vec![3], vec![])),
            ("an input", [&SLICE.replace("%a", "%x"), PRODUCT, &SCATTER.replace("%a", "%x")].concat(), "%d", (vec![], vec![])),
            ("an output", [FRESH, SLICE, PRODUCT, SCATTER].concat(), "%d, %a", (vec![], vec![])),
            ("a view of it is an output", [FRESH, SLICE, PRODUCT, SCATTER].concat(), "%d, %b", (vec![], vec![])),
            ("read later", [FRESH, SLICE, PRODUCT, SCATTER, "  %e: f32[6,4] = aten::relu(%a)\n"].concat(), "%d, %e", (vec![], vec![])),
            ("read through a view later", [FRESH, SLICE, PRODUCT, SCATTER, "  %e: f32[2,4] = aten::relu(%b)\n"].concat(), "%d, %e", (vec![], vec![])),
            ("read between", [FRESH, SLICE, PRODUCT, "  %e: f32[6,4] = aten::relu(%a)\n", SCATTER].concat(), "%d, %e", (vec![4], vec![])),
            ("the part is read too", [FRESH, SLICE, PRODUCT, SCATTER].concat(), "%d, %c", (vec![3], vec![])),
            ("the part is a view of the whole", [FRESH, SLICE, "  %d: f32[6,4] = aten::slice_scatter(%a, %b, 0, 2, 4, 1)\n"].concat(), "%d", (vec![], vec![])),
            ("reads the whole as well", [FRESH, SLICE, "  %f: f32[2,4] = aten::slice.Tensor(%a, 0, 2, 4, 1)\n  %c: f32[2,4] = aten::mul.Tensor(%b, %f)\n", SCATTER].concat(), "%d", (vec![4], vec![])),
            ("a selection", [FRESH, "  %b: f32[4] = aten::select.int(%a, 0, -1)\n  %c: f32[4] = aten::mul.Tensor(%b, %z)\n  %d: f32[6,4] = aten::select_scatter(%a, %c, 0, 5)\n"].concat(), "%d", (vec![3], vec![2])),
            ("a part of a part", [FRESH, SLICE, "  %e: f32[2,2]{4,1} = aten::slice.Tensor(%b, 1, 0, 2, 1)\n  %f: f32[2,2] = aten::mul.Tensor(%e, %e)\n  %c: f32[2,4] = aten::slice_scatter(%b, %f, 1, 0, 2, 1)\n", SCATTER].concat(), "%d", (vec![4, 5], vec![])),
            ("a part of a part, in its place", [FRESH, SLICE, "  %e: f32[2,2]{4,1} = aten::slice.Tensor(%b, 1, 0, 2, 1)\n  %f: f32[2,2] = aten::mul.Tensor(%e, %w)\n  %c: f32[2,4] = aten::slice_scatter(%b, %f, 1, 0, 2, 1)\n", SCATTER].concat(), "%d", (vec![4, 5], vec![3])),
            ("one after the other", [FRESH, SLICE, PRODUCT, SCATTER, &SLICE.replace("%b", "%e").replace("%a", "%d"), "  %f: f32[2,4] = aten::mul.Tensor(%e, %y)\n  %g: f32[6,4] = aten::slice_scatter(%d, %f, 0, 1, 3, 1)\n"].concat(), "%g", (vec![3, 6], vec![2, 5])),
        ];
        for (title, body, outputs, expected) in cases {
            assert_eq!(found(&body, outputs), expected, "{title}");
        }
    }

    #[test]
    fn what_lasts_is_not_written_to() {
        let text = format!("graph(%y: f32[2,4], %x: f32[6,4]) {{\n{FRESH}{SLICE}{PRODUCT}{SCATTER}  return (%d)\n}}\n");
        let graph = Graph::parse(&text).unwrap();
        let in_place = HashMap::from([(graph.nodes[3].id, OpName::parse(PUT_BACK))]);
        let a = graph.nodes[0].outputs[0];
        assert_eq!(write_backs(&graph, &in_place, &HashSet::from([a])), PutBacks::default());
        assert_eq!(write_backs(&graph, &in_place, &HashSet::new()).scatters, HashSet::from([graph.nodes[3].id]));
        assert_eq!(write_backs(&graph, &HashMap::new(), &HashSet::new()), PutBacks::default());
    }
}
