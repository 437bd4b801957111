//! Programs and their functional graphs, run and compared.

use passhost_ir::alias::{aliasing, same_layout};
use passhost_ir::{
    Arg, Dtype, Functional, Graph, Infer, InferError, NodeId, NodeKind, OpName, OpTable, TensorType, ValueId,
    functionalise, verify_graph,
};
use passhost_torch::{MetaInfer, PreparedCall, Target, Tensor, TorchError};
use std::collections::HashMap;

/// Small numbers, zeros and negative ones among them, the same for the same seed.
pub fn numbers(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) ^ (seed >> 47)
    }
}

/// A tensor of this type, strides included, with small numbers as elements.
pub fn filled(ty: &TensorType, seed: u64) -> Tensor {
    let mut next = numbers(seed);
    let count = (ty.reach_bytes() / ty.dtype.size()) as i64;
    let bytes: Vec<u8> = (0..count).flat_map(|_| element(ty.dtype, &mut next)).collect();
    let flat = TensorType::contiguous(ty.dtype, [count]);
    let flat = Tensor::from_bytes(&Target::cpu().inference(), &flat, &bytes).expect("as many bytes as needed");
    let args = [Arg::Value(()), Arg::Ints(ty.shape.clone()), Arg::Ints(ty.strides.clone()), Arg::None];
    call(&OpName::parse("aten::as_strided"), &args, &[&flat]).expect("strides within the memory").remove(0)
}

fn element(dtype: Dtype, next: &mut impl FnMut() -> u64) -> Vec<u8> {
    let number = (next() % 33) as i64 - 16;
    let float = number as f32 * 0.25;
    // Integers are divisors, too.
    let number = number * 2 + 1;
    match dtype {
        Dtype::Bool => vec![u8::from(number > 0)],
        Dtype::U8 | Dtype::I8 => vec![number.unsigned_abs() as u8],
        Dtype::I16 => (number as i16).to_le_bytes().to_vec(),
        Dtype::I32 => (number as i32).to_le_bytes().to_vec(),
        Dtype::I64 => number.to_le_bytes().to_vec(),
        Dtype::Bf16 => float.to_le_bytes()[2..].to_vec(),
        Dtype::F32 => float.to_le_bytes().to_vec(),
        Dtype::F64 => f64::from(float).to_le_bytes().to_vec(),
        // 1 + k / 16: the mantissa has ten bits.
        Dtype::F16 => (0x3c00u16 + ((next() % 16) as u16) * 64).to_le_bytes().to_vec(),
        Dtype::C64 => [element(Dtype::F32, next), element(Dtype::F32, next)].concat(),
        Dtype::C128 => [element(Dtype::F64, next), element(Dtype::F64, next)].concat(),
    }
}

/// Calls an op.
pub fn call<V>(op: &OpName, args: &[Arg<V>], tensors: &[&Tensor]) -> Result<Vec<Tensor>, TorchError> {
    let target = Target::cpu().inference();
    let call = PreparedCall::new(&target, op, args)?;
    target.within(|scope| call.call(scope, tensors))
}

/// Whether libtorch takes every call of a program.
pub fn runs(program: &Graph, seed: u64) -> bool {
    run(program, &fresh_inputs(program, seed), &HashMap::new()).is_ok()
}

/// Runs a graph, with the ops of `in_place` instead of those of these nodes. Returns a tensor for each value. Panics if a
/// result has another type than declared.
fn run(graph: &Graph, inputs: &[Tensor], in_place: &HashMap<NodeId, OpName>) -> Result<Vec<Option<Tensor>>, String> {
    let mut values: Vec<Option<Tensor>> = graph.values.iter().map(|_| None).collect();
    for (input, tensor) in graph.inputs.iter().zip(inputs) {
        values[input.index()] = Some(tensor.clone());
    }
    for node in &graph.nodes {
        let NodeKind::Aten { op, args } = &node.kind else { return Err("a kernel".into()) };
        let op = in_place.get(&node.id).unwrap_or(op);
        let operands = node.operands();
        let operands: Vec<&Tensor> =
            operands.iter().map(|value| values[value.index()].as_ref().expect("defined before")).collect();
        let results = call(op, args, &operands).map_err(|error| format!("{} {op}: {error}", node.id))?;
        assert_eq!(results.len(), node.outputs.len(), "{} {op}", node.id);
        for (&output, result) in node.outputs.iter().zip(results) {
            let (declared, found) = (graph.ty(output), result.ty());
            let agree = *declared == found || (found.numel() == 0 && same_layout(declared, &found));
            assert!(agree, "{} {op} returns {found}, declared as {declared}\n{graph}", node.id);
            values[output.index()] = Some(result);
        }
    }
    Ok(values)
}

fn fresh_inputs(graph: &Graph, seed: u64) -> Vec<Tensor> {
    graph.inputs.iter().zip(seed..).map(|(&input, seed)| filled(graph.ty(input), seed)).collect()
}

