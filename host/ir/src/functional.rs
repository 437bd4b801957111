//! From a program with in-place ops to the graph that a pass sees, in which every op only returns new values.

use crate::alias::{Aliasing, aliasing};
use crate::{Arg, Dtype, Graph, MemoryFormat, Node, NodeId, NodeKind, OpName, OpTable, Schema, TensorType, ValueId};
use std::collections::HashMap;

/// What [`functionalise`] makes of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Functional {
    /// The same calculation without in-place ops. Nodes and values keep their ids; casts have new ones.
    pub graph: Graph,
    /// Positions of the inputs that the program overwrites, directly or through a view, in ascending order.
    pub mutated_inputs: Vec<usize>,
}

/// Why a program has no functional form here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FunctionalError {
    /// The op is on no list.
    #[error("node {node} calls `{op}`, which is on no list of ops")]
    UnknownOp {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
    },
    /// An in-place op without a functional counterpart of the same arguments.
    #[error("node {node} calls `{op}`, for which no op without the `_` takes the same arguments")]
    NoCounterpart {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
    },
    /// A tensor changes through one value and is read through another.
    #[error(
        "node {node} (`{op}`) overwrites `%{value}`, whose memory `%{other}` shares and which {reader} reads later; \
         write through views is supported only where no other view is read afterwards"
    )]
    SharedMemory {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
        /// What is overwritten.
        value: String,
        /// What shares its memory.
        other: String,
        /// Who reads that: a node or the outputs.
        reader: String,
    },
    /// The tensor that changes is laid out with gaps or overlaps, so that a new one would have other strides.
    #[error(
        "node {node} (`{op}`) overwrites `%{value}`, a {ty}, whose elements do not lie densely; only dense tensors are supported"
    )]
    Sparse {
        /// The node.
        node: NodeId,
        /// The op.
        op: String,
        /// What is overwritten.
        value: String,
        /// Its type.
        ty: String,
    },
}

/// The op that returns what an in-place op writes: the same name without `_`, with the same types of arguments.
pub(crate) fn functional_schema<'a>(in_place: &Schema, ops: &'a OpTable) -> Option<&'a Schema> {
    let name = in_place.op.name.strip_suffix('_')?;
    let fits = |schema: &&Schema| {
        let types = |schema: &Schema| schema.args.iter().map(|arg| arg.ty).collect::<Vec<_>>();
        !schema.writes() && schema.returns.len() == 1 && types(schema) == types(in_place)
    };
    // Of several with the same types (`div.Tensor_mode`) the one with the same overload; `pow_.Scalar` has none.
    ops.get(&OpName::new(name, &in_place.op.overload)).filter(fits).or_else(|| ops.overloads(name).find(fits))
}

/// The in-place nodes of a program, and their ops. In its functional form each of them may run in place again where
/// nobody else reads what it overwrites; those whose functional form is cast afterwards are left out.
pub fn in_place_nodes(program: &Graph, ops: &OpTable) -> Vec<(NodeId, OpName)> {
    let in_place = |node: &Node| match &node.kind {
        NodeKind::Aten { op, args } if ops.get(op).is_some_and(Schema::is_in_place) => {
            let target = args.iter().flat_map(Arg::values).next()?;
            let target = program.ty(*target).dtype;
            (functional_dtype(program, op, args, target) == target).then(|| (node.id, op.clone()))
        }
        _ => None,
    };
    program.nodes.iter().filter_map(in_place).collect()
}

