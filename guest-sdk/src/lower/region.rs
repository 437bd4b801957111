//! A set of nodes as one kernel.

use super::LowerError;
use super::analysis::GraphAnalysis;
use super::boundary::Boundary;
use super::constants::MOST_REPEATED;
use super::emit::RegionEmitter;
use super::error::typed;
use super::group::Group;
use super::recipe::recipe;
use super::rule::Recipe;
use super::space::{Anchor, Coordinates, KernelSpace, places, wanted_split};
use super::work::KernelEffort;
use crate::view;
use fixedbitset::FixedBitSet;
use passhost_ir::kernel::limits;
use passhost_ir::{Graph, Kernel, Node, NodeId, TensorType, ValueId, numel};
use std::collections::BTreeMap;

/// A result of a lowered kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelOutput {
    /// The value of the graph that it is.
    pub value: ValueId,
    /// A kernel writes row-major tensors. Where the graph has another dense layout, the kernel writes the dimensions in
    /// the order of memory, and this is the `dims` of the `aten::permute` that puts them back.
    pub permutation: Option<Vec<i64>>,
}

impl KernelOutput {
    /// A value as the result of a kernel.
    pub(crate) fn of(graph: &Graph, value: ValueId) -> KernelOutput {
        let order = graph.ty(value).memory_order().filter(|order| !order.is_sorted());
        let place = |order: &[usize], dim: usize| {
            let place = order.iter().position(|&known| known == dim);
            place.and_then(|place| i64::try_from(place).ok())
        };
        let permutation = order.and_then(|order| (0..order.len()).map(|dim| place(&order, dim)).collect());
        KernelOutput { value, permutation }
    }
}

/// What a kernel stores for a tensor: its dimensions in the order of memory; for one with gaps, as they are.
pub(crate) fn stored_type(ty: &TensorType) -> TensorType {
    let shape: Vec<i64> = match ty.memory_order() {
        Some(order) => order.into_iter().map(|dim| ty.shape[dim]).collect(),
        None => ty.shape.clone(),
    };
    TensorType::contiguous(ty.dtype, shape)
}

/// A verified kernel and the nodes it stands for, ready for [`Rewriter::replace`](crate::Rewriter::replace).
///
/// A kernel of one's own takes their place by [`Rewriter::replace_with`](crate::Rewriter::replace_with).
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    pub(crate) kernel: Kernel,
    pub(crate) inputs: Vec<ValueId>,
    pub(crate) outputs: Vec<KernelOutput>,
    pub(crate) nodes: Vec<NodeId>,
    /// Views between those nodes that nobody else reads.
    pub(crate) covered: Vec<NodeId>,
}

impl Lowered {
    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Its operands, one per input.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// Its results, one per store.
    pub fn outputs(&self) -> &[KernelOutput] {
        &self.outputs
    }

    /// The nodes that it computes.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }
}

/// Rows shorter than this are not worth a row class: the values are computed for every element.
const SHORTEST_ROW: u64 = 16;

/// How often the axes are divided before results without a place are given up.
const MOST_SPLITS: usize = 8;

/// Whether a node reduces, normalises or adds up products, and lowers.
pub fn is_reduction(graph: &Graph, node: &Node, groups: &[Group]) -> bool {
    recipe(graph, node, groups).is_ok_and(|recipe| recipe.is_reduction())
}

/// Lowers nodes that calculate, move elements or reduce to one kernel, by the rules of some groups.
///
/// Without a reduction the kernel goes over the shape of its results. With one it goes over the rows of the largest
/// reduction as parallel axes and over what that reduces as reduce axes; all others must reduce the same extents. Results
/// that something outside reads are stored: each must have one element for every point, or one for every row, in any
/// arrangement that the ops between reveal.
///
/// Everything else is calculated where it is read, at the coordinates at which it is read. So values that broadcast are
/// calculated again for each element; or, where they are costly and vary along leading axes only, once per row: without a
/// reduction, the trailing axes then become reduce axes, and the values rows.
///
/// Views between the nodes (expand, unsqueeze, permute, slice ...) are read through and may be among `nodes`.
pub fn region(graph: &Graph, nodes: &[NodeId], groups: &[Group]) -> Result<Lowered, LowerError> {
    Ok(lower(&GraphAnalysis::of(graph, groups), &members(graph, nodes)?)?.0)
}

/// The positions of nodes, without those of views.
fn members(graph: &Graph, nodes: &[NodeId]) -> Result<FixedBitSet, LowerError> {
    let mut members = FixedBitSet::default();
    for &id in nodes {
        let found = graph.nodes.iter().position(|node| node.id == id).ok_or(LowerError::NoSuchNode(id))?;
        let node = &graph.nodes[found];
        if node.outputs.iter().any(|&output| view::step(graph, node, output).is_none()) {
            members.grow_and_insert(found);
        }
    }
    Ok(members)
}

