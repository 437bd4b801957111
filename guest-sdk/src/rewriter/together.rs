//! Putting kernels in the place of the nodes they compute, many at a time.

use super::{EditError, Rewriter};
use crate::indexing::index_reached;
use crate::links::Links;
use crate::lower::Lowered;
use fixedbitset::FixedBitSet;
use passhost_ir::{Arg, Graph, Node, NodeId, NodeKind, OpName, ValueId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Rewriter {
    /// Puts a lowered kernel in the place of the nodes it computes. The kernel goes where all its operands exist and
    /// nothing has read its results; the other nodes keep their order but for those that must move behind it. The
    /// values it defines keep their identity, so no reader changes.
    pub fn replace(&mut self, lowered: &Lowered) -> Result<NodeId, EditError> {
        self.replace_all([lowered])?.pop().ok_or(EditError::NoSuchNode(NodeId(u32::MAX)))
    }

    /// [`replace`](Rewriter::replace) for kernels that share no node, in one go over the graph. All of them are put in,
    /// or none. Returns the ids of the kernels, in their order.
    pub fn replace_all<'l>(
        &mut self,
        lowered: impl IntoIterator<Item = &'l Lowered>,
    ) -> Result<Vec<NodeId>, EditError> {
        let lowered: Vec<&Lowered> = lowered.into_iter().collect();
        let groups = Groups::of(&self.graph, &lowered)?;
        for kernel in &lowered {
            self.check_inputs(&kernel.kernel, &kernel.inputs)?;
            self.check_results(kernel)?;
        }
        let links = Links::of(&self.graph);
        groups.check_results(&links, &lowered)?;
        groups.check_still_read(&links, &lowered)?;
        let members = groups.all();
        if let Some(op) = index_reached(&self.graph, &members, &links.reached(&members)) {
            return Err(EditError::Index(op.to_string()));
        }
        let order = groups.order(&links, &lowered)?;
        let ids: Vec<NodeId> = lowered.iter().map(|_| self.ids.take()).collect();
        let mut nodes: Vec<Option<Node>> = std::mem::take(&mut self.graph.nodes).into_iter().map(Some).collect();
        for item in order {
            match item {
                OrderedItem::Kernel(number) => self.push_kernel(ids[number], lowered[number]),
                OrderedItem::Node(position) => self.graph.nodes.extend(nodes[position].take()),
            }
        }
        Ok(ids)
    }

    /// A kernel as the last node of the graph, with views of its results where the graph has another layout for them.
    fn push_kernel(&mut self, id: NodeId, lowered: &Lowered) {
        let mut outputs = Vec::new();
        let mut layouts = Vec::new();
        for (output, ty) in lowered.outputs.iter().zip(lowered.kernel.output_types()) {
            match &output.permutation {
                None => {
                    self.graph.values[output.value.index()].ty = ty;
                    outputs.push(output.value);
                }
                // The kernel writes densely; a view gives the result the layout that the graph has for it.
                Some(permutation) => {
                    let strides =
                        permutation.iter().filter_map(|&dim| ty.strides.get(usize::try_from(dim).ok()?).copied());
                    self.graph.values[output.value.index()].ty.strides = strides.collect();
                    let name = self.graph.fresh_name();
                    let dense = self.graph.add_value(name, ty);
                    outputs.push(dense);
                    let args = vec![Arg::Value(dense), Arg::Ints(permutation.clone())];
                    let kind = NodeKind::Aten { op: OpName::new("aten::permute", ""), args };
                    layouts.push(Node { id: self.ids.take(), kind, outputs: vec![output.value] });
                }
            }
        }
        let kind = NodeKind::Kernel { kernel: Box::new(lowered.kernel.clone()), inputs: lowered.inputs.clone() };
        self.graph.nodes.push(Node { id, kind, outputs });
        self.graph.nodes.extend(layouts);
    }
}

/// What a graph is made of once kernels stand for some of its nodes.
#[derive(Clone, Copy)]
enum OrderedItem {
    /// The kernel of this number.
    Kernel(usize),
    /// The node that stood at this position.
    Node(usize),
}

/// The nodes that go, by the kernel that they go for.
struct Groups {
    /// For each kernel the positions of its nodes.
    members: Vec<FixedBitSet>,
    /// For each node the kernel that computes it.
    kernel_of: Vec<Option<usize>>,
    /// For each node the kernel that it is a view within.
    covered_by: Vec<Option<usize>>,
}

/// Finds nodes one after the other. Those of a kernel are as a rule in the order of the graph, so that all of them take one
/// walk over it; a map would be as long as the rest of a small component.
struct NodeFinder<'a> {
    graph: &'a Graph,
    /// Where the walk goes on.
    next: usize,
}

impl NodeFinder<'_> {
    fn position(&mut self, id: NodeId) -> Result<usize, EditError> {
        let nodes = &self.graph.nodes;
        let mut from_here = (self.next..nodes.len()).chain(0..self.next);
        let found = from_here.find(|&position| nodes[position].id == id).ok_or(EditError::NoSuchNode(id))?;
        self.next = found + 1;
        Ok(found)
    }
}

