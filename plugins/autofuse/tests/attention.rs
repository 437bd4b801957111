//! Where attention becomes one call of the library's.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use autofuse::{Autofuse, H200};
use passhost_guest_sdk::ir::{Arg, Graph, InferError, NodeKind, OpName, TensorType};
use passhost_guest_sdk::{Infer, Pass, Rewriter};

/// A host that types what the pass inserts here, and allows it or not.
struct Host {
    allows: bool,
}

impl Infer for Host {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let Some(Arg::Value(first)) = args.first() else { return Err(InferError::Unknown(op.to_string())) };
        let mut ty = first.clone();
        match op.to_string().as_str() {
            "aten::transpose.int" => {
                ty.shape.swap(2, 3);
                ty.strides.swap(2, 3);
            }
            "aten::clone" => ty = TensorType::contiguous(ty.dtype, ty.shape),
            // The library writes heads beside each other.
            "aten::scaled_dot_product_attention" => {
                let &[_, heads, rows, columns] = &ty.shape[..] else { panic!("{ty}") };
                ty.strides = vec![heads * rows * columns, columns, heads * columns, 1];
            }
            other => return Err(InferError::Unknown(other.to_owned())),
        }
        Ok(vec![ty])
    }

    fn may_insert(&mut self, op: &OpName) -> bool {
        self.allows && op.name == "aten::scaled_dot_product_attention"
    }
}

/// Attention with these lines between the products, of elements of this type.
fn graph(dtype: &str, between: &str, results: &str) -> Graph {
    let text = format!(
        "graph(%q: T[2,4,64,32], %k: T[2,4,64,32], %v: T[2,4,64,32], %m: T[2,1,1,64]) {{
           %t: T[2,4,32,64]{{8192,2048,1,32}} = aten::transpose.int(%k, -2, -1)
           %s: T[2,4,64,64] = aten::matmul(%q, %t)
           {between}
           %o: T[2,4,64,32] = aten::matmul(%p, %v)
           return ({results})
         }}"
    );
    Graph::parse(&text.replace("T[", &format!("{dtype}["))).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The attention in what the pass makes of a graph, and how many matrix products are left.
fn attention(graph: Graph, allows: bool) -> (Option<Vec<Arg>>, usize) {
    let mut rewriter = Rewriter::new(graph);
    Autofuse.run(&mut rewriter, &H200, &mut Host { allows }).unwrap();
    let (graph, _) = rewriter.finish();
    let calls = |name: &'static str| {
        graph.nodes.iter().filter_map(move |node| match &node.kind {
            NodeKind::Aten { op, args } if op.name == name => Some(args.clone()),
            _ => None,
        })
    };
    let found = calls("aten::scaled_dot_product_attention").next();
    (found, calls("aten::matmul").count())
}

const PLAIN: &str = "%p: T[2,4,64,64] = aten::softmax.int(%s, -1)";
const SCALED: &str = "%a: T[2,4,64,64] = aten::div.Scalar(%s, 4)
           %p: T[2,4,64,64] = aten::_softmax(%a, 3, false)";
const MASKED: &str = "%a: T[2,4,64,64] = aten::mul.Scalar(%s, 0.125)
           %b: T[2,4,64,64] = aten::add.Tensor(%m, %a)
           %p: T[2,4,64,64] = aten::softmax.int(%b, -1)";

#[test]
fn what_is_attention_becomes_one_call() {
    let cases = [(PLAIN, 1.0, false), (SCALED, 0.25, false), (MASKED, 0.125, true)];
    for (between, scale, is_masked) in cases {
        let given = graph("f32", between, "%o");
        let inputs = given.inputs.clone();
        let (found, products) = attention(given, true);
        let mask = if is_masked { Arg::Value(inputs[3]) } else { Arg::None };
        let tensors = [inputs[0], inputs[1], inputs[2]].map(Arg::Value);
        let others = [mask, Arg::Float(0.0), Arg::Bool(false), Arg::Float(scale), Arg::Bool(false)];
        assert_eq!(found, Some(tensors.into_iter().chain(others).collect()), "{between}");
        assert_eq!(products, 0, "{between}");
    }
}

#[test]
fn what_is_not_or_may_not_stays() {
    let cases = [
        ("half types round between", graph("f16", MASKED, "%o"), true),
        ("the policy allows no call", graph("f32", MASKED, "%o"), false),
        ("the weights are returned", graph("f32", PLAIN, "%o, %p"), true),
        ("the scores are read twice", graph("f32", &MASKED.replace("%m, %a", "%s, %a"), "%o"), true),
        ("softmax of columns", graph("f32", &PLAIN.replace("-1", "-2"), "%o"), true),
        (
            "the mask is scaled too",
            graph("f32", &MASKED.replace("(%s, 0.125)", "(%s, 1.0)").replace("%b, -1", "%a, -1"), "%o, %b"),
            true,
        ),
    ];
    for (name, given, allows) in cases {
        assert_eq!(attention(given, allows).0, None, "{name}");
    }
}
