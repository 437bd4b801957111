//! Graphs that passes are run on, and what the passes of the repository make of them.

use autofuse::Autofuse;
use fuse_norms::FuseNorms;
use fuse_pointwise::FusePointwise;
use passhost_guest_sdk::Pass;
use passhost_guest_sdk::testing::rewrite;
use passhost_ir::{Arg, Graph, Infer, InferError, NodeKind, OpName, TensorType};

/// Small, and of every kind that matters to the verifier: views, several outputs, lists, indices, kernels among ops.
const ORIGINALS: [&str; 6] = [
    "graph(%x: f16[1,7,64]) {
       %half: f16[1,7,64] = aten::mul.Scalar(%x, 0.5)
       %cube: f16[1,7,64] = aten::pow.Tensor_Scalar(%x, 3.0)
       %small: f16[1,7,64] = aten::mul.Scalar(%cube, 0.044715)
       %sum: f16[1,7,64] = aten::add.Tensor(%x, %small)
       %tanh: f16[1,7,64] = aten::tanh(%sum)
       %grown: f16[1,7,64] = aten::add.Scalar(%tanh, 1.0)
       %out: f16[1,7,64] = aten::mul.Tensor(%half, %grown)
       return (%out)
     }",
    "graph(%x: f32[4,8], %w: f32[4,8], %b: f32[4]) {
       %t: f32[8,4]{1,8} = aten::t(%w)
       %m: f32[4,4] = aten::mm(%x, %t)
       %a: f32[4,4] = aten::add.Tensor(%m, %b)
       %r: f32[4,4] = aten::relu(%a)
       %s: f32[4,4] = aten::softmax.int(%r, -1)
       return (%s, %a)
     }",
    "graph(%x: f32[1,20,16], %y: f32[1,20,16], %w: f32[16], %b: f32[16]) {
       %a: f32[1,20,16] = aten::add.Tensor(%x, %y)
       %n: f32[1,20,16] = aten::layer_norm(%a, [16], %w, %b)
       return (%n, %a)
     }",
    "graph(%w: f32[9,2], %i: i64[4], %x: f32[4,10]) {
       %e: f32[4,2] = aten::embedding(%w, %i)
       %a: f32[4,5], %c: f32[4,5]{10,1} = aten::chunk(%x, 2, -1)
       %l: f32[4,12] = aten::cat([%e, %x], -1)
       %g: f32[4,12] = aten::silu(%l)
       %n: f32[4,12] = aten::neg(%g)
       return (%n)
     }",
    "graph(%x: f32[2,3], %y: f32[3]) {
       %a: f32[2,3] = aten::relu(%x)
       %k: f32[2,3], %s: f32[2] = kernel(%a, %y) {
         space p0=2; reduce r0=3
         in x0: f32[2,3]
         in x1: f32[3]
         i0 = p0
         i1 = r0
         v0: f32 = load x0[i0, i1] clamp
         v1: f32 = load x1[i1] clamp
         v2: f32 = mul v0, v1
         v3: f32 = reduce sum v2
         out v2 over [p0, r0] as [2,3]
         out v3 over [p0] as [2]
       }
       %b: f32[2,3] = aten::add.Tensor(%k, %a)
       return (%b, %s)
     }",
    "graph(%x: f32[1,2,8,9]) {
       %t: f32[1,2,9,8]{144,72,1,9} = aten::transpose.int(%x, -1, -2)
       %c: f32[1,2,9,8] = aten::contiguous(%t)
       %v: f32[1,18,8] = aten::view(%c, [1, 18, 8])
       %d: f32[1,18,8] = aten::exp(%v)
       %f: f32[1,18,8] = aten::sigmoid(%d)
       return (%f, %v)
     }",
];

/// The graphs.
///
/// # Panics
///
/// If one does not parse.
pub fn originals() -> Vec<Graph> {
    let parse = |text: &&str| {
        let graph = Graph::parse(text);
        assert!(graph.is_ok(), "{graph:?}\n{text}");
        graph.unwrap_or_default()
    };
    ORIGINALS.iter().map(parse).collect()
}

/// Each graph with what the passes make of it, itself among them.
pub fn rewrites() -> Vec<(Graph, Vec<Graph>)> {
    let passes: [&dyn Pass; 3] = [&FusePointwise, &FuseNorms, &Autofuse];
    let of = |original: Graph| {
        let made = passes.iter().filter_map(|pass| rewrite(*pass, original.clone()).ok()).map(|(graph, _)| graph);
        let all = std::iter::once(original.clone()).chain(made).collect();
        (original, all)
    };
    originals().into_iter().map(of).collect()
}

/// Answers for the calls of some graphs as they stand, and for any op that it returns a tensor like its first one.
pub struct Recorded(Vec<(OpName, Vec<Arg<TensorType>>, Vec<TensorType>)>);

impl Recorded {
    /// What these graphs say that ops return.
    pub fn new(graphs: &[Graph]) -> Recorded {
        let mut calls = vec![];
        for graph in graphs {
            for node in &graph.nodes {
                if let NodeKind::Aten { op, args } = &node.kind {
                    let args = args.iter().map(|arg| arg.map(|&id| graph.ty(id).clone())).collect();
                    let types = node.outputs.iter().map(|&id| graph.ty(id).clone()).collect();
                    calls.push((op.clone(), args, types));
                }
            }
        }
        Recorded(calls)
    }
}

impl Infer for Recorded {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        if let Some((_, _, types)) = self.0.iter().find(|(name, known, _)| name == op && known == args) {
            return Ok(types.clone());
        }
        let first = args.iter().flat_map(Arg::values).next().cloned();
        first.map(|ty| vec![ty]).ok_or_else(|| InferError::Unknown(op.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::{OpTable, verify_rewrite};

    #[test]
    fn what_the_passes_make_of_the_graphs_is_accepted() {
        let mut types = Recorded::new(&originals());
        let mut changed = 0;
        for (original, all) in rewrites() {
            for graph in &all {
                let verified = verify_rewrite(&original, graph, OpTable::insert(), &mut types);
                assert!(verified.is_ok(), "{verified:?}\n{graph}");
                changed += usize::from(graph != &original);
            }
        }
        assert!(changed >= 6, "{changed} rewrites");
    }
}
