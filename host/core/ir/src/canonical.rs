//! What a graph is apart from how it is written: dead code, numbering, the order of commutative operands, views.

use crate::alias::{Aliasing, aliasing};
use crate::exact::exact;
use crate::functional::functionalise;
use crate::{Arg, Dtype, Graph, Node, NodeId, NodeKind, OpName, OpRow, OpTable, Schema, ValueId};
use std::collections::HashMap;

impl Graph {
    /// The same graph with its values in the order of their definition, and without values that nothing defines.
    /// Names and node ids stay. The text form of a graph is parsed into a compact one.
    ///
    /// Returns `None` if a value is used before it is defined; [`crate::verify_graph`] says where.
    pub fn compact(&self) -> Option<Graph> {
        let every_node = vec![true; self.nodes.len()];
        self.renumbered(&every_node)
    }

    /// Keeps only the nodes whose `keep` is true.
    pub(crate) fn renumbered(&self, keep: &[bool]) -> Option<Graph> {
        let mut graph = Graph::default();
        let mut renamed: Vec<Option<ValueId>> = vec![None; self.values.len()];
        let define = |id: &ValueId, graph: &mut Graph, renamed: &mut Vec<Option<ValueId>>| {
            let value = self.values.get(id.index())?;
            let new = graph.add_value(value.name.clone(), value.ty.clone());
            renamed[id.index()] = Some(new);
            Some(new)
        };
        for input in &self.inputs {
            let new = define(input, &mut graph, &mut renamed)?;
            graph.inputs.push(new);
        }
        for (node, _) in self.nodes.iter().zip(keep).filter(|(_, keep)| **keep) {
            let find = |id: &ValueId| renamed.get(id.index()).copied().flatten();
            if node.operands().iter().any(|id| find(id).is_none()) {
                return None;
            }
            let kind = node.kind.map_values(|id| find(id).unwrap_or(*id));
            let mut outputs = Vec::with_capacity(node.outputs.len());
            for output in &node.outputs {
                outputs.push(define(output, &mut graph, &mut renamed)?);
            }
            graph.nodes.push(Node { id: node.id, kind, outputs });
        }
        for output in &self.outputs {
            graph.outputs.push(renamed.get(output.index()).copied().flatten()?);
        }
        Some(graph)
    }
}

impl NodeKind {
    /// The same with every operand replaced by what `f` makes of it.
    pub fn map_values(&self, mut f: impl FnMut(&ValueId) -> ValueId) -> NodeKind {
        match self {
            NodeKind::Aten { op, args } => {
                NodeKind::Aten { op: op.clone(), args: args.iter().map(|arg| arg.map(&mut f)).collect() }
            }
            NodeKind::Kernel { kernel, inputs } => {
                NodeKind::Kernel { kernel: kernel.clone(), inputs: inputs.iter().map(f).collect() }
            }
        }
    }
}

/// For each node of a functional graph, whether an output depends on it.
pub fn live_nodes(graph: &Graph) -> Vec<bool> {
    needed_nodes(graph, |_| false)
}

/// For each node whether an output or one of these nodes depends on it.
pub(crate) fn needed_nodes(graph: &Graph, is_needed: impl Fn(&Node) -> bool) -> Vec<bool> {
    let mut wanted = vec![false; graph.values.len()];
    let want = |wanted: &mut Vec<bool>, ids: &[ValueId]| {
        ids.iter().filter(|id| id.index() < graph.values.len()).for_each(|id| wanted[id.index()] = true);
    };
    want(&mut wanted, &graph.outputs);
    let mut needed = vec![false; graph.nodes.len()];
    for (node, needed) in graph.nodes.iter().zip(&mut needed).rev() {
        let is_read = node.outputs.iter().any(|output| wanted.get(output.index()).copied().unwrap_or(false));
        *needed = is_read || is_needed(node);
        if *needed {
            want(&mut wanted, &node.operands());
        }
    }
    needed
}

/// A text that two graphs share if they differ only in names, node ids, the numbering of values, dead code and the
/// order of commutative operands: what a structural hash is taken of. `None` where [`Graph::compact`] gives none.
pub fn canonical_text(graph: &Graph, ops: &OpTable) -> Option<String> {
    let mut graph = graph.renumbered(&live_nodes(graph))?;
    for (position, value) in graph.values.iter_mut().enumerate() {
        value.name = position.to_string();
    }
    for (position, node) in graph.nodes.iter_mut().enumerate() {
        node.id = NodeId(u32::try_from(position).unwrap_or(u32::MAX));
        if let NodeKind::Aten { op, args } = &mut node.kind
            && ops.get(op).is_some_and(|schema| is_commutative(schema, args))
            && let [Arg::Value(a), Arg::Value(b), ..] = &mut args[..]
            && a > b
        {
            std::mem::swap(a, b);
        }
    }
    Some(graph.to_string())
}

