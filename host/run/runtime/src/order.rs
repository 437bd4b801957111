//! The order in which nodes run, and which kernels are one launch.
//!
//! A launch costs a small kernel more than its work does. So small kernels wait until something needs what they write, and
//! others that could run there as well come along. Everything else runs in the order of the graph, and views, which cost
//! nothing, as soon as they can. A kernel passes no node that writes to its operands: what it reads is the same wherever it
//! runs, and what it writes is memory that is planned for the order that comes of this.

use crate::worth::{FURTHEST, LaunchGroup, MOST_KERNELS};
use passhost_ir::alias::only_views;
use passhost_ir::{Graph, Node, NodeId, NodeKind, OpTable, Schema, ValueId};
use passhost_kernels::cuda::LaunchShape;
use std::collections::{HashMap, HashSet};

/// Tensors that the kernels of a launch have together, at most. Their addresses are its arguments, for which any GPU has
/// 4 KiB.
const MOST_TENSORS: usize = 256;

/// Nodes of a graph by position, in an order in which they can run. Several nodes of one step are kernels of one launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeOrder {
    pub(crate) steps: Vec<Vec<usize>>,
}

impl NodeOrder {
    /// That of the graph, each node for itself.
    pub(crate) fn as_it_is(graph: &Graph) -> NodeOrder {
        NodeOrder { steps: (0..graph.nodes.len()).map(|position| vec![position]).collect() }
    }

    /// One in which small kernels are joined. `shape` is that of a kernel's launch, if it may be joined at all; nodes that
    /// run `once` are not.
    pub(crate) fn joined(
        graph: &Graph,
        once: &HashSet<NodeId>,
        shape: impl Fn(&Node) -> Option<LaunchShape>,
    ) -> NodeOrder {
        let kinds = graph.nodes.iter().map(|node| kind(graph, node, once, &shape)).collect();
        let written_by = graph.nodes.iter().enumerate();
        let written_by =
            written_by.flat_map(|(position, node)| node.outputs.iter().map(move |value| (*value, position)));
        let mut planner = Planner {
            graph,
            kinds,
            written_by: written_by.collect(),
            has_run: vec![false; graph.nodes.len()],
            first: 0,
            steps: vec![],
        };
        if planner.kinds.iter().filter(|kind| matches!(kind, NodeRole::Waits(_))).count() < 2 {
            return NodeOrder::as_it_is(graph);
        }
        planner.plan();
        NodeOrder { steps: planner.steps }
    }

    /// The graph with its nodes in this order, and for each node the number of its step.
    pub(crate) fn apply(&self, graph: &Graph) -> (Graph, Vec<usize>) {
        let nodes = self.steps.iter().flatten().map(|position| graph.nodes[*position].clone()).collect();
        let steps = self.steps.iter().enumerate().flat_map(|(number, step)| step.iter().map(move |_| number));
        (Graph { nodes, ..graph.clone() }, steps.collect())
    }
}

/// How a node takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeRole {
    /// A kernel that waits for others.
    Waits(LaunchShape),
    /// It costs nothing.
    View,
    /// It runs in its turn.
    InTurn,
    /// In its turn, after all kernels before it and before all after it: it may write to what these read.
    Writes,
}

fn kind(graph: &Graph, node: &Node, once: &HashSet<NodeId>, shape: &impl Fn(&Node) -> Option<LaunchShape>) -> NodeRole {
    match &node.kind {
        NodeKind::Kernel { .. } if once.contains(&node.id) => NodeRole::InTurn,
        NodeKind::Kernel { .. } => shape(node).map_or(NodeRole::InTurn, NodeRole::Waits),
        NodeKind::Aten { op, .. } => {
            // A norm in training mode updates its running statistics, whatever its schema says.
            let may_write = |schema: &Schema| schema.writes() || schema.position("running_mean").is_some();
            match OpTable::all().get(op) {
                Some(schema) if !may_write(schema) => {
                    let is_view = only_views(graph, node, OpTable::all()) && !once.contains(&node.id);
                    if is_view { NodeRole::View } else { NodeRole::InTurn }
                }
                _ => NodeRole::Writes,
            }
        }
    }
}

struct Planner<'a> {
    graph: &'a Graph,
    kinds: Vec<NodeRole>,
    written_by: HashMap<ValueId, usize>,
    has_run: Vec<bool>,
    /// Everything before this has run.
    first: usize,
    steps: Vec<Vec<usize>>,
}