impl Groups {
    fn of(graph: &Graph, lowered: &[&Lowered]) -> Result<Groups, EditError> {
        let mut search = NodeFinder { graph, next: 0 };
        let mut groups = Groups {
            members: vec![],
            kernel_of: vec![None; graph.nodes.len()],
            covered_by: vec![None; graph.nodes.len()],
        };
        for (number, kernel) in lowered.iter().enumerate() {
            let mut members = FixedBitSet::with_capacity(graph.nodes.len());
            for id in &kernel.nodes {
                let position = search.position(*id)?;
                if groups.kernel_of[position].replace(number).is_some() {
                    return Err(EditError::Twice(*id));
                }
                members.insert(position);
            }
            for id in &kernel.covered {
                let position = search.position(*id)?;
                groups.covered_by[position] = Some(number);
            }
            groups.members.push(members);
        }
        Ok(groups)
    }

    fn all(&self) -> FixedBitSet {
        (0..self.kernel_of.len()).filter(|&position| self.kernel_of[position].is_some()).collect()
    }

    /// The kernel for which a node goes.
    fn gone_for(&self, position: usize) -> Option<usize> {
        self.kernel_of[position].or(self.covered_by[position])
    }

    /// That each result of a kernel is a result of its nodes, and named once.
    fn check_results(&self, links: &Links<'_>, lowered: &[&Lowered]) -> Result<(), EditError> {
        let mut named = FixedBitSet::with_capacity(links.graph.values.len());
        for (number, kernel) in lowered.iter().enumerate() {
            for output in &kernel.outputs {
                let position = links.definitions[output.value.index()];
                let is_own = position.is_some_and(|position| self.kernel_of[position] == Some(number));
                if !is_own || named.put(output.value.index()) {
                    return Err(EditError::NotAResult(links.graph.value(output.value).name.clone()));
                }
            }
        }
        Ok(())
    }

    /// That nothing which stays reads a value that only the replaced nodes define.
    fn check_still_read(&self, links: &Links<'_>, lowered: &[&Lowered]) -> Result<(), EditError> {
        let (graph, uses) = (links.graph, &links.uses);
        for (position, node) in graph.nodes.iter().enumerate() {
            let Some(number) = self.gone_for(position) else { continue };
            for &output in &node.outputs {
                let stays = |&reader: &usize| self.gone_for(reader) != Some(number);
                let is_read = uses.is_output(output) || uses.readers(output).iter().any(stays);
                let is_member = self.kernel_of[position].is_some();
                let is_defined = || is_member && lowered[number].outputs.iter().any(|new| new.value == output);
                if is_read && !is_defined() {
                    return Err(EditError::StillRead(graph.value(output).name.clone()));
                }
            }
        }
        Ok(())
    }

    /// Kernels and remaining nodes, each behind what it reads and as early as its place in the graph says; a kernel has
    /// the place of its last node.
    fn order(&self, links: &Links<'_>, lowered: &[&Lowered]) -> Result<Vec<OrderedItem>, EditError> {
        let graph = links.graph;
        // Items by number: the kernels, then the nodes.
        let kernels = lowered.len();
        let item_of = |position: usize| self.kernel_of[position].unwrap_or(kernels + position);
        let place = |item: usize| match item.checked_sub(kernels) {
            Some(position) => position,
            None => self.members[item].maximum().unwrap_or(0),
        };
        let mut waits_for = vec![0usize; kernels + graph.nodes.len()];
        let mut read_by: Vec<Vec<usize>> = vec![vec![]; kernels + graph.nodes.len()];
        let nodes = (0..graph.nodes.len()).filter(|&position| self.gone_for(position).is_none());
        let items: Vec<usize> = (0..kernels).chain(nodes.map(|position| kernels + position)).collect();
        for &item in &items {
            let operands = match item.checked_sub(kernels) {
                Some(position) => &links.operands[position],
                None => &lowered[item].inputs,
            };
            for position in operands.iter().filter_map(|operand| links.definitions[operand.index()]) {
                read_by[item_of(position)].push(item);
                waits_for[item] += 1;
            }
        }
        let ready = items.iter().filter(|&&item| waits_for[item] == 0).map(|&item| Reverse((place(item), item)));
        let mut ready: BinaryHeap<_> = ready.collect();
        let mut order = Vec::with_capacity(items.len());
        while let Some(Reverse((_, item))) = ready.pop() {
            order.push(item.checked_sub(kernels).map_or(OrderedItem::Kernel(item), OrderedItem::Node));
            for &reader in &read_by[item] {
                waits_for[reader] -= 1;
                if waits_for[reader] == 0 {
                    ready.push(Reverse((place(reader), reader)));
                }
            }
        }
        if order.len() == items.len() { Ok(order) } else { Err(self.not_convex(links, lowered)) }
    }

    /// The error for kernels that wait for each other: the first input that depends on the nodes of its own kernel, or
    /// else of all.
    fn not_convex(&self, links: &Links<'_>, lowered: &[&Lowered]) -> EditError {
        let depends = |members: &FixedBitSet, lowered: &Lowered| -> Option<ValueId> {
            let reached = links.reached(members);
            lowered.inputs.iter().copied().find(|input| reached[input.index()])
        };
        let of_own = self.members.iter().zip(lowered).find_map(|(members, kernel)| depends(members, kernel));
        let found = of_own.or_else(|| lowered.iter().find_map(|kernel| depends(&self.all(), kernel)));
        EditError::NotConvex(found.map(|input| links.graph.value(input).name.clone()).unwrap_or_default())
    }
}
