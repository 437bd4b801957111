//! Changes that leave a graph valid, as far as the script's types are right.

use crate::fragment;
use crate::play::Stage;
use crate::script::Step;
use passhost_guest_sdk::ir::{Graph, NodeKind, ValueId};

/// `drop aten::clamp`: every node of that op hands its first operand on.
pub(crate) fn drop(stage: &mut Stage<'_>, op: &str) -> Result<(), String> {
    let graph = &mut stage.graph;
    let is_meant = |kind: &NodeKind| match kind {
        NodeKind::Aten { op: found, .. } => found.to_string() == op || found.name == op,
        NodeKind::Kernel { .. } => false,
    };
    let mut dropped = 0;
    while let Some(position) = graph.nodes.iter().position(|node| is_meant(&node.kind)) {
        let node = graph.nodes.remove(position);
        let operand = node.operands().first().copied().ok_or_else(|| format!("{op} has no operand to hand on"))?;
        let output = node.outputs[0];
        if graph.ty(operand) != graph.ty(output) {
            return Err(format!("{op} makes {} of {}; use `define`", graph.ty(output), graph.ty(operand)));
        }
        read_instead(graph, output, operand);
        dropped += 1;
    }
    if dropped == 0 { Err(format!("there is no {op} to drop")) } else { Ok(()) }
}

fn read_instead(graph: &mut Graph, old: ValueId, new: ValueId) {
    let other = |id: &ValueId| if *id == old { new } else { *id };
    for node in &mut graph.nodes {
        node.kind = node.kind.map_values(other);
    }
    graph.outputs.iter_mut().for_each(|id| *id = other(id));
}

/// `define %x` with nodes below it: they take the place of the node that defines `%x`.
pub(crate) fn define(stage: &mut Stage<'_>, step: &Step<'_>) -> Result<(), String> {
    let value = named(&stage.graph, step.rest)?;
    let position = stage.graph.nodes.iter().position(|node| node.outputs.contains(&value));
    let position = position.ok_or_else(|| format!("no node defines {}", step.rest))?;
    let own = stage.graph.nodes.remove(position).outputs;
    let nodes = fragment::nodes(&mut stage.graph, &stage.original, position, &own, step.block)?;
    if let Some(lost) = own.iter().find(|output| !nodes.iter().any(|node| node.outputs.contains(output))) {
        return Err(format!("%{} is no longer defined", stage.graph.value(*lost).name));
    }
    stage.graph.nodes.splice(position..position, nodes);
    Ok(())
}

/// `append` with nodes below it: they come after all others.
pub(crate) fn append(stage: &mut Stage<'_>, step: &Step<'_>) -> Result<(), String> {
    let end = stage.graph.nodes.len();
    let nodes = fragment::nodes(&mut stage.graph, &stage.original, end, &[], step.block)?;
    stage.graph.nodes.extend(nodes);
    Ok(())
}

/// `return %a %b`: these become the outputs.
pub(crate) fn returns(stage: &mut Stage<'_>, step: &Step<'_>) -> Result<(), String> {
    let outputs = step.words().map(|word| named(&stage.graph, word.trim_end_matches(',')));
    stage.graph.outputs = outputs.collect::<Result<_, _>>()?;
    Ok(())
}

/// The value of a name such as `%x`.
pub(crate) fn named(graph: &Graph, name: &str) -> Result<ValueId, String> {
    let position = graph.values.iter().position(|value| name.strip_prefix('%') == Some(value.name.as_str()));
    position.map(|position| ValueId(position as u32)).ok_or_else(|| format!("there is no value `{name}`"))
}