/// The elements of values. Every NaN is made the same: its sign differs between the kernels for different strides.
fn bytes(values: &[Option<Tensor>], ids: &[ValueId]) -> Vec<Vec<u8>> {
    let elements = |tensor: &Tensor| {
        let mut bytes = tensor.to_bytes();
        // Bytes of a float, and its greatest exponent in the upper two of them.
        let (size, exponent) = match tensor.ty().dtype {
            Dtype::F16 => (2, 0x7c00),
            Dtype::Bf16 => (2, 0x7f80),
            Dtype::F32 | Dtype::C64 => (4, 0x7f80),
            Dtype::F64 | Dtype::C128 => (8, 0x7ff0),
            _ => return bytes,
        };
        for float in bytes.chunks_exact_mut(size) {
            let upper = u16::from_le_bytes([float[size - 2], float[size - 1]]) & 0x7fff;
            let fraction = float[..size - 2].iter().any(|&byte| byte != 0);
            if upper > exponent || (upper == exponent && fraction) {
                float.fill(0xff);
            }
        }
        bytes
    };
    ids.iter().map(|id| values[id.index()].as_ref().map_or(vec![], elements)).collect()
}

/// Nodes that may run in place: their first operand is fresh memory of the result's type that nobody else reads.
fn reusable(functional: &Functional) -> HashMap<NodeId, OpName> {
    let graph = &functional.graph;
    let reads: Vec<ValueId> =
        graph.nodes.iter().flat_map(|node| node.operands()).chain(graph.outputs.clone()).collect();
    let is_fresh = |value: ValueId| {
        let made_by = graph.nodes.iter().find(|node| node.outputs.contains(&value));
        made_by.is_some_and(|node| aliasing(graph, node, OpTable::sample()).sources().is_empty())
    };
    let may = |id: NodeId| {
        let node = graph.nodes.iter().find(|node| node.id == id);
        let ends = node.and_then(|node| node.operands().first().copied().zip(node.outputs.first().copied()));
        ends.is_some_and(|(first, result)| {
            let is_read_once = reads.iter().filter(|read| **read == first).count() == 1;
            is_fresh(first) && is_read_once && graph.ty(first) == graph.ty(result)
        })
    };
    functional.in_place.iter().filter(|(id, _)| may(*id)).cloned().collect()
}

/// Proves that a program and its functional graph calculate the same, bit for bit, and that every type is right. Returns
/// why it has no functional graph, if it has none.
pub fn check(program: &Graph, title: &str, seed: u64) -> Result<Functional, String> {
    verify_graph(program, OpTable::sample()).unwrap_or_else(|error| panic!("{title}: {error}\n{program}"));
    let inputs = fresh_inputs(program, seed);
    let run = |graph: &Graph, inputs: &[Tensor], in_place: &HashMap<NodeId, OpName>| {
        run(graph, inputs, in_place).unwrap_or_else(|error| panic!("{title}: {error}\n{program}{graph}"))
    };
    let values = run(program, &inputs, &HashMap::new());
    let expected = bytes(&values, &program.outputs);

    let functional = functionalise(program, OpTable::sample()).map_err(|error| error.to_string())?;
    let graph = &functional.graph;
    verify_graph(graph, OpTable::sample()).unwrap_or_else(|error| panic!("{title}: {error}\n{graph}"));
    let untouched = fresh_inputs(program, seed);
    let found = run(graph, &untouched, &HashMap::new());
    let again = run(graph, &fresh_inputs(program, seed), &reusable(&functional));
    for (index, (&before, &after)) in program.outputs.iter().zip(&graph.outputs).enumerate() {
        assert_eq!(program.ty(before), graph.ty(after), "{title}: output {index}\n{program}{graph}");
    }
    assert_eq!(bytes(&found, &graph.outputs), expected, "{title}\n{program}{graph}");
    assert_eq!(bytes(&again, &graph.outputs), expected, "{title}, in place again\n{program}{graph}");
    for (position, (before, (after, untouched))) in
        fresh_inputs(program, seed).iter().zip(inputs.iter().zip(&untouched)).enumerate()
    {
        assert_eq!(untouched.to_bytes(), before.to_bytes(), "{title}: the graph writes to input {position}\n{graph}");
        let changed = after.to_bytes() != before.to_bytes();
        let reported = functional.mutated_inputs.contains(&position);
        assert!(reported || !changed, "{title}: the program writes to input {position}\n{program}");
    }
    check_inferred(graph, title);
    Ok(functional)
}

/// Holds the types that are declared against those that a pass would be told.
fn check_inferred(graph: &Graph, title: &str) {
    for node in &graph.nodes {
        let NodeKind::Aten { op, args } = &node.kind else { continue };
        let args: Vec<Arg<TensorType>> = args.iter().map(|arg| arg.map(|id| graph.ty(*id).clone())).collect();
        match MetaInfer.infer(op, &args) {
            Ok(types) => {
                for (&output, inferred) in node.outputs.iter().zip(types) {
                    let declared = graph.ty(output);
                    assert!(
                        same_layout(declared, &inferred),
                        "{title}: {op}: {declared}, inferred {inferred}\n{graph}"
                    );
                }
            }
            Err(InferError::Unknown(_)) => {}
            Err(error) => panic!("{title}: {op}: {error}\n{graph}"),
        }
    }
}
