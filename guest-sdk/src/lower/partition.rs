//! Which nodes to fuse: regions that become one kernel each, as large as they may be.
//!
//! Regions grow in steps, each only where the graph with every region contracted to one node stays free of cycles, and
//! where the nodes together still lower to one kernel:
//!
//! 1. an op joins the region of an op that it reads element by element, or that it reduces;
//! 2. a region that is read in any other arrangement (broadcast, sliced, joined, shifted) and nowhere else joins its
//!    reader, if recomputing it is modest: no costly op is calculated [`MOST_RECOMPUTED`] times or more for an element of
//!    its result. A transcendental function of a small tensor, repeated for each element of a large one, costs a CPU more
//!    than the memory pass it saves; along leading axes it is calculated once per row;
//! 3. two regions of one shape that read the same tensor of that shape join, so that it is read once.
//!
//! A region with a single op is left to ATen: a kernel of ours would read and write what ATen's does.

use super::LowerError;
use super::analysis::Analysis;
use super::boundary::Boundary;
use super::moves::Move;
use super::recipe::{Recipe, readings};
use super::region::{check_pointwise, is_reduction, lower};
use super::space::tensors;
use crate::index::Index;
use crate::indexing::pinned;
use crate::rewriter::Refusal;
use crate::view::{self, View};
use fixedbitset::FixedBitSet;
use passhost_ir::kernel::limits;
use passhost_ir::{Graph, Node, NodeId, NodeKind, ValueId, numel};

/// From this many calculations for each element of a smaller tensor on, costly ops are not recomputed.
const MOST_RECOMPUTED: u64 = 8;

/// The most places at which one op is calculated.
const MOST_PLACES: usize = 16;

/// Regions stop growing here; a typical op is four instructions.
const MOST_NODES: usize = limits::BODY / 4;

/// A long reduction to fewer rows than these is left alone: what surrounds it would lose its parallelism.
const FEWEST_ROWS: u64 = 8;

/// From how many elements per row on that counts.
const LONG_ROW: u64 = 1 << 16;

/// What regions are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fuse {
    /// Ops that calculate or move element by element.
    Pointwise,
    /// Reductions and norms as well.
    Reductions,
}

/// What [`partition`] found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partition {
    /// Sets of nodes for [`region`](super::region), in graph order, two or more nodes each.
    pub regions: Vec<Vec<NodeId>>,
    /// The other nodes that are no views, by reason.
    pub refusals: Vec<Refusal>,
}

/// Divides a graph into regions.
pub fn partition(graph: &Graph, fuse: Fuse) -> Partition {
    let mut regions = Regions::of(graph, fuse);
    regions.join_producers();
    while regions.absorb() {}
    regions.join_producers();
    regions.join_siblings();
    regions.finish()
}

struct Region {
    members: FixedBitSet,
    /// Shape of the results.
    shape: Vec<i64>,
    /// Pointwise ops that read each other element by element: they lower whatever they are.
    is_plain: bool,
}

/// A tensor that a node reads, traced back through views.
#[derive(Clone, Copy)]
struct Read {
    /// The tensor.
    source: ValueId,
    /// The node reads it in its own arrangement, or reduces all of it.
    is_whole: bool,
}

struct Regions<'a> {
    graph: &'a Graph,
    analysis: Analysis<'a>,
    /// For each node why it is in no region.
    refused: Vec<Option<LowerError>>,
    /// For each node what it reads.
    reads: Vec<Vec<Read>>,
    /// Slots of joined regions are empty.
    regions: Vec<Option<Region>>,
    /// For each node the slot of its region.
    region_of: Vec<Option<usize>>,
    /// For each node why it did not join one that it reads.
    obstacles: Vec<Option<String>>,
}

