//! A set of pointwise ops as one kernel.

use super::KernelBuilder;
use super::call::{Call, Operand, convert};
use super::rules::{self, Rule};
use crate::args::Args;
use crate::bit_set::BitSet;
use crate::rewriter::Uses;
use crate::view::{self, Coordinate};
use passhost_ir::kernel::{KernelError, Outside, Reg, limits};
use passhost_ir::{Arg, Graph, Kernel, Node, NodeId, NodeKind, TensorType, ValueId};

/// Why nodes cannot become a kernel.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LowerError {
    /// No node has this id.
    #[error("there is no node {0} in the graph")]
    NoSuchNode(NodeId),
    /// The node is an op without a rule, or a kernel.
    #[error("{0} is not pointwise")]
    NotPointwise(String),
    /// There is a rule, but it does not cover this call.
    #[error("{op} {reason}")]
    NotCovered {
        /// The op.
        op: String,
        /// A clause that follows its name.
        reason: String,
    },
    /// Results of different shapes are read outside.
    #[error("one kernel writes results of one shape, but %{first} is {first_type} and %{second} is {second_type}")]
    Shapes {
        /// Name of a result.
        first: String,
        /// Its type.
        first_type: String,
        /// Name of another.
        second: String,
        /// Its type.
        second_type: String,
    },
    /// A result has gaps or overlaps in memory, which a kernel cannot write.
    #[error("%{name} is {ty}, which no kernel can write: it has gaps or overlaps")]
    Layout {
        /// Name of the result.
        name: String,
        /// Its type.
        ty: String,
    },
    /// A result without elements: there is nothing to gain.
    #[error("%{0} has no elements")]
    Empty(String),
    /// More dimensions than a kernel has axes.
    #[error("%{name} has {rank} dimensions, a kernel at most {}", limits::PARALLEL_AXES)]
    Rank {
        /// Name of the result.
        name: String,
        /// Its number of dimensions.
        rank: usize,
    },
    /// Nothing outside reads any result.
    #[error("nothing reads a result of these nodes")]
    Unread,
    /// The kernel breaks a limit or rule.
    #[error("the kernel is refused: {0}")]
    Kernel(#[from] KernelError),
}

/// A result of a lowered kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The value of the graph that it is.
    pub value: ValueId,
    /// A kernel writes row-major tensors. Where the graph has another dense layout, the kernel writes the dimensions in
    /// the order of memory, and this is the `dims` of the `aten::permute` that puts them back.
    pub permutation: Option<Vec<i64>>,
}

/// A kernel and the nodes it stands for, ready for [`Rewriter::replace`](crate::Rewriter::replace).
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    /// Verified.
    pub kernel: Kernel,
    /// Its operands, one per input.
    pub inputs: Vec<ValueId>,
    /// Its results, one per store.
    pub outputs: Vec<Output>,
    /// The nodes that it computes.
    pub nodes: Vec<NodeId>,
    /// Views between those nodes that nobody else reads.
    pub covered: Vec<NodeId>,
}

/// Rows shorter than this are not worth a row class: the values are computed for every element.
const SHORTEST_ROW: u64 = 16;

/// Whether a single node has a lowering rule. Views have none: kernels read through them.
pub fn check_pointwise(graph: &Graph, node: &Node) -> Result<(), LowerError> {
    rule(graph, node).map(|_| ())
}

/// The rule of a node.
pub(super) fn rule(graph: &Graph, node: &Node) -> Result<&'static Rule, LowerError> {
    let NodeKind::Aten { op, .. } = &node.kind else {
        return Err(LowerError::NotPointwise("a kernel".to_owned()));
    };
    let found = if view::identity(graph, node).is_some() { None } else { rules::find(op) };
    let rule = found.ok_or_else(|| LowerError::NotPointwise(op.to_string()))?;
    let tensors = node.operands().into_iter().chain(node.outputs.iter().copied());
    if let Some(complex) = tensors.map(|id| graph.ty(id).dtype).find(|dtype| dtype.is_complex()) {
        let reason = format!("works on {complex}, which kernels do not calculate in");
        return Err(LowerError::NotCovered { op: op.to_string(), reason });
    }
    if node.outputs.len() != 1 {
        return Err(LowerError::NotCovered { op: op.to_string(), reason: "has several results".to_owned() });
    }
    Ok(rule)
}

