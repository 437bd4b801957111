//! Which nodes to fuse: regions of pointwise ops, as large as they may be.
//!
//! Regions grow in three steps, each only where the graph with every region contracted to one node stays free of cycles:
//!
//! 1. an op joins the region of an op of the same shape that it reads;
//! 2. a region that broadcasts into one other region and is read nowhere else joins it, if recomputing it is modest:
//!    its ops are cheap, or the larger region has less than [`MOST_RECOMPUTED`] times its elements, or it varies along
//!    leading axes only, so that the kernel computes it once per row. Otherwise it stays a step of its own, because a
//!    transcendental function of a small tensor, repeated for each element of a large one, costs a CPU more than the
//!    memory pass it saves;
//! 3. two regions of one shape that read the same tensor of that shape join, so that it is read once.
//!
//! A region with a single op is left to ATen: a kernel of ours would read and write what ATen's does.

use super::pointwise::{Boundary, LowerError, Read, can_be_rows, reads, rule};
use super::rules::Rule;
use crate::bit_set::BitSet;
use crate::rewriter::Refusal;
use crate::view::{self, Coordinate};
use passhost_ir::kernel::limits;
use passhost_ir::{Graph, Node, NodeId, NodeKind, TensorType, numel};

/// From this many elements per element of a smaller tensor on, costly ops are not recomputed.
const MOST_RECOMPUTED: u64 = 8;

/// Regions stop growing here; a typical op is four instructions.
const MOST_NODES: usize = limits::BODY / 4;

/// What [`partition`] found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partition {
    /// Sets of nodes for [`pointwise`](super::pointwise), in graph order, two or more nodes each.
    pub regions: Vec<Vec<NodeId>>,
    /// The other nodes that are no views, by reason.
    pub refusals: Vec<Refusal>,
}

/// Divides a graph into regions of pointwise ops.
pub fn partition(graph: &Graph) -> Partition {
    let mut regions = Regions::of(graph);
    regions.join_producers();
    while regions.absorb_smaller() {}
    regions.join_siblings();
    regions.finish()
}

struct Region {
    members: BitSet,
    /// Shape of the results.
    shape: Vec<i64>,
}

struct Regions<'a> {
    graph: &'a Graph,
    definitions: Vec<Option<usize>>,
    rules: Vec<Result<&'static Rule, LowerError>>,
    /// Slots of joined regions are empty.
    regions: Vec<Option<Region>>,
    /// For each node the slot of its region.
    region_of: Vec<Option<usize>>,
}

