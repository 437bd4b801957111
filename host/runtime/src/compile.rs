//! A graph made into instructions: ops looked up, kernels verified, the arena planned.

use crate::alias::{mutated_inputs, reusable};
use crate::arena::{Plan, roots};
use crate::context::Context;
use crate::error::{Cause, NodeError};
use crate::instruction::{Instruction, Operation, Written};
use crate::kernel::DeviceKernel;
use crate::program::Program;
use crate::put_back::{PUT_BACK, put_backs, view_of};
use passhost_ir::alias::{Aliasing, aliasing};
use passhost_ir::{Arg, Dtype, Graph, Node, NodeId, NodeKind, OpName, OpTable, Schema, ValueId};
use passhost_torch::PreparedCall;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What a program is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The graph says what to do, not what comes of it: types are found out.
    Found,
    /// The same in double precision: wherever an op names a narrower float type, it gets `f64`.
    Double,
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
}

impl Program {
    /// Makes a verified graph ready to run.
    pub fn compile(
        graph: &Graph,
        mode: Mode,
        Hints { in_place, once }: &Hints,
        context: &Arc<Context>,
    ) -> Result<Program, NodeError> {
        let mut overwriting: HashSet<NodeId> = reusable(graph);
        overwriting.retain(|node| in_place.get(node).is_some_and(|op| op.name != PUT_BACK));
        let lasting = lasting(graph, once, &mut overwriting);
        let put_backs = put_backs(graph, in_place, &lasting);
        overwriting.extend(put_backs.scatters.iter().chain(&put_backs.writers));
        let plan = Plan::new(graph, &overwriting, &lasting);
        let last_uses = last_uses(graph, &plan, &lasting);
        let mut instructions = Vec::with_capacity(graph.nodes.len());
        for (node, last_uses) in graph.nodes.iter().zip(last_uses) {
            let name = name_of(node);
            let op = in_place.get(&node.id).filter(|_| overwriting.contains(&node.id));
            let failed = |cause: Cause| NodeError { node: node.id, op: name.clone(), cause };
            let operation = if put_backs.scatters.contains(&node.id) {
                put_back(node, put_backs.done.contains(&node.id), context)
            } else {
                let is_view = op.is_none() && only_views(graph, node);
                operation(node, (op, is_view), mode, context, &plan)
            };
            let operation = operation.map_err(failed)?;
            instructions.push(Instruction {
                node: node.id,
                name,
                operation,
                outputs: node.outputs.iter().map(|value| value.index()).collect(),
                declared: match mode {
                    Mode::Declared => node.outputs.iter().map(|&value| graph.ty(value).clone()).collect(),
                    Mode::Found | Mode::Double => Vec::new(),
                },
                last_uses,
                ends: vec![],
                is_constant: once.contains(&node.id),
            });
        }
        for (number, range) in plan.ranges.iter().enumerate() {
            instructions[range.last].ends.push(number);
        }
        let slots = |values: &[ValueId]| values.iter().map(|value| value.index()).collect();
        Ok(Program::new(
            context.clone(),
            instructions,
            plan,
            slots(&graph.inputs),
            slots(&graph.outputs),
            graph.values.len(),
            mutated_inputs(graph),
        ))
    }
}

fn operation(
    node: &Node,
    (in_place, is_view): (Option<&OpName>, bool),
    mode: Mode,
    context: &Context,
    plan: &Plan,
) -> Result<Operation, Cause> {
    match &node.kind {
        NodeKind::Aten { op, args } => {
            let args: Vec<Arg> = args.iter().map(|arg| widened(arg, mode)).collect();
            let operands = args.iter().flat_map(Arg::values).map(|value| value.index()).collect();
            let call = PreparedCall::new(context.target(), in_place.unwrap_or(op), &args)?;
            Ok(Operation::Call { call, operands, is_view })
        }
        NodeKind::Kernel { kernel, inputs } => {
            let kernel = Box::new(DeviceKernel::new(context, kernel)?);
            let inputs = inputs.iter().map(|value| value.index()).collect();
            let number = |value: &ValueId| plan.ranges.iter().position(|range| range.value == *value);
            let written = node.outputs.iter().map(|value| number(value).map_or(Written::Fresh, Written::Temporary));
            Ok(Operation::Kernel { kernel, inputs, written: written.collect(), addresses: vec![] })
        }
    }
}

/// A scatter that writes into its first operand, or finds its work done there.
fn put_back(node: &Node, is_done: bool, context: &Context) -> Result<Operation, Cause> {
    let unsuited = || Cause::Failed("no scatter; this is a bug of passhost".into());
    let (op, args) = view_of(node).ok_or_else(unsuited)?;
    let &[whole, part] = &node.operands()[..] else { return Err(unsuited()) };
    let args = [&[Arg::Value(whole)], &args[..]].concat();
    let copied = [Arg::Value(whole), Arg::Value(part), Arg::Bool(false)];
    let prepare = |op: &OpName, args: &[Arg]| PreparedCall::new(context.target(), op, args);
    let copy = if is_done { None } else { Some([prepare(&op, &args)?, prepare(&OpName::parse(PUT_BACK), &copied)?]) };
    Ok(Operation::PutBack { copy, whole: whole.index(), part: part.index() })
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

/// For each node, the values that nobody reads after it, that do not last, and that the arena does not hold, by slot.
fn last_uses(graph: &Graph, plan: &Plan, lasting: &HashSet<ValueId>) -> Vec<Vec<usize>> {
    let mut last: HashMap<ValueId, usize> = HashMap::new();
    for (position, node) in graph.nodes.iter().enumerate() {
        for value in node.operands().into_iter().chain(node.outputs.iter().copied()) {
            last.insert(value, position);
        }
    }
    for value in
        graph.outputs.iter().chain(&graph.inputs).chain(plan.ranges.iter().map(|range| &range.value)).chain(lasting)
    {
        last.remove(value);
    }
    let mut uses = vec![vec![]; graph.nodes.len()];
    for (value, position) in last {
        uses[position].push(value.index());
    }
    uses
}

/// Whether a node does nothing but to make views of its operands.
fn only_views(graph: &Graph, node: &Node) -> bool {
    let NodeKind::Aten { op, .. } = &node.kind else { return false };
    let writes = OpTable::sample().get(op).is_none_or(Schema::is_in_place);
    !writes && matches!(aliasing(graph, node, OpTable::sample()), Aliasing::Identity(_) | Aliasing::View(_))
}

/// What an error calls the op of a kernel node.
pub const KERNEL: &str = "kernel";

fn name_of(node: &Node) -> String {
    match &node.kind {
        NodeKind::Aten { op, .. } => op.to_string(),
        NodeKind::Kernel { .. } => KERNEL.into(),
    }
}

/// The argument as the mode wants it: in double precision, an op that names a narrower float type means `f64`.
fn widened(arg: &Arg, mode: Mode) -> Arg {
    match arg {
        Arg::Dtype(dtype) if mode == Mode::Double && dtype.is_float() => Arg::Dtype(Dtype::F64),
        other => other.clone(),
    }
}
