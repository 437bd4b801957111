//! Estimates of what a graph costs, from its types alone: only for limits, never for a score.

use crate::alias::{Aliasing, aliasing};
use crate::ops::Products;
use crate::{Arg, Dtype, Graph, InputSpec, Node, NodeKind, OpName, OpRow, OpTable, TensorType, ValueId};

/// The most bytes of tensors that live at once, inputs not included. Views cost nothing.
pub fn peak_bytes(graph: &Graph, ops: &OpTable) -> u64 {
    // The tensor whose memory a value uses.
    let mut owner: Vec<usize> = (0..graph.values.len()).collect();
    for node in &graph.nodes {
        if let aliasing @ (Aliasing::Identity(_) | Aliasing::View(_)) = aliasing(graph, node, ops)
            && let Some(source) = aliasing.sources().first()
        {
            for output in &node.outputs {
                owner[output.index()] = owner[source.index()];
            }
        }
    }
    let mut last_use: Vec<usize> = vec![0; graph.values.len()];
    for (position, node) in graph.nodes.iter().enumerate() {
        for value in node.operands().iter().chain(&node.outputs) {
            last_use[owner[value.index()]] = position;
        }
    }
    for output in &graph.outputs {
        last_use[owner[output.index()]] = usize::MAX;
    }
    let mut freed: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    let (mut live, mut peak) = (0u64, 0u64);
    for (position, node) in graph.nodes.iter().enumerate() {
        for output in node.outputs.iter().map(|id| id.index()).filter(|&id| owner[id] == id) {
            live = live.saturating_add(graph.values[output].ty.bytes());
            if let Some(list) = freed.get_mut(last_use[output]) {
                list.push(output);
            }
        }
        peak = peak.max(live);
        for &value in &freed[position] {
            live = live.saturating_sub(graph.values[value].ty.bytes());
        }
    }
    peak
}

/// An estimate of the bytes that a check of a rewrite of a program takes at once: inputs and outputs that are kept to compare
/// with, a run of the program or of a rewrite like it, and what that gave; `in_double`, or a run in double precision. What
/// an op needs for itself is not in it.
pub fn check_bytes(program: &Graph, inputs: &[InputSpec], in_double: bool) -> u64 {
    let sum = |bytes: &dyn Fn(&TensorType) -> u64| {
        let given = inputs.iter().map(|input| bytes(&input.ty)).fold(0, u64::saturating_add);
        let returned = program.outputs.iter().map(|&output| bytes(program.ty(output))).fold(0, u64::saturating_add);
        [given, returned]
    };
    let [given, returned] = sum(&TensorType::bytes);
    let run = |given: u64, peak: u64, returned: u64| given.saturating_add(peak).saturating_add(returned);
    let mut largest = run(given, peak_bytes(program, OpTable::sample()), returned);
    if in_double {
        let mut wide = program.clone();
        wide.values.iter_mut().filter(|value| value.ty.dtype.is_float()).for_each(|value| value.ty.dtype = Dtype::F64);
        let [given_wide, returned_wide] =
            sum(&|ty| if ty.dtype.is_float() { ty.numel().saturating_mul(8) } else { ty.bytes() });
        let upcast = run(given.saturating_add(given_wide), peak_bytes(&wide, OpTable::sample()), returned_wide);
        // Beside what the rewrite gave.
        largest = largest.max(upcast.saturating_add(returned));
    }
    largest.saturating_add(given).saturating_add(returned)
}

/// An estimate of the scalar operations of a node: elements touched, products in a contraction, or points times
/// instructions of a kernel. Saturates.
pub(super) fn work(graph: &Graph, node: &Node, ops: &OpTable) -> u64 {
    match &node.kind {
        NodeKind::Kernel { kernel, .. } => kernel.work().saturating_mul(kernel.body.len().max(1) as u64),
        NodeKind::Aten { op, args } => match aliasing(graph, node, ops) {
            Aliasing::Identity(_) | Aliasing::View(_) => 0,
            Aliasing::None | Aliasing::Possible(_) => {
                let operands = node.operands();
                let touched = operands.iter().chain(&node.outputs).map(|&id| graph.ty(id).numel());
                let touched = touched.fold(0u64, u64::saturating_add);
                touched.saturating_add(contraction(graph, node, op, args, ops))
            }
        },
    }
}

