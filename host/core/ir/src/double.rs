//! A graph as it is in double precision: what others are held against.

use crate::{Arg, Dtype, FreshNodeIds, Graph, Node, NodeKind, OpName, OpTable, Schema, TensorType, Value, ValueId};

/// What becomes of the rounding that a graph itself asks for, where it converts floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversions {
    /// Nothing is rounded.
    Dropped,
    /// A float that a node converts to a type that cannot hold it is rounded to that type. So is a constant that a node
    /// makes in such a type.
    Kept,
}

/// The graph with `f64` wherever an op names a narrower float type; its float inputs must be `f64` as well. Declared types
/// stay as they are, so they say what was, not what is.
pub fn in_double(graph: &Graph, conversions: Conversions) -> Graph {
    let now = (0..graph.values.len()).map(|value| ValueId(value as u32)).collect();
    let mut wide = DoubleDraft { graph: Graph { nodes: vec![], ..graph.clone() }, now, ids: graph.fresh_node_ids() };
    for node in &graph.nodes {
        wide.node(node);
        if conversions == Conversions::Kept {
            for &output in &node.outputs {
                if let Some(dtype) = rounded_to(graph, node, output) {
                    wide.round(output, dtype, writes(node));
                }
            }
        }
    }
    wide.graph.outputs = graph.outputs.iter().map(|output| wide.now[output.index()]).collect();
    wide.graph
}

/// Whether a graph rounds floats by itself, so that it makes a difference what becomes of that.
pub fn converts(graph: &Graph) -> bool {
    graph.nodes.iter().any(|node| node.outputs.iter().any(|&output| rounded_to(graph, node, output).is_some()))
}

/// The type that a node rounds a result to: one that cannot hold a float operand, or that a constant is made in.
fn rounded_to(graph: &Graph, node: &Node, output: ValueId) -> Option<Dtype> {
    let dtype = Some(graph.ty(output).dtype).filter(|dtype| dtype.is_float() && *dtype != Dtype::F64)?;
    let operands = node.operands();
    let is_lossy = |&operand: &ValueId| graph.ty(operand).dtype.is_float() && !holds(dtype, graph.ty(operand).dtype);
    (operands.is_empty() || operands.iter().any(is_lossy)).then_some(dtype)
}

/// Whether a float type has every value of another one.
fn holds(dtype: Dtype, other: Dtype) -> bool {
    dtype == other || dtype == Dtype::F64 || (dtype == Dtype::F32 && other != Dtype::F64)
}

fn writes(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Aten { op, .. } => OpTable::sample().get(op).is_some_and(Schema::writes),
        NodeKind::Kernel { .. } => false,
    }
}

/// A graph that is being written.
struct DoubleDraft {
    graph: Graph,
    /// What stands for each value of the original.
    now: Vec<ValueId>,
    /// Of nodes that are added.
    ids: FreshNodeIds,
}

impl DoubleDraft {
    fn node(&mut self, node: &Node) {
        let kind = match &node.kind {
            NodeKind::Aten { op, args } => {
                NodeKind::Aten { op: op.clone(), args: args.iter().map(|arg| self.argument(arg)).collect() }
            }
            NodeKind::Kernel { kernel, inputs } => NodeKind::Kernel {
                kernel: kernel.clone(),
                inputs: inputs.iter().map(|input| self.now[input.index()]).collect(),
            },
        };
        self.graph.nodes.push(Node { id: node.id, kind, outputs: node.outputs.clone() });
    }

    fn argument(&self, arg: &Arg) -> Arg {
        match arg {
            Arg::Dtype(dtype) if dtype.is_float() => Arg::Dtype(Dtype::F64),
            arg => arg.map(|value| self.now[value.index()]),
        }
    }

