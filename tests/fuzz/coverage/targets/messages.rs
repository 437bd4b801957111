//! Any bytes as a message of a guest child: a refusal, or a rewrite that the verifier judges, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use passhost_ir::verify::check_counts;
use passhost_ir::{Arg, Graph, Infer, InferError, OpName, OpTable, TensorType, verify_rewrite};
use passhost_protocol::decode;
use passhost_protocol::guest::FromGuest;
use std::sync::OnceLock;

/// What the pass was given.
const ORIGINAL: &str = "graph(%x: f32[2,3], %y: f32[3]) {
  %a: f32[2,3] = aten::relu(%x)
  %b: f32[2,3] = aten::add.Tensor(%a, %y)
  return (%b, %a)
}";

/// Every op returns a tensor like its first operand.
struct LikeFirst;

impl Infer for LikeFirst {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let first = args.iter().flat_map(Arg::values).next().cloned();
        first.map(|ty| vec![ty]).ok_or_else(|| InferError::Unknown(op.to_string()))
    }
}

fuzz_target!(|data: &[u8]| {
    static GRAPH: OnceLock<Graph> = OnceLock::new();
    let original = GRAPH.get_or_init(|| Graph::parse(ORIGINAL).unwrap_or_default());
    if let Ok(FromGuest::Ran(Ok(mut rewrite), _)) = decode(data) {
        rewrite.bound_refusals();
        let counted = check_counts(original, &rewrite.graph);
        let _ = counted.and_then(|()| verify_rewrite(original, &rewrite.graph, OpTable::insert(), &mut LikeFirst));
    }
});