/// Multiplications of matrix products, convolutions, attention and windows; 0 for other ops.
fn contraction(graph: &Graph, node: &Node, op: &OpName, args: &[Arg], ops: &OpTable) -> u64 {
    let tensor = |position: usize| args.get(position).and_then(Arg::as_value).map(|&id| graph.ty(id));
    let extent = |position: usize, from_end: usize| {
        let shape = tensor(position).map(|ty| &ty.shape);
        shape.and_then(|shape| shape.iter().rev().nth(from_end)).map_or(1, |extent| extent.unsigned_abs())
    };
    let numel = |id: &ValueId| graph.ty(*id).numel();
    let results = node.outputs.iter().map(numel).fold(0u64, u64::saturating_add);
    match OpRow::of(op).and_then(|row| row.products) {
        Some(Products::First) => results.saturating_mul(extent(0, 0)),
        Some(Products::Second) => results.saturating_mul(extent(1, 0)),
        Some(Products::Attention) => {
            // Scores and their product with the values, each rows * keys * width.
            tensor(0).map_or(0, |query| query.numel()).saturating_mul(extent(1, 1)).saturating_mul(2)
        }
        Some(Products::Convolution | Products::Transposed) => {
            let (input, weight) = (tensor(0), tensor(1));
            let kernel = weight
                .map_or(1, |weight| weight.numel() / weight.shape.first().map_or(1, |&c| c.unsigned_abs()).max(1));
            // Each result of a convolution, each operand of a transposed one, meets the kernel once.
            results.max(input.map_or(0, |input| input.numel())).saturating_mul(kernel)
        }
        Some(Products::Joint) => {
            // Exact for a matrix product: m*k * k*n / (m*n) = k^2.
            let product = node.operands().iter().map(numel).fold(1f64, |product, n| product * n.max(1) as f64);
            (results as f64 * (product / results.max(1) as f64).sqrt()) as u64
        }
        None => {
            let window = ops.get(op).and_then(|schema| schema.position("kernel_size")).and_then(|at| args.get(at));
            window.and_then(Arg::as_ints).map_or(0, |window| results.saturating_mul(crate::numel(window)))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::Draw;

    #[test]
    fn tensors_count_from_their_definition_to_their_last_use_and_views_prolong_it() {
        let graph = Graph::parse(
            "graph(%x: f32[100]) {
  %a: f32[100] = aten::exp(%x)
  %v: f32[10,10] = aten::view(%a, [10, 10])
  %b: f32[100] = aten::exp(%x)
  %c: f32[10,10] = aten::relu(%v)
  %d: f32[10,10] = aten::relu(%c)
  return (%d)
}
",
        )
        .unwrap();
        // At %b: %a, which is read later through its view, and %b; at %c: %a and %c; at %d: %c and %d.
        assert_eq!(peak_bytes(&graph, OpTable::sample()), 800);
    }

    #[test]
    fn a_check_takes_what_it_keeps_and_its_largest_run() {
        let text = "graph(%x: f32[100], %i: i64[10]) {
  %a: f32[100] = aten::exp(%x)
  %b: f32[10] = aten::index_select(%a, 0, %i)
  return (%b)
}
";
        let graph = Graph::parse(text).unwrap();
        let draw = Draw::Normal { mean: 0.0, std: 1.0 };
        let spec = |&id: &ValueId| {
            let (name, ty) = (graph.value(id).name.clone(), graph.ty(id).clone());
            InputSpec { name, ty, draw: draw.clone(), min: None, max: None }
        };
        let inputs: Vec<InputSpec> = graph.inputs.iter().map(spec).collect();
        // Inputs of 480 bytes and an output of 40 are kept; a run has both again, and %a and %b at once.
        assert_eq!(check_bytes(&graph, &inputs, false), 520 + 520 + 440);
        // Beside the rewrite's output: inputs twice, wide the second time, %a and %b wide, and %b wide again.
        assert_eq!(check_bytes(&graph, &inputs, true), 520 + 40 + 480 + 880 + 880 + 80);
    }

    #[test]
    fn work_is_estimated_by_contraction() {
        for (inputs, call, result, expected) in [
            ("%x: f32[2,3], %y: f32[3,4]", "aten::mm(%x, %y)", "f32[2,4]", 6 + 12 + 8 + 24),
            ("%x: f32[2,3], %y: f32[3,4]", "aten::einsum(\"ij,jk->ik\", [%x, %y])", "f32[2,4]", 6 + 12 + 8 + 24),
            ("%x: f32[1,2,4,4], %y: f32[8,2,3,3]", "aten::conv2d(%x, %y)", "f32[1,8,2,2]", 32 + 144 + 32 + 32 * 18),
            ("%x: f32[1,1,4,4], %y: f32[1]", "aten::max_pool2d(%x, [2, 2])", "f32[1,1,2,2]", 16 + 4 + 16),
            ("%x: f32[4], %y: f32[4]", "aten::add.Tensor(%x, %y)", "f32[4]", 12),
            ("%x: f32[4], %y: f32[4]", "aten::view(%x, [2, 2])", "f32[2,2]", 0),
        ] {
            let text = format!("graph({inputs}) {{\n  %r: {result} = {call}\n  return (%r)\n}}\n");
            let graph = Graph::parse(&text).unwrap();
            assert_eq!(work(&graph, &graph.nodes[0], OpTable::sample()), expected, "{call}");
        }
    }
}
