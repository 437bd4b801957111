//! What a graph must satisfy before the host runs it.
//!
//! [`verify_graph`] checks a graph by itself; [`verify_rewrite`] checks what a pass returned against what it was given.

mod calls;
mod cost;
mod error;
mod excerpt;
mod rewrite;

pub use calls::check_own_calls;
pub use cost::{check_bytes, peak_bytes};
pub use error::{GraphError, NodeRule, TypeMismatch};
pub use rewrite::{RewriteSummary, check_counts, index_argument, most_size, verify_rewrite};

use crate::namespace::completed;
use crate::schema::Schema;
use crate::text::MAX_NAME;
use crate::{Arg, Graph, Kernel, Node, NodeId, NodeKind, OpName, OpTable, TensorType, ValueId, refused_argument};
use std::collections::HashSet;

/// The largest id of a node that a program may have: as many are left for what its functional form and passes add.
pub const MAX_NODE_ID: NodeId = NodeId(u32::MAX / 2);

/// Ops that are named beside one that is unknown.
const NEAR: usize = 5;

/// Checks a graph by itself: ids, definitions before uses, unique names, types, calls against their schemas, kernels.
///
/// Every op must be on `ops`, and no id of a node above [`MAX_NODE_ID`]. What types an op really returns only
/// [`verify_rewrite`] asks.
pub fn verify_graph(graph: &Graph, ops: &OpTable) -> Result<(), GraphError> {
    if let Some(node) = graph.nodes.iter().find(|node| node.id > MAX_NODE_ID) {
        return Err(GraphError::LargeNodeId(node.id));
    }
    verify_structure(graph, |op| ops.get(op))
}

/// As [`verify_graph`], with any way to find a schema.
fn verify_structure<'a>(graph: &Graph, find: impl Fn(&OpName) -> Option<&'a Schema>) -> Result<(), GraphError> {
    let mut names = HashSet::new();
    for value in &graph.values {
        if value.name.len() > MAX_NAME || !crate::is_value_name(&value.name) {
            return Err(GraphError::Name(shown(&value.name)));
        }
        if !names.insert(&value.name) {
            return Err(GraphError::RepeatedName(value.name.clone()));
        }
        value.ty.check().map_err(|source| GraphError::Type(value.name.clone(), source))?;
    }
    let mut definitions = Definitions { graph, defined: vec![false; graph.values.len()] };
    for (position, &input) in graph.inputs.iter().enumerate() {
        definitions.define(input, &|| format!("input {position}"))?;
    }
    let mut ids = HashSet::new();
    for node in &graph.nodes {
        if !ids.insert(node.id) {
            return Err(GraphError::RepeatedNodeId(node.id));
        }
        for operand in node.operands() {
            definitions.use_of(operand, &|| format!("node {}", node.id))?;
        }
        for &output in &node.outputs {
            definitions.define(output, &|| format!("node {}", node.id))?;
        }
        match &node.kind {
            NodeKind::Aten { op, args } => {
                let unknown = || unknown_op(node.id, op);
                let schema = find(op).ok_or_else(unknown)?;
                verify_call(node, schema, args)?;
            }
            NodeKind::Kernel { kernel, inputs } => verify_kernel_node(graph, node, kernel, inputs)?,
        }
    }
    for (position, &output) in graph.outputs.iter().enumerate() {
        definitions.use_of(output, &|| format!("output {position}"))?;
    }
    Ok(())
}

/// An op on no list, with those that its name may mean.
fn unknown_op(node: NodeId, op: &OpName) -> GraphError {
    let near =
        OpTable::sample().overloads(&completed(&op.name)).take(NEAR).map(|schema| format!("`{}`", schema.op)).collect();
    NodeRule::UnknownOp(shown(&op.to_string()), near).broken_by(node)
}

/// Text that a guest wrote, short and without control characters, for a message.
fn shown(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

/// Which values are defined so far.
struct Definitions<'a> {
    graph: &'a Graph,
    defined: Vec<bool>,
}

impl Definitions<'_> {
    /// Whether a value is defined, where a place refers to it.
    fn at(&mut self, id: ValueId, place: &dyn Fn() -> String) -> Result<&mut bool, GraphError> {
        let count = self.defined.len();
        self.defined.get_mut(id.index()).ok_or_else(|| GraphError::ValueRange(place(), id.0, count))
    }

    fn define(&mut self, id: ValueId, place: &dyn Fn() -> String) -> Result<(), GraphError> {
        match std::mem::replace(self.at(id, place)?, true) {
            true => Err(GraphError::DefinedTwice(place(), self.graph.value(id).name.clone())),
            false => Ok(()),
        }
    }

    fn use_of(&mut self, id: ValueId, place: &dyn Fn() -> String) -> Result<(), GraphError> {
        match *self.at(id, place)? {
            true => Ok(()),
            false => Err(GraphError::Undefined(place(), self.graph.value(id).name.clone())),
        }
    }
}

fn verify_call(node: &Node, schema: &Schema, args: &[Arg]) -> Result<(), GraphError> {
    schema.check_args(args).map_err(|error| NodeRule::Call(error).broken_by(node.id))?;
    refused_argument(schema, args).map_err(|error| NodeRule::Argument(error).broken_by(node.id))?;
    let lists = schema.returns.iter().filter(|result| result.ty.list.is_some()).count();
    let single = schema.returns.len() - lists;
    let found = node.outputs.len();
    if found < single || (lists == 0 && found > single) {
        let expected = if lists == 0 { single.to_string() } else { format!("{single} or more") };
        return Err(NodeRule::ResultCount(format!("`{}`", schema.op), expected, found).broken_by(node.id));
    }
    Ok(())
}

/// That a node defines a value for each result of what it does.
fn check_result_count(node: &Node, what: &str, expected: usize) -> Result<(), GraphError> {
    let found = node.outputs.len();
    if found == expected {
        return Ok(());
    }
    Err(NodeRule::ResultCount(what.to_owned(), expected.to_string(), found).broken_by(node.id))
}

fn verify_kernel_node(graph: &Graph, node: &Node, kernel: &Kernel, inputs: &[ValueId]) -> Result<(), GraphError> {
    crate::kernel::verify(kernel).map_err(|source| GraphError::Kernel(node.id, source))?;
    if inputs.len() != kernel.inputs.len() {
        return Err(NodeRule::KernelInputCount(inputs.len(), kernel.inputs.len()).broken_by(node.id));
    }
    for (position, (declared, &input)) in kernel.inputs.iter().zip(inputs).enumerate() {
        let ty = graph.ty(input);
        if ty.dtype != declared.dtype || ty.shape != declared.shape {
            let expected = TensorType::contiguous(declared.dtype, declared.shape.clone());
            return Err(NodeRule::KernelInput(position, TypeMismatch::new(graph, input, &expected)).broken_by(node.id));
        }
    }
    let types = kernel.output_types();
    check_result_count(node, "the kernel", types.len())?;
    for (expected, &output) in types.iter().zip(&node.outputs) {
        if graph.ty(output) != expected {
            return Err(NodeRule::KernelOutput(TypeMismatch::new(graph, output, expected)).broken_by(node.id));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