impl Planner<'_> {
    fn plan(&mut self) {
        for position in 0..self.kinds.len() {
            match self.kinds[position] {
                NodeRole::Waits(_) | NodeRole::View => continue,
                NodeRole::InTurn => self.run_what_is_needed(&self.missing_before(position), position),
                NodeRole::Writes => {
                    let before: Vec<usize> = (self.first..position).filter(|before| !self.has_run[*before]).collect();
                    self.run_what_is_needed(&before, position);
                }
            }
            self.run(vec![position]);
            self.run_views(position);
            // Those that wait keep what they read in memory.
            let mut waiting = self.ready(position);
            while waiting.len() >= MOST_KERNELS {
                self.run_kernels(&waiting, position);
                waiting = self.ready(position);
            }
        }
        let end = self.kinds.len();
        let rest: Vec<usize> = (self.first..end).filter(|position| !self.has_run[*position]).collect();
        self.run_what_is_needed(&rest, end);
    }

    /// Runs nodes, which are kernels that wait and views, until all of them have run. `position` is how far everything
    /// else has.
    fn run_what_is_needed(&mut self, nodes: &[usize], position: usize) {
        self.run_views(position);
        loop {
            let is_next = |at: &&usize| !self.has_run[**at] && self.can_run(**at);
            let next: Vec<usize> = nodes.iter().filter(is_next).copied().collect();
            if next.is_empty() {
                return;
            }
            self.run_kernels(&next, position);
        }
    }

    /// Runs the first of these kernels, with whatever else can run and fits the launch: others of them before all.
    fn run_kernels(&mut self, kernels: &[usize], position: usize) {
        let mut group = LaunchGroup::default();
        let (mut members, mut tensors) = (vec![], 0);
        let others = self.ready(self.horizon(position));
        for at in kernels.iter().chain(&others) {
            let NodeRole::Waits(shape) = self.kinds[*at] else { continue };
            let node = &self.graph.nodes[*at];
            let more = node.operands().len() + node.outputs.len();
            let is_first = members.is_empty();
            if members.contains(at) || !(is_first || tensors + more <= MOST_TENSORS && group.takes(shape)) {
                continue;
            }
            group.add(shape);
            members.push(*at);
            tensors += more;
        }
        members.sort_unstable();
        self.run(members);
        self.run_views(position);
    }

    fn run(&mut self, nodes: Vec<usize>) {
        for at in &nodes {
            self.has_run[*at] = true;
        }
        self.steps.push(nodes);
        while self.has_run.get(self.first) == Some(&true) {
            self.first += 1;
        }
    }

    /// Runs all views that can run up to as far as kernels are looked for.
    fn run_views(&mut self, position: usize) {
        for at in self.first..self.horizon(position) {
            if self.kinds[at] == NodeRole::View && !self.has_run[at] && self.can_run(at) {
                self.run(vec![at]);
            }
        }
    }

    /// Kernels before `end` that wait for nothing but company.
    fn ready(&self, end: usize) -> Vec<usize> {
        let waits =
            |at: &usize| matches!(self.kinds[*at], NodeRole::Waits(_)) && !self.has_run[*at] && self.can_run(*at);
        (self.first..end).filter(waits).collect()
    }

    fn can_run(&self, at: usize) -> bool {
        self.graph.nodes[at]
            .operands()
            .iter()
            .all(|value| self.written_by.get(value).is_none_or(|by| self.has_run[*by]))
    }

    /// Where the nodes end that may run before what follows `position`.
    fn horizon(&self, position: usize) -> usize {
        let end = self.kinds.len().min(position.saturating_add(FURTHEST));
        // The node at `position` itself is about to run, or has.
        let writes = |at: &usize| self.kinds[*at] == NodeRole::Writes && !self.has_run[*at];
        (position..end).find(writes).unwrap_or(end)
    }

    /// What has not run of the nodes that one needs, directly or not.
    fn missing_before(&self, position: usize) -> Vec<usize> {
        let mut missing: Vec<usize> = vec![];
        let mut stack = vec![position];
        while let Some(at) = stack.pop() {
            for value in self.graph.nodes[at].operands() {
                if let Some(by) = self.written_by.get(&value).copied().filter(|by| !self.has_run[*by])
                    && !missing.contains(&by)
                {
                    missing.push(by);
                    stack.push(by);
                }
            }
        }
        missing.sort_unstable();
        missing
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::arena::ArenaPlan;
    use std::fmt::Write;

    /// `%to`, the sum of some values, as a kernel.
    fn sum(to: &str, of: &[&str]) -> String {
        let mut text = format!("%{to}: f32[64] = kernel(%{}) {{ space p0=64", of.join(", %"));
        for at in 0..of.len() {
            let _ = write!(text, " in x{at}: f32[64]");
        }
        text.push_str(" i0 = p0");
        for at in 0..of.len() {
            let _ = write!(text, " v{at}: f32 = load x{at}[i0] clamp");
        }
        let mut last = 0;
        for at in 1..of.len() {
            let _ = write!(text, " v{}: f32 = add v{last}, v{at}", of.len() + at - 1);
            last = of.len() + at - 1;
        }
        text + &format!(" out v{last} over [p0] as [64] }}\n")
    }

    fn op(to: &str, text: &str) -> String {
        format!("%{to}: f32[64] = aten::{text}\n")
    }

    fn graph(nodes: &[String], results: &str) -> Graph {
        Graph::parse(&format!("graph(%x: f32[64], %y: f32[64]) {{\n{}return ({results})\n}}", nodes.concat())).unwrap()
    }

    const SMALL: LaunchShape = LaunchShape { blocks: 1, threads: 128, bytes: 512, lines: 10, room: 1 << 17 };

    /// The steps as `0+2 1`: nodes 0 and 2 are one launch, node 1 comes after it.
    fn steps_with(graph: &Graph, once: &[usize], shape: impl Fn(usize) -> Option<LaunchShape>) -> String {
        let once = once.iter().map(|position| graph.nodes[*position].id).collect();
        let position = |node: &Node| graph.nodes.iter().position(|other| other.id == node.id).unwrap();
        let order = NodeOrder::joined(graph, &once, |node| shape(position(node)));
        let step = |step: &Vec<usize>| step.iter().map(ToString::to_string).collect::<Vec<_>>().join("+");
        order.steps.iter().map(step).collect::<Vec<_>>().join(" ")
    }

    fn steps(nodes: &[String], results: &str) -> String {
        steps_with(&graph(nodes, results), &[], |_| Some(SMALL))
    }

    #[test]
    fn kernels_that_need_nothing_of_each_other_are_one_launch() {
        // Side by side, and of two branches that each have an op between their kernels: ops keep their order.
        assert_eq!(steps(&[sum("a", &["x"]), sum("b", &["y"]), sum("c", &["x", "y"])], "%a, %b, %c"), "0+1+2");
        let branch = |n: &str| {
            let [a, b, c] = ["a", "b", "c"].map(|letter| format!("{letter}{n}"));
            [sum(&a, &["x"]), op(&b, &format!("cumsum(%{a}, 0)")), sum(&c, &[&b])].concat()
        };
        assert_eq!(steps(&[branch("0"), branch("1")], "%c0, %c1"), "0+3 1 4 2+5");
        // A kernel that nothing waits for comes along with one that something waits for.
        let nodes = [sum("a", &["x"]), op("b", "cumsum(%a, 0)"), sum("c", &["y"]), op("d", "cumsum(%c, 0)")];
        assert_eq!(steps(&nodes, "%b, %d"), "0+2 1 3");
    }

    #[test]
    fn kernels_that_need_each_other_are_not_joined() {
        let through = [
            (vec![sum("b", &["a"])], "0 1"),
            (vec![op("v", "view(%a, [64])"), sum("b", &["v"])], "0 1 2"),
            (vec![op("v", "cumsum(%a, 0)"), sum("b", &["v"])], "0 1 2"),
            (vec![sum("v", &["a", "x"]), sum("b", &["v", "y"])], "0 1 2"),
        ];
        for (rest, expected) in through {
            let nodes = [vec![sum("a", &["x"])], rest].concat();
            assert_eq!(steps(&nodes, "%a, %b"), expected, "{nodes:?}");
        }
        // Two that a third needs, and which need nothing of each other.
        assert_eq!(steps(&[sum("a", &["x"]), sum("b", &["y"]), sum("c", &["a", "b"])], "%c"), "0+1 2");
        // The fourth could run with the first, and the third with neither.
        let nodes = [sum("a", &["x"]), sum("b", &["a"]), sum("c", &["b"]), sum("d", &["y"])];
        assert_eq!(steps(&nodes, "%c, %d"), "0+3 1 2");
    }

    #[test]
    fn no_kernel_passes_what_may_write_to_its_operands() {
        let nodes = [sum("a", &["x"]), op("w", "add_.Tensor(%x, %y)"), sum("b", &["x"])];
        assert_eq!(steps(&nodes, "%a, %b, %w"), "0 1 2");
        // Through a view of the operand, and by a norm that trains.
        let nodes =
            [op("v", "view(%x, [64])"), sum("a", &["v"]), op("w", "relu_(%x)"), sum("b", &["v"]), sum("c", &["v"])];
        assert_eq!(steps(&nodes, "%a, %b, %c, %w"), "0 1 2 3+4");
        let norm = "%n: f32[1,64] = aten::batch_norm(%r, none, none, %x, %y, true, 0.1, 1e-05, false)\n".to_owned();
        let rows = "%r: f32[1,64] = aten::view(%a, [1,64])\n".to_owned();
        let nodes = [sum("a", &["y"]), rows, norm, sum("b", &["x"])];
        assert_eq!(steps(&nodes, "%a, %n, %b"), "0 1 2 3");
    }

    #[test]
    fn what_runs_once_is_joined_with_nothing() {
        let ones = op("o", "ones([64])");
        let nodes = graph(&[ones, sum("a", &["o"]), sum("b", &["x"]), sum("c", &["y"])], "%a, %b, %c");
        assert_eq!(steps_with(&nodes, &[0, 1], |_| Some(SMALL)), "0 1 2+3");
    }

    #[test]
    fn whether_joining_pays_depends_on_bytes_blocks_and_threads() {
        let nodes = graph(&[sum("a", &["x"]), sum("b", &["y"])], "%a, %b");
        let with =
            |second: Option<LaunchShape>| steps_with(&nodes, &[], |at| if at == 0 { Some(SMALL) } else { second });
        assert_eq!(with(Some(SMALL)), "0+1");
        assert_eq!(with(None), "0 1");
        assert_eq!(with(Some(LaunchShape { bytes: 1 << 30, ..SMALL })), "0 1");
        // Larger blocks, as long as there is room for all of them.
        assert_eq!(with(Some(LaunchShape { threads: 1024, blocks: 100, ..SMALL })), "0+1");
        assert_eq!(with(Some(LaunchShape { threads: 1024, blocks: 1000, ..SMALL })), "0 1");
        assert_eq!(with(Some(LaunchShape { blocks: 1000, ..SMALL })), "0+1");
    }

    #[test]
    fn a_launch_has_few_kernels_and_few_tensors() {
        let many: Vec<String> = (0..11).map(|at| sum(&format!("a{at}"), &["x"])).collect();
        let results: Vec<String> = (0..11).map(|at| format!("%a{at}")).collect();
        assert_eq!(steps(&many, &results.join(", ")), "0+1+2+3+4+5+6+7 8+9+10");
        let wide: Vec<String> = (0..4).map(|at| sum(&format!("a{at}"), &["x"; 64])).collect();
        assert_eq!(steps(&wide, &results[..4].join(", ")), "0+1+2 3");
    }

    #[test]
    fn temporaries_of_one_launch_lie_apart_from_all_that_it_reads_and_writes() {
        // Alone, `%c` could lie where `%a` does, which nobody reads after `%b`. Joined with `%b` it must not.
        let nodes = [sum("a", &["x"]), sum("b", &["a"]), sum("c", &["y"]), sum("d", &["b", "c"])];
        let graph = graph(&nodes, "%d");
        let bytes = |order: &NodeOrder| {
            let (graph, steps) = order.apply(&graph);
            ArenaPlan::new(&graph, &steps, &HashSet::new(), &HashSet::new()).bytes
        };
        let one = bytes(&NodeOrder::as_it_is(&graph)) / 2;
        let order = NodeOrder { steps: vec![vec![0], vec![1, 2], vec![3]] };
        assert_eq!(bytes(&order), 3 * one, "`%a`, `%b` and `%c` at once");
    }
}