impl<'a> Regions<'a> {
    /// Every node that lowers alone.
    fn of(graph: &'a Graph, fuse: Fuse) -> Regions<'a> {
        let analysis = Analysis::of(graph);
        let pinned = pinned(graph);
        let check = |position: usize| {
            let node = analysis.node(position);
            if let Some(op) = &pinned[position] {
                return Err(LowerError::Index(op.to_string()));
            }
            if fuse == Fuse::Pointwise {
                check_pointwise(graph, node)?;
            }
            (0..node.outputs.len()).try_for_each(|output| analysis.footprint(position, output).map(|_| ()))
        };
        let refused: Vec<_> = (0..graph.nodes.len()).map(|position| check(position).err()).collect();
        let mut regions = Vec::new();
        let mut region_of = vec![None; graph.nodes.len()];
        let mut reads = Vec::new();
        for (position, node) in graph.nodes.iter().enumerate() {
            let recipe = analysis.recipe(position).ok().filter(|_| refused[position].is_none());
            reads.push(recipe.map(|recipe| reads_of(&analysis, node, recipe)).unwrap_or_default());
            let Some(recipe) = recipe else { continue };
            let ty = graph.ty(node.outputs[0]);
            if ty.numel() > 0 && ty.rank() <= limits::PARALLEL_AXES {
                let is_plain = matches!(recipe, Recipe::Rule(rule) if rule.footprint.is_none());
                let members = FixedBitSet::from_iter([position]);
                region_of[position] = Some(regions.len());
                regions.push(Some(Region { members, shape: ty.shape.clone(), is_plain }));
            }
        }
        let obstacles = vec![None; graph.nodes.len()];
        Regions { graph, analysis, refused, reads, regions, region_of, obstacles }
    }

    fn join_producers(&mut self) {
        for position in 0..self.graph.nodes.len() {
            for read in 0..self.reads[position].len() {
                if self.reads[position][read].is_whole {
                    self.join_at(position, read);
                }
            }
        }
    }

    /// Joins regions to the readers that want them in another arrangement. Whether there were any.
    fn absorb(&mut self) -> bool {
        let mut changed = false;
        for position in 0..self.graph.nodes.len() {
            for read in 0..self.reads[position].len() {
                changed |= !self.reads[position][read].is_whole && self.join_at(position, read);
            }
        }
        changed
    }

    /// Joins the region that defines what a node reads to that of the node.
    fn join_at(&mut self, position: usize, read: usize) -> bool {
        let Read { source, is_whole } = self.reads[position][read];
        let producer = self.analysis.definitions[source.index()].and_then(|position| self.region_of[position]);
        let (Some(own), Some(other)) = (self.region_of[position], producer) else { return false };
        if own == other || (!is_whole && self.is_read_beside(own, other)) {
            return false;
        }
        let joined = self.try_join(own, other, is_whole);
        if let Err(obstacle) = &joined {
            self.obstacles[position].get_or_insert_with(|| obstacle.clone());
        }
        joined.is_ok()
    }

    /// Whether anything but the region `own` reads a result of the region `other`. Rows of a reduction do not count:
    /// its kernel can write them.
    fn is_read_beside(&self, own: usize, other: usize) -> bool {
        let (Some(reader), Some(producer)) = (&self.regions[own], &self.regions[other]) else { return true };
        if !reader.is_plain && numel(&producer.shape) < numel(&reader.shape) {
            return false;
        }
        let results = Boundary::of(&self.analysis, &(&reader.members | &producer.members)).results;
        let mut outputs = producer.members.ones().flat_map(|member| &self.graph.nodes[member].outputs);
        outputs.any(|output| results.contains(output))
    }

    fn join_siblings(&mut self) {
        for first in 0..self.regions.len() {
            for second in first + 1..self.regions.len() {
                let (Some(a), Some(b)) = (&self.regions[first], &self.regions[second]) else { continue };
                let full = |region: &Region| -> FixedBitSet {
                    let is_full = |&input: &usize| self.graph.values[input].ty.numel() == numel(&region.shape);
                    self.inputs(&region.members).ones().filter(is_full).collect()
                };
                if a.shape == b.shape && !full(a).is_disjoint(&full(b)) {
                    // Each is worth a kernel by itself.
                    let _ = self.try_join(first, second, true);
                }
            }
        }
    }

    /// Joins `other` to `own`, unless that breaks a limit, makes a cycle, or does not lower to one kernel of modest
    /// effort. `is_whole` says that `own` reads `other` element by element. An error says what is in the way.
    fn try_join(&mut self, own: usize, other: usize, is_whole: bool) -> Result<(), String> {
        let (Some(a), Some(b)) = (&self.regions[own], &self.regions[other]) else { return Err(String::new()) };
        let members = &a.members | &b.members;
        let inputs = self.inputs(&members);
        if members.count_ones(..) > MOST_NODES || inputs.count_ones(..) > limits::INPUTS {
            return Err("the kernel would be too large".to_owned());
        }
        if !self.is_convex(&members, &inputs) {
            return Err("a path between them leads through other steps".to_owned());
        }
        let is_plain = is_whole && a.is_plain && b.is_plain && a.shape == b.shape;
        if !is_plain {
            self.check_effort(&members)?;
        }
        // The larger shape is that of the space; rows come after it.
        let shape = if numel(&b.shape) > numel(&a.shape) && !is_plain { b.shape.clone() } else { a.shape.clone() };
        for member in members.ones() {
            self.region_of[member] = Some(own);
        }
        self.regions[other] = None;
        self.regions[own] = Some(Region { members, shape, is_plain });
        Ok(())
    }

    /// That nodes lower to one kernel that does not repeat too much, and has enough rows.
    fn check_effort(&self, members: &FixedBitSet) -> Result<(), String> {
        let (_, effort) = lower(&self.analysis, members).map_err(|error| error.to_string())?;
        if effort.recomputed >= MOST_RECOMPUTED {
            return Err(format!("a costly op would be calculated {} times per element", effort.recomputed));
        }
        if effort.places > MOST_PLACES {
            return Err(format!("an op would be calculated at {} places", effort.places));
        }
        if effort.rows < FEWEST_ROWS && effort.row_length >= LONG_ROW {
            return Err(format!("{} rows of {} elements would not fill a device", effort.rows, effort.row_length));
        }
        Ok(())
    }

    /// The tensors a kernel of these nodes reads.
    fn inputs(&self, members: &FixedBitSet) -> FixedBitSet {
        let sources = members.ones().flat_map(|member| &self.reads[member]).map(|read| read.source.index());
        sources.filter(|&id| self.analysis.definitions[id].is_none_or(|at| !members.contains(at))).collect()
    }

    /// Why a node is the only one in its region.
    fn alone(&self, position: usize) -> String {
        let what = if is_reduction(self.graph, self.analysis.node(position)) { "reduction" } else { "pointwise op" };
        match &self.obstacles[position] {
            None => format!("a {what} with no other to fuse with is left to ATen"),
            Some(obstacle) => format!("a {what} is left to ATen; with what it reads: {obstacle}"),
        }
    }

    /// Whether no input depends on a member, where every other region counts as one node.
    fn is_convex(&self, members: &FixedBitSet, inputs: &FixedBitSet) -> bool {
        let mut reached = vec![false; self.graph.values.len()];
        let mut region_reached = vec![false; self.regions.len()];
        loop {
            let mut changed = false;
            for (position, node) in self.graph.nodes.iter().enumerate() {
                let inside = members.contains(position);
                let region = self.region_of[position].filter(|_| !inside);
                let depends = inside
                    || region.is_some_and(|region| region_reached[region])
                    || self.analysis.operands[position].iter().any(|operand| reached[operand.index()]);
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
                return inputs.ones().all(|input| !reached[input]);
            }
        }
    }

    fn finish(self) -> Partition {
        let mut found = Partition::default();
        for (position, node) in self.graph.nodes.iter().enumerate() {
            let region = self.region_of[position].and_then(|region| self.regions[region].as_ref());
            let reason = match (&self.refused[position], region) {
                (None, Some(region)) if region.members.count_ones(..) > 1 => {
                    if region.members.minimum() == Some(position) {
                        found.regions.push(region.members.ones().map(|member| self.graph.nodes[member].id).collect());
                    }
                    continue;
                }
                (None, Some(_)) => self.alone(position),
                (None, None) => {
                    format!("%{} has no elements or too many dimensions", self.graph.value(node.outputs[0]).name)
                }
                _ if self.analysis.is_view(position) || matches!(node.kind, NodeKind::Kernel { .. }) => continue,
                (Some(error), _) => error.to_string(),
            };
            match found.refusals.iter_mut().find(|refusal| refusal.reason == reason) {
                Some(refusal) => refusal.nodes.push(node.id),
                None => found.refusals.push(Refusal { nodes: vec![node.id], reason }),
            }
        }
        found
    }
}

/// What a node reads.
fn reads_of(analysis: &Analysis<'_>, node: &Node, recipe: &Recipe) -> Vec<Read> {
    let graph = analysis.graph;
    let of_view = |view: &View| read(analysis, node, view.source, &view.coordinates);
    match recipe {
        Recipe::Move(Move::Map(view) | Move::Pad { view, .. }) => vec![of_view(view)],
        Recipe::Move(Move::Join { parts, .. }) => parts.iter().map(|part| of_view(&part.view)).collect(),
        Recipe::Rule(rule) => {
            let folds = if rule.footprint.is_some() { rule.folds } else { 0 };
            let reduced = tensors(node).take(folds).map(|(_, operand)| {
                let source = view::root(graph, &analysis.definitions, operand).source;
                Read { source, is_whole: graph.ty(source).numel() == graph.ty(operand).numel() }
            });
            let readings = readings(graph, rule, node, node.outputs[0]).into_iter();
            let beside = readings.filter(|reading| reading.place >= folds);
            reduced.chain(beside.map(|reading| read(analysis, node, reading.operand, &reading.coordinates))).collect()
        }
    }
}

/// How a node reads an operand at these coordinates over its result's dimensions.
fn read(analysis: &Analysis<'_>, node: &Node, operand: ValueId, coordinates: &[Index]) -> Read {
    let graph = analysis.graph;
    let root = view::root(graph, &analysis.definitions, operand);
    let shape = &graph.ty(root.source).shape;
    let is_same_shape = *shape == graph.ty(node.outputs[0]).shape;
    Read { is_whole: is_same_shape && root.at(coordinates) == Index::axes(shape), source: root.source }
}