/// Replaces every in-place op by its functional counterpart and every later read of what it wrote by the result.
///
/// `program` must be verified. Where the result type of the counterpart differs from the type of what is overwritten
/// (`f16.add_(f32)` stays `f16`), a cast follows.
pub fn functionalise(program: &Graph, ops: &OpTable) -> Result<Functional, FunctionalError> {
    let memory = Memory::of(program, ops)?;
    let mut graph = program.clone();
    graph.nodes.clear();
    // For each tensor (a set of values that are one tensor under several names) the value that holds it now.
    let mut current: HashMap<usize, ValueId> = HashMap::new();
    let mut mutated_inputs = Vec::new();
    let mut fresh_id = program.fresh_node_id();

    for (position, node) in program.nodes.iter().enumerate() {
        let now = |id: &ValueId| current.get(&memory.tensor[id.index()]).copied().unwrap_or(*id);
        let kind = node.kind.map_values(now);
        let in_place = match &node.kind {
            NodeKind::Aten { op, args } => {
                ops.get(op).filter(|schema| schema.is_in_place()).map(|schema| (schema, args))
            }
            NodeKind::Kernel { .. } => None,
        };
        let (Some((schema, original_args)), [result]) = (in_place, &node.outputs[..]) else {
            graph.nodes.push(Node { kind, ..node.clone() });
            continue;
        };
        let op = &schema.op;
        let counterpart = functional_schema(schema, ops)
            .ok_or_else(|| FunctionalError::NoCounterpart { node: node.id, op: op.to_string() })?;
        let Some(&target) = original_args.iter().flat_map(Arg::values).next() else { continue };
        memory.check_write(program, position, node, target)?;
        mutated_inputs.extend(memory.inputs_of(program, target));

        let NodeKind::Aten { args, .. } = kind else { continue };
        let target_type = program.ty(target).clone();
        let dtype = functional_dtype(program, op, original_args, target_type.dtype);
        graph.values[result.index()].ty = target_type.clone();
        let functional = NodeKind::Aten { op: counterpart.op.clone(), args };
        if dtype == target_type.dtype {
            graph.nodes.push(Node { id: node.id, kind: functional, outputs: vec![*result] });
        } else {
            let wide = graph.add_value(graph.fresh_name(), TensorType { dtype, ..target_type.clone() });
            graph.nodes.push(Node { id: node.id, kind: functional, outputs: vec![wide] });
            graph.nodes.push(Node { id: fresh_id, kind: cast(wide, target_type.dtype), outputs: vec![*result] });
            fresh_id.0 += 1;
        }
        current.insert(memory.tensor[target.index()], *result);
    }
    for output in &mut graph.outputs {
        *output = current.get(&memory.tensor[output.index()]).copied().unwrap_or(*output);
    }
    mutated_inputs.sort_unstable();
    mutated_inputs.dedup();
    Ok(Functional { graph, mutated_inputs })
}

fn cast(value: ValueId, dtype: Dtype) -> NodeKind {
    NodeKind::Aten {
        op: OpName::new("aten::_to_copy", ""),
        args: vec![
            Arg::Value(value),
            Arg::Dtype(dtype),
            Arg::None,
            Arg::None,
            Arg::None,
            Arg::Bool(false),
            Arg::MemoryFormat(MemoryFormat::Preserve),
        ],
    }
}

/// Which values of a program are one tensor, and which share memory.
struct Memory {
    /// For each value a number that all names of the same tensor share.
    tensor: Vec<usize>,
    /// For each value a number that all values which may share memory have in common.
    storage: Vec<usize>,
}

impl Memory {
    fn of(program: &Graph, ops: &OpTable) -> Result<Memory, FunctionalError> {
        let identity: Vec<usize> = (0..program.values.len()).collect();
        let mut memory = Memory { tensor: identity.clone(), storage: identity };
        for node in &program.nodes {
            if let NodeKind::Aten { op, .. } = &node.kind
                && ops.get(op).is_none()
            {
                return Err(FunctionalError::UnknownOp { node: node.id, op: op.to_string() });
            }
            let aliasing = aliasing(program, node, ops);
            for output in &node.outputs {
                if let Aliasing::Identity(source) = &aliasing {
                    memory.tensor[output.index()] = memory.tensor[source.index()];
                }
                for source in aliasing.sources() {
                    memory.join(*output, *source);
                }
            }
        }
        Ok(memory)
    }

    fn join(&mut self, a: ValueId, b: ValueId) {
        let (from, to) = (self.storage[a.index()], self.storage[b.index()]);
        if from != to {
            self.storage.iter_mut().filter(|storage| **storage == from).for_each(|storage| *storage = to);
        }
    }