/// An operand of a pointwise node, traced back through views.
pub(super) struct Read {
    /// The place in the argument list.
    pub(super) place: usize,
    /// The operand as the node has it.
    pub(super) operand: ValueId,
    /// The tensor behind it.
    pub(super) source: ValueId,
    /// Where the source lies in the node's result: one coordinate per dimension of the source.
    pub(super) coordinates: Vec<Coordinate>,
}

/// The operands that an element of `node` depends on.
pub(super) fn reads(graph: &Graph, definitions: &[Option<usize>], node: &Node, rule: &Rule) -> Vec<Read> {
    let NodeKind::Aten { args, .. } = &node.kind else { return vec![] };
    let result = &graph.ty(node.outputs[0]).shape;
    let read = |(place, arg): (usize, &Arg)| {
        let Arg::Value(operand) = *arg else { return None };
        let coordinates = view::broadcast(&graph.ty(operand).shape, result)?;
        let root = view::root(graph, definitions, operand);
        let coordinates = root.coordinates.iter().map(|coordinate| coordinate.within(&coordinates)).collect();
        Some(Read { place, operand, source: root.source, coordinates })
    };
    args.iter().enumerate().take(rule.reads).filter_map(read).collect()
}

/// What of a set of nodes is visible from outside.
pub(super) struct Boundary {
    /// Results of members that something else reads.
    pub(super) results: Vec<ValueId>,
    /// Views between members that nothing else reads.
    pub(super) covered: Vec<usize>,
}

impl Boundary {
    pub(super) fn of(graph: &Graph, members: &BitSet) -> Boundary {
        let uses = Uses::of(graph);
        let first = members.first().unwrap_or(0);
        let mut outside = vec![false; graph.values.len()];
        let mut inside_view = vec![false; graph.nodes.len()];
        // Readers come later, so backwards each is settled before what it reads.
        for (position, node) in graph.nodes.iter().enumerate().skip(first).rev() {
            for &output in &node.outputs {
                let mut readers = uses.readers(output).iter();
                let stays = |&reader: &usize| !members.contains(reader) && !inside_view[reader];
                outside[output.index()] = uses.is_output(output) || readers.any(stays);
            }
            let is_view = node.outputs.iter().all(|&output| view::step(graph, node, output).is_some());
            inside_view[position] = is_view && node.outputs.iter().all(|output| !outside[output.index()]);
        }
        let results = members.iter().flat_map(|member| graph.nodes[member].outputs.clone());
        let results = results.filter(|output| outside[output.index()]).collect();
        let reached = crate::rewriter::reached(graph, members);
        let depends = |node: &Node| node.operands().iter().any(|operand| reached[operand.index()]);
        let covered = (first..graph.nodes.len())
            .filter(|&position| inside_view[position] && !members.contains(position) && depends(&graph.nodes[position]))
            .collect();
        Boundary { results, covered }
    }
}

