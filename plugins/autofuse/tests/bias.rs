//! Where the bias of a convolution becomes part of the kernel behind it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use autofuse::{Autofuse, H200};
use passhost_guest_sdk::ir::{Arg, DeviceFacts, Graph, InferError, Node, NodeKind, OpName, TensorType};
use passhost_guest_sdk::testing::DEVICE;
use passhost_guest_sdk::{Infer, Pass, Rewriter};

/// A host that types what the pass inserts here, and allows it or not.
struct Host {
    allows: bool,
}

impl Infer for Host {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let Some(Arg::Value(first)) = args.first() else { return Err(InferError::Unknown(op.to_string())) };
        Ok(vec![match op.to_string().as_str() {
            "aten::conv2d" => TensorType::contiguous(first.dtype, vec![2, 64, 14, 14]),
            "aten::conv_transpose2d.input" => TensorType::contiguous(first.dtype, vec![2, 64, 16, 16]),
            "aten::view" => TensorType::contiguous(first.dtype, vec![64, 1, 1]),
            "aten::add.Tensor" => first.clone(),
            other => return Err(InferError::Unknown(other.to_owned())),
        }])
    }

    fn may_insert(&mut self, op: &OpName) -> bool {
        self.allows && op.name != "aten::scaled_dot_product_attention"
    }
}

/// Whether the convolution of a graph still has its bias, and how many inputs each kernel has.
fn left(text: &str, device: &DeviceFacts, allows: bool) -> (bool, Vec<usize>) {
    let mut rewriter = Rewriter::new(Graph::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    Autofuse.run(&mut rewriter, device, &mut Host { allows }).unwrap();
    let (graph, _) = rewriter.finish();
    let has_bias = |node: &Node| match &node.kind {
        NodeKind::Aten { op, args } => op.name.starts_with("aten::conv") && args[2] != Arg::None,
        NodeKind::Kernel { .. } => false,
    };
    let inputs = graph.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Kernel { inputs, .. } => Some(inputs.len()),
        NodeKind::Aten { .. } => None,
    });
    (graph.nodes.iter().any(has_bias), inputs.collect())
}

/// A convolution with a weight of so many channels.
fn convolution(channels: i64, result: &str) -> String {
    format!(
        "graph(%x: f32[2,64,14,14], %w: f32[64,{channels},3,3], %b: f32[64]) {{
           %c: f32[2,64,14,14] = aten::conv2d(%x, %w, bias=%b, padding=[1, 1], groups={})
           %r: f32[2,64,14,14] = aten::relu(%c)
           return ({result})
         }}",
        64 / channels
    )
}

#[test]
fn the_kernel_behind_a_convolution_adds_its_bias() {
    assert_eq!(left(&convolution(64, "%r"), &H200, true), (false, vec![2]));
    let transposed = "graph(%x: f32[2,64,14,14], %w: f32[64,64,3,3], %b: f32[64]) {
       %c: f32[2,64,16,16] = aten::conv_transpose2d.input(%x, %w, bias=%b)
       %r: f32[2,64,16,16] = aten::relu(%c)
       return (%r)
     }";
    assert_eq!(left(transposed, &H200, true), (false, vec![2]));
}

#[test]
fn elsewhere_it_stays() {
    assert_eq!(left(&convolution(64, "%r"), &H200, false), (true, vec![1]), "the policy allows no call");
    assert_eq!(left(&convolution(64, "%r"), &DEVICE, true), (true, vec![1]), "on a CPU the library adds it");
    assert!(left(&convolution(64, "%c"), &H200, true).0, "nothing reads the result");
    assert_eq!(left(&convolution(1, "%r"), &H200, true), (false, vec![3]), "single channels are a kernel");
}