/// Whether the first two arguments may change places.
fn is_commutative<V>(schema: &Schema, args: &[Arg<V>]) -> bool {
    // `alpha` belongs to the second operand.
    let alpha = schema.position("alpha").and_then(|position| args.get(position));
    let plain = alpha.is_none_or(|alpha| match alpha {
        Arg::Int(alpha) => *alpha == 1,
        Arg::Float(alpha) => *alpha == 1.0,
        _ => false,
    });
    plain && OpRow::of(&schema.op).is_some_and(|row| row.commutes)
}

/// Whether a rewrite changed nothing that counts: no kernel that an output depends on, and every calculation of the
/// original still there, whatever was added.
///
/// Views and identities do not count, nor do dead code, numbering, the order of commutative operands, memory layouts,
/// or the shapes and dimensions that an op sees: calls are compared by their op, by element type and element count of
/// their operands and results, and by their remaining arguments. So neither a pair of views around an op nor an
/// inserted copy makes a rewrite of nothing. Both graphs must be verified.
pub fn is_pass_miss(original: &Graph, rewritten: &Graph, ops: &OpTable) -> bool {
    let live = live_nodes(rewritten);
    let has_kernel =
        rewritten.nodes.iter().zip(&live).any(|(node, live)| *live && matches!(node.kind, NodeKind::Kernel { .. }));
    if has_kernel {
        return false;
    }
    let after = calls(rewritten, ops);
    calls(original, ops).iter().all(|(call, count)| after.get(call).is_some_and(|found| found >= count))
}

/// Whether all that a program returns is views of its inputs. No pass can do better than that, and none can be judged by it:
/// [`is_pass_miss`] counts views for nothing. A program without a functional form calculates something.
pub fn returns_views_alone(program: &Graph, ops: &OpTable) -> bool {
    functionalise(program, ops).is_ok_and(|functional| calls(&functional.graph, ops).is_empty())
}

/// The calculations of a graph and how often each occurs.
fn calls<'g>(graph: &'g Graph, ops: &'g OpTable) -> HashMap<Signature<'g>, usize> {
    let mut calls = HashMap::new();
    for (node, live) in graph.nodes.iter().zip(live_nodes(graph)) {
        if let NodeKind::Aten { op, args } = &node.kind
            && live
            && !matches!(aliasing(graph, node, ops), Aliasing::Identity(_) | Aliasing::View(_))
        {
            *calls.entry(signature(graph, node, op, args, ops)).or_insert(0) += 1;
        }
    }
    calls
}

/// What a call calculates, blind to views around it and to layouts.
#[derive(PartialEq, Eq, Hash)]
struct Signature<'g> {
    op: &'g OpName,
    operands: Vec<ElementCount>,
    /// By name.
    args: Vec<(&'g str, String)>,
    results: Vec<ElementCount>,
}

/// Their type, and how many there are.
type ElementCount = (Dtype, u64);