/// Lowers pointwise nodes to one kernel over the shape of their results.
///
/// Results that something outside reads are stored; all of them must have one shape. Other members may be smaller and
/// broadcast into it: they are calculated again for each element, or, where they vary along leading axes only and are
/// costly, once per row: the trailing axes then become reduce axes, and the values rows.
///
/// Views between the nodes (expand, unsqueeze, permute, slice ...) are read through and may be among `nodes`.
pub fn pointwise(graph: &Graph, nodes: &[NodeId]) -> Result<Lowered, LowerError> {
    let mut members = BitSet::default();
    for &id in nodes {
        let found = graph.nodes.iter().position(|node| node.id == id).ok_or(LowerError::NoSuchNode(id))?;
        let node = &graph.nodes[found];
        if node.outputs.iter().any(|&output| view::step(graph, node, output).is_none()) {
            rule(graph, node)?;
            members.insert(found);
        }
    }
    let boundary = Boundary::of(graph, &members);
    check_results(graph, &boundary.results)?;
    // The axes stand in the order in which the first result lies in memory, so that writing it walks forward.
    let first = graph.ty(boundary.results[0]);
    let order = memory_order(first).unwrap_or_else(|| (0..first.rank()).collect());
    let axis_of = inverse(&order);
    let space: Vec<i64> = order.iter().map(|&dim| first.shape[dim]).collect();

    let definitions = graph.definitions();
    let kernel = KernelBuilder::new(space.clone(), vec![]);
    let mut emitter = Emitter {
        graph,
        members: &members,
        definitions: &definitions,
        space: &space,
        kernel,
        inputs: vec![],
        emitted: vec![],
        row_axes: 0,
    };
    let mut outputs = Vec::new();
    for &value in &boundary.results {
        let place = axis_of.iter().map(|&axis| Coordinate::along(axis)).collect();
        let element = emitter.value(value, place)?;
        let ty = graph.ty(value);
        let name = || graph.value(value).name.clone();
        let order = memory_order(ty).ok_or_else(|| LowerError::Layout { name: name(), ty: ty.to_string() })?;
        let shape = order.iter().map(|&dim| ty.shape[dim]).collect();
        let axes = order.iter().filter_map(|&dim| u32::try_from(axis_of[dim]).ok()).collect();
        emitter.kernel.store(element, axes, shape);
        let back = || inverse(&order).into_iter().filter_map(|dim| i64::try_from(dim).ok()).collect();
        let permutation = (!order.is_sorted()).then(back);
        outputs.push(Output { value, permutation });
    }
    let Emitter { mut kernel, inputs, row_axes, .. } = emitter;
    let row = &space[row_axes..];
    if row_axes > 0 && row.len() <= limits::REDUCE_AXES && passhost_ir::numel(row) >= SHORTEST_ROW {
        kernel.reduce_from(row_axes);
    }
    Ok(Lowered {
        kernel: kernel.finish()?,
        inputs,
        outputs,
        nodes: members.iter().map(|member| graph.nodes[member].id).collect(),
        covered: boundary.covered.iter().map(|&position| graph.nodes[position].id).collect(),
    })
}

/// Whether values at `coordinates` of a result can be rows of its kernel: they vary along leading axes only, and what is
/// left is long enough and has few enough axes.
pub(super) fn can_be_rows(coordinates: &[Coordinate], result: &TensorType) -> bool {
    let Some(order) = memory_order(result) else { return false };
    let axis_of: Vec<Coordinate> = inverse(&order).into_iter().map(Coordinate::along).collect();
    let place: Vec<Coordinate> = coordinates.iter().map(|coordinate| coordinate.within(&axis_of)).collect();
    let row: Vec<i64> = order[axes_used(&place)..].iter().map(|&dim| result.shape[dim]).collect();
    (1..=limits::REDUCE_AXES).contains(&row.len()) && passhost_ir::numel(&row) >= SHORTEST_ROW
}

/// One more than the last axis that any coordinate follows.
fn axes_used(coordinates: &[Coordinate]) -> usize {
    coordinates.iter().filter_map(|coordinate| coordinate.dim).map(|dim| dim + 1).max().unwrap_or(0)
}

/// That all results share a shape that a kernel can range over.
fn check_results(graph: &Graph, results: &[ValueId]) -> Result<(), LowerError> {
    let (&first, rest) = results.split_first().ok_or(LowerError::Unread)?;
    let ty = graph.ty(first);
    let name = |id: ValueId| graph.value(id).name.clone();
    if let Some(&second) = rest.iter().find(|&&other| graph.ty(other).shape != ty.shape) {
        return Err(LowerError::Shapes {
            first: name(first),
            first_type: ty.to_string(),
            second: name(second),
            second_type: graph.ty(second).to_string(),
        });
    }
    if ty.numel() == 0 {
        return Err(LowerError::Empty(name(first)));
    }
    if ty.rank() > limits::PARALLEL_AXES {
        return Err(LowerError::Rank { name: name(first), rank: ty.rank() });
    }
    Ok(())
}

