//! A graph made into instructions: ops looked up, kernels verified, the arena planned.

use crate::alias::reusable;
use crate::arena::{ArenaPlan, roots};
use crate::context::Context;
use crate::engine::Engine;
use crate::error::{Cause, NodeError};
use crate::instruction::{Instruction, InstructionKind, OutputPlace};
use crate::kernel::DeviceKernel;
use crate::order::NodeOrder;
use crate::program::Program;
use crate::write_back::{PUT_BACK, is_written_back, view_of, write_backs};
use passhost_ir::{Arg, Graph, Kernel, Node, NodeId, NodeKind, OpName, TensorType, ValueId};
use passhost_kernels::cuda::{self, DeviceProperties, shape};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What a program is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The graph says what to do, not what comes of it: types are found out.
    Found,
    /// Every result must have the declared type.
    Declared,
}

/// What is known of nodes of a graph, beside what the graph says.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// Nodes that overwrite their first operand where nobody else reads it, and the ops that do so; `aten::copy_` for a
    /// scatter, which copies its second operand into its place there.
    pub in_place: HashMap<NodeId, OpName>,
    /// Nodes that are calculated by the first run alone, for all that follow: they read each other's results and nothing
    /// else, and return no output.
    pub once: HashSet<NodeId>,
    /// Names of schedules that kernels are to have in place of their defaults.
    pub schedules: HashMap<NodeId, String>,
    /// Whether products of matrices, convolutions and views are prepared for the layout of their operands.
    pub products: bool,
}

impl<E: Engine> Program<E> {
    /// Makes a verified graph ready to run.
    pub fn compile(
        graph: &Graph,
        mode: Mode,
        Hints { in_place, once, schedules, products }: &Hints,
        context: &Arc<Context<E>>,
    ) -> Result<Program<E>, NodeError> {
        // On a GPU small kernels are joined: there a launch costs what they cost. On the CPU each node runs where it stands.
        let order = match &context.gpu {
            None => NodeOrder::as_it_is(graph),
            Some(on) => joined_order(graph, once, *on.gpu.properties()),
        };
        let (graph, steps) = order.apply(graph);
        let graph = &graph;
        let mut overwriting: HashSet<NodeId> = reusable(graph);
        overwriting.retain(|node| in_place.get(node).is_some_and(|op| !is_written_back(op)));
        let lasting = lasting(graph, once, &mut overwriting);
        let write_backs = write_backs(graph, in_place, &lasting);
        overwriting.extend(write_backs.scatters.iter().chain(&write_backs.writers));
        let plan = ArenaPlan::new(graph, &steps, &overwriting, &lasting);
        let last_uses = last_uses(graph, &steps, &plan, &lasting);
        let mut instructions = Vec::with_capacity(last_uses.len());
        let mut nodes = graph.nodes.as_slice();
        for (step, last_uses) in order.steps.iter().zip(last_uses) {
            let (members, rest) = nodes.split_at(step.len());
            nodes = rest;
            let Some(node) = members.first() else { continue };
            let name = name_of(node);
            let op = in_place.get(&node.id).filter(|_| overwriting.contains(&node.id));
            // A product that is calculated once is not worth preparing.
            let products = *products && !once.contains(&node.id);
            let failed = |cause: Cause| NodeError { node: node.id, op: name.clone(), cause };
            let operation = match &node.kind {
                NodeKind::Aten { .. } if write_backs.scatters.contains(&node.id) => {
                    write_back(node, write_backs.done.contains(&node.id), context.engine())
                }
                NodeKind::Aten { op: own, args } => call(op.unwrap_or(own), args, context.engine(), products),
                NodeKind::Kernel { .. } => launch(members, context, &plan, schedules.get(&node.id)),
            };
            let outputs = || members.iter().flat_map(|node| &node.outputs);
            instructions.push(Instruction {
                node: node.id,
                nodes: members.len(),
                operation: operation.map_err(failed)?,
                name,
                outputs: outputs().map(|value| value.index()).collect(),
                declared: match mode {
                    Mode::Declared => outputs().map(|&value| graph.ty(value).clone()).collect(),
                    Mode::Found => Vec::new(),
                },
                last_uses,
                ends: vec![],
                is_constant: once.contains(&node.id),
            });
        }
        for (number, range) in plan.ranges.iter().enumerate() {
            instructions[range.last].ends.push(number);
        }
        Ok(Program::new(context, graph, instructions, plan))
    }
}

/// A scatter that writes into its first operand, or finds its work done there.
fn write_back<E: Engine>(node: &Node, is_done: bool, engine: &E) -> Result<InstructionKind<E::Call>, Cause> {
    let unsuited = || Cause::Failed("no scatter; this is a bug of passhost".into());
    let (op, args) = view_of(node).ok_or_else(unsuited)?;
    let &[whole, part] = &node.operands()[..] else { return Err(unsuited()) };
    let args = [&[Arg::Value(whole)], &args[..]].concat();
    let copied = [Arg::Value(whole), Arg::Value(part), Arg::Bool(false)];
    let both = || {
        Ok::<_, Cause>([engine.prepare(&op, &args, false)?, engine.prepare(&OpName::parse(PUT_BACK), &copied, false)?])
    };
    let copy = if is_done { None } else { Some(both()?) };
    Ok(InstructionKind::PutBack { copy, whole: whole.index(), part: part.index() })
}