    fn inputs_of(&self, program: &Graph, value: ValueId) -> Vec<usize> {
        let storage = self.storage[value.index()];
        let inputs = program.inputs.iter().enumerate();
        inputs.filter(|(_, input)| self.storage[input.index()] == storage).map(|(position, _)| position).collect()
    }

    /// Whether the node at `position` may be replaced by one that leaves `target` as it is: nobody reads the memory
    /// later under the name of another tensor. Names that are defined later are views of the new tensor.
    fn check_write(
        &self,
        program: &Graph,
        position: usize,
        node: &Node,
        target: ValueId,
    ) -> Result<(), FunctionalError> {
        let NodeKind::Aten { op, .. } = &node.kind else { return Ok(()) };
        let ty = program.ty(target);
        if !is_dense(ty) {
            return Err(FunctionalError::Sparse {
                node: node.id,
                op: op.to_string(),
                value: program.value(target).name.clone(),
                ty: ty.to_string(),
            });
        }
        let mut stale = vec![false; program.values.len()];
        let earlier = program.nodes[..position].iter().flat_map(|node| &node.outputs).chain(&program.inputs);
        for value in earlier {
            stale[value.index()] = self.storage[value.index()] == self.storage[target.index()]
                && self.tensor[value.index()] != self.tensor[target.index()];
        }
        if !stale.contains(&true) {
            return Ok(());
        }
        // The other operands of the node itself are read while it writes: `x.add_(x[0])` is no case for renaming.
        let readers = program.nodes[position..].iter();
        let reads = readers.flat_map(|node| node.operands().into_iter().map(|value| (value, Some(node.id))));
        let outputs = program.outputs.iter().map(|value| (*value, None));
        match reads.chain(outputs).find(|(value, _)| stale[value.index()]) {
            None => Ok(()),
            Some((other, reader)) => Err(FunctionalError::SharedMemory {
                node: node.id,
                op: op.to_string(),
                value: program.value(target).name.clone(),
                other: program.value(other).name.clone(),
                reader: reader.map_or("the list of outputs".to_owned(), |node| format!("node {node}")),
            }),
        }
    }
}

/// Whether the elements fill a block of memory without gaps and overlaps, in any order of dimensions.
fn is_dense(ty: &TensorType) -> bool {
    let mut dims: Vec<(i64, i64)> =
        ty.strides.iter().copied().zip(ty.shape.iter().copied()).filter(|(_, extent)| *extent != 1).collect();
    dims.sort_unstable();
    let mut expected = 1i64;
    ty.numel() == 0
        || dims.iter().all(|&(stride, extent)| {
            let fits = stride == expected;
            expected = expected.saturating_mul(extent);
            fits
        })
}

/// The element type of what the functional counterpart of an in-place op returns.
fn functional_dtype(program: &Graph, op: &OpName, args: &[Arg], target: Dtype) -> Dtype {
    let name = op.name.strip_prefix("aten::").and_then(|name| name.strip_suffix('_')).unwrap_or(&op.name);
    match name {
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "logical_and" | "logical_or" | "logical_xor" | "logical_not" => {
            Dtype::Bool
        }
        "add"
        | "sub"
        | "subtract"
        | "mul"
        | "multiply"
        | "div"
        | "divide"
        | "true_divide"
        | "floor_divide"
        | "remainder"
        | "fmod"
        | "pow"
        | "clamp"
        | "clip"
        | "clamp_min"
        | "clamp_max"
        | "addcmul"
        | "addcdiv"
        | "atan2"
        | "bitwise_and"
        | "bitwise_or"
        | "bitwise_xor"
        | "bitwise_left_shift"
        | "bitwise_right_shift" => promote(program, name, args),
        // Everything else returns the type of its first operand, or refuses what it is given.
        _ => target,
    }
}

