//! Graphs that the SDK would never return.

use crate::edit::named;
use crate::play::Stage;
use crate::script::Step;
use passhost_guest_sdk::ir::{Arg, NodeId, NodeKind, ValueId};

/// `damage WHAT ...`:
///
/// - `output 0 ID`, `reads NODE ID`, `defines NODE ID`: a value by its number, there or not
/// - `id NODE ID`: the id of the node at a position
/// - `order NODE`: the node at a position comes last
/// - `rename %x TEXT`, `type %x TYPE`
/// - `inputs reverse`, `inputs fewer`, `inputs more`
/// - `operands %x COUNT`: the list of tensors that the node of `%x` reads, repeated until it is that long
pub(crate) fn damage(stage: &mut Stage<'_>, step: &Step<'_>) -> Result<(), String> {
    let graph = &mut stage.graph;
    let words: Vec<&str> = step.words().collect();
    let value = |position| step.number(position).map(|id| ValueId(id as u32));
    let at = |nodes: usize| step.number(1).and_then(|at| if at < nodes { Ok(at) } else { Err("no such node".into()) });
    match words.as_slice() {
        ["output", ..] => graph.outputs[0] = value(2)?,
        ["reads", ..] => {
            let (node, id) = (at(graph.nodes.len())?, value(2)?);
            graph.nodes[node].kind = graph.nodes[node].kind.map_values(|_| id);
        }
        ["defines", ..] => {
            let node = at(graph.nodes.len())?;
            graph.nodes[node].outputs[0] = value(2)?;
        }
        ["id", ..] => {
            let node = at(graph.nodes.len())?;
            graph.nodes[node].id = NodeId(step.number(2)? as u32);
        }
        ["order", ..] => {
            let node = graph.nodes.remove(at(graph.nodes.len())?);
            graph.nodes.push(node);
        }
        ["rename", name, rest @ ..] => {
            let id = named(graph, name)?;
            graph.values[id.index()].name = unescaped(&rest.join(" "));
        }
        ["type", name, ty] => {
            let id = named(graph, name)?;
            graph.values[id.index()].ty = ty.parse().map_err(|error| format!("{error}"))?;
        }
        ["inputs", "reverse"] => graph.inputs.reverse(),
        ["inputs", "fewer"] => graph.inputs.truncate(graph.inputs.len().saturating_sub(1)),
        ["inputs", "more"] => {
            let ty = graph.ty(graph.inputs[0]).clone();
            let extra = graph.add_value("extra", ty);
            graph.inputs.push(extra);
        }
        ["operands", name, _] => {
            let (id, count) = (named(graph, name)?, step.number(2)?);
            let node = graph.nodes.iter_mut().find(|node| node.outputs.contains(&id));
            let kind = node.map(|node| &mut node.kind).ok_or("no node defines it")?;
            let NodeKind::Aten { args, .. } = kind else { return Err("a kernel takes no list".into()) };
            let list = args.iter_mut().find_map(|arg| if let Arg::Values(list) = arg { Some(list) } else { None });
            let list = list.ok_or("it takes no list")?;
            *list = list.iter().copied().cycle().take(count).collect();
        }
        _ => return Err(format!("there is no damage `{}`", step.rest)),
    }
    Ok(())
}

/// A text with `\e` as the escape character, `\a` as the bell, `\r`, `\0` and `\u` as a mark that turns the direction
/// of what follows.
pub(crate) fn unescaped(text: &str) -> String {
    let codes = [("\\e", "\u{1b}"), ("\\a", "\u{7}"), ("\\r", "\r"), ("\\0", "\0"), ("\\u", "\u{202e}")];
    codes.iter().fold(text.to_owned(), |text, (code, character)| text.replace(code, character))
}
