//! The bias of a convolution. On a GPU the library's convolutions know none: ATen adds it by a call of its own behind them,
//! which rounds what it reads and what it writes. As a node of its own it becomes part of the kernel that reads the result,
//! and not a bit of that changes. Linear layers keep theirs: a product without one adds up its terms in another order.

use passhost_guest_sdk::ir::{Arg, DeviceKind, Dtype, Graph, Node, NodeId, NodeKind, OpName, ValueId};
use passhost_guest_sdk::{Args, DeviceFacts, Infer, PassError, Rewriter};

/// `(input, weight, bias, ...)` with as many dimensions of images.
const CONVOLUTIONS: [(&str, usize); 6] = [
    ("aten::conv1d", 1),
    ("aten::conv2d", 2),
    ("aten::conv3d", 3),
    ("aten::conv_transpose1d", 1),
    ("aten::conv_transpose2d", 2),
    ("aten::conv_transpose3d", 3),
];
/// Types of convolutions that a GPU's library has.
const FLOATS: [Dtype; 3] = [Dtype::F16, Dtype::Bf16, Dtype::F32];
/// The place of the bias.
const BIAS: usize = 2;

/// A convolution with a bias that a node should add.
struct Biased {
    node: NodeId,
    op: OpName,
    args: Vec<Arg>,
    bias: ValueId,
    result: ValueId,
    /// Dimensions of an image.
    dims: usize,
}

/// Adds biases by nodes of their own, and says of how many convolutions.
pub(crate) fn split(rewriter: &mut Rewriter, device: &DeviceFacts, host: &mut dyn Infer) -> usize {
    let found = if device.kind == DeviceKind::Cuda { found(rewriter) } else { vec![] };
    let mut count = 0;
    for biased in found {
        let ops = [biased.op.clone(), OpName::new("aten::view", ""), OpName::new("aten::add", "Tensor")];
        if !ops.iter().all(|op| host.may_insert(op)) {
            continue;
        }
        let added = added(rewriter, &biased, host);
        match added.and_then(|added| Ok(rewriter.replace_all_uses(biased.result, added)?)) {
            Ok(()) => count += 1,
            Err(error) => rewriter.refuse([biased.node], format!("its bias is not added behind it: {error}")),
        }
    }
    rewriter.remove_dead_code();
    count
}

/// The sum of a convolution without its bias, and of that.
fn added(rewriter: &mut Rewriter, biased: &Biased, host: &mut dyn Infer) -> Result<ValueId, PassError> {
    let mut insert = |op: OpName, args: Vec<Arg>| -> Result<ValueId, PassError> {
        let results = rewriter.insert_aten(rewriter.position(biased.node)?, op, args, host)?;
        results.first().copied().ok_or_else(|| "the host gives it no result".into())
    };
    let mut args = biased.args.clone();
    args[BIAS] = Arg::None;
    let plain = insert(biased.op.clone(), args)?;
    let shape = [vec![-1], vec![1; biased.dims]].concat();
    let bias = insert(OpName::new("aten::view", ""), vec![Arg::Value(biased.bias), Arg::Ints(shape)])?;
    insert(OpName::new("aten::add", "Tensor"), vec![Arg::Value(plain), Arg::Value(bias), Arg::Int(1)])
}

fn found(rewriter: &Rewriter) -> Vec<Biased> {
    let (graph, uses) = (rewriter.graph(), rewriter.uses());
    let is_read = |biased: &Biased| !uses.readers(biased.result).is_empty();
    graph.nodes.iter().filter_map(|node| biased(graph, node)).filter(is_read).collect()
}

/// A convolution of the library's with a bias. Those of single channels are no calls of it.
fn biased(graph: &Graph, node: &Node) -> Option<Biased> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let &(_, dims) = CONVOLUTIONS.iter().find(|(name, _)| *name == op.name)?;
    let (weight, bias) = (Args::new(args).tensor(1)?, Args::new(args).tensor(BIAS)?);
    let is_of_channels = graph.ty(weight).shape.get(1).is_some_and(|&channels| channels > 1);
    if !is_of_channels || !FLOATS.contains(&graph.ty(bias).dtype) {
        return None;
    }
    let result = *node.outputs.first()?;
    Some(Biased { node: node.id, op: op.clone(), args: args.clone(), bias, result, dims })
}