    /// Rounds a value; in its place where the node that made it did so too.
    fn round(&mut self, value: ValueId, dtype: Dtype, in_place: bool) {
        let narrow = self.convert(value, dtype);
        let rounded = if in_place {
            self.call(OpName::new("aten::copy_", ""), vec![value.into(), narrow.into(), false.into()], value)
        } else {
            self.convert(narrow, Dtype::F64)
        };
        self.now[value.index()] = rounded;
    }

    fn convert(&mut self, value: ValueId, dtype: Dtype) -> ValueId {
        let args = vec![value.into(), dtype.into(), false.into(), false.into(), Arg::None];
        self.call(OpName::new("aten::to", "dtype"), args, value)
    }

    /// A call whose result has the shape of `like`.
    fn call(&mut self, op: OpName, args: Vec<Arg>, like: ValueId) -> ValueId {
        let id = self.ids.take();
        let output = ValueId(self.graph.values.len() as u32);
        let ty = TensorType { dtype: Dtype::F64, ..self.graph.ty(like).clone() };
        self.graph.values.push(Value { name: format!("rounded_{}", output.0), ty });
        self.graph.nodes.push(Node { id, kind: NodeKind::Aten { op, args }, outputs: vec![output] });
        output
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn calls(text: &str, conversions: Conversions) -> Vec<String> {
        let graph = in_double(&Graph::parse(text).unwrap(), conversions);
        graph.to_string().lines().filter_map(|line| Some(line.split_once(" = ")?.1.to_owned())).collect()
    }

    const NORM: &str = "graph(%x: f16[4,8], %w: f16[8]) {
  %a: f32[4,8] = aten::to.dtype(%x, f32, false, false, none)
  %b: f32[4,8] = aten::mul.Tensor(%a, %a)
  %c: f16[4,8] = aten::to.dtype(%b, f16, false, false, none)
  %d: f16[4,8] = aten::mul.Tensor(%c, %w)
  return (%d)
}
";

    #[test]
    fn narrower_floats_are_widened_and_conversions_round_where_they_are_kept() {
        let dropped = [
            "aten::to.dtype(%x, f64)",
            "aten::mul.Tensor(%a, %a)",
            "aten::to.dtype(%b, f64)",
            "aten::mul.Tensor(%c, %w)",
        ];
        assert_eq!(calls(NORM, Conversions::Dropped), dropped);
        let kept = [
            "aten::to.dtype(%x, f64)",
            "aten::mul.Tensor(%a, %a)",
            "aten::to.dtype(%b, f64)",
            "aten::to.dtype(%c, f16)",
            "aten::to.dtype(%rounded_6, f64)",
            "aten::mul.Tensor(%rounded_7, %w)",
        ];
        assert_eq!(calls(NORM, Conversions::Kept), kept);
    }

    #[test]
    fn a_write_is_rounded_where_it_is_and_a_returned_conversion_is_the_rounded_one() {
        let text = "graph(%x: f32[4], %base: bf16[4]) {
  %a: bf16[4] = aten::copy_(%base, %x, false)
  %b: f16[4] = aten::to.dtype(%x, f16)
  return (%a, %b)
}
";
        let graph = in_double(&Graph::parse(text).unwrap(), Conversions::Kept);
        let calls = calls(text, Conversions::Kept);
        assert_eq!(calls[1..3], ["aten::to.dtype(%a, bf16)", "aten::copy_(%a, %rounded_4)"]);
        let returned: Vec<&str> =
            graph.outputs.iter().map(|output| graph.values[output.index()].name.as_str()).collect();
        assert_eq!(returned, ["rounded_5", "rounded_7"]);
    }

    #[test]
    fn a_constant_has_the_value_that_its_type_can_hold() {
        let text = "graph(%x: f16[2]) {
  %c: f16[2] = aten::full([2], 0.1, f16, none, none, none)
  %y: f16[2] = aten::mul.Tensor(%x, %c)
  return (%y)
}
";
        assert_eq!(calls(text, Conversions::Kept).len(), 4);
        assert_eq!(calls(text, Conversions::Dropped).len(), 2);
    }
}
