//! Running a pass and its rewrite natively, without a host: for the tests of a pass.

mod same;
mod types;

pub use same::{RewriteDifference, assert_same, compare};
pub use types::Types;

use crate::lower::{Group, LowerError, region};
use crate::view;
use crate::{NodeRefusal, Pass, PassError, Rewriter};
use passhost_ir::kernel::scalar::Num;
use passhost_ir::kernel::{Mode, Tensor, interpret, verify};
use passhost_ir::{
    Arg, DeviceFacts, DeviceKind, Dtype, Graph, Infer, InferError, NodeKind, OpName, TensorType, ValueId,
};

/// A host that knows no types, for passes that insert kernels only. [`Types`] knows those of common ops.
#[derive(Debug, Clone, Copy)]
pub struct NoHost;

impl Infer for NoHost {
    fn infer(&mut self, op: &OpName, _: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        Err(InferError::Unavailable(format!("nobody answers for `{op}` in a native test; pass another `Infer`")))
    }
}

/// A device to test a pass with: a small CPU.
pub const DEVICE: DeviceFacts = DeviceFacts {
    kind: DeviceKind::Cpu,
    multiprocessors: 2,
    l2_bytes: 1 << 20,
    bandwidth: 20_000_000_000,
    launch_ns: 1_000,
};

/// What a pass makes of a graph for [`DEVICE`].
pub fn rewrite(pass: &dyn Pass, graph: Graph) -> Result<(Graph, Vec<NodeRefusal>), PassError> {
    rewrite_for(pass, graph, &DEVICE)
}

/// What a pass makes of a graph for a device.
pub fn rewrite_for(
    pass: &dyn Pass,
    graph: Graph,
    device: &DeviceFacts,
) -> Result<(Graph, Vec<NodeRefusal>), PassError> {
    rewrite_with(pass, graph, device, &mut Types::default())
}

fn rewrite_with(
    pass: &dyn Pass,
    graph: Graph,
    device: &DeviceFacts,
    host: &mut dyn Infer,
) -> Result<(Graph, Vec<NodeRefusal>), PassError> {
    let mut rewriter = Rewriter::new(graph);
    pass.run(&mut rewriter, device, host)?;
    Ok(rewriter.finish())
}

/// The outputs of a graph of ops that lower, views and kernels, calculated by the interpreter: ops one by one, each
/// rounded as eager rounds it. So a rewrite by the default lowering gives the same bits as the graph it came from.
///
/// Inputs are in the order of the graph's.
///
/// # Panics
///
/// If there are more or fewer inputs than the graph has, or a value is read that nothing calculates.
pub fn evaluate(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, LowerError> {
    assert_eq!(inputs.len(), graph.inputs.len(), "one tensor for each input");
    let mut values: Vec<Option<Tensor>> = vec![None; graph.values.len()];
    for (id, tensor) in graph.inputs.iter().zip(inputs) {
        values[id.index()] = Some(tensor.clone());
    }
    for node in &graph.nodes {
        if node.outputs.iter().all(|&output| view::step(graph, node, output).is_some()) {
            continue;
        }
        let lowered;
        let (kernel, operands, outputs) = match &node.kind {
            NodeKind::Kernel { kernel, inputs } => (&**kernel, inputs, node.outputs.clone()),
            NodeKind::Aten { .. } => {
                lowered = region(graph, &[node.id], Group::ALL)?;
                (&lowered.kernel, &lowered.inputs, lowered.outputs.iter().map(|output| output.value).collect())
            }
        };
        let facts = verify(kernel)?;
        let operands: Vec<Tensor> = operands.iter().map(|&operand| element_wise(graph, &values, operand)).collect();
        for (output, result) in outputs.into_iter().zip(interpret(kernel, &facts, &operands, Mode::Declared)) {
            let stored = Tensor::from_fn(result.dtype, result.shape, |position| result.values[position].value);
            // An op's result in another dense layout was stored in the order of memory.
            let dense = match &node.kind {
                NodeKind::Kernel { .. } => stored,
                NodeKind::Aten { .. } => in_logical_order(graph, output, stored),
            };
            values[output.index()] = Some(dense);
        }
    }
    Ok(graph.outputs.iter().map(|&output| element_wise(graph, &values, output)).collect())
}

/// Fails unless a graph and its rewrite give the same bits on drawn inputs. A graph with an op that cannot be evaluated is
/// not compared: the caller says which those may be.
///
/// # Panics
///
/// If they differ, or the graph can be evaluated and the rewrite cannot.
pub fn expect_same_bits(graph: &Graph, rewritten: &Graph) -> Result<(), LowerError> {
    let inputs: Vec<Tensor> = (1..).zip(&graph.inputs).map(|(salt, &id)| draw(graph.ty(id), salt)).collect();
    let expected = evaluate(graph, &inputs)?;
    assert_eq!(evaluate(rewritten, &inputs).as_ref(), Ok(&expected), "{rewritten}");
    Ok(())
}

/// Reproducible elements: of both signs and several magnitudes, and small enough to be places where they are integers.
pub fn draw(ty: &TensorType, salt: u64) -> Tensor {
    Tensor::from_fn(ty.dtype, ty.shape.clone(), |position| {
        let hash = (position as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.wrapping_mul(0xd1b5_4a32_d192_ed03);
        let unit = (hash.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 11) as f64 / (1u64 << 53) as f64;
        match ty.dtype {
            Dtype::Bool => Num::Int(i64::from(unit < 0.5)),
            float if float.is_float() => Num::Float((unit - 0.5) * 6.0),
            _ => Num::Int((unit * 7.0) as i64),
        }
    })
}

/// A tensor that is known itself or as a view of one that is.
fn element_wise(graph: &Graph, values: &[Option<Tensor>], value: ValueId) -> Tensor {
    if let Some(known) = &values[value.index()] {
        return known.clone();
    }
    let root = view::root(graph, &graph.definitions(), value);
    let source = values[root.source.index()].as_ref().expect("an input, or calculated by a node before");
    let ty = graph.ty(value);
    Tensor::from_fn(ty.dtype, ty.shape.clone(), |position| {
        let at = unravel(position, &ty.shape);
        let place = root.coordinates.iter().map(|index| index.eval(&at));
        source.get(ravel(place, &source.shape))
    })
}

/// A tensor whose dimensions were stored by falling stride, with the dimensions of `value`.
fn in_logical_order(graph: &Graph, value: ValueId, stored: Tensor) -> Tensor {
    let ty = graph.ty(value);
    let order = ty.memory_order().unwrap_or_else(|| (0..ty.rank()).collect());
    Tensor::from_fn(ty.dtype, ty.shape.clone(), |position| {
        let at = unravel(position, &ty.shape);
        stored.get(ravel(order.iter().map(|&dim| at[dim]), &stored.shape))
    })
}

fn unravel(position: usize, shape: &[i64]) -> Vec<i64> {
    let mut rest = position as i64;
    let mut at = vec![0; shape.len()];
    for (place, &extent) in at.iter_mut().zip(shape).rev() {
        *place = rest % extent;
        rest /= extent;
    }
    at
}

fn ravel(place: impl Iterator<Item = i64>, shape: &[i64]) -> usize {
    place.zip(shape).fold(0, |position, (at, &extent)| position * extent + at) as usize
}
