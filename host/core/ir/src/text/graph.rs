//! Graphs in the text form.

use super::args::{parse_call, print_call};
use super::cursor::{Cursor, OneLine, Parsed, TextError};
use super::kernel::{parse_block, print_block};
use crate::{Graph, Node, NodeId, NodeKind, TensorType, ValueId, contiguous_strides};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::str::FromStr;

/// The longest name of a value, in characters.
pub(crate) const MAX_NAME: usize = 64;

/// A value's name, or what is wrong with its id: graphs are also printed to explain why they are refused.
fn name_of(graph: &Graph, id: ValueId) -> String {
    match graph.values.get(id.index()) {
        Some(value) => format!("%{}", OneLine(&value.name)),
        None => format!("%?{}", id.0),
    }
}

/// A value's name and type.
fn typed_name(graph: &Graph, id: ValueId) -> String {
    match graph.values.get(id.index()) {
        Some(value) => format!("{}: {}", name_of(graph, id), value.ty),
        None => name_of(graph, id),
    }
}

fn listed(graph: &Graph, ids: &[ValueId], text: fn(&Graph, ValueId) -> String) -> String {
    ids.iter().map(|&id| text(graph, id)).collect::<Vec<_>>().join(", ")
}

/// Prints a node without its id, the lines of a kernel behind an indent.
struct Step<'a>(&'a Graph, &'a Node, &'a str);

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step(graph, node, indent) = self;
        if !node.outputs.is_empty() {
            write!(f, "{} = ", listed(graph, &node.outputs, typed_name))?;
        }
        match &node.kind {
            NodeKind::Aten { op, args } => print_call(f, op, args, &|&id| name_of(graph, id)),
            NodeKind::Kernel { kernel, inputs } => {
                write!(f, "kernel({}) ", listed(graph, inputs, name_of))?;
                print_block(f, kernel, indent)
            }
        }
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "graph({}) {{", listed(self, &self.inputs, typed_name))?;
        for (position, node) in self.nodes.iter().enumerate() {
            f.write_str("  ")?;
            if node.id.0 as usize != position {
                write!(f, "{} ", node.id)?;
            }
            writeln!(f, "{}", Step(self, node, "  "))?;
        }
        writeln!(f, "  return ({})\n}}", listed(self, &self.outputs, name_of))
    }
}

impl Graph {
    /// The text form of a node of the graph, its id before it.
    pub fn node_text(&self, node: &Node) -> String {
        format!("{} {}", node.id, Step(self, node, ""))
    }

    /// Reads the text form. Checks names and the arguments of known ops; [`crate::verify_graph`] checks the rest.
    pub fn parse(text: &str) -> Result<Graph, TextError> {
        Cursor::whole(text, parse_graph)
    }
}

impl FromStr for TensorType {
    type Err = TextError;

    fn from_str(text: &str) -> Result<TensorType, TextError> {
        Cursor::whole(text, parse_type)
    }
}

/// The values defined so far, by name.
type ValueNames = HashMap<String, ValueId>;

fn parse_graph(cursor: &mut Cursor<'_>) -> Parsed<Graph> {
    let mut graph = Graph::default();
    let mut names = ValueNames::new();
    cursor.expect_word("graph")?;
    graph.inputs = cursor.list("(", ")", |cursor| define(cursor, &mut graph, &mut names))?;
    cursor.expect("{")?;
    while !cursor.eat_word("return") {
        let node = parse_node(cursor, &mut graph, &mut names)?;
        graph.nodes.push(node);
    }
    graph.outputs = cursor.list("(", ")", |cursor| reference(cursor, &names))?;
    cursor.expect("}")?;
    Ok(graph)
}

fn parse_node(cursor: &mut Cursor<'_>, graph: &mut Graph, names: &mut ValueNames) -> Parsed<Node> {
    let position = u32::try_from(graph.nodes.len()).map_err(|_| cursor.error("a graph has at most 2^32 nodes"))?;
    let id = NodeId(if cursor.eat("#") { cursor.unsigned("the id of a node")? } else { position });
    // The operands are read before the results get their names: a node cannot read what it defines.
    let before = cursor.clone();
    let mut results = Vec::new();
    if cursor.peek() == Some('%') {
        results = cursor.items(declaration)?;
        cursor.expect("=")?;
    }
    let kind = if cursor.eat_word("kernel") {
        let inputs = cursor.list("(", ")", |cursor| reference(cursor, names))?;
        NodeKind::Kernel { kernel: Box::new(parse_block(cursor)?), inputs }
    } else {
        let (op, args) = parse_call(cursor, |cursor| reference(cursor, names))?;
        NodeKind::Aten { op, args }
    };
    let outputs = results.into_iter().map(|(name, ty)| insert(&before, graph, names, name, ty));
    Ok(Node { id, kind, outputs: outputs.collect::<Parsed<_>>()? })
}

/// `%name`.
fn name<'a>(cursor: &mut Cursor<'a>) -> Parsed<&'a str> {
    let before = cursor.clone();
    if !cursor.eat("%") {
        return Err(before.unexpected("a value, such as `%1`"));
    }
    let before_name = cursor.clone();
    let name = cursor.run(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    if !crate::is_value_name(name) {
        return Err(before_name.unexpected("the name of a value: letters, digits and `_`, and dots between them"));
    }
    if name.len() > MAX_NAME {
        return Err(before.error(format!("this name is longer than {MAX_NAME} characters")));
    }
    Ok(name)
}

/// `%name`, defined earlier.
fn reference(cursor: &mut Cursor<'_>, names: &ValueNames) -> Parsed<ValueId> {
    let before = cursor.clone();
    let name = name(cursor)?;
    names.get(name).copied().ok_or_else(|| before.unexpected("a value that is defined above"))
}

/// `%name: type`.
fn declaration<'a>(cursor: &mut Cursor<'a>) -> Parsed<(&'a str, TensorType)> {
    let name = name(cursor)?;
    cursor.expect(":")?;
    Ok((name, parse_type(cursor)?))
}

fn define(cursor: &mut Cursor<'_>, graph: &mut Graph, names: &mut ValueNames) -> Parsed<ValueId> {
    let before = cursor.clone();
    let (name, ty) = declaration(cursor)?;
    insert(&before, graph, names, name, ty)
}

fn insert(at: &Cursor<'_>, graph: &mut Graph, names: &mut ValueNames, name: &str, ty: TensorType) -> Parsed<ValueId> {
    match names.entry(name.to_owned()) {
        Entry::Occupied(_) => Err(at.error(format!("`%{name}` is defined twice"))),
        Entry::Vacant(slot) => Ok(*slot.insert(graph.add_value(name, ty))),
    }
}

/// `f32[2,3]` or `f32[2,3]{1,2}`.
fn parse_type(cursor: &mut Cursor<'_>) -> Parsed<TensorType> {
    let (dtype, shape) = cursor.shaped()?;
    let before = cursor.clone();
    // A brace on the same line: the block of a kernel never follows a type.
    if cursor.peek() != Some('{') {
        let strides = contiguous_strides(&shape);
        return Ok(TensorType { dtype, shape, strides });
    }
    let strides = cursor.list("{", "}", |cursor| cursor.integer("a stride"))?;
    if strides.len() != shape.len() {
        return Err(before.error(format!("{} extents but {} strides", shape.len(), strides.len())));
    }
    Ok(TensorType { dtype, shape, strides })
}