/// PyTorch's promotion: tensors with dimensions decide; tensors without, then numbers, only where they are of a higher
/// kind (bool, integer, float, complex).
fn promote(program: &Graph, name: &str, args: &[Arg]) -> Dtype {
    let mut of_rank: [Option<Dtype>; 3] = [None; 3];
    let mut add = |class: usize, dtype: Dtype| of_rank[class] = Some(of_rank[class].map_or(dtype, |d| wider(d, dtype)));
    for arg in args {
        if let Arg::Value(id) = arg {
            let ty = program.ty(*id);
            add(usize::from(ty.rank() == 0), ty.dtype);
        }
    }
    // The operand of a `.Scalar` overload is the second argument; what follows only scales, but for the second bound
    // of a clamp.
    let end = if matches!(name, "clamp" | "clip") { 3 } else { 2 };
    for arg in args.iter().take(end).skip(1) {
        match arg {
            Arg::Bool(_) => add(2, Dtype::Bool),
            Arg::Int(_) => add(2, Dtype::I64),
            Arg::Float(_) => add(2, Dtype::F32),
            _ => {}
        }
    }
    let kind = |dtype: Dtype| match dtype {
        Dtype::Bool => 0,
        d if d.is_integer() => 1,
        d if d.is_float() => 2,
        _ => 3,
    };
    let mut result: Option<Dtype> = None;
    for dtype in of_rank.into_iter().flatten() {
        result = Some(match result {
            None => dtype,
            Some(result) if kind(dtype) > kind(result) => wider(result, dtype),
            Some(result) => result,
        });
    }
    result.unwrap_or(Dtype::F32)
}

