//! Graphs in the text form.

use super::args::{parse_call, print_call};
use super::cursor::{Cursor, Joined, Parsed, TextError};
use super::kernel::{parse_block, print_block};
use crate::{Dtype, Graph, Node, NodeId, NodeKind, TensorType, ValueId, contiguous_strides};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::str::FromStr;

/// The longest name of a value, in characters.
pub(crate) const MAX_NAME: usize = 64;

/// Prints a name that may be any text, as long as nobody has verified its graph: what would break the line is escaped.
pub(super) struct OneLine<'a>(pub &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| c.is_control()) {
            write!(f, "{}{}", &rest[..at], c.escape_default())?;
            rest = &rest[at + c.len_utf8()..];
        }
        f.write_str(rest)
    }
}

/// Prints a value's name, or what is wrong with its id: graphs are also printed to explain why they are refused.
struct Name<'a>(&'a Graph, ValueId);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.values.get(self.1.index()) {
            Some(value) => write!(f, "%{}", OneLine(&value.name)),
            None => write!(f, "%?{}", self.1.0),
        }
    }
}

/// Prints a value's name and type.
struct Typed<'a>(&'a Graph, ValueId);

impl fmt::Display for Typed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Name(self.0, self.1))?;
        match self.0.values.get(self.1.index()) {
            Some(value) => write!(f, ": {}", value.ty),
            None => Ok(()),
        }
    }
}

fn names(graph: &Graph, ids: &[ValueId]) -> String {
    ids.iter().map(|&id| Name(graph, id).to_string()).collect::<Vec<_>>().join(", ")
}

fn typed(graph: &Graph, ids: &[ValueId]) -> String {
    ids.iter().map(|&id| Typed(graph, id).to_string()).collect::<Vec<_>>().join(", ")
}

/// Prints a node without its id, the lines of a kernel behind an indent.
struct Step<'a>(&'a Graph, &'a Node, &'a str);

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step(graph, node, indent) = self;
        if !node.outputs.is_empty() {
            write!(f, "{} = ", typed(graph, &node.outputs))?;
        }
        match &node.kind {
            NodeKind::Aten { op, args } => print_call(f, op, args, |f, &id| write!(f, "{}", Name(graph, id))),
            NodeKind::Kernel { kernel, inputs } => {
                write!(f, "kernel({}) ", names(graph, inputs))?;
                print_block(f, kernel, indent)
            }
        }
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "graph({}) {{", typed(self, &self.inputs))?;
        for (position, node) in self.nodes.iter().enumerate() {
            f.write_str("  ")?;
            if node.id.0 as usize != position {
                write!(f, "{} ", node.id)?;
            }
            writeln!(f, "{}", Step(self, node, "  "))?;
        }
        writeln!(f, "  return ({})\n}}", names(self, &self.outputs))
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

impl FromStr for Graph {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Graph, TextError> {
        Graph::parse(text)
    }
}

impl FromStr for TensorType {
    type Err = TextError;

    fn from_str(text: &str) -> Result<TensorType, TextError> {
        Cursor::whole(text, parse_type)
    }
}

/// The values defined so far, by name.
type Names = HashMap<String, ValueId>;

fn parse_graph(cursor: &mut Cursor<'_>) -> Parsed<Graph> {
    let mut graph = Graph::default();
    let mut names = Names::new();
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

fn parse_node(cursor: &mut Cursor<'_>, graph: &mut Graph, names: &mut Names) -> Parsed<Node> {
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
    let name = cursor.word("the name of a value: letters, digits and `_`")?;
    if name.len() > MAX_NAME {
        return Err(before.error(format!("this name is longer than {MAX_NAME} characters")));
    }
    Ok(name)
}

/// `%name`, defined earlier.
fn reference(cursor: &mut Cursor<'_>, names: &Names) -> Parsed<ValueId> {
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

fn define(cursor: &mut Cursor<'_>, graph: &mut Graph, names: &mut Names) -> Parsed<ValueId> {
    let before = cursor.clone();
    let (name, ty) = declaration(cursor)?;
    insert(&before, graph, names, name, ty)
}

fn insert(at: &Cursor<'_>, graph: &mut Graph, names: &mut Names, name: &str, ty: TensorType) -> Parsed<ValueId> {
    match names.entry(name.to_owned()) {
        Entry::Occupied(_) => Err(at.error(format!("`%{name}` is defined twice"))),
        Entry::Vacant(slot) => Ok(*slot.insert(graph.add_value(name, ty))),
    }
}

/// `f32[2,3]` or `f32[2,3]{1,2}`.
fn parse_type(cursor: &mut Cursor<'_>) -> Parsed<TensorType> {
    let (dtype, shape) = parse_shaped(cursor)?;
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

/// `f32[2,3]`.
pub(super) fn parse_shaped(cursor: &mut Cursor<'_>) -> Parsed<(Dtype, Vec<i64>)> {
    let dtype = cursor.dtype()?;
    Ok((dtype, cursor.list("[", "]", |cursor| cursor.integer("an extent"))?))
}

/// Prints `f32[2,3]`.
pub(super) fn print_shaped(f: &mut fmt::Formatter<'_>, dtype: Dtype, shape: &[i64]) -> fmt::Result {
    write!(f, "{dtype}[{}]", Joined(shape, ","))
}