fn joined_order(graph: &Graph, once: &HashSet<NodeId>, properties: DeviceProperties) -> NodeOrder {
    NodeOrder::joined(graph, once, |node| shape(kernel_of(node)?, operand_types(graph, node), properties))
}

fn kernel_of(node: &Node) -> Option<&Kernel> {
    match &node.kind {
        NodeKind::Kernel { kernel, .. } => Some(kernel),
        NodeKind::Aten { .. } => None,
    }
}

fn operand_types(graph: &Graph, node: &Node) -> Vec<TensorType> {
    node.operands().iter().map(|&operand| graph.ty(operand).clone()).collect()
}

/// The texts that the kernels of a program are compiled from on a GPU with these properties, each once, if all tensors
/// have their declared types; with `all`, those of every schedule that they may have. What is wrong with a kernel is said
/// where it runs.
pub fn sources(graph: &Graph, once: &HashSet<NodeId>, properties: DeviceProperties, all: bool) -> BTreeSet<String> {
    let launches = joined_order(graph, once, properties).steps.into_iter();
    let texts = |step: Vec<usize>| {
        let nodes = step.iter().map(|&position| &graph.nodes[position]);
        let kernels: Vec<(&Kernel, Vec<TensorType>)> =
            nodes.filter_map(|node| Some((kernel_of(node)?, operand_types(graph, node)))).collect();
        cuda::sources(&kernels, properties, all).unwrap_or_default()
    };
    launches.flat_map(texts).collect()
}

fn call<E: Engine>(op: &OpName, args: &[Arg], engine: &E, products: bool) -> Result<InstructionKind<E::Call>, Cause> {
    let operands = args.iter().flat_map(Arg::values).map(|value| value.index()).collect();
    Ok(InstructionKind::Call { call: engine.prepare(op, args, products)?, operands })
}

/// Kernels as one launch. A single one may have a schedule of its own.
fn launch<E: Engine>(
    nodes: &[Node],
    context: &Context<E>,
    plan: &ArenaPlan,
    schedule: Option<&String>,
) -> Result<InstructionKind<E::Call>, Cause> {
    let kernels: Vec<&Kernel> = nodes.iter().filter_map(kernel_of).collect();
    let kernel = Box::new(DeviceKernel::joined(context, &kernels)?.scheduled(schedule));
    let inputs = nodes.iter().flat_map(Node::operands).map(|value| value.index()).collect();
    let number = |value: &ValueId| plan.ranges.iter().position(|range| range.value == *value);
    let outputs = nodes.iter().flat_map(|node| &node.outputs);
    let written = outputs.map(|value| number(value).map_or(OutputPlace::Fresh, OutputPlace::Temporary)).collect();
    Ok(InstructionKind::Kernel { kernel, inputs, written, addresses: vec![] })
}

/// The results of nodes that only the first run calculates, which stay. What shares their memory is not overwritten.
fn lasting(graph: &Graph, once: &HashSet<NodeId>, overwriting: &mut HashSet<NodeId>) -> HashSet<ValueId> {
    let constant = graph.nodes.iter().filter(|node| once.contains(&node.id));
    let lasting: HashSet<ValueId> = constant.flat_map(|node| node.outputs.iter().copied()).collect();
    let roots = roots(graph, overwriting);
    for node in &graph.nodes {
        let first = node.operands().first().and_then(|first| roots.get(first));
        if first.is_some_and(|roots| roots.iter().any(|root| lasting.contains(root))) {
            overwriting.remove(&node.id);
        }
    }
    lasting
}

/// For each step, the values that nobody reads after it, that do not last, and that the arena does not hold, by slot.
fn last_uses(graph: &Graph, steps: &[usize], plan: &ArenaPlan, lasting: &HashSet<ValueId>) -> Vec<Vec<usize>> {
    let mut last: HashMap<ValueId, usize> = HashMap::new();
    for (step, node) in steps.iter().zip(&graph.nodes) {
        for value in node.operands().into_iter().chain(node.outputs.iter().copied()) {
            last.insert(value, *step);
        }
    }
    for value in
        graph.outputs.iter().chain(&graph.inputs).chain(plan.ranges.iter().map(|range| &range.value)).chain(lasting)
    {
        last.remove(value);
    }
    let mut uses = vec![vec![]; steps.last().map_or(0, |last| last + 1)];
    for (value, step) in last {
        uses[step].push(value.index());
    }
    uses
}

/// What an error calls the op of a kernel node.
pub const KERNEL: &str = "kernel";

fn name_of(node: &Node) -> String {
    match &node.kind {
        NodeKind::Aten { op, .. } => op.to_string(),
        NodeKind::Kernel { .. } => KERNEL.into(),
    }
}