/// `c10::promoteTypes`.
fn wider(a: Dtype, b: Dtype) -> Dtype {
    match (a, b) {
        _ if a == b => a,
        (Dtype::C128, _) | (_, Dtype::C128) | (Dtype::C64, Dtype::F64) | (Dtype::F64, Dtype::C64) => Dtype::C128,
        (Dtype::C64, _) | (_, Dtype::C64) => Dtype::C64,
        (Dtype::F16, Dtype::Bf16) | (Dtype::Bf16, Dtype::F16) => Dtype::F32,
        (Dtype::U8, Dtype::I8) | (Dtype::I8, Dtype::U8) => Dtype::I16,
        // The rest is ordered as `Dtype` declares it: bool, integers by width, floats by width.
        _ => a.max(b),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn graph(text: &str) -> Graph {
        Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn functional(text: &str) -> Result<Functional, FunctionalError> {
        functionalise(&graph(text), OpTable::sample())
    }

    #[test]
    fn in_place_ops_become_functional_and_later_reads_see_the_result() {
        let text = "graph(%x: f32[2,3], %y: f32[2,3]) {
  %a: f32[2,3] = aten::add.Tensor(%x, %y)
  %b: f32[2,3] = aten::relu_(%a)
  %c: f32[2,3] = aten::dropout(%b, 0.1, false)
  %d: f32[2,3] = aten::mul_.Tensor(%c, %y)
  %e: f32[2,3] = aten::add.Tensor(%a, %c)
  return (%e, %a)
}
";
        let found = functional(text).unwrap();
        assert_eq!(
            found.graph.to_string(),
            "graph(%x: f32[2,3], %y: f32[2,3]) {
  %a: f32[2,3] = aten::add.Tensor(%x, %y)
  %b: f32[2,3] = aten::relu(%a)
  %c: f32[2,3] = aten::dropout(%b, 0.1, false)
  %d: f32[2,3] = aten::mul.Tensor(%b, %y)
  %e: f32[2,3] = aten::add.Tensor(%d, %d)
  return (%e, %d)
}
"
        );
        assert_eq!(found.mutated_inputs, []);
        let expected = [(NodeId(1), OpName::parse("aten::relu_")), (NodeId(3), OpName::parse("aten::mul_.Tensor"))];
        assert_eq!(in_place_nodes(&graph(text), OpTable::sample()), expected);
    }

    #[test]
    fn writes_to_inputs_are_recorded() {
        let found = functional(
            "graph(%w: f32[4], %x: f32[2,2]) {
  %v: f32[4] = aten::view(%x, [4])
  %r: f32[4] = aten::add_.Tensor(%v, %w)
  return (%r)
}
",
        )
        .unwrap();
        assert_eq!(found.mutated_inputs, [1]);
    }

    #[test]
    fn results_keep_the_type_of_what_was_overwritten() {
        for (x, y, call, wide) in [
            ("f16[2]", "f32[2]", "aten::add_.Tensor(%x, %y)", Some("f32[2]")),
            ("f16[2]", "f32[]", "aten::add_.Tensor(%x, %y)", None),
            ("f16[2]", "f32[2]", "aten::copy_(%x, %y)", None),
            ("f16[2]", "f32[2]", "aten::mul_.Scalar(%x, 2.5)", None),
            ("i64[2]", "bool[2]", "aten::eq_.Tensor(%x, %y)", Some("bool[2]")),
            ("bf16[2]", "f16[2]", "aten::mul_.Tensor(%x, %y)", Some("f32[2]")),
            ("i32[2]", "i64[2]", "aten::bitwise_and_.Tensor(%x, %y)", Some("i64[2]")),
        ] {
            let text = format!("graph(%x: {x}, %y: {y}) {{\n  %r: {x} = {call}\n  return (%r)\n}}\n");
            let found = functional(&text).unwrap().graph;
            let result = found.outputs[0];
            assert_eq!(found.ty(result).to_string(), x, "{call}");
            assert_eq!(found.ty(found.nodes[0].outputs[0]).to_string(), wide.unwrap_or(x), "{x} {y} {call}");
            assert_eq!(found.nodes.len(), if wide.is_some() { 2 } else { 1 }, "{call}");
            assert_eq!(in_place_nodes(&graph(&text), OpTable::sample()).is_empty(), wide.is_some(), "{call}");
            crate::verify_graph(&found, OpTable::sample()).unwrap();
        }
    }

    #[test]
    fn writes_that_another_view_sees_are_refused() {
        for (what, body) in [
            (
                "the base is read later",
                "%v: f32[2] = aten::select.int(%x, 0, 0) %r: f32[2] = aten::relu_(%v) %s: f32[2,2] = aten::exp(%x)",
            ),
            (
                "the base is returned",
                "%v: f32[2] = aten::select.int(%x, 0, 0) %s: f32[2] = aten::relu_(%v) %t: f32[2,2] = aten::alias(%x)",
            ),
            (
                "a view is read later",
                "%v: f32[2] = aten::select.int(%x, 0, 0) %r: f32[2,2] = aten::relu_(%x) %s: f32[2] = aten::exp(%v)",
            ),
            (
                "an operand is a view",
                "%v: f32[2] = aten::select.int(%x, 0, 0) %s: f32[2,2] = aten::add_.Tensor(%x, %v)",
            ),
        ] {
            let text = format!("graph(%x: f32[2,2]) {{\n{body}\n  return (%s)\n}}\n");
            assert!(matches!(functional(&text), Err(FunctionalError::SharedMemory { .. })), "{what}");
        }
        let sparse = "graph(%x: f32[2,2]) {\n  %v: f32[2]{2} = aten::select.int(%x, 1, 0) %r: f32[2]{2} = aten::relu_(%v) return (%r) }";
        assert!(matches!(functional(sparse), Err(FunctionalError::Sparse { .. })));
    }

    #[test]
    fn views_made_after_the_write_are_views_of_the_result() {
        let found = functional(
            "graph(%x: f32[2,2]) {
  %r: f32[2,2] = aten::relu_(%x)
  %v: f32[2] = aten::select.int(%x, 0, 0)
  return (%v)
}
",
        )
        .unwrap();
        assert!(found.graph.to_string().contains("aten::select.int(%r, 0, 0)"), "{}", found.graph);
        assert_eq!(found.mutated_inputs, [0]);
    }

    #[test]
    fn ops_on_no_list_are_refused() {
        let error =
            functional("graph(%x: f32[2]) {\n  %r: f32[2] = aten::bernoulli(%x)\n  return (%r)\n}\n").unwrap_err();
        assert_eq!(error, FunctionalError::UnknownOp { node: NodeId(0), op: "aten::bernoulli".into() });
    }
}