/// The dimensions in the order in which they lie in memory, outermost first; `None` if the tensor is not dense.
fn memory_order(ty: &TensorType) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..ty.rank()).collect();
    if ty.is_contiguous() {
        return Some(order);
    }
    order.sort_unstable_by_key(|&dim| (std::cmp::Reverse(ty.strides[dim]), dim));
    let mut expected = 1;
    for &dim in order.iter().rev() {
        if ty.shape[dim] != 1 && ty.strides[dim] != expected {
            return None;
        }
        expected *= ty.shape[dim];
    }
    Some(order)
}

fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (place, &dim) in order.iter().enumerate() {
        inverse[dim] = place;
    }
    inverse
}

struct Emitter<'a> {
    graph: &'a Graph,
    members: &'a BitSet,
    definitions: &'a [Option<usize>],
    space: &'a [i64],
    kernel: KernelBuilder,
    inputs: Vec<ValueId>,
    /// Elements there are already, by tensor and place.
    emitted: Vec<(ValueId, Vec<Coordinate>, Reg)>,
    /// The leading axes that costly values smaller than the space follow.
    row_axes: usize,
}

impl Emitter<'_> {
    /// The element of a computed or loaded tensor at a place of the space, in the tensor's own type.
    fn value(&mut self, value: ValueId, place: Vec<Coordinate>) -> Result<Reg, LowerError> {
        if let Some((.., element)) = self.emitted.iter().find(|(known, at, _)| *known == value && *at == place) {
            return Ok(*element);
        }
        let element = match self.definitions[value.index()] {
            Some(position) if self.members.contains(position) => self.node(position, &place)?,
            _ => self.load(value, &place),
        };
        self.emitted.push((value, place, element));
        Ok(element)
    }

    fn load(&mut self, value: ValueId, place: &[Coordinate]) -> Reg {
        let ty = self.graph.ty(value);
        let input = match self.inputs.iter().position(|&known| known == value) {
            Some(known) => u32::try_from(known).unwrap_or(u32::MAX),
            None => {
                self.inputs.push(value);
                self.kernel.input(ty.dtype, ty.shape.clone())
            }
        };
        let mut index = Vec::new();
        for coordinate in place {
            index.push(match coordinate.dim.and_then(|axis| u32::try_from(axis).ok()) {
                Some(axis) => self.kernel.affine(axis, coordinate.step, coordinate.offset),
                None => self.kernel.index(passhost_ir::kernel::IndexExpr::Const(coordinate.offset)),
            });
        }
        // Always within the tensor, which the verifier proves.
        self.kernel.load(input, index, Outside::Clamp)
    }

    fn node(&mut self, position: usize, place: &[Coordinate]) -> Result<Reg, LowerError> {
        let graph = self.graph;
        let node = &graph.nodes[position];
        let rule = rule(graph, node)?;
        let NodeKind::Aten { op, args } = &node.kind else {
            return Err(LowerError::NotPointwise("a kernel".to_owned()));
        };
        if rule.costly && axes_used(place) < self.space.len() {
            self.row_axes = self.row_axes.max(axes_used(place));
        }
        let mut operands = vec![None; args.len()];
        for read in reads(graph, self.definitions, node, rule) {
            let source = read.coordinates.iter().map(|coordinate| coordinate.within(place)).collect();
            let value = self.value(read.source, source)?;
            let has_dimensions = graph.ty(read.operand).rank() > 0;
            operands[read.place] = Some(Operand { value, has_dimensions });
        }
        let result = graph.ty(node.outputs[0]).dtype;
        let kernel = &mut self.kernel;
        let mut call = Call { kernel, args: Args::new(args), operands: &operands, result };
        let element = (rule.emit)(&mut call).map_err(|reason| LowerError::NotCovered { op: op.to_string(), reason })?;
        // The rounding that eager's store does.
        Ok(convert(&mut self.kernel, element, result))
    }
}