impl<'a> Regions<'a> {
    /// Every pointwise node alone.
    fn of(graph: &'a Graph) -> Regions<'a> {
        let rules: Vec<_> = graph.nodes.iter().map(|node| rule(graph, node)).collect();
        let mut regions = Vec::new();
        let mut region_of = vec![None; graph.nodes.len()];
        for (position, node) in graph.nodes.iter().enumerate() {
            if rules[position].is_err() {
                continue;
            }
            let ty = graph.ty(node.outputs[0]);
            if ty.numel() > 0 && ty.rank() <= limits::PARALLEL_AXES {
                region_of[position] = Some(regions.len());
                regions.push(Some(Region { members: BitSet::from_iter([position]), shape: ty.shape.clone() }));
            }
        }
        Regions { graph, definitions: graph.definitions(), rules, regions, region_of }
    }

    fn join_producers(&mut self) {
        for position in 0..self.graph.nodes.len() {
            for read in self.reads(position) {
                let (Some(own), Some(other)) = (self.region_of[position], self.producer(&read)) else { continue };
                let shape = &self.graph.ty(read.source).shape;
                if self.shape(own) == shape && is_identity(&read.coordinates, shape) {
                    self.try_join(own, other);
                }
            }
        }
    }

    fn absorb_smaller(&mut self) -> bool {
        for position in 0..self.graph.nodes.len() {
            for read in self.reads(position) {
                let (Some(own), Some(other)) = (self.region_of[position], self.producer(&read)) else { continue };
                // A node that is itself broadcast has coordinates of its own shape, not of its region's.
                let result = self.graph.ty(self.graph.nodes[position].outputs[0]);
                let at_full_shape = result.shape == self.shape(own);
                if own != other
                    && at_full_shape
                    && self.is_modest(own, other, &read, result)
                    && self.try_join(own, other)
                {
                    return true;
                }
            }
        }
        false
    }

    /// Whether the region `other`, read by `own` at `read` for a node that gives `result`, may be recomputed there.
    fn is_modest(&self, own: usize, other: usize, read: &Read, result: &TensorType) -> bool {
        let (Some(large), Some(small)) = (&self.regions[own], &self.regions[other]) else { return false };
        let ratio = numel(&large.shape) / numel(&small.shape).max(1);
        let plain = read.coordinates.iter().all(|at| at.offset == 0 && (at.dim.is_none() || at.step == 1));
        if ratio < 2 || !plain {
            return false;
        }
        let both = large.members.union(&small.members);
        let results = Boundary::of(self.graph, &both).results;
        let is_read_elsewhere = |member: usize| self.graph.nodes[member].outputs.iter().any(|id| results.contains(id));
        if small.members.iter().any(is_read_elsewhere) {
            return false;
        }
        let costly = small.members.iter().any(|member| self.rules[member].as_ref().is_ok_and(|rule| rule.costly));
        !costly || ratio < MOST_RECOMPUTED || can_be_rows(&read.coordinates, result)
    }

    fn join_siblings(&mut self) {
        for first in 0..self.regions.len() {
            for second in first + 1..self.regions.len() {
                let (Some(a), Some(b)) = (&self.regions[first], &self.regions[second]) else { continue };
                let full = |region: &Region| -> BitSet {
                    let is_full = |&input: &usize| self.graph.values[input].ty.numel() == numel(&region.shape);
                    self.inputs(&region.members).iter().filter(is_full).collect()
                };
                if a.shape == b.shape && full(a).intersects(&full(b)) {
                    self.try_join(first, second);
                }
            }
        }
    }

    /// Joins `other` to `own`, which keeps its shape, unless that breaks a limit or makes a cycle.
    fn try_join(&mut self, own: usize, other: usize) -> bool {
        if own == other {
            return false;
        }
        let (Some(a), Some(b)) = (&self.regions[own], &self.regions[other]) else { return false };
        let members = a.members.union(&b.members);
        let inputs = self.inputs(&members);
        if members.len() > MOST_NODES || inputs.len() > limits::INPUTS || !self.is_convex(&members, &inputs) {
            return false;
        }
        let shape = a.shape.clone();
        for member in members.iter() {
            self.region_of[member] = Some(own);
        }
        self.regions[other] = None;
        self.regions[own] = Some(Region { members, shape });
        true
    }

    /// The tensors a kernel of these nodes reads.
    fn inputs(&self, members: &BitSet) -> BitSet {
        let sources = members.iter().flat_map(|member| self.reads(member)).map(|read| read.source.index());
        sources.filter(|&id| self.definitions[id].is_none_or(|at| !members.contains(at))).collect()
    }

    /// Whether no input depends on a member, where every other region counts as one node.
    fn is_convex(&self, members: &BitSet, inputs: &BitSet) -> bool {
        let mut reached = vec![false; self.graph.values.len()];
        let mut region_reached = vec![false; self.regions.len()];
        loop {
            let mut changed = false;
            for (position, node) in self.graph.nodes.iter().enumerate() {
                let inside = members.contains(position);
                let region = self.region_of[position].filter(|_| !inside);
                let depends = inside
                    || region.is_some_and(|region| region_reached[region])
                    || node.operands().iter().any(|operand| reached[operand.index()]);
                if !depends || node.outputs.iter().all(|output| reached[output.index()]) {
                    continue;
                }
                for output in &node.outputs {
                    reached[output.index()] = true;
                }
                if let Some(region) = region {
                    region_reached[region] = true;
                }
                changed = true;
            }
            if !changed {
                return inputs.iter().all(|input| !reached[input]);
            }
        }
    }

    fn finish(self) -> Partition {
        let mut found = Partition::default();
        for (position, node) in self.graph.nodes.iter().enumerate() {
            let region = self.region_of[position].and_then(|region| self.regions[region].as_ref());
            let reason = match (&self.rules[position], region) {
                (Ok(_), Some(region)) if region.members.len() > 1 => {
                    if region.members.first() == Some(position) {
                        found.regions.push(region.members.iter().map(|member| self.graph.nodes[member].id).collect());
                    }
                    continue;
                }
                (Ok(_), Some(_)) => "a pointwise op with no other to fuse with is left to ATen".to_owned(),
                (Ok(_), None) => {
                    format!("%{} has no elements or too many dimensions", self.graph.value(node.outputs[0]).name)
                }
                (Err(_), _) if self.is_view(node) || matches!(node.kind, NodeKind::Kernel { .. }) => continue,
                (Err(error), _) => error.to_string(),
            };
            match found.refusals.iter_mut().find(|refusal| refusal.reason == reason) {
                Some(refusal) => refusal.nodes.push(node.id),
                None => found.refusals.push(Refusal { nodes: vec![node.id], reason }),
            }
        }
        found
    }

    fn is_view(&self, node: &Node) -> bool {
        node.outputs.iter().all(|&output| view::step(self.graph, node, output).is_some())
    }

    fn reads(&self, position: usize) -> Vec<Read> {
        match &self.rules[position] {
            Ok(rule) => reads(self.graph, &self.definitions, &self.graph.nodes[position], rule),
            Err(_) => vec![],
        }
    }

    /// The region that defines what is read.
    fn producer(&self, read: &Read) -> Option<usize> {
        self.definitions[read.source.index()].and_then(|position| self.region_of[position])
    }

    fn shape(&self, region: usize) -> &[i64] {
        self.regions[region].as_ref().map_or(&[], |region| &region.shape)
    }
}

/// Whether a tensor of shape `shape` is read element by element.
fn is_identity(coordinates: &[Coordinate], shape: &[i64]) -> bool {
    let same = |(dim, (at, &extent)): (usize, (&Coordinate, &i64))| {
        *at == Coordinate::along(dim) || (extent == 1 && at.offset == 0)
    };
    coordinates.iter().zip(shape).enumerate().all(same)
}