/// [`region`] of node positions, and what the kernel costs.
pub(super) fn lower(
    analysis: &GraphAnalysis<'_>,
    members: &FixedBitSet,
) -> Result<(Lowered, KernelEffort), LowerError> {
    let graph = analysis.graph;
    for member in members.ones() {
        analysis.recipe(member).map_err(Clone::clone)?;
    }
    let boundary = Boundary::of(analysis, members);
    check_results(graph, &boundary.results)?;
    let layout = ResultLayout::of(analysis, members, &boundary.results)?;
    let mut emitter = RegionEmitter::new(analysis, members, &layout.space);
    let mut outputs = Vec::new();
    for (&value, (place, order)) in boundary.results.iter().zip(layout.results) {
        let element = emitter.value(value, place)?;
        emitter.kernel.store(element, order, stored_type(graph.ty(value)).shape);
        outputs.push(KernelOutput::of(graph, value));
    }
    let RegionEmitter { kernel, inputs, row_axes, calculated, .. } = emitter;
    let row = &layout.space.parallel[row_axes..];
    let is_map = layout.space.reduce.is_empty();
    let has_rows =
        is_map && row_axes > 0 && (1..=limits::REDUCE_AXES).contains(&row.len()) && numel(row) >= SHORTEST_ROW;
    if has_rows {
        kernel.reduce_from(row_axes);
    }
    let kernel = kernel.finish()?;
    let effort = effort(analysis, &kernel, &calculated);
    let lowered = Lowered {
        kernel,
        inputs,
        outputs,
        nodes: members.ones().map(|member| graph.nodes[member].id).collect(),
        covered: boundary.covered.iter().map(|&position| graph.nodes[position].id).collect(),
    };
    Ok((lowered, effort))
}

fn effort(analysis: &GraphAnalysis<'_>, kernel: &Kernel, calculated: &[(usize, usize)]) -> KernelEffort {
    let mut points_of: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for &(position, axes_used) in calculated {
        let is_row = axes_used <= kernel.parallel.len();
        points_of.entry(position).or_default().push(if is_row { kernel.rows() } else { kernel.work() });
    }
    let mut effort = KernelEffort { repeated: 0, places: 1 };
    for (position, points) in points_of {
        effort.places = effort.places.max(points.len());
        if analysis.recipe(position).is_ok_and(Recipe::is_repeated_at_a_cost) {
            let elements = analysis.graph.ty(analysis.node(position).outputs[0]).numel().max(1);
            let calculated = points.iter().fold(0u64, |sum, &points| sum.saturating_add(points));
            if calculated / elements >= MOST_REPEATED {
                effort.repeated = effort.repeated.saturating_add(calculated - elements);
            }
        }
    }
    effort
}

/// That there are results, and that a kernel can write each of them.
fn check_results(graph: &Graph, results: &[ValueId]) -> Result<(), LowerError> {
    if results.is_empty() {
        return Err(LowerError::Unread);
    }
    for &result in results {
        let ty = graph.ty(result);
        if ty.numel() == 0 {
            return Err(LowerError::Empty(graph.value(result).name.clone()));
        }
        if ty.memory_order().is_none() {
            return Err(LowerError::Layout(typed(graph, result)));
        }
    }
    Ok(())
}

/// The space of a kernel, and for each result its place and the axes along which it is written.
struct ResultLayout {
    space: KernelSpace,
    results: Vec<(Coordinates, Vec<u32>)>,
}

impl ResultLayout {
    fn of(
        analysis: &GraphAnalysis<'_>,
        members: &FixedBitSet,
        results: &[ValueId],
    ) -> Result<ResultLayout, LowerError> {
        let graph = analysis.graph;
        let mut anchor = Anchor::find(analysis, members, results).ok_or(LowerError::Unread)?;
        for _ in 0..MOST_SPLITS {
            let space = KernelSpace::of(&anchor);
            if space.parallel.len() > limits::PARALLEL_AXES {
                let name = graph.value(results[0]).name.clone();
                return Err(LowerError::Rank(name, space.parallel.len()));
            }
            let places = places(analysis, members, &anchor, &space, results);
            let written = |&result: &ValueId| {
                let ty = graph.ty(result);
                // Where nothing says how results lie to each other, any order does that goes over all elements.
                let anywhere = || space.any_place(ty, graph.ty(results[0]));
                let place = places.get(&result).cloned().or_else(anywhere)?;
                let order = space.order(&place, &ty.shape, &ty.memory_order()?)?;
                Some((place, order))
            };
            let found: Vec<_> = results.iter().map(written).collect();
            let Some(missing) = found.iter().position(Option::is_none) else {
                return Ok(ResultLayout { space, results: found.into_iter().flatten().collect() });
            };
            let split = places.get(&results[missing]).and_then(|place| wanted_split(place));
            if !split.is_some_and(|(axis, inner)| anchor.split(axis, inner)) {
                return Err(differing(graph, &space, results, missing));
            }
        }
        Err(differing(graph, &KernelSpace::of(&anchor), results, results.len() - 1))
    }
}

/// The error for a result that does not lie in the space.
fn differing(graph: &Graph, space: &KernelSpace, results: &[ValueId], missing: usize) -> LowerError {
    let (first, second) = (results[0], results[missing]);
    if !space.reduce.is_empty() {
        let (parallel, reduce) = (space.parallel.clone(), space.reduce.clone());
        return LowerError::Space { result: typed(graph, second), parallel, reduce };
    }
    LowerError::Shapes(typed(graph, first), typed(graph, second))
}
