//! Pieces of graphs in the text form, put in between what is there.

use crate::witness;
use passhost_guest_sdk::ir::{Graph, Node, NodeId, ValueId};
use std::fmt::Write;

/// Nodes that a text describes, for a place in a graph: before the node at `position`. They may read what is defined
/// before that. A value that bears a name of `own` becomes that value, with the type that the text gives it; all others
/// are new.
pub(crate) fn nodes(
    graph: &mut Graph,
    original: &Graph,
    position: usize,
    own: &[ValueId],
    text: &str,
) -> Result<Vec<Node>, String> {
    let mut visible = graph.inputs.clone();
    visible.extend(graph.nodes[..position].iter().flat_map(|node| &node.outputs));
    let mut whole = String::from("graph(");
    for &id in &visible {
        let value = graph.value(id);
        let _ = write!(whole, "%{}: {}, ", value.name, value.ty);
    }
    let whole = format!("{}) {{\n{}return ()\n}}", whole.trim_end_matches(", "), expanded(graph, text)?);
    let fragment = Graph::parse(&whole).map_err(|error| format!("{error}\n{whole}"))?;

    let mut ids = visible;
    for value in &fragment.values[ids.len()..] {
        let known = own.iter().copied().find(|&id| graph.value(id).name == value.name);
        let id = match known {
            Some(id) => id,
            None if graph.values.iter().any(|other| other.name == value.name) => {
                return Err(format!("%{} is there already", value.name));
            }
            None => graph.add_value(value.name.clone(), value.ty.clone()),
        };
        graph.values[id.index()].ty = value.ty.clone();
        ids.push(id);
    }
    let mut next = fresh(original).max(fresh(graph));
    let mut take = || {
        next += 1;
        NodeId(next - 1)
    };
    let renamed = fragment.nodes.iter().map(|node| Node {
        id: take(),
        kind: node.kind.map_values(|id| ids[id.index()]),
        outputs: node.outputs.iter().map(|id| ids[id.index()]).collect(),
    });
    Ok(renamed.collect())
}

/// The first id above all that a graph uses.
pub(crate) fn fresh(graph: &Graph) -> u32 {
    graph.fresh_node_ids().take().0
}

/// A text with its repetitions written out, and what depends on the graph or on a witness filled in.
fn expanded(graph: &Graph, text: &str) -> Result<String, String> {
    let mut lines = String::new();
    for line in text.lines() {
        match line.trim_start().strip_prefix("repeat ") {
            Some(rest) => repeat(rest, &mut lines)?,
            None => lines.push_str(line),
        }
        lines.push('\n');
    }
    let lines = fill(&lines, "{type %", "}", |name| {
        let value = graph.values.iter().find(|value| value.name == name);
        value.map(|value| value.ty.to_string()).ok_or_else(|| format!("there is no %{name}"))
    })?;
    fill(&lines, "{witness ", "}", |source| Ok(witness::of(source)?.to_string()))
}

/// `1 9 TEXT`: the text for each number from 1 to 9, with `{n}` for it and `{n-1}` for the one before.
fn repeat(rest: &str, lines: &mut String) -> Result<(), String> {
    let mut parts = rest.splitn(3, ' ');
    let mut number = || parts.next().and_then(|word| word.parse::<u32>().ok());
    let (Some(first @ 1..), Some(last)) = (number(), number()) else {
        return Err("`repeat` needs two numbers from 1 on".to_owned());
    };
    let text = parts.next().unwrap_or_default();
    for n in first..=last {
        lines.push_str(&text.replace("{n-1}", &(n - 1).to_string()).replace("{n}", &n.to_string()));
        lines.push('\n');
    }
    Ok(())
}

/// Replaces what stands between `open` and `close`, those included.
fn fill(
    text: &str,
    open: &str,
    close: &str,
    mut with: impl FnMut(&str) -> Result<String, String>,
) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        let (inside, behind) = after.split_once(close).ok_or_else(|| format!("`{open}` without `{close}`"))?;
        filled.push_str(before);
        filled.push_str(&with(inside)?);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}