fn signature<'g>(graph: &Graph, node: &Node, op: &'g OpName, args: &[Arg], ops: &'g OpTable) -> Signature<'g> {
    // The counts of elements say what these would, and a view can change them.
    const SHAPES: [&str; 12] = [
        "dim",
        "dims",
        "dim0",
        "dim1",
        "keepdim",
        "normalized_shape",
        "size",
        "shape",
        "memory_format",
        "layout",
        "non_blocking",
        "device",
    ];
    let schema = ops.get(op);
    let size = |id: &ValueId| (graph.ty(*id).dtype, graph.ty(*id).numel());
    let mut operands: Vec<ElementCount> = node.operands().iter().map(size).collect();
    if schema.is_some_and(|schema| is_commutative(schema, args)) {
        operands.sort_unstable();
    }
    let named = |(position, arg): (usize, &Arg)| {
        let name = schema.and_then(|schema| schema.args.get(position)).map_or("", |declared| declared.name.as_str());
        let counts = !SHAPES.contains(&name) && arg.values().next().is_none();
        // `2` and `2.0` are one number.
        let arg = match arg {
            Arg::Int(number) => Arg::Float(*number as f64),
            arg => arg.map(|_| ()),
        };
        counts.then(|| (name, exact(&arg)))
    };
    let args = args.iter().enumerate().filter_map(named).collect();
    Signature { op, operands, args, results: node.outputs.iter().map(size).collect() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn graph(text: &str) -> Graph {
        Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    const ORIGINAL: &str = "graph(%x: f32[2,3], %y: f32[2,3]) {
  %a: f32[2,3] = aten::add.Tensor(%x, %y)
  %d: f32[2,3] = aten::dropout(%a, 0.1, false)
  %r: f32[2,3] = aten::relu(%d)
  %dead: f32[2,3] = aten::exp(%d)
  return (%r)
}
";

    fn pass_miss(body: &str) -> bool {
        let rewritten = graph(&format!("graph(%x: f32[2,3], %y: f32[2,3]) {{\n{body}\n  return (%r)\n}}\n"));
        is_pass_miss(&graph(ORIGINAL), &rewritten, OpTable::sample())
    }

    #[test]
    fn rewrites_of_nothing_are_pass_misses() {
        for (what, body) in [
            (
                "dead code and an identity removed",
                "%a: f32[2,3] = aten::add.Tensor(%x, %y) %r: f32[2,3] = aten::relu(%a)",
            ),
            ("operands swapped", "%a: f32[2,3] = aten::add.Tensor(%y, %x) %r: f32[2,3] = aten::relu(%a)"),
            (
                "a copy added",
                "%a: f32[2,3] = aten::add.Tensor(%x, %y) %c: f32[2,3] = aten::clone(%a) %r: f32[2,3] = aten::relu(%c)",
            ),
            (
                "views around an op",
                "%a: f32[2,3] = aten::add.Tensor(%x, %y) %v: f32[6] = aten::view(%a, [6]) %s: f32[6] = aten::relu(%v)
                 %r: f32[2,3] = aten::view(%s, [2, 3])",
            ),
            (
                "a dead kernel",
                "%a: f32[2,3] = aten::add.Tensor(%x, %y) %r: f32[2,3] = aten::relu(%a)
                 %k: f32[2] = kernel() { space p0=2 v0: f32 = const 1.0 out v0 over [p0] as [2] }",
            ),
        ] {
            assert!(pass_miss(body), "{what}");
        }
    }

    #[test]
    fn real_changes_are_no_pass_misses() {
        for (what, body) in [
            ("an op replaced", "%a: f32[2,3] = aten::add.Tensor(%x, %y) %r: f32[2,3] = aten::clamp_min(%a, 0)"),
            ("an op removed", "%r: f32[2,3] = aten::add.Tensor(%x, %y)"),
            ("another alpha", "%a: f32[2,3] = aten::add.Tensor(%x, %y, alpha=2) %r: f32[2,3] = aten::relu(%a)"),
            (
                "a kernel",
                "%a: f32[2,3] = aten::add.Tensor(%x, %y) %b: f32[2,3] = aten::relu(%a)
                 %r: f32[2,3] = kernel(%b) { space p0=2, p1=3 in x0: f32[2,3] i0 = p0 i1 = p1
                   v0: f32 = load x0[i0, i1] clamp out v0 over [p0, p1] as [2,3] }",
            ),
        ] {
            assert!(!pass_miss(body), "{what}");
        }
    }

    #[test]
    fn views_of_inputs_are_no_calculation() {
        let views = |body: &str| {
            let text = format!("graph(%x: f32[2,3]) {{\n{body}\n  return (%r)\n}}\n");
            returns_views_alone(&graph(&text), OpTable::sample())
        };
        assert!(views("%t: f32[3,2]{1,3} = aten::t(%x) %r: f32[1,3,2]{1,1,3} = aten::unsqueeze(%t, 0)"));
        assert!(views("%e: f32[2,3] = aten::exp(%x) %r: f32[2,3] = aten::dropout(%x, 0.1, false)"), "dead code");
        assert!(!views("%t: f32[3,2]{1,3} = aten::t(%x) %r: f32[3,2] = aten::clone(%t)"), "a copy is one");
        assert!(!views("%r: f32[2,3] = aten::relu_(%x)"), "so is a write");
    }

    #[test]
    fn the_canonical_text_ignores_names_ids_dead_code_and_commutative_order() {
        let a = graph(ORIGINAL);
        let b = graph(
            "graph(%p: f32[2,3], %q: f32[2,3]) {
  #9 %s: f32[2,3] = aten::add.Tensor(%q, %p)
  #4 %t: f32[2,3] = aten::dropout(%s, 0.1, false)
  %u: f32[2,3] = aten::relu(%t)
  return (%u)
}",
        );
        let text = canonical_text(&a, OpTable::sample()).unwrap();
        assert_eq!(canonical_text(&b, OpTable::sample()).unwrap(), text);
        assert_eq!(
            text,
            "graph(%0: f32[2,3], %1: f32[2,3]) {
  %2: f32[2,3] = aten::add.Tensor(%0, %1)
  %3: f32[2,3] = aten::dropout(%2, 0.1, false)
  %4: f32[2,3] = aten::relu(%3)
  return (%4)
}
"
        );
        let c = graph(&ORIGINAL.replace("(%x, %y)", "(%x, %y, alpha=2)"));
        let d = graph(&ORIGINAL.replace("(%x, %y)", "(%y, %x, alpha=2)"));
        assert_ne!(canonical_text(&c, OpTable::sample()), canonical_text(&d, OpTable::sample()));
    }

    #[test]
    fn compact_drops_unused_values_and_keeps_names_and_ids() {
        let mut loose = graph("graph(%x: f32[2]) {\n  #3 %r: f32[2] = aten::relu(%x)\n  return (%r)\n}\n");
        let expected = loose.clone();
        let ty = loose.values[0].ty.clone();
        loose.values.insert(0, crate::Value { name: "unused".into(), ty });
        for id in loose.inputs.iter_mut().chain(&mut loose.outputs) {
            id.0 += 1;
        }
        loose.nodes[0].outputs[0].0 += 1;
        loose.nodes[0].kind = loose.nodes[0].kind.map_values(|id| ValueId(id.0 + 1));
        assert_eq!(loose.compact().as_ref(), Some(&expected));
        loose.outputs[0] = ValueId(0);
        assert_eq!(loose.compact(), None);
    }
}
